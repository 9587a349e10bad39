"""How many rows of each entry are allowed, in SQL: steps 3 to 5 of `Statement`. Proof: proofs/engines/sql/bounding.md.

Most units are within all limits, so where a query can be computed once and read twice it is told first which are not
(`above`), and only their entries are hashed and put in order. Elsewhere all entries are, which are allowed the same.
Which limits can bind at all is told from what is declared, never from data.

Where a limit on all rows of a unit alone binds, rows can be read several times and units are not counted, the units
above it are told from rows. Only their rows become entries, and all others are added up as they are.

Nothing is put in order where limits on groups alone bind, the groups are public, and a unit may keep few of them. There
a rank is a number of 63 bits: the engine's own hash of the unit and the group, and in its last bits the place of the
group. So no two groups of a unit have one rank, and those of a unit above are kept up to the rank of its last one
(`last_kept`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from sqlglot import exp

from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.dialect import SqlDialect
from sfumato.engines.sql.entries import ROWS, GroupColumn, RowsByGroup, aggregate_names, with_lists
from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    any_of,
    case,
    cast,
    column,
    figure,
    function,
    is_null,
    joined,
    operation,
    same,
    select,
    table,
    whole,
    window,
)
from sfumato.engines.sql.hashes import halved, halves, native_hash, rank_hash, rank_text
from sfumato.engines.sql.rows import UNIT
from sfumato.query.analysis.bounding import least
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import CellCount, Measure, Statement, UnitCount

ALLOWED: Final = "a"
"""How many rows of an entry are allowed."""

ENTRIES, ABOVE = "entries", "above"
"""The entries, and the units that are above a limit."""

_PLACE, _SUM = "p", "s"

LAST: Final = "last"
"""The units with more groups than they may keep, each with the rank of the last group that it keeps."""

_MOST_KEPT: Final = 8
"""With more groups a unit, it is faster to tell first which units are above the limit, and to sort their groups."""

_PLACE_BITS: Final = 20
"""The places of groups fit so many bits, which leaves 43 bits of the hash."""

_RANK: Final = "h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounding:
    """What bounds the entries of a statement.

    Attributes:
        rows: The rows that entries are made of.
        limits: Those of the limits that can bind.
        salt: By which units are sampled.
        sampling: By which hash.
        measures: What entries are added up to.
        dialect: What is best for the engine.
    """

    rows: RowsByGroup
    limits: Limits
    salt: str
    sampling: Sampling
    measures: tuple[Measure, ...]
    dialect: SqlDialect

    @property
    def entry(self) -> list[str]:
        """The columns of an entry."""
        return [UNIT, *(group.name for group in self.rows.group_columns), *aggregate_names(self.measures)]

    @property
    def hashes(self) -> Mapping[str, Sequence[GroupColumn]]:
        """Which hashes put entries in order, and the columns that each is of, beside the unit."""
        own = {"e": self.rows.group_columns}
        ranks_groups = self.rows.cell is not None and self.limits.max_groups_per_unit is not None
        return own | {"g": self.rows.keys} if ranks_groups else own

    @property
    def carried(self) -> list[Sql]:
        """The columns of an entry and of its hashes."""
        ranks = (name for hashed in self.hashes for name in self._ranks(hashed))
        return [column(name) for name in (*self.entry, *ranks)]

    def order(self, hashed: str, by: Sequence[GroupColumn]) -> list[Sql]:
        """The order of entries by a hash, and where two are equal by the columns."""
        return [*map(column, self._ranks(hashed)), *(group.column for group in by)]

    def _ranks(self, hashed: str) -> tuple[str, ...]:
        return halves(hashed) if self.has_halves else (hashed,)

    @property
    def has_halves(self) -> bool:
        """Whether hashes are numbers of 128 bits, which are put in order as two halves."""
        return self.dialect.halves_hashes and self.sampling is Sampling.MD5

    @property
    def counts_rows(self) -> bool:
        """Whether units above their limit are told from rows: a matter of what is declared and asked, never of data."""
        limits = self.limits
        is_of_rows = limits.max_groups_per_unit is None and limits.max_rows_per_group_per_unit is None
        counts_units = any(isinstance(measure, UnitCount | CellCount) for measure in self.measures)
        return self.rows.relation.is_reread and is_of_rows and limits.max_rows_per_unit is not None and not counts_units

    @property
    def orders_few(self) -> bool:
        """Whether entries are of all units, and those of units above a limit alone are put in order."""
        return self.dialect.orders_few and not self.counts_rows


def needs_order(bounding: Bounding) -> bool:
    """Whether what an entry is allowed may depend on other entries of its unit."""
    limits = bounding.limits
    within_a_group = bounding.rows.cell is not None and limits.max_rows_per_group_per_unit is not None
    return within_a_group or limits.max_groups_per_unit is not None or limits.max_rows_per_unit is not None


def simply_allowed(bounding: Bounding) -> Sql:
    """How many rows of an entry are allowed if its unit is within the limits of its entries together."""
    if bounding.rows.cell is not None:
        return column(ROWS)
    return _at_most(column(ROWS), bounding.limits.max_rows_per_group_per_unit)


def above(bounding: Bounding) -> exp.Select:
    """The units that are not within the limits of their entries together."""
    unit = column(UNIT)
    if bounding.counts_rows:
        has_more = operation(exp.GT, function("COUNT", exp.Star()), figure(bounding.limits.max_rows_per_unit or 0))
        return select([unit], bounding.rows.query, group_by=[unit], having=has_more)
    groups: exp.Query | exp.Table = table(ENTRIES)
    if bounding.rows.cell is not None:
        keys = [group.column for group in bounding.rows.keys]
        groups = select([unit, aliased(function("SUM", column(ROWS)), ROWS)], groups, group_by=[unit, *keys])
    return select([unit], groups, group_by=[unit], having=any_of(_excesses(bounding)))


def _excesses(bounding: Bounding) -> Iterator[Sql]:
    """What says of the groups of a unit that it is above a limit; without cells, each is cut to its own limit alone."""
    limits, per_group = bounding.limits, bounding.limits.max_rows_per_group_per_unit
    if (most := limits.max_groups_per_unit) is not None:
        yield operation(exp.GT, function("COUNT", exp.Star()), figure(most))
    if per_group is not None and bounding.rows.cell is not None:
        yield operation(exp.GT, function("MAX", column(ROWS)), figure(per_group))
    if (most := limits.max_rows_per_unit) is not None:
        yield operation(exp.GT, function("SUM", _at_most(column(ROWS), per_group)), figure(most))


def bounded(bounding: Bounding) -> exp.Select:
    """The entries in order, with how many rows of each are allowed, perhaps none."""
    query = _ordered(bounding)
    if bounding.rows.cell is None:
        return _of_groups(query, bounding)
    limits, keys = bounding.limits, [group.column for group in bounding.rows.keys]
    query = select([*bounding.carried, aliased(simply_allowed(bounding), ALLOWED)], query)
    if (most := limits.max_groups_per_unit) is not None:
        query = _in_kept_groups(query, bounding, most)
    if (most := limits.max_rows_per_group_per_unit) is not None:
        query = _what_is_left(query, bounding, most, within=keys)
    if (most := limits.max_rows_per_unit) is not None:
        query = _what_is_left(query, bounding, most, within=[])
    return query


def _ordered(bounding: Bounding) -> exp.Select:
    """The entries, of the units above alone if those were told, with what puts them in order."""
    hashes = [aliased(hash_of(bounding, by), name) for name, by in bounding.hashes.items()]
    hashed = select([*(column(name, "r") for name in bounding.entry), *hashes], table(ENTRIES))
    if bounding.orders_few:
        hashed = joined(hashed, table(ABOVE), "o", on=same(UNIT, "r", "o"), how="semi")
    hashed = bounding.rows.relation.with_units(hashed)
    if bounding.sampling is Sampling.MD5:
        hashed = with_lists(hashed, bounding.rows.group_columns)
    return halved(hashed, bounding.entry, list(bounding.hashes)) if bounding.has_halves else hashed


def hash_of(bounding: Bounding, by: Sequence[GroupColumn]) -> Sql:
    """The hash of a unit and some columns; never of its number, which other units have a say in."""
    rows = bounding.rows.relation
    if bounding.sampling is Sampling.NATIVE:
        return native_hash(bounding.salt, [*rows.unit_hashed, *(group.hashed for group in by)])
    rank = rank_hash if bounding.has_halves else rank_text
    return rank(bounding.salt, [*rows.unit_encoding, *(group.encoding for group in by)])


def _of_groups(query: exp.Select, bounding: Bounding) -> exp.Select:
    """Without cells groups and entries are in one order, and the groups that are kept come first."""
    order, limits = bounding.order("e", bounding.rows.keys), bounding.limits
    own, allowed = [column(name) for name in bounding.entry], simply_allowed(bounding)
    kept, windows = allowed, list[Sql]()
    if (most := limits.max_rows_per_unit) is not None:
        allowed = _at_most(allowed, most)
        windows.append(aliased(_sum_so_far(allowed, order, []), _SUM))
        kept = _left(most, allowed)
    if (most := limits.max_groups_per_unit) is not None:
        windows.append(aliased(_place("ROW_NUMBER", order), _PLACE))
        kept = _if_among(most, kept)
    return select([*own, aliased(kept, ALLOWED)], select([*own, *windows], query))


def _in_kept_groups(query: exp.Select, bounding: Bounding, most: int) -> exp.Select:
    allowed = column(ALLOWED)
    place = aliased(_place("DENSE_RANK", bounding.order("g", bounding.rows.keys)), _PLACE)
    placed = select([*bounding.carried, allowed, place], query)
    return select([*bounding.carried, aliased(_if_among(most, allowed), ALLOWED)], placed)


def _what_is_left(query: exp.Select, bounding: Bounding, most: int, *, within: Sequence[Sql]) -> exp.Select:
    """Of each unit (and group) the entries in order are allowed what is left of a limit."""
    allowed = _at_most(column(ALLOWED), most)
    so_far = aliased(_sum_so_far(allowed, bounding.order("e", bounding.rows.group_columns), within), _SUM)
    summed = select([*bounding.carried, column(ALLOWED), so_far], query)
    return select([*bounding.carried, aliased(_left(most, allowed), ALLOWED)], summed)


def _left(most: int, allowed: Sql) -> Sql:
    """What an entry may have of a limit when those before it have had theirs."""
    before = operation(exp.Sub, column(_SUM), allowed)
    rest = operation(exp.Sub, figure(most), before)
    return cast(function("GREATEST", function("LEAST", allowed, rest), figure(0)), "BIGINT")


def _if_among(most: int, allowed: Sql) -> Sql:
    """What is allowed of the first so many groups; of others nothing."""
    return case([(operation(exp.LTE, column(_PLACE), figure(most)), allowed)], figure(0))


def _place(rank: str, order: Sequence[Sql]) -> Sql:
    return window(function(rank), [column(UNIT)], order)


def _sum_so_far(allowed: Sql, order: Sequence[Sql], within: Sequence[Sql]) -> Sql:
    """Of numbers of 32 bits, as a limit is one: more than that need not be told from it."""
    return window(function("narrow_sum", allowed), [column(UNIT), *within], order, running=True)


def _at_most(count: Sql, most: int | None) -> Sql:
    return count if most is None else function("LEAST", count, figure(most))


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


def ranked(bounding: Bounding, entries: exp.Select) -> exp.Select:
    """The entries with the rank of each group of a unit."""
    first, *others = bounding.rows.keys
    place = first.place
    for group in others:
        place = operation(exp.Add, operation(exp.Mul, place, whole(group.count or 0)), group.place)
    hashed, bits = hash_of(bounding, bounding.rows.keys), figure(_PLACE_BITS)
    rank = function("numbered_hash", hashed, cast(place, "UBIGINT"), bits)
    own = [column(name, "r") for name in bounding.entry]
    return bounding.rows.relation.with_units(select([*own, aliased(rank, _RANK)], entries))


def last_kept(bounding: Bounding) -> exp.Select:
    """`LAST`, of entries that are `ranked`: of the units above alone, as ranks take longer to find than to count."""
    unit, most = column(UNIT, "r"), figure(bounding.limits.max_groups_per_unit or 0)
    last = aliased(function("nth_least", column(_RANK), most), LAST)
    ranks = select([unit, last], table(ENTRIES), group_by=[unit])
    return joined(ranks, table(ABOVE), "o", on=same(UNIT, "r", "o"), how="semi")


def kept_entries(bounding: Bounding) -> exp.Select:
    """The entries of the groups that are kept: all of a unit that is not in `LAST`, else those up to its last rank."""
    last = column(LAST, "o")
    kept = any_of([is_null(last), operation(exp.LTE, column(_RANK, "r"), last)])
    own = [column(name, "r") for name in bounding.entry]
    return joined(select(own, table(ENTRIES), where=[kept]), table(LAST), "o", on=same(UNIT, "r", "o"), how="left")


def binding_limits(statement: Statement) -> Limits:
    """The limits of one unit that leave out anything that others do not leave out already.

    Where only one group of a unit can be left, the limits on its rows there and in all are one and the same.
    """
    limits, count = statement.limits, statement.group_count
    groups, per_group, rows = (
        limits.max_groups_per_unit, limits.max_rows_per_group_per_unit, limits.max_rows_per_unit,
    )  # fmt: skip
    most_groups = least(groups, count)
    if count is not None and most_groups == count:
        groups = None
    if most_groups == 1:
        both = least(per_group, rows)
        per_group, rows = (both, None) if statement.cell is None else (None, both)
    elif rows is not None and per_group is not None:
        if most_groups is not None and rows >= most_groups * per_group:
            rows = None
        elif rows <= per_group:
            per_group = None
    return Limits(max_groups_per_unit=groups, max_rows_per_group_per_unit=per_group, max_rows_per_unit=rows)
