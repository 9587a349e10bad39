"""The groups that a unit keeps, by the rank of the last of them: see proofs/engines/sql/bounding.md.

A unit with more groups than it may keep keeps those of the least rank. Where the groups are public, a rank is a number
of 63 bits: the engine's own hash of the unit and the group, and in its last bits the place of the group. So no two
groups of a unit have one rank, and the last one that is kept is found without sorting. This is for limits on groups
alone, and for few groups: each unit remembers as many ranks as it may keep groups.
"""

from math import prod
from typing import Final

from sqlglot import exp

from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.bounding import ENTRIES, Bounding, hash_of
from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    any_of,
    cast,
    column,
    figure,
    function,
    is_null,
    joined,
    operation,
    select,
    table,
    whole,
)
from sfumato.engines.sql.rows import UNIT

LAST: Final = "last"
"""The units with more groups than they may keep, each with the rank of the last group that it keeps."""

_MOST_KEPT: Final = 8
"""With more groups a unit, it is faster to tell first which units are above the limit, and to sort their groups."""

_PLACE_BITS: Final = 20
"""The places of groups fit so many bits, which leaves 43 bits of the hash."""

_OWNER, _RANK = "w", "h"


def has_thresholds(bounding: Bounding) -> bool:
    """Whether groups are kept up to a rank: a matter of what is declared and of the engine, never of data."""
    limits = bounding.limits
    if not bounding.dialect.finds_ranks or bounding.sampling is not Sampling.NATIVE:
        return False
    is_of_groups = bounding.rows.cell is None and limits.max_rows_per_unit is None
    if not is_of_groups or limits.max_groups_per_unit is None or limits.max_groups_per_unit > _MOST_KEPT:
        return False
    counts = [group.count for group in bounding.rows.keys]
    return None not in counts and prod(count or 0 for count in counts) <= 2**_PLACE_BITS


def last_kept(bounding: Bounding) -> exp.Select:
    """`LAST`."""
    most = figure(bounding.limits.max_groups_per_unit or 0)
    ranks = select([aliased(column(UNIT, "r"), _OWNER), aliased(_rank(bounding), _RANK)], table(ENTRIES))
    last = aliased(function("nth_least", column(_RANK), most), LAST)
    has_more = operation(exp.GT, function("COUNT", exp.Star()), most)
    owner = column(_OWNER)
    return select([owner, last], bounding.rows.relation.with_units(ranks), group_by=[owner], having=has_more)


def kept_entries(bounding: Bounding) -> exp.Select:
    """The entries of the groups that are kept: all of a unit that is not in `LAST`, else those up to its last rank."""
    last = column(LAST, "o")
    kept = any_of([is_null(last), operation(exp.LTE, _rank(bounding), last)])
    entries = select([column(name, "r") for name in bounding.entry], table(ENTRIES), where=[kept])
    mine = exp.EQ(this=column(UNIT, "r"), expression=column(_OWNER, "o"))
    return bounding.rows.relation.with_units(joined(entries, table(LAST), "o", on=mine, how="left"))


def _rank(bounding: Bounding) -> Sql:
    """The rank of a group of a unit."""
    first, *others = bounding.rows.keys
    place = first.place
    for group in others:
        place = operation(exp.Add, operation(exp.Mul, place, whole(group.count or 0)), group.place)
    hashed = hash_of(bounding, bounding.rows.keys)
    return function("numbered_hash", hashed, cast(place, "UBIGINT"), figure(_PLACE_BITS))
