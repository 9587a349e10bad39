"""SELECTs of emitted SQL, put together from terms."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from sqlglot import exp

from sfumato.engines.sql.expressions.terms import Sql, all_of, column

Join: TypeAlias = Literal["inner", "left", "semi", "anti"]


def select(
    columns: Sequence[Sql], source: exp.Query | exp.Table, *, alias: str = "r", where: Sequence[Sql] = (),
    group_by: Sequence[Sql] = (), having: Sql | None = None,
) -> exp.Select:  # fmt: skip
    """A SELECT from a table or a query.

    Args:
        columns: What is selected; everything if empty.
        source: From where.
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
        made.set("order", exp.Order(expressions=[exp.Ordered(this=term) for term in order]))
    if running:
        frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
        made.set("spec", frame)
    return made


def table(name: str, schema: str | None = None) -> exp.Table:
    """The name of a table, as the catalogue has it."""
    quoted = exp.to_identifier(name, quoted=True)
    return exp.Table(this=quoted, db=None if schema is None else exp.to_identifier(schema, quoted=True))


def _called(source: exp.Query | exp.Table, alias: str) -> exp.Expr:
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    if isinstance(source, exp.Table):
        return exp.Table(this=source.this, db=source.args.get("db"), alias=name)
    return exp.Subquery(this=source, alias=name)
