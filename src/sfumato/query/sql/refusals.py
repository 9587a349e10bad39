"""Why SQL that is not on the list of what is supported is refused, and what to write instead."""

from collections.abc import Collection, Mapping
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.sql.parsing import FUNCTIONS, shown

Reason = tuple[str, str]

_CHANCE: Final = ("random functions are not supported", "Leave it out; every answer has its own noise.")
_OTHER_TIME: Final = ("the same query would mean something else tomorrow", "Write the date out: DATE '2026-01-31'.")
_REGEX: Final = ("regular expressions are not supported", "Use LIKE, LOWER, SUBSTRING or TRIM.")
_SUB_QUERY: Final = (
    "a sub-query as a value is not supported, because it reads other people's rows",
    "Write EXISTS or IN in WHERE, connected by AND, or join a sub-query that is grouped by the privacy unit.",
)
_NESTED: Final = ("arrays, records and JSON are not supported", "Declare what you need as its own column.")
_AGGREGATE: Final = (
    "an aggregate cannot be inside another one, or in WHERE",
    "Compute it in a sub-query that is grouped by the privacy unit, or filter with HAVING.",
)
_PART: Final = ("this function is not part of PostgreSQL", "Write EXTRACT(YEAR FROM column), or another part of it.")
_CONVERSION: Final = (
    "this conversion is not supported",
    "Write CAST, which returns NULL for values that do not convert.",
)
_UNKNOWN: Final = ("this function is unknown", f"Known functions: {', '.join(sorted(FUNCTIONS))}.")

_FUNCTIONS: Final[Mapping[str, Reason]] = {
    **dict.fromkeys(("RANDOM", "RAND", "GEN_RANDOM_UUID", "SETSEED"), _CHANCE),
    **dict.fromkeys(("NOW", "AGE", "CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "GETDATE"), _OTHER_TIME),
    **dict.fromkeys(("REGEXP_LIKE", "REGEXP_MATCH", "REGEXP_MATCHES", "REGEXP_REPLACE"), _REGEX),
    **dict.fromkeys(("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"), _PART),
    **dict.fromkeys(("TRY_CAST", "SAFE_CAST", "TO_CHAR", "TO_DATE", "TO_NUMBER", "TO_TIMESTAMP", "DATE"), _CONVERSION),
}
_REASONS: Final[Mapping[type[exp.Expr], Reason]] = {
    exp.Star: ("single rows are never released", "Use COUNT(*), SUM or AVG."),
    exp.Window: ("window functions compare the rows of several people", "Use GROUP BY and an aggregate."),
    **dict.fromkeys(
        (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Localtime, exp.Localtimestamp), _OTHER_TIME
    ),
    **dict.fromkeys((exp.RegexpLike, exp.RegexpILike, exp.SimilarTo), _REGEX),
    **dict.fromkeys((exp.Subquery, exp.Select, exp.Union, exp.Exists, exp.Any, exp.All), _SUB_QUERY),
    **dict.fromkeys((exp.Array, exp.Tuple, exp.Struct, exp.Bracket, exp.JSONExtract, exp.JSONExtractScalar), _NESTED),
    exp.Interval: ("an interval can only be added to a date or taken from one", "Write day + INTERVAL '1 month'."),
    exp.Escape: ("ESCAPE is not supported", "Escape % and _ in the pattern with a backslash."),
    exp.Collate: ("text is always compared by code points", "Leave COLLATE out."),
    exp.AtTimeZone: ("timestamps are without a time zone", "Leave AT TIME ZONE out; times are in UTC."),
    exp.Null: ("NULL alone has no type", "Write CAST(NULL AS integer), or IS NULL."),
    exp.If: ("IF is not part of PostgreSQL", "Write CASE WHEN … THEN … ELSE … END."),
}
_PLACE: Final = (
    "which rows come first in a sub-query would compare the rows of several people",
    "Sort and limit the answer itself; that is free.",
)
_CLAUSES: Final[Mapping[str, Reason]] = {
    **dict.fromkeys(("order", "limit", "offset"), _PLACE),
    "into": ("answers are not stored in tables", "Leave INTO out."),
    "locks": ("queries change nothing", "Leave out the lock."),
    "qualify": ("window functions compare the rows of several people", "Filter with WHERE or HAVING."),
    "windows": ("window functions compare the rows of several people", "Group instead."),
}
_DEFAULT: Final = (
    "this is not supported",
    "Use columns, constants, arithmetic, comparisons, IN, BETWEEN, IS NULL, AND, OR, NOT, CASE and listed functions.",
)


def refusal(node: exp.Expr) -> NotPrivateError:
    """The error that names a fragment, why it is refused, and what to write instead."""
    if isinstance(node, exp.Anonymous):
        reason, suggestion = _FUNCTIONS.get(node.name.upper(), _UNKNOWN)
    else:
        is_aggregate = isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup)
        reason, suggestion = _REASONS.get(type(node), _AGGREGATE if is_aggregate else _DEFAULT)
    return NotPrivateError(shown(node), reason, suggestion)


def require_clauses(query: exp.Expr, allowed: Collection[str]) -> None:
    """Refuse clauses that are not read in this place.

    Raises:
        NotPrivateError: There is one.
    """
    for name, value in query.args.items():
        if value and name not in allowed:
            fragment = value[0] if isinstance(value, list) else value
            what = shown(fragment).strip() if isinstance(fragment, exp.Expr) else name.strip("_").upper()
            reason, suggestion = _CLAUSES.get(name, ("this clause is not supported here", "Leave it out."))
            raise NotPrivateError(what, reason, suggestion)


def is_distinct(select: exp.Select) -> bool:
    """Whether a query says DISTINCT.

    Raises:
        NotPrivateError: It says DISTINCT ON.
    """
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        raise NotPrivateError(
            shown(distinct), "which row stays would compare the rows of several people", "Group by the columns instead."
        )
    return distinct is not None
