"""The tables of one database that relations are read from: queries of what is stored; nothing is made there."""

from collections.abc import Mapping

from sqlglot import exp

from sfumato.engines.postgres_address import Address
from sfumato.engines.postgres_catalogue import Stored, check_server, stored
from sfumato.engines.postgres_connection import Connection
from sfumato.engines.sources import Opened, PostgresData
from sfumato.engines.sql.sources import owned_rows, typed_columns
from sfumato.errors import ParameterError
from sfumato.query.schema import Table


class PostgresTables:
    """Looks tables up in the catalog, once, and says how they are read.

    Args:
        connection: To their database.
        sources: Where they are, and what is declared of them.
        may_write: Whether a role is accepted that could change them.

    Raises:
        ParameterError: One cannot be read as declared, or the server cannot be asked safely.
        adbc.Error: The database cannot be reached.
    """

    def __init__(self, connection: Connection, sources: Mapping[str, PostgresData], *, may_write: bool) -> None:
        self._stored: dict[str, Stored] = {}
        if not sources:
            return
        path = connection.schemas()
        with connection.transaction() as asked:
            for name, source in sources.items():
                check_server(asked, source.address.shown)
                self._stored[name] = stored(asked, source.address, source.table, path=path, may_write=may_write)

    def named(self, table: Table) -> exp.Query:
        """A table of `Rows`."""
        own = self._stored[table.name]
        return owned_rows(table, typed_columns(table, own.storage, own.query), self.named)


def one_database(sources: Mapping[str, Opened]) -> tuple[Address, Mapping[str, PostgresData]]:
    """The database that all sources are in, and they.

    Raises:
        ParameterError: One is no table of PostgreSQL, or they are in several databases.
    """
    own: dict[str, PostgresData] = {}
    for name, source in sources.items():
        if not isinstance(source, PostgresData):
            requirement = "must be an address like postgresql://user@host/database?table=schema.name"
            raise ParameterError("source", type(source).__name__, requirement)
        own[name] = source
    addresses = [source.address for source in own.values()] or [Address("", "", None, "")]
    for address in addresses:
        if address.database != addresses[0].database:
            requirement = "must be the address of all tables of the policy that are in PostgreSQL, but for table="
            raise ParameterError("source", address.shown, requirement)
    return addresses[0], own
