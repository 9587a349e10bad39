"""Randomized reports as a server keeps them: counts of each collection, and hashes of the batches that were counted.

A batch and what it adds are one transaction. So whatever happens to a gateway, a batch that was acknowledged is in the
counts, and one that is sent again, to whichever gateway, counts once. Neither table holds a report, a moment, a sender
or an address, and nobody who does not know the id of a batch recognizes it.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select, update

from sfumato.errors import DatabaseError, ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.server.config import Collection
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import BATCHES, COLLECTIONS


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a batch of reports.

    Attributes:
        accepted: How many were counted.
        refused: How many are no reports of the protocol, and were left out.
        is_repeated: Whether the batch had come before, so that nothing was added now.
    """

    accepted: int
    refused: int
    is_repeated: bool = False


class Collections:
    """Counts reports.

    Args:
        database: Where counts and batches are kept.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from sfumato.local import DirectEncoding
        >>> oracle = DirectEncoding(2, epsilon=1)
        >>> votes = Collection("votes", oracle, is_public=False, readers=frozenset())
        >>> with TemporaryDirectory() as folder:
        ...     database = Database(f"sqlite:///{folder}/server.db")
        ...     kept, reports = Collections(database), [bytes(oracle.client().report(1)), b"nonsense"]
        ...     for _ in range(2):
        ...         print(kept.receive(votes, reports, batch="b" * 16, body=b""))
        ...     print(len(kept.counted(votes)))
        ...     database.close()
        Received(accepted=1, refused=1, is_repeated=False)
        Received(accepted=1, refused=1, is_repeated=True)
        1
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def receive(
        self, collection: Collection, reports: Iterable[Any], *, batch: str, body: bytes, sender: str = ""
    ) -> Received | None:
        """Count a batch of reports, unless it was counted before.

        Args:
            collection: Where to.
            reports: Reports, as bytes or as texts in base64; each that is none is refused alone.
            batch: The id of the batch, a text that its sender chose at random.
            body: The batch as it was sent, which tells it from another one under the same id.
            sender: Whose ids these are, so that nobody takes another's; empty for whoever has no key.

        Returns:
            What became of it; None if another batch came under this id.

        Raises:
            DatabaseError: It could not be kept; nothing of it is counted.
        """
        added = collection.protocol.aggregator()
        intake = added.add(reports)
        received = Received(intake.accepted, len(intake.refused))
        if not intake.accepted:
            return received  # whoever sends what is no report fills no table
        names = (collection.name, collection.protocol.fingerprint.hex(), sender, batch)
        known = sha256("\0".join(names).encode("utf-8", "replace")).hexdigest()
        digest = hmac.digest(batch.encode("utf-8", "replace"), body, "sha256").hex()
        values = {"id": known, "digest": digest, "accepted": received.accepted, "refused": received.refused}
        with self._database.writing() as connection:
            if not self._database.insert_new(connection, BATCHES, **values):
                before = connection.execute(select(BATCHES).where(BATCHES.c.id == known)).one()
                is_same = hmac.compare_digest(before.digest, digest)
                return Received(before.accepted, before.refused, is_repeated=True) if is_same else None
            nothing = collection.protocol.aggregator().snapshot()
            self._database.insert_new(connection, COLLECTIONS, **_key(collection), snapshot=nothing)
            counted = self._read(connection, collection, to_write=True)
            counted.merge(added)
            of_it = (COLLECTIONS.c[name] == value for name, value in _key(collection).items())
            connection.execute(update(COLLECTIONS).where(*of_it).values(snapshot=counted.snapshot()))
        return received

    def counted(self, collection: Collection) -> Aggregator[Any]:
        """What was counted of a collection by now, under its present protocol.

        Raises:
            DatabaseError: It cannot be read.
        """
        with self._database.reading() as connection:
            return self._read(connection, collection)

    def _read(self, connection: Connection, collection: Collection, *, to_write: bool = False) -> Aggregator[Any]:
        of_it = (COLLECTIONS.c[name] == value for name, value in _key(collection).items())
        query = select(COLLECTIONS.c.snapshot).where(*of_it)
        found = connection.execute(query.with_for_update() if to_write else query).scalar_one_or_none()
        counted = collection.protocol.aggregator()
        try:
            return counted if found is None else counted.restore(found)
        except ParameterError:
            requirement = f"holds damaged counts of the collection {collection.name}; restore a backup"
            raise DatabaseError(self._database.name, requirement) from None


def _key(collection: Collection) -> dict[str, str]:
    return {"name": collection.name, "protocol": collection.protocol.fingerprint.hex()}
