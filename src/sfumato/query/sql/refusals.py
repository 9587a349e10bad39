"""Why SQL that is not on the list of what is supported is refused, and what to write instead."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.sql.parsing import FUNCTIONS, shown

Reason = tuple[str, str]

_CHANCE: Final = ("random functions are not supported", "Leave it out; every answer has its own noise.")
_OTHER_TIME: Final = ("the same query would mean something else tomorrow", "Write the date out: DATE '2026-01-31'.")
_REGEX: Final = ("regular expressions are not supported", "Use LIKE, LOWER, SUBSTRING or TRIM.")
_SUB_QUERY: Final = (
    "a sub-query cannot be here",
    "Write EXISTS or IN in WHERE, connected by AND, or join a sub-query that is grouped by the privacy unit.",
)
_NESTED: Final = ("arrays, records and JSON are not supported", "Declare what you need as its own column.")
_AGGREGATE: Final = (
    "an aggregate cannot be inside another one, or in WHERE",
    "Compute it in a sub-query that is grouped by the privacy unit, or filter with HAVING.",
)
_DAYS: Final = ("this function is not part of PostgreSQL", "Subtract one date from the other: d - e.")
_LATER: Final = ("this function is not part of PostgreSQL", "Write d + INTERVAL '3 days', or another unit of time.")
_CONVERSION: Final = (
    "this conversion is not supported",
    "Write CAST, which returns NULL for values that do not convert.",
)

_FUNCTIONS: Final[Mapping[str, Reason]] = {
    **dict.fromkeys(("RANDOM", "RAND", "GEN_RANDOM_UUID", "SETSEED"), _CHANCE),
    **dict.fromkeys(("NOW", "AGE", "CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "GETDATE"), _OTHER_TIME),
    **dict.fromkeys(("REGEXP_LIKE", "REGEXP_MATCH", "REGEXP_MATCHES", "REGEXP_REPLACE"), _REGEX),
    **dict.fromkeys(("DATEDIFF", "DATE_DIFF"), _DAYS),
    **dict.fromkeys(("DATEADD", "DATE_ADD", "DATE_SUB"), _LATER),
    **dict.fromkeys(("TRY_CAST", "SAFE_CAST", "TO_DATE", "TO_NUMBER", "TO_TIMESTAMP", "DATE"), _CONVERSION),
}
_OTHER_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("IFNULL", "NVL", "ISNULL"), "COALESCE"), "LEN": "LENGTH", "UCASE": "UPPER", "LCASE": "LOWER",
    **dict.fromkeys(("INSTR", "CHARINDEX", "LOCATE"), "STRPOS"), "AVERAGE": "AVG", "STD": "STDDEV", "STDEV": "STDDEV",
    "STARTSWITH": "STARTS_WITH", "ENDSWITH": "ENDS_WITH", "DATEPART": "DATE_PART", "VAR": "VARIANCE",
    **dict.fromkeys(("APPROX_QUANTILE", "APPROX_PERCENTILE", "QUANTILE_CONT", "PERCENTILE"), "QUANTILE"),
    "POWER10": "POWER", "FORMAT_DATE": "TO_CHAR", "DATE_FORMAT": "TO_CHAR", "STRFTIME": "TO_CHAR",
}  # fmt: skip
"""What other databases call functions that are known here by names that are not alike."""

_IN_WINDOWS: Final = frozenset({
    "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD", "FIRST_VALUE",
    "LAST_VALUE", "GROUPING",
})  # fmt: skip
"""Functions that mean something in few places, and are suggested in none."""

_ALIKE: Final = 0.7
"""How alike two names are of which one may be meant for the other; 1 is the same."""
_REASONS: Final[Mapping[type[exp.Expr], Reason]] = {
    exp.Star: ("single rows are never released", "Use COUNT(*), SUM or AVG."),
    exp.Window: (
        "a window over single rows compares the rows of several people",
        "Use it over the groups of GROUP BY, as in RANK() OVER (ORDER BY COUNT(*) DESC).",
    ),
    **dict.fromkeys(
        (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Localtime, exp.Localtimestamp), _OTHER_TIME
    ),
    **dict.fromkeys((exp.RegexpLike, exp.RegexpILike, exp.SimilarTo), _REGEX),
    **dict.fromkeys((exp.Subquery, exp.Select, exp.Union, exp.Exists, exp.Any, exp.All), _SUB_QUERY),
    **dict.fromkeys((exp.Array, exp.Tuple, exp.Struct, exp.Bracket, exp.JSONExtract, exp.JSONExtractScalar), _NESTED),
    **dict.fromkeys(
        (
            exp.RowNumber,
            exp.Rank,
            exp.DenseRank,
            exp.PercentRank,
            exp.CumeDist,
            exp.Ntile,
            exp.Lag,
            exp.Lead,
            exp.FirstValue,
            exp.LastValue,
        ),
        ("this function belongs before OVER", "Write RANK() OVER (ORDER BY COUNT(*) DESC)."),
    ),
    exp.Grouping: ("GROUPING tells the rows of GROUPING SETS apart", "Use it in SELECT, HAVING or ORDER BY."),
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
    "qualify": ("QUALIFY is not supported", "Filter with HAVING, or sort by the window and use LIMIT."),
    "windows": ("a window in a sub-query compares the rows of several people", "Define it in the outermost SELECT."),
}
_DEFAULT: Final = (
    "this is not supported",
    "Use columns, constants, arithmetic, comparisons, IN, BETWEEN, IS NULL, AND, OR, NOT, CASE and listed functions.",
)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The one known name that is most like an unknown one; None if none is.

    Example:
        >>> did_you_mean("Agee", ["age", "wage", "sex"]), did_you_mean("x", ["age"])
        ('age', None)
    """
    by_lower = {one.lower(): one for one in known}
    alike = get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[alike[0]] if alike else None


def one_of(name: str, known: Collection[str]) -> str:
    """What an unknown name has to be: one of those that there are, and which of them may be meant."""
    meant = did_you_mean(name, known)
    listed = f"must be one of: {', '.join(known)}"
    return listed if meant is None else f"{listed}. Did you mean {meant}?"


def _unknown_function(name: str) -> Reason:
    meant = _OTHER_NAMES.get(name) or did_you_mean(name, [known for known in FUNCTIONS if known not in _IN_WINDOWS])
    known = f"Known functions: {', '.join(sorted(FUNCTIONS))}."
    return "this function is unknown", known if meant is None else f"Did you mean {meant}?"


def refusal(node: exp.Expr) -> NotPrivateError:
    """The error that names a fragment, why it is refused, and what to write instead."""
    if isinstance(node, exp.Anonymous):
        name = node.name.upper()
        reason, suggestion = _FUNCTIONS.get(name) or _unknown_function(name)
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
