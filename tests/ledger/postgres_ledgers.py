"""Ledgers in the PostgreSQL that tests start, kept by a role that may make schemas and no more."""

from functools import cache
from itertools import count

from tests.engines.postgres_server import DATABASE, server

KEEPER, PASSWORD = "keeper", "the keeper's own"
_NUMBERS = count()


@cache
def keeper():
    """The role, made when it is needed first."""
    server().execute(
        f"CREATE ROLE {KEEPER} LOGIN PASSWORD '{PASSWORD.replace(chr(39), 2 * chr(39))}'",
        f"GRANT CREATE ON DATABASE {DATABASE} TO {KEEPER}",
        f"ALTER ROLE {KEEPER} SET synchronous_commit = off",
        f"ALTER ROLE {KEEPER} SET default_transaction_isolation = 'serializable'",
        f"ALTER ROLE {KEEPER} SET default_transaction_read_only = on",
    )
    return KEEPER


def location(name=None, *, password=PASSWORD):
    """The address of a ledger; without a name of one that does not exist yet."""
    return f"{server().url(user=keeper(), password=password)}?ledger={name or f'number{next(_NUMBERS)}'}"


def schema(location):
    """The schema of a ledger at such an address, for statements."""
    return f'"sfumato_{location.partition("?ledger=")[2]}"'
