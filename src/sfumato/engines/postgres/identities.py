"""The identities of a table of PostgreSQL: which relations of which cluster its rows are stored in.

A view has those of all that it reads, through other views too, and a table those of its partitions and children. Each
relation has two: its number, which it keeps when it is renamed, and its name, which another has once it is rebuilt.
"""

from collections.abc import Iterable
from typing import Any, Final

from sfumato.engines.base import failing
from sfumato.engines.postgres.catalogue import BELOW
from sfumato.engines.postgres.connection import FAILURES, Connection, Transaction
from sfumato.engines.sources.identities import Identity
from sfumato.engines.sources.sources import PostgresAddress

_DATABASE: Final = """
    SELECT oid::bigint, datname::text, has_function_privilege('pg_control_system()', 'EXECUTE'),
           coalesce(host(inet_server_addr()), 'local'), current_setting('port')
      FROM pg_database WHERE datname = current_database()"""

_CLUSTER: Final = "SELECT system_identifier::text FROM pg_control_system()"
"""Made by initdb; standbys and copies of the files have it too, and they have the same rows."""

_STORED: Final = f"""{BELOW}
    SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, bool_or(below.oid = below.top)
      FROM below JOIN pg_class AS c ON c.oid = below.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
     GROUP BY 1, 2, 3, 4"""

_VIEW: Final = "v"


def table_identities(address: PostgresAddress) -> tuple[frozenset[Identity], frozenset[Identity]]:
    """The identities of the relation at an address, and those of all that it reads or, where it is a table, of itself.

    The catalog is asked, through a connection of its own.

    Raises:
        EngineError: The database cannot be reached, or fails.
    """
    connection = Connection(address.database, {})
    try:
        with failing("postgres", "looked up where a table is stored", FAILURES):
            path = connection.schemas()
            with connection.transaction() as asked:
                database = _database(asked)
                rows = asked.rows(_STORED, (address.name, address.schema or "", path))
    finally:
        connection.close()
    stored = [row for row in rows if row[3] != _VIEW] or rows  # a view that reads no table is known as itself
    return _known([row for row in rows if row[4]], database), _known(stored, database)


def _known(rows: Iterable[tuple[Any, ...]], database: tuple[str | int, ...]) -> frozenset[Identity]:
    return frozenset(
        identity
        for oid, schema, name, *_ in rows
        for identity in (("relation", *database, oid), ("relation", *database, schema, name))
    )


def _database(asked: Transaction) -> tuple[str | int, ...]:
    """The cluster, by its own number, or by its address where the role may not read that; and the database in it."""
    ((oid, name, may_read, host, port),) = asked.rows(_DATABASE)
    if may_read:
        ((cluster,),) = asked.rows(_CLUSTER)
        return "cluster", cluster, oid
    return "server", host, port, name
