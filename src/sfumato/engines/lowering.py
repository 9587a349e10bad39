"""Statements to SQL, built as a tree and emitted from it; nothing an analyst wrote is ever spliced in.

relation → rows that lie in a group and a cell → entries of units → what is allowed of them → totals of groups
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.bounding import Bounding, binding_limits
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.entries import Mark, marked
from sfumato.engines.sql.expressions.terms import Sql, aliased, column, figure, function, operation
from sfumato.engines.sql.queries import select, table
from sfumato.engines.sql.relations import Catalogue, lower_relation
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.totals import KEPT, counts_cells, totals_of_rows, totals_of_units
from sfumato.query.model.relations import Part, lineage
from sfumato.query.model.statement import Statement

_SALT: Final = "…"
"""What people read instead of a salt."""

LOW_BITS: Final = 62
"""How many bits of a total the second of its two columns has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A statement in SQL.

    Attributes:
        totals: One row a group (and cell): its marks, how many entries are `kept`, and the totals `t0`, `t1`, ….
        keys: The marks of the keys.
        cell: The mark of the cell, where cells are shown.
        lists: The marks that have a list: the SQL reads a table for each.
        measure_count: How many totals there are.
    """

    totals: exp.Select
    keys: tuple[Mark, ...]
    cell: Mark | None
    lists: tuple[Mark, ...]
    measure_count: int

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks that are shown."""
        return self.keys if self.cell is None else (*self.keys, self.cell)


def lower(
    statement: Statement, catalogue: Catalogue, *, dialect: Dialect, salt: str, sampling: Sampling = Sampling.MD5,
    bucket: tuple[int, int] | None = None,
) -> Lowered:  # fmt: skip
    """The SQL of a statement.

    Args:
        statement: What to compute.
        catalogue: Where tables are.
        dialect: Of the engine that will read it.
        salt: By which units above a limit are sampled.
        sampling: By which hash.
        bucket: Which of how many buckets to compute: of units where rows have owners, else of groups; None for all.
    """
    rows = lower_relation(statement.rows, catalogue, salt=salt)
    if bucket is not None:
        by = rows.unit or [column(rows.names[key.name]) for key in statement.keys]
        rows = _of_bucket(rows, by, *bucket)
    found = marked(statement, rows)
    shown = replace(found, cell=None) if counts_cells(statement.measures) else found
    if rows.has_owners:
        bounding = Bounding(
            marked=found, limits=binding_limits(statement), salt=salt, sampling=sampling,
            measures=statement.measures, dialect=dialect,
        )  # fmt: skip
        totals = totals_of_units(bounding, shown.marks)
    else:
        totals = totals_of_rows(found, statement.measures, shown.marks)
    lists = tuple(mark for mark in found.marks if mark.values is not None)
    return Lowered(
        totals=totals, keys=found.keys, cell=shown.cell, lists=lists, measure_count=len(statement.measures)
    )  # fmt: skip


def shown_sql(statement: Statement, *, sampling: Sampling, dialect: Dialect) -> str:
    """The SQL of a statement for people: tables are called as the policy calls them, and no salt is shown."""
    catalogue = Catalogue(named=lambda source: table(source.name))
    lowered = lower(statement, catalogue, salt=_SALT, sampling=sampling, dialect=dialect)
    shown = dialect.sql(presented(lowered, lowered.totals), pretty=True)
    for step in lineage(statement.rows):
        shown = shown.replace(step.salt, _SALT) if isinstance(step, Part) else shown
    return shown


def added_up(lowered: Lowered, so_far: exp.Table, own: exp.Select) -> exp.Select:
    """The totals of several buckets, from a table of those before and the totals of one more."""
    marks = [mark.column for mark in lowered.marks]
    names = [KEPT, *(f"t{place}" for place in range(lowered.measure_count))]
    both = exp.union(
        *(select([*marks, *map(column, names)], one) for one in (so_far, own)), distinct=False, copy=False
    )  # fmt: skip
    return select([*marks, *(aliased(function("SUM", column(name)), name) for name in names)], both, group_by=marks)


def presented(lowered: Lowered, totals: exp.Select) -> exp.Select:
    """The groups of which an entry is kept, each total in two columns of 64 bits: what is beyond 62 bits, and those."""
    halves = [half for place in range(lowered.measure_count) for half in _halves(place)]
    columns = [*(mark.column for mark in lowered.marks), *halves] or [column(KEPT)]
    return select(columns, totals, where=[operation(exp.GT, column(KEPT), figure(0))])


def _halves(place: int) -> tuple[Sql, Sql]:
    total, bits = column(f"t{place}"), figure(LOW_BITS)
    high, low = (function(idiom, total, bits) for idiom in ("high_bits", "low_bits"))
    return aliased(high, f"h{place}"), aliased(low, f"l{place}")


def _of_bucket(rows: Rows, by: Sequence[Sql], bucket: int, count: int) -> Rows:
    """The rows of one bucket: of a hash of some columns."""
    own = operation(exp.Mod, function("HASH", *by), figure(count))
    return replace(rows, query=select([], rows.query, where=[operation(exp.EQ, own, figure(bucket))]))
