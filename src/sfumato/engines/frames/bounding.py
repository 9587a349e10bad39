"""How many rows of each entry are allowed, in Polars: steps 3 to 5 of `Statement`.

Proof: proofs/engines/frames/bounding.md.

Most units are within all limits, so first it is told which are not (`above`), and only their entries are hashed and put
in order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from sfumato.engines.frames.amounts import ROWS, aggregate_names
from sfumato.engines.frames.entries import Mark, Marked
from sfumato.engines.frames.hash import halves, message, native_hash, rank_hash
from sfumato.engines.frames.ranking import PLACE
from sfumato.engines.frames.rows import UNIT
from sfumato.engines.frames.scalars import any_of
from sfumato.engines.sampling import Sampling
from sfumato.query.measures import Measure
from sfumato.query.schema import Limits

ALLOWED: Final = "a"
"""How many rows of an entry are allowed."""

_START: Final = "start"
"""In which row the entries of a unit start, when they are in order: it tells units apart, and is sorted quickly."""

_SIZE, _GROUPS, _RANGE, _CAPPED, _PREFIX = "size", "groups", "range", "capped", "prefix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounding:
    """What bounds the entries of a statement.

    Attributes:
        marked: The rows that entries are made of.
        limits: Those of the limits that can bind.
        salt: By which units are sampled.
        sampling: By which hash.
        measures: What entries are added up to.
    """

    marked: Marked
    limits: Limits
    salt: str
    sampling: Sampling
    measures: tuple[Measure, ...]

    @property
    def keys(self) -> list[str]:
        """The marks of the keys."""
        return [mark.name for mark in self.marked.keys]

    @property
    def marks(self) -> list[str]:
        """All marks."""
        return [mark.name for mark in self.marked.marks]

    @property
    def entry(self) -> list[str]:
        """The columns of an entry."""
        return [UNIT, *self.marks, *aggregate_names(self.measures)]

    @property
    def has_cells(self) -> bool:
        """Whether a group of a unit may have several entries."""
        return self.marked.cell is not None

    @property
    def hashes(self) -> Mapping[str, Sequence[Mark]]:
        """Which hashes put entries in order, and the marks that each is of, beside the unit."""
        own = {"e": self.marked.marks}
        ranks_groups = self.has_cells and self.limits.max_groups_per_unit is not None
        return own | {"g": self.marked.keys} if ranks_groups else own

    def ranks(self, hashed: str) -> list[str]:
        """The columns of a hash."""
        return [f"{hashed}0"] if self.sampling is Sampling.NATIVE else [f"{hashed}0", f"{hashed}1"]


def needs_order(bounding: Bounding) -> bool:
    """Whether what an entry is allowed may depend on other entries of its unit."""
    limits = bounding.limits
    within_a_group = bounding.has_cells and limits.max_rows_per_group_per_unit is not None
    return within_a_group or limits.max_groups_per_unit is not None or limits.max_rows_per_unit is not None


def simply_allowed(bounding: Bounding) -> pl.Expr:
    """How many rows of an entry are allowed if its unit is within the limits of its entries together."""
    return pl.col(ROWS) if bounding.has_cells else _capped(bounding)


def above(bounding: Bounding, entries: pl.LazyFrame) -> pl.LazyFrame:
    """The units that are not within the limits of their entries together, and where the entries of each start."""
    groups = entries.group_by(UNIT, *bounding.keys) if bounding.has_cells else None
    rows = entries if groups is None else groups.agg(pl.col(ROWS).sum(), pl.len().alias(_SIZE))
    size = pl.len() if groups is None else pl.col(_SIZE).sum()
    rows = rows.with_columns(_capped(bounding).alias(_CAPPED))
    units = rows.group_by(UNIT).agg(
        size.cast(pl.Int64).alias(_SIZE), pl.len().cast(pl.Int64).alias(_GROUPS), pl.col(ROWS).max().alias(_RANGE),
        pl.col(_CAPPED).sum(),
    )  # fmt: skip
    over = units.filter(any_of(_excesses(bounding)))
    return over.select(UNIT, (pl.col(_SIZE).cum_sum() - pl.col(_SIZE)).alias(_START))


def _excesses(bounding: Bounding) -> Iterator[pl.Expr]:
    """What says of the groups of a unit that it is above a limit; without cells, each is cut to its own limit alone."""
    limits = bounding.limits
    if (most := limits.max_groups_per_unit) is not None:
        yield pl.col(_GROUPS) > most
    if (most := limits.max_rows_per_group_per_unit) is not None and bounding.has_cells:
        yield pl.col(_RANGE) > most
    if (most := limits.max_rows_per_unit) is not None:
        yield pl.col(_CAPPED) > most


def bounded(bounding: Bounding, entries: pl.LazyFrame, units: pl.LazyFrame) -> pl.LazyFrame:
    """The entries of the units above that are allowed a row, with how many those are.

    Args:
        bounding: What bounds them.
        entries: All entries.
        units: The units `above`.
    """
    limits, order = bounding.limits, [_START, *bounding.ranks("e"), *bounding.marks]
    frame = _hashed(bounding, entries, units).with_columns(simply_allowed(bounding).alias(ALLOWED))
    if bounding.has_cells and (most := limits.max_groups_per_unit) is not None:
        frame = _in_kept_groups(frame, bounding, most)
    frame = frame.sort(order)
    if not bounding.has_cells and (most := limits.max_groups_per_unit) is not None:
        frame = frame.filter(PLACE - pl.col(_START) < most)
    if bounding.has_cells and (most := limits.max_rows_per_group_per_unit) is not None:
        frame = frame.with_columns(_left(most, [_START, *bounding.keys]).alias(ALLOWED))
    if (most := limits.max_rows_per_unit) is not None:
        frame = frame.with_columns(_left(most, [_START]).alias(ALLOWED))
    return frame.filter(pl.col(ALLOWED) > 0)


def _hashed(bounding: Bounding, entries: pl.LazyFrame, units: pl.LazyFrame) -> pl.LazyFrame:
    """The entries of the units above, with what puts them in order."""
    if bounding.sampling is Sampling.NATIVE:
        hashed = entries.join(units, on=UNIT).with_columns(
            native_hash(bounding.salt, [pl.col(UNIT), *(pl.col(mark.name) for mark in marks)]).alias(f"{name}0")
            for name, marks in bounding.hashes.items()
        )
    else:
        prefix = message(bounding.salt, bounding.marked.rows.unit_encoding).alias(_PREFIX)  # once a unit
        hashed = entries.join(units.with_columns(prefix), on=UNIT).with_columns(
            rank_hash(message("", [pl.col(_PREFIX), *(mark.encoding for mark in marks)])).alias(name)
            for name, marks in bounding.hashes.items()
        )
        hashed = hashed.with_columns(
            half.alias(f"{name}{place}") for name in bounding.hashes for place, half in enumerate(halves(pl.col(name)))
        )
    ranks = (rank for name in bounding.hashes for rank in bounding.ranks(name))
    return hashed.select(*bounding.entry, _START, *ranks)


def _in_kept_groups(frame: pl.LazyFrame, bounding: Bounding, most: int) -> pl.LazyFrame:
    """The entries of the groups of least hash: runs of one group are numbered, in each unit from 0 on."""
    ordered = frame.sort(_START, *bounding.ranks("g"), *bounding.keys)
    run = pl.struct(_START, *bounding.keys).rle_id().cast(pl.Int64)
    return ordered.filter(run - run.gather(_START) < most)


def _left(most: int, within: Sequence[str]) -> pl.Expr:
    """What an entry may have of a limit when those before it have had theirs."""
    allowed = pl.col(ALLOWED)
    before = allowed.cum_sum().over(within) - allowed
    return pl.max_horizontal(pl.min_horizontal(allowed, most - before), pl.lit(0, pl.Int64))


def _capped(bounding: Bounding) -> pl.Expr:
    most = bounding.limits.max_rows_per_group_per_unit
    return pl.col(ROWS) if most is None else pl.col(ROWS).clip(upper_bound=most)
