"""The SQL front end: parse, qualify, lower by an allow-list. What is not listed is refused before data is touched.

Names are matched without regard to case. The analyst's text never reaches an engine: engines emit SQL anew.
"""

from collections.abc import Mapping
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import OptimizeError, ParseError, SqlglotError, TokenError
from sqlglot.optimizer.qualify import qualify

from sfumato.errors import NotPrivateError, ParameterError, SfumatoError
from sfumato.query.frame import aggregate
from sfumato.query.relations import Aggregate, Filter, Rows, table_of
from sfumato.query.schema import unicode_text
from sfumato.query.sql_lowering import DIALECT, Lowering, shown

MAX_LENGTH: Final = 100_000
# what sqlglot raises on calls of known functions with arguments of a shape that it does not expect
_SLIPS_OF_THE_PARSER: Final = (SqlglotError, TypeError, ValueError, LookupError, AttributeError)
_ALLOWED_CLAUSES: Final = {"expressions", "from_", "where", "group", "kind"}


def parse_question(text: str, sources: Mapping[str, Rows]) -> Aggregate:
    """The relation that a SELECT statement means.

    Args:
        text: One statement, such as ``SELECT sex, AVG(age) FROM people WHERE age > 50 GROUP BY sex``.
        sources: The relation behind each table name.

    Raises:
        ParameterError: The text does not parse, or names what does not exist.
        NotPrivateError: It asks for something that is not released here.
    """
    try:
        return _question(text, sources)
    except RecursionError:
        raise ParameterError("sql", text[:80], "must not be nested so deeply") from None
    except SfumatoError:
        raise
    except _SLIPS_OF_THE_PARSER:
        raise ParameterError("sql", text[:80], "holds a call that cannot be read; ask for COUNT, SUM or AVG") from None


def _question(text: str, sources: Mapping[str, Rows]) -> Aggregate:
    select = _parsed(text)
    rows = _source(select, {name.lower(): rows for name, rows in sources.items()})
    table = table_of(rows)
    names = {name.lower(): name for name in table.columns}
    aliases = tuple(projection.alias for projection in select.expressions)  # before names lose their case
    select = _qualified(select, names)
    lowering = Lowering(table, names)
    if where := select.args.get("where"):
        rows = Filter(rows, lowering.condition(where.this))
    keys = lowering.keys(select)
    statistics = lowering.statistics(select, keys, aliases)
    return aggregate(rows, keys, statistics, lowering.labels(select, keys, aliases))


def _parsed(text: str) -> exp.Select:
    if not text.strip():
        raise ParameterError("sql", text, "must be a SELECT statement")
    if len(text) > MAX_LENGTH:
        raise ParameterError("sql", f"{len(text)} characters", f"must have at most {MAX_LENGTH}")
    unicode_text(text, "sql")
    try:
        statements = [statement for statement in sqlglot.parse(text, dialect=DIALECT) if statement is not None]
    except ParseError as error:
        raise ParameterError("sql", text, _syntax(error)) from None
    except TokenError:
        raise ParameterError("sql", text[:80], "must be one well-formed SELECT") from None
    if len(statements) != 1:
        raise ParameterError("sql", f"{len(statements)} statements", "must be exactly one SELECT")
    select = statements[0]
    if not isinstance(select, exp.Select):
        raise NotPrivateError(shown(select), "only a single SELECT is answered", "Ask with SELECT … FROM one table.")
    for clause, value in select.args.items():
        if value and clause not in _ALLOWED_CLAUSES:
            raise _refused_clause(clause, value)
    return select


def _syntax(error: ParseError) -> str:
    """Where the text stops making sense."""
    first = error.errors[0] if error.errors else {}
    return f"does not parse at line {first.get('line')}, column {first.get('col')}: {first.get('description')}"


def _refused_clause(clause: str, value: object) -> NotPrivateError:
    fragment = shown(value) if isinstance(value, exp.Expr) else clause.strip("_").upper()
    suggestion = {
        "joins": "Ask about one table at a time.",
        "with_": "Write the question as one SELECT.",
        "order": "Sort the released answer; that is free.",
        "limit": "Cut the released answer; that is free.",
        "having": "Filter the released answer; that is free.",
        "distinct": "Group by the column instead.",
    }.get(clause, "Leave it out.")
    return NotPrivateError(fragment, "this clause is not supported", suggestion)


def _source(select: exp.Select, sources: Mapping[str, Rows]) -> Rows:
    clause = select.args.get("from_")
    source = clause.this if clause else None
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier) or source.args.get("db"):
        fragment = shown(source) if source is not None else "a SELECT without FROM"
        raise NotPrivateError(fragment, "only a table of the policy can be asked about", "Name one table after FROM.")
    if extras := [key for key, value in source.args.items() if value and key not in {"this", "alias"}]:
        raise NotPrivateError(shown(source), f"{extras[0]} is not supported", "Name the table alone.")
    if source.args.get("alias") and source.args["alias"].columns:
        raise NotPrivateError(shown(source), "columns cannot be renamed here", "Use the names of the policy.")
    rows = sources.get(source.name.lower())
    if rows is None:
        tables = ", ".join(sorted(table_of(rows).name for rows in sources.values()))
        raise ParameterError("table", source.name, f"must be one of: {tables}")
    return rows


def _qualified(select: exp.Select, names: Mapping[str, str]) -> exp.Select:
    for identifier in select.find_all(exp.Identifier):
        identifier.set("this", identifier.this.lower())
    if select.find(exp.Star) and not select.find(exp.Count):
        raise NotPrivateError("*", "single rows are never released", "Ask for COUNT(*), SUM or AVG.")
    table = select.args["from_"].this.name
    try:
        qualified = qualify(
            select, schema={table: dict.fromkeys(names, "TEXT")}, dialect=DIALECT, quote_identifiers=False,
            expand_stars=False,
        )  # fmt: skip
    except OptimizeError:
        known = ", ".join(names.values())
        raise ParameterError(
            "sql", select.sql(dialect=DIALECT), f"names an unknown column; known are: {known}"
        ) from None
    if not isinstance(qualified, exp.Select):
        raise ParameterError("sql", "a statement", "must be one SELECT")
    return qualified
