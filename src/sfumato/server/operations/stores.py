"""The ledger and the server's own database, examined: whether all of it is as it was written, and of this version."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError

from sfumato.errors import DatabaseError, LedgerMissingError, PolicyError
from sfumato.ledger.core.windows import MICROSECONDS
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.server.config import Curator
from sfumato.server.identity import migrations
from sfumato.server.identity.acts import ActLog
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import VERSION_TABLE, Database, url_of
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Directory
from sfumato.server.operations.files import SQLITE
from sfumato.server.operations.findings import Finding, advice, failure, fine, warning
from sfumato.server.operations.people import examine_keys, examine_overruns, examine_people

_MINUTE: Final = 60 * MICROSECONDS
_DRIVERS: Final = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
_ON_COLLECTIONS: Final = "docs/how-to/server/collections.md"
_STARTED: Final = "start the server, which makes it: sfumato serve --config curator.toml"


def examine_ledger(curator: Curator, *, is_deep: bool) -> Iterator[Finding]:
    """The ledger: whether it opens, belongs to the datasets that there are, and has no time ahead of it.

    Args:
        curator: What the curator's file declares.
        is_deep: Whether every entry is verified, which takes longer the more there are.
    """
    try:
        ledger = open_ledger(curator.ledger, must_exist=True)
    except LedgerMissingError as error:
        if place_of(curator.ledger).key.exists():
            yield failure("ledger", error.requirement, "docs/how-to/server/restore.md")
        else:
            yield advice("ledger", "does not exist yet", _STARTED)
        return
    with ledger:
        if is_deep:
            chain = ledger.verify()
            yield fine("ledger", f"{chain.length:,} entries, each verified; head {chain.head}")
        else:
            seen = f"{len(ledger):,} entries; the last seal and the checkpoint agree"
            yield fine("ledger", f"{seen}; --deep verifies each")
        yield from _clock(ledger)
        yield from _accounts(curator, ledger)


def _clock(ledger: Ledger) -> Iterator[Finding]:
    ahead = ledger.ahead()
    if ahead >= _MINUTE:
        seen = f"the last entry of the ledger is {ahead / MICROSECONDS:,.0f} s later than the clock of this machine"
        yield failure(
            "clock", seen, "set the clock, by NTP; until it catches up no window refills and all times are late"
        )
    else:
        yield fine("clock", "is not behind the ledger")


def _accounts(curator: Curator, ledger: Ledger) -> Iterator[Finding]:
    opened = ledger.accounts()
    for name, dataset in curator.datasets.items():
        if name not in opened:
            yield advice(f"account {name}", "does not exist yet", _STARTED)
            continue
        if ledger.is_suspended(name):
            fix = "find the cause in the log, and have an owner acknowledge it: docs/how-to/server/owners.md"
            yield failure(f"account {name}", "is suspended: a query failed while it read rows", fix)
        if ledger.budget(name) != dataset.budget:
            seen = f"the ledger allows {ledger.budget(name)}, and the curator's file says {dataset.budget}"
            yield advice(f"account {name}", seen, "the ledger counts; make the curator's file say the same")


def examine_database(curator: Curator) -> Iterator[Finding]:
    """The server's own database: its version, the log of acts, and people and keys in it. It is not upgraded."""
    if curator.database.startswith(SQLITE) and not Path(curator.database.removeprefix(SQLITE)).exists():
        yield advice("database", "does not exist yet", "sfumato curator add-admin NAME --config curator.toml")
        return
    found, newest = revisions(curator.database)
    if found != newest:
        seen = f"its tables are those of revision {found or 'none'}; this version has {newest}"
        yield warning("database", seen, "back it up; the next start of the server upgrades it")
        return
    yield fine("database", f"has the tables of this version, revision {found}")
    with closing(Database(curator.database)) as database:
        with closing(ActLog(database)) as acts:
            chain = acts.verify()
        if chain.broken is None:
            yield fine("log of acts", f"{chain.length:,} acts, each as it was written; head {chain.head}")
        else:
            seen = f"act {chain.broken} is not as it was written, or is missing"
            yield failure("log of acts", seen, "find out who could write the database; restore a backup")
        yield from examine_people(curator, database)
        if curator.secret.exists():
            yield from examine_keys(database, ApiKeys(database, secret=curator.secret).list())
        else:
            fix = "restore it from the place where it was kept, or make new API keys for everybody"
            yield failure("API keys", f"their secret {curator.secret} is missing, so that none works", fix)
        yield from examine_overruns(curator, database)
        yield from _collections(curator, database)


def _collections(curator: Curator, database: Database) -> Iterator[Finding]:
    """Whether counts can be read, are of the protocols that the file has, and have readers; none is changed."""
    kept = Collections(database, days=curator.limits.batch_days)
    people = {person.name for person in Directory(database).people()}
    for name, collection in curator.collections.items():
        subject = f"collection {name}"
        try:
            kept.require_protocols([collection])
            yield fine(subject, f"protocol: {collection.protocol.kind}; reports: {len(kept.counted(collection)):,}")
        except PolicyError as error:
            yield failure(subject, error.requirement, _ON_COLLECTIONS)
        except DatabaseError as error:
            yield failure(subject, error.requirement, "docs/how-to/server/restore.md")
        if not collection.readers:
            yield advice(subject, "nobody may read its estimates", f"name people: [collections.{name}] readers = […]")
        if missing := sorted(collection.readers - people):
            yield warning(
                subject, f"its readers {', '.join(missing)} are no people of this server", "correct the names"
            )
    for name in kept.names():
        if name not in curator.collections:
            fix = f"declare it again, or delete its counts: sfumato curator remove-collection {name}"
            yield advice(f"collection {name}", "has counts, but is not in the curator's file", fix)
    today = database.now().date().isoformat()
    if kept.horizon() > today:
        seen = f"batches of days before {kept.horizon()} are refused: the clock of this machine was ahead"
        yield failure("days of batches", seen, f"set the clock, by NTP; {_ON_COLLECTIONS}")


def revisions(location: str) -> tuple[str | None, str | None]:
    """The revision of the tables of a server's database, and the newest one that this version knows.

    Raises:
        DatabaseError: The location is none.
        OSError: It cannot be read.
    """
    url = url_of(location)
    engine = create_engine(url.set(drivername=_DRIVERS[url.get_backend_name()]))
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
            found = context.get_current_revision()
    except SQLAlchemyError as error:
        raise OSError(None, f"the database cannot be read ({type(error).__name__})") from None
    finally:
        engine.dispose()
    folder = str(Path(str(migrations.__file__)).parent)
    return found, ScriptDirectory(folder, version_locations=[folder]).get_current_head()
