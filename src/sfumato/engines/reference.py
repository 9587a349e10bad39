"""The slow engine in plain Python, nothing clever: the oracle that every other engine is tested against."""

import csv
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import TypeAlias, TypeVar

import pyarrow as pa

from sfumato.engines.arrow_tables import read_parquet
from sfumato.engines.base import Integers, aligned
from sfumato.engines.conditions import holds
from sfumato.engines.csv_files import rows as csv_rows
from sfumato.engines.sampling import rank_hash
from sfumato.engines.sources import ArrowData, CsvFile, DataSource, ParquetFile
from sfumato.engines.values import Cell, contribution, typed
from sfumato.errors import EngineError
from sfumato.privacy.neighbors import EachRow
from sfumato.privacy.secret import Secret
from sfumato.query.plan import Statement
from sfumato.query.relations import Bound, Filter, Part, Rows, Source, table_of
from sfumato.query.schema import Key, Limits, Table

T = TypeVar("T")
Row: TypeAlias = dict[str, Cell]
Entry: TypeAlias = tuple[Cell, tuple[Cell, ...], tuple[int, ...]]
"""A row reduced to what a statement needs: unit, keys, what it adds to each measure."""


class ReferenceEngine:
    """Holds sources by table name and computes statements row by row.

    Args:
        sources: Where the rows of each table come from.
    """

    name = "reference"

    def __init__(self, sources: Mapping[str, DataSource]) -> None:
        self._sources = dict(sources)

    def run(self, statement: Statement, *, salt: str) -> Secret[Integers]:
        """See `Engine.run`."""
        try:
            return self._run(statement, salt)
        except (OSError, csv.Error, pa.ArrowException):
            raise EngineError(self.name, "read a source") from None

    def _run(self, statement: Statement, salt: str) -> Secret[Integers]:
        table = table_of(statement.rows)
        rows, limits = _unbounded(statement.rows)
        kept = [row for row in self._rows(rows) if _has_listed_keys(row, statement)]
        entries = _bounded([_entry(row, statement, table) for row in kept], limits, salt)
        sums: dict[tuple[Key, ...], list[int]] = defaultdict(lambda: [0] * len(statement.measures))
        for _, keys, added in entries:
            total = sums[keys]  # type: ignore[index] # listed keys are never None
            for index, amount in enumerate(added):
                total[index] += amount
        return aligned(statement, sums)

    def close(self) -> None:
        """Nothing is held open."""

    def _rows(self, rows: Rows) -> list[Row]:
        match rows:
            case Source(table):
                return [row for row in self._typed(table) if _has_unit(row, table)]
            case Part():
                return _part(self._rows(rows.child), rows)
            case Filter(child, condition):
                return [row for row in self._rows(child) if holds(condition, row) is True]
            case Bound(child, _):
                return self._rows(child)

    def _typed(self, table: Table) -> Iterable[Row]:
        for values in _records(self._sources[table.name], table):
            yield {name: typed(values.get(name), column) for name, column in table.columns.items()}


def _records(source: DataSource, table: Table) -> Iterable[Mapping[str, object]]:
    match source:
        case CsvFile(path, names, has_header):
            return (dict(zip(names, row, strict=True)) for row in csv_rows(path, names=names, has_header=has_header))
        case ParquetFile(path, _):
            return list(read_parquet(path, table).to_pylist())
        case ArrowData():
            return list(source.table.to_pylist())


def _unbounded(rows: Rows) -> tuple[Rows, Limits]:
    return (rows.child, rows.limits) if isinstance(rows, Bound) else (rows, Limits())


def _has_unit(row: Row, table: Table) -> bool:
    return isinstance(table.unit, EachRow) or row[table.unit.column] is not None


def _has_listed_keys(row: Row, statement: Statement) -> bool:
    return all(row[key.name] in key.values for key in statement.keys)


def _entry(row: Row, statement: Statement, table: Table) -> Entry:
    unit = None if isinstance(table.unit, EachRow) else row[table.unit.column]
    added = tuple(contribution(measure, row, table) for measure in statement.measures)
    return unit, tuple(row[key.name] for key in statement.keys), added


def _part(rows: list[Row], part: Part) -> list[Row]:
    """The rows of one part, of units that keep it."""
    unit = table_of(part).unit
    listed = [row for row in rows if row[part.by] in part.values]
    if not isinstance(unit, EachRow):
        listed = _least_ranked(
            listed, part.max_parts_per_unit, lambda row: row[unit.column],
            lambda row: (rank_hash(part.salt, (row[unit.column], row[part.by])), row[part.by]),
        )  # fmt: skip
    return [row for row in listed if row[part.by] == part.value]


def _bounded(entries: list[Entry], limits: Limits, salt: str) -> list[Entry]:
    """At most so many groups of each unit, then rows of each unit and group, then rows of each unit."""
    if (most := limits.max_groups_per_unit) is not None:
        entries = _least_ranked(entries, most, itemgetter(0), lambda e: (rank_hash(salt, (e[0], *e[1])), e[1]))
    if (most := limits.max_rows_per_group_per_unit) is not None:
        entries = _first(entries, most, lambda e: (e[0], e[1]), salt)
    if (most := limits.max_rows_per_unit) is not None:
        entries = _first(entries, most, lambda e: e[0], salt)
    return entries


def _first(entries: list[Entry], most: int, by: Callable[[Entry], Hashable], salt: str) -> list[Entry]:
    """The first rows of each unit by hash; rows with one hash add the same, so it does not matter which is kept."""
    taken: dict[Hashable, int] = defaultdict(int)
    kept = []
    for entry in sorted(entries, key=lambda e: rank_hash(salt, (e[0], *e[1], *e[2]))):
        taken[by(entry)] += 1
        if taken[by(entry)] <= most:
            kept.append(entry)
    return kept


def _least_ranked(
    items: list[T], most: int, by: Callable[[T], Hashable], rank: Callable[[T], tuple[object, ...]]
) -> list[T]:
    """The items of each unit whose rank is among its `most` least different ones."""
    ranks: dict[Hashable, set[tuple[object, ...]]] = defaultdict(set)
    for item in items:
        ranks[by(item)].add(rank(item))
    least = {unit: sorted(found)[:most] for unit, found in ranks.items()}
    return [item for item in items if rank(item) in least[by(item)]]
