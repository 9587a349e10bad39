"""Terms and queries of SQL, run on PostgreSQL: for tests alone."""

from functools import cache

import pyarrow as pa
from tests.ending import AT_END
from tests.engines.postgres_server import server

from sfumato.engines.postgres.connection import Connection
from sfumato.engines.postgres.dialect import sql
from sfumato.engines.sql.expressions.terms import aliased, select
from sfumato.engines.sql.expressions.terms import table as named


@cache
def connection():
    """As the engine has it."""
    made = Connection(server().url(), {})
    AT_END.callback(made.close)
    return made


def answer(query):
    """The answer to a query, as an Arrow table."""
    with connection().transaction() as asked:
        return pa.Table.from_batches(asked.batches(sql(query)))


def values_of(terms, data):
    """What each of some terms is on every row of an Arrow table."""
    name = server().load(data)
    columns = [aliased(term, f"v{place}") for place, term in enumerate(terms)]
    found = answer(select(columns, named(name, "public")))
    server().execute(f"DROP TABLE {name}")
    return [column.to_pylist() for column in found.columns]


def rows_of(query):
    """The rows of a query that reads no table."""
    with connection().transaction() as asked:
        return pa.Table.from_batches(asked.batches(sql(query))).to_pylist()
