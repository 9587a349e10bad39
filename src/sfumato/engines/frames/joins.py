"""Joins in Polars: rows meet where their keys are equal, and where both sides have owners their units are."""

from typing import Final, Literal, TypeAlias

import polars as pl

from sfumato.engines.frames.rows import UNIT, Rows
from sfumato.query.relations import Join, JoinKind, SemiJoin

_How: TypeAlias = Literal["inner", "left", "semi", "anti"]
_OWNER: Final = "o"


def lower_join(join: Join, left: Rows, right: Rows) -> pl.LazyFrame:
    """Each row of the left side with each of its partners; of a left join, one without any with NULLs."""
    places = len(left.names)
    added = {name: f"c{places + place}" for place, name in enumerate(right.names.values())}
    met = _met(join.on, left, right, "left" if join.kind is JoinKind.LEFT else "inner", added)
    return met.select(*left.selected, *added.values())


def lower_semi_join(join: SemiJoin, child: Rows, other: Rows) -> pl.LazyFrame:
    """The rows that have a partner, or those that have none."""
    added = {name: f"o{name}" for name in other.names.values()}
    return _met(join.on, child, other, "anti" if join.negated else "semi", added)


def _met(
    on: tuple[tuple[str, str], ...], left: Rows, right: Rows, how: _How, added: dict[str, str]
) -> pl.LazyFrame:  # fmt: skip
    """NULL equals nothing; a whole number and a float are equal as doubles; of no keys all rows meet."""
    meeting = [(pl.lit(1), pl.lit(1))] if not on else []
    meeting += [(pl.col(UNIT), pl.col(_OWNER))] if right.has_owners else []
    for first, second in on:
        sides = pl.col(left.names[first]), pl.col(added[right.names[second]])
        is_mixed = left.kind(first) is not right.kind(second)
        meeting.append((sides[0].cast(pl.Float64), sides[1].cast(pl.Float64)) if is_mixed else sides)
    own, others = zip(*meeting, strict=True)
    renamed = right.frame.rename(added | ({UNIT: _OWNER} if right.has_owners else {}))
    return left.frame.join(
        renamed, left_on=own, right_on=others, how=how, coalesce=False if how in {"inner", "left"} else None
    )
