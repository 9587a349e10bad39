"""Statements to queries of Polars.

relation → rows that lie in a group and a cell → entries of units → what is allowed of them → totals of groups
"""

from dataclasses import dataclass, replace

import polars as pl

from sfumato.engines.frames.bounding import Bounding
from sfumato.engines.frames.entries import Mark, marked
from sfumato.engines.frames.relations import Catalogue, lower_relation
from sfumato.engines.frames.totals import KEPT, counts_cells, totals_of_rows, totals_of_units
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.limits import binding_limits
from sfumato.query.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A statement in Polars.

    Attributes:
        totals: One row a group (and cell) that is found: its marks, and the totals `t0`, `t1`, ….
        keys: The marks of the keys.
        cell: The mark of the cell, where cells are shown.
        measure_count: How many totals there are.
    """

    totals: pl.LazyFrame
    keys: tuple[Mark, ...]
    cell: Mark | None
    measure_count: int


def lower(statement: Statement, catalogue: Catalogue, *, salt: str, sampling: Sampling = Sampling.MD5) -> Lowered:
    """The query of a statement; if units have to be sampled, entries are computed here, because they are read thrice.

    Args:
        statement: What to compute.
        catalogue: Where tables are.
        salt: By which units above a limit are sampled.
        sampling: By which hash.
    """
    rows = lower_relation(statement.rows, catalogue, salt=salt)
    found = marked(statement, rows)
    shown = replace(found, cell=None) if counts_cells(statement.measures) else found
    if rows.has_owners:
        bounding = Bounding(
            marked=found, limits=binding_limits(statement), salt=salt, sampling=sampling, measures=statement.measures
        )  # fmt: skip
        totals = totals_of_units(bounding, shown.marks)
    else:
        totals = totals_of_rows(found, statement.measures, shown.marks)
    return Lowered(
        totals=totals.filter(pl.col(KEPT) > 0), keys=found.keys, cell=shown.cell,
        measure_count=len(statement.measures),
    )  # fmt: skip
