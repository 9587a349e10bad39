"""Collections of randomized reports, examined: whether their counts can be read, and whether anybody may read them."""

from collections.abc import Iterator
from typing import Final

from sfumato.errors import DatabaseError, PolicyError
from sfumato.server.config import Curator
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Directory
from sfumato.server.operations.findings import Finding, advice, failure, fine, warning

_PAGE: Final = "docs/how-to/server/collections.md"


def examine_collections(curator: Curator, database: Database) -> Iterator[Finding]:
    """Counts, readers and the clock of collections.

    Args:
        curator: What the curator's file declares.
        database: Where counts are kept; only read.
    """
    kept = Collections(database, days=curator.limits.batch_days)
    people = {person.name for person in Directory(database).people()}
    for name, collection in curator.collections.items():
        subject = f"collection {name}"
        try:
            kept.require_protocols([collection])
            yield fine(subject, f"{len(kept.counted(collection)):,} reports of the protocol {collection.protocol.kind}")
        except PolicyError as error:
            yield failure(subject, error.requirement, _PAGE)
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
        yield failure("days of batches", seen, f"set the clock, by NTP; {_PAGE}")
