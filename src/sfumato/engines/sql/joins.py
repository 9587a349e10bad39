"""Joins in SQL: rows meet where their keys are equal, and where both sides have owners their units are."""

from sqlglot import exp

from sfumato.engines.sql.queries import Join as Meeting
from sfumato.engines.sql.queries import joined, same, select
from sfumato.engines.sql.rows import UNIT, Rows
from sfumato.engines.sql.terms import Sql, aliased, all_of, cast, column, operation
from sfumato.query.relations import Join, JoinKind, SemiJoin

_LEFT, _RIGHT = "l", "r"


def lower_join(join: Join, left: Rows, right: Rows) -> exp.Select:
    """Each row of the left side with each of its partners; of a left join, one without any with NULLs."""
    places = len(left.names)
    own = [aliased(column(name, _LEFT), name) for name in left.selected]
    added = [aliased(column(name, _RIGHT), f"c{places + place}") for place, name in enumerate(right.names.values())]
    how: Meeting = "left" if join.kind is JoinKind.LEFT else "inner"
    query = select([*own, *added], left.query, alias=_LEFT)
    return joined(query, right.query, _RIGHT, on=_meeting(join.on, left, right), how=how)


def lower_semi_join(join: SemiJoin, child: Rows, other: Rows) -> exp.Select:
    """The rows that have a partner, or those that have none."""
    query = select([aliased(column(name, _LEFT), name) for name in child.selected], child.query, alias=_LEFT)
    how: Meeting = "anti" if join.negated else "semi"
    return joined(query, other.query, _RIGHT, on=_meeting(join.on, child, other), how=how)


def _meeting(on: tuple[tuple[str, str], ...], left: Rows, right: Rows) -> Sql:
    """NULL equals nothing; a whole number and a float are equal as doubles."""
    units = [same(UNIT, _LEFT, _RIGHT)] if right.has_owners else []
    return all_of([*units, *(_equal(first, second, left, right) for first, second in on)])


def _equal(first: str, second: str, left: Rows, right: Rows) -> Sql:
    sides: list[Sql] = [column(left.names[first], _LEFT), column(right.names[second], _RIGHT)]
    if left.kind(first) is not right.kind(second):
        sides = [cast(side, "DOUBLE") for side in sides]
    return operation(exp.EQ, *sides)
