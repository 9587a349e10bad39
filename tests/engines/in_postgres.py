"""Terms of SQL, run on PostgreSQL: for tests alone."""

from functools import cache

import pyarrow as pa
from tests.engines.postgres_server import server

from sfumato.engines.postgres_connection import Connection
from sfumato.engines.sql.dialects.postgres import sql
from sfumato.engines.sql.queries import select
from sfumato.engines.sql.queries import table as named
from sfumato.engines.sql.terms import aliased


@cache
def connection():
    return Connection(server().url(), {})


def values_of(terms, data):
    """What each of some terms is on every row of an Arrow table."""
    name = server().load(data)
    columns = [aliased(term, f"v{place}") for place, term in enumerate(terms)]
    query = select(columns, named(name, "public"))
    with connection().transaction() as asked:
        found = pa.Table.from_batches(asked.batches(sql(query)))
    server().execute(f"DROP TABLE {name}")
    return [column.to_pylist() for column in found.columns]
