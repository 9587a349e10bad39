"""The pieces of emitted SQL: quoted names, typed constants, calls, operators that cannot be misread, and SELECTs.

Terms are values: nobody changes one, so that several may hold the same. A dialect copies the tree that it writes.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from hashlib import md5
from typing import Final, Literal, TypeAlias

from sqlglot import exp

from sfumato.query.model.kinds import Kind

Sql: TypeAlias = exp.Expr

TYPES: Final = {
    Kind.INTEGER: "BIGINT",
    Kind.FLOAT: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
"""What engines hold the values of each kind in."""

_TYPES: Final = {
    name: exp.DataType.build(name, dialect="duckdb")
    for name in (*TYPES.values(), "HUGEINT", "UBIGINT", "INTEGER", "BIT")
}

_LARGEST_REPEATED: Final = 14
"""Terms of more nodes than these are computed once under a name; smaller ones may be written several times."""

_NO_WORK: Final = (exp.DataType, exp.Identifier, exp.Paren)
"""What does not count as a node."""

_ATOMS: Final = (
    exp.Column, exp.Literal, exp.Cast, exp.TryCast, exp.Anonymous, exp.Boolean, exp.Null, exp.Paren, exp.Case, exp.Trim,
    exp.Window,
)  # fmt: skip

Join: TypeAlias = Literal["inner", "left", "semi", "anti"]


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted name, of a relation if several have it."""
    quoted = exp.to_identifier(name, quoted=True)
    return exp.Column(this=quoted, table=None if table is None else exp.to_identifier(table, quoted=True))


