"""Sources that PostgreSQL reads where they are: addresses of its tables."""

from sfumato.engines.postgres_address import address_of
from sfumato.engines.sources import Opened, PostgresData, open_source, readable
from sfumato.query.schema import Table


def open_in_place(source: object, table: Table, *, names: tuple[str, ...] | None = None) -> Opened:
    """The source behind an address, with what a table declares of it.

    Whether the database has it, and as it is declared, the engine asks when it is opened.

    Args:
        source: An address as `postgres_address` has it; of files and frames the engine says that it does not read them.
        table: What is declared of it.
        names: The columns of a CSV file without a header.

    Raises:
        ParameterError: The address names no table.
    """
    if isinstance(source, str) and source.startswith(("postgresql:", "postgres:")):
        return PostgresData(address_of(source), table)
    return readable(open_source(source, names=names), table)
