"""The slow engine in plain Python, nothing clever: the oracle that every other engine is tested against."""

import csv
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.base import Found, Integers, cause_of, failing, in_batches
from sfumato.engines.reference.entries import Entry, added_up, allowances, entries, placed
from sfumato.engines.reference.mixing import unmixed_cell, unmixed_measure
from sfumato.engines.reference.relations import relation_rows
from sfumato.engines.sources.sources import DataSource, stored_rows
from sfumato.engines.values import MAX_INT64, MIN_INT64, Row, typed
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.measures import CellCount
from sfumato.query.model.schema import Limits, Table
from sfumato.query.model.statement import Statement


class ReferenceEngine:
    """Holds sources by table name and computes statements row by row.

    Args:
        sources: Where the rows of each table come from.
    """

    name = "reference"

    def __init__(self, sources: Mapping[str, DataSource]) -> None:
        self._sources = dict(sources)

    def run(self, statement: Statement, *, salt: str) -> Secret[Found]:
        """See `Engine.run`."""
        return Secret(self._found(statement, salt))

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[Found], None, None]:
        """See `Streaming.batches`."""
        return (Secret(one) for one in in_batches(self._found(statement, salt), size=size))

    def sql(self, _: Statement) -> str:
        """Nothing: it runs no SQL."""
        return ""

    def close(self) -> None:
        """Nothing is held open."""

    def _found(self, statement: Statement, salt: str) -> Found:
        statement, limits = _unmixed(statement), statement.limits
        with failing(self.name, "read a source", (OSError, csv.Error, pa.ArrowException), cause=cause_of):
            rows = relation_rows(statement.rows, self._read, salt=salt)
        if shape_of(statement.rows).metric is not Metric.UNITS:  # each row is a unit, and counts alone
            rows, limits = [(index, row) for index, (_, row) in enumerate(rows)], Limits()
        found = entries(placed(rows, statement), statement.measures)
        allowed = allowances(found, limits, key_count=len(statement.keys), salt=salt)
        return _as_found(statement, allowed)

    def _read(self, table: Table) -> list[Row]:
        records = stored_rows(self._sources[table.name], table).to_pylist()
        return [
            {name: typed(record.get(name), column) for name, column in table.columns.items()} for record in records
        ]  # fmt: skip


def _unmixed(statement: Statement) -> Statement:
    columns = shape_of(statement.rows).columns
    return replace(
        statement, measures=tuple(unmixed_measure(measure, columns) for measure in statement.measures),
        cell=None if statement.cell is None else unmixed_cell(statement.cell, columns),
    )  # fmt: skip


def _as_found(statement: Statement, allowed: list[tuple[Entry, int]]) -> Found:
    """One entry for each group, or for each cell of a group unless cells are only counted."""
    key_count = len(statement.keys)
    only_counted = any(isinstance(measure, CellCount) for measure in statement.measures)
    totals = added_up(allowed, statement.measures, by=key_count if only_counted else None)
    shows_cells = statement.cell is not None and not only_counted
    columns: list[list[Any]] = [[place[index] for place in totals] for index in range(key_count + shows_cells)]
    return Found(
        keys=tuple(columns[:key_count]), cells=columns[key_count] if shows_cells else None,
        amounts=tuple(_integers([added[i] for added in totals.values()]) for i in range(len(statement.measures))),
    )  # fmt: skip


def _integers(amounts: list[int]) -> npt.NDArray[np.int64] | Integers:
    fit = all(MIN_INT64 <= amount <= MAX_INT64 for amount in amounts)
    return np.array(amounts, dtype=np.int64 if fit else object)