def aliased(value: Sql, name: str) -> exp.Alias:
    """A value under a name."""
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def function(name: str, *arguments: Sql) -> exp.Anonymous:
    """A call of a function or an idiom, which every engine has in its dialect."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def operation(operator: type[exp.Binary], left: Sql, right: Sql) -> exp.Binary:
    """Two operands, each in parentheses of its own: engines do not agree on what binds closer."""
    return operator(this=_closed(left), expression=_closed(right))


def different(value: Sql) -> exp.Count:
    """The number of different values."""
    return exp.Count(this=exp.Distinct(expressions=[value]))


def negated(condition: Sql) -> exp.Not:
    """NOT of a condition."""
    return exp.Not(this=_closed(condition))


def is_null(value: Sql) -> exp.Is:
    """Whether a value is NULL."""
    return exp.Is(this=_closed(value), expression=exp.Null())


def present(value: Sql) -> exp.Not:
    """Whether a value is not NULL."""
    return exp.Not(this=is_null(value))


def all_of(conditions: Iterable[Sql]) -> Sql:
    """AND; true of nothing."""
    return exp.and_(*conditions, copy=False) if (conditions := list(conditions)) else exp.true()


def any_of(conditions: Iterable[Sql]) -> Sql:
    """OR; false of nothing."""
    return exp.or_(*conditions, copy=False) if (conditions := list(conditions)) else exp.false()


def case(branches: Sequence[tuple[Sql, Sql]], default: Sql | None = None) -> exp.Case:
    """The value of the first branch whose condition is true, else the default, or NULL."""
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=default)


def cast(value: Sql, to: str) -> exp.Cast:
    """A value as a type that it always fits."""
    return exp.Cast(this=value, to=_TYPES[to])


def try_cast(value: Sql, to: str) -> exp.TryCast:
    """A value as a type, or NULL where it does not fit."""
    return exp.TryCast(this=value, to=_TYPES[to])


def null(kind: Kind) -> exp.Cast:
    """NULL of a kind."""
    return cast(exp.Null(), TYPES[kind])


def figure(value: int) -> Sql:
    """An integer as it is written."""
    return exp.Literal.number(value)


def whole(value: int) -> exp.Cast:
    """A 64-bit integer."""
    return cast(figure(value), "BIGINT")


def double(value: float) -> exp.Cast:
    """A binary double, by its shortest decimal."""
    return cast(text(repr(value)), "DOUBLE")


def text(value: str) -> exp.Literal:
    """Text."""
    return exp.Literal.string(value)


def constant(value: float | str | date) -> Sql:
    """A constant of the type of its kind; an `int` is a 64-bit integer."""
    match value:
        case bool():
            return exp.Boolean(this=value)
        case str():
            return text(value)
        case int():
            return cast(figure(value), "BIGINT")
        case float():
            return double(value)
        case datetime():
            return cast(text(value.isoformat(" ", "microseconds")), "TIMESTAMP")
        case _:
            return cast(text(value.isoformat()), "DATE")


def stripped(value: Sql, position: str | None = None) -> exp.Trim:
    """Text without spaces around it, or LEADING or TRAILING ones; engines would otherwise take other kinds off too."""
    return exp.Trim(this=value, expression=text(" "), position=position)


def between(value: Sql, least: Sql, most: Sql) -> exp.Between:
    """Whether a value lies in an interval, ends included."""
    return exp.Between(this=_closed(value), low=least, high=most)


def clamped(value: Sql, least: Sql, most: Sql) -> Sql:
    """A value, or the end of an interval that it lies beyond; of NULL the lower one."""
    return function("LEAST", function("GREATEST", value, least), most)


def one_of(value: Sql, listed: Iterable[Sql]) -> exp.In:
    """Whether a value is one of several."""
    return exp.In(this=_closed(value), expressions=list(listed))


def named(value: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """What `body` makes of a value, perhaps of several copies of it.

    A large value is computed once, under a name, so that terms do not grow with the power of their depth. The name is
    made of what it is, so that one that hides another is the same.
    """
    if sum(not isinstance(node, _NO_WORK) for node in value.walk()) <= _LARGEST_REPEATED:
        return body(value)
    name = f"x{md5(value.sql().encode(errors='replace'), usedforsecurity=False).hexdigest()[:16]}"
    made = exp.Lambda(this=body(column(name)), expressions=[exp.to_identifier(name, quoted=True)])
    return function("named_in", value, made)


def guarded(value: Sql, condition: Callable[[Sql], Sql]) -> Sql:
    """A value where a condition on it holds, else NULL."""
    return named(value, lambda x: case([(condition(x), x)]))


def _closed(value: Sql) -> Sql:
    return value if isinstance(value, _ATOMS) else exp.Paren(this=value)


def select(
    columns: Sequence[Sql], source: exp.Query | exp.Table, *, alias: str = "r", where: Sequence[Sql] = (),
    group_by: Sequence[Sql] = (), having: Sql | None = None,
) -> exp.Select:  # fmt: skip
    """A SELECT from a table or a query.

    Args:
        columns: What is selected; everything if empty.
        source: The table or sub-query that is read.
        alias: What the source is called.
        where: Conditions that all hold of a row.
        group_by: What the rows of a group have in common.
        having: A condition on groups.
    """
    query = exp.Select(expressions=list(columns) or [exp.Star()]).from_(_called(source, alias), copy=False)
    if where:
        query.set("where", exp.Where(this=all_of(where)))
    if group_by:
        query.set("group", exp.Group(expressions=list(group_by)))
    if having is not None:
        query.set("having", exp.Having(this=having))
    return query


def gathered(query: exp.Query, by: Sql) -> exp.Select:
    """The rows of a query, those with one value in one place."""
    found = select([], query)
    found.set("distribute", exp.Distribute(expressions=[by]))
    return found


def joined(
    query: exp.Select, other: exp.Query | exp.Table, alias: str, *, on: Sql, how: Join = "inner"
) -> exp.Select:  # fmt: skip
    """The query with another table or query joined to what it selects from."""
    side, kind = ("LEFT", None) if how == "left" else (None, how.upper())
    query.append("joins", exp.Join(this=_called(other, alias), on=on, side=side, kind=kind))
    return query


def same(name: str, first: str, second: str) -> Sql:
    """Whether two relations have equal values in a column of one name."""
    return exp.EQ(this=column(name, first), expression=column(name, second))


def window(
    aggregate: Sql, within: Sequence[Sql], order: Sequence[Sql] = (), *, running: bool = False
) -> exp.Window:  # fmt: skip
    """An aggregate over the rows that agree in some columns, or if it is running over those up to this one."""
    made = exp.Window(this=aggregate, partition_by=list(within))
    if order:
        terms = [term if isinstance(term, exp.Ordered) else exp.Ordered(this=term) for term in order]
        made.set("order", exp.Order(expressions=terms))
    if running:
        frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
        made.set("spec", frame)
    return made


def table(name: str, schema: str | None = None) -> exp.Table:
    """The name of a table, as the catalog has it."""
    quoted = exp.to_identifier(name, quoted=True)
    return exp.Table(this=quoted, db=None if schema is None else exp.to_identifier(schema, quoted=True))


def _called(source: exp.Query | exp.Table, alias: str) -> exp.Expr:
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    if isinstance(source, exp.Table):
        return exp.Table(this=source.this, db=source.args.get("db"), alias=name)
    return exp.Subquery(this=source, alias=name)
