"""The engine of PostgreSQL over any data that tests have: it is put into a real server first."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from tests.engines.postgres_server import server

from sfumato.engines.csv_files import rows
from sfumato.engines.postgres import PostgresEngine
from sfumato.engines.postgres_address import address_of
from sfumato.engines.sources import CsvFile, DataSource, ParquetFile, PostgresData
from sfumato.query.schema import Table


def engine(tables: Mapping[str, tuple[Table, DataSource]], **options) -> PostgresEngine:
    """An engine over tables that are new in the server of this process."""
    return PostgresEngine({name: loaded(table, source) for name, (table, source) in tables.items()}, **options)


def loaded(table: Table, source: DataSource) -> PostgresData:
    """A table of the server with the rows of a source."""
    return PostgresData(address_of(server().url(table=server().load(_arrow(source)))), table)


def _arrow(source: DataSource) -> pa.Table:
    match source:
        case CsvFile(path, names, has_header):
            records = list(rows(path, names=names, has_header=has_header))
            columns = [[record[place] for record in records] for place in range(len(names))]
            return pa.table([pa.array(column, pa.string()) for column in columns], names=list(names))
        case ParquetFile(path, _):
            return pq.read_table(path)
        case _:
            return source.table
