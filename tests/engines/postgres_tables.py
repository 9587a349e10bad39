"""The engine of PostgreSQL over any data that tests have: it is put into a real server first."""

from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines import running
from tests.engines.postgres_server import server

from sfumato.engines.postgres import engine as postgres
from sfumato.engines.postgres.connection import Connection
from sfumato.engines.postgres.engine import PostgresEngine
from sfumato.engines.sources.arrow_tables import repaired
from sfumato.engines.sources.sources import (
    CsvFile,
    DataSource,
    LazyData,
    ParquetFile,
    PostgresData,
    address_of,
    stored_rows,
)
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table
from sfumato.query.values.cells import converted


@contextmanager
def started():
    """For some tests the engine is known by its name, and all of its kind share one connection."""
    with pytest.MonkeyPatch.context() as changes:
        changes.setitem(running.DATABASES, "postgres", engine)
        changes.setattr(postgres, "Connection", Lent)
        yield


class Lent:
    """A connection that stays open when an engine lets go of it: to connect takes longer than most questions."""

    def __init__(self, address, settings):
        own = _kept(address, tuple(settings.items()))
        self.transaction, self.schemas = own.transaction, own.schemas

    def close(self):
        """Leave it open."""


@cache
def _kept(address, settings):
    return Connection(address, dict(settings))


def engine(tables: Mapping[str, tuple[Table, DataSource]], **options) -> PostgresEngine:
    """An engine over tables that are new in the server of this process."""
    options = {"sampling": "md5"} | options
    return PostgresEngine({name: loaded(table, source) for name, (table, source) in tables.items()}, **options)


def loaded(table: Table, source: DataSource) -> PostgresData:
    """A table of the server with the rows of a source."""
    return PostgresData(address_of(address(table, source)), table)


def address(table: Table, source: DataSource) -> str:
    """The address of a table of the server with the rows of a source."""
    return server().url(table=f"public.{server().load(storable(_arrow(source, table), table))}")


def storable(data: pa.Table, table: Table) -> pa.Table:
    """Data as PostgreSQL can hold it: without NUL in text; and units of doubles, which are refused, as text."""
    unit = table.unit.column if isinstance(table.unit, UnitColumn) else None
    return pa.table({name: _storable(data[name], is_unit=name == unit) for name in data.column_names})


def _storable(column, *, is_unit):
    if is_unit and pa.types.is_floating(column.type):
        return pa.array([converted(cell, Kind.TEXT) for cell in column.to_pylist()], pa.string())
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    cells = [cell if cell is None else cell.replace("\0", "\ufffd") for cell in column.to_pylist()]
    return pa.array(cells, pa.string())


def _arrow(source: DataSource, table: Table) -> pa.Table:
    match source:
        case ParquetFile(path, _):
            return repaired(pq.read_table(path))
        case CsvFile() | LazyData():
            return stored_rows(source, table)
        case _:
            return source.table
