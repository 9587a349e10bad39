"""Randomized reports as a server keeps them: counts of each collection, and hashes of the batches that were counted.

A batch and what it adds are one transaction. So whatever happens to a gateway, a batch that was acknowledged is in the
counts, and one that is sent again, to whichever gateway, counts once. No table holds a report, a sender, an address or
a moment, and nobody who does not know the id of a batch recognizes it.

The id of a batch begins with a day. Batches are forgotten some days later, and those of days before that are refused:
first for good, by a horizon that never goes back, then their rows are deleted. So none counts twice whatever the clock
does.

Proof: proofs/server/identity/collections.md.
"""

import hmac
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, delete, func, select, update

from sfumato.errors import DatabaseError, NotFoundError, ParameterError, PolicyError
from sfumato.local.core.aggregator import Aggregator
from sfumato.server.config import Collection, LimitsEntry
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import BATCHES, COLLECTIONS, HORIZON

_ID: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.[!-~]{16,189}")
_SHOWN: Final = len("2026-11-27")
_FORGOTTEN_AT_ONCE: Final = 100
"""Rows that one batch deletes at most, so that none takes long; each adds one, so that they become fewer."""


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
        days: For how many days a batch is known, and may be sent again.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from sfumato.local import DirectEncoding
        >>> oracle = DirectEncoding(2, epsilon=1)
        >>> votes = Collection("votes", oracle, is_public=False, readers=frozenset())
        >>> with TemporaryDirectory() as folder:
        ...     database = Database(f"sqlite:///{folder}/server.db")
        ...     kept, reports = Collections(database), [bytes(oracle.client().report(1)), b"nonsense"]
        ...     batch = f"{kept.days()[1]}.chosen-at-random"
        ...     for _ in range(2):
        ...         print(kept.receive(votes, reports, batch=batch, body=b""))
        ...     print(len(kept.counted(votes)))
        ...     database.close()
        Received(accepted=1, refused=1, is_repeated=False)
        Received(accepted=1, refused=1, is_repeated=True)
        1
    """

    def __init__(self, database: Database, *, days: int = LimitsEntry().batch_days) -> None:
        self._database, self._days = database, timedelta(days=days)
        self._horizon = ""

    def days(self) -> tuple[date, date]:
        """The first and the last day with which the id of a batch may begin: tomorrow too, as clocks differ."""
        today = self._database.now().date()
        return today - self._days, today + timedelta(days=1)

    def receive(
        self, collection: Collection, reports: Iterable[Any], *, batch: str, body: bytes, sender: str = ""
    ) -> Received | None:
        """Count a batch of reports, unless it was counted before.

        Args:
            collection: Where to.
            reports: Reports, as bytes or as texts in base64; each that is none is refused alone.
            batch: The id of the batch: its day, a dot, and at least 16 characters that its sender chose at random.
            body: The batch as it was sent, which tells it from another one under the same id.
            sender: Whose ids these are, so that nobody takes another's; empty for whoever has no key.

        Returns:
            What became of it; None if another batch came under this id.

        Raises:
            ParameterError: The id is none, or of a day whose batches are forgotten or have not begun.
            DatabaseError: It could not be kept; nothing of it is counted.
        """
        first, last = self.days()
        day = _day_of(batch)
        if day is None or not first <= day <= last:
            raise _wrong_day(batch, first.isoformat(), last)
        added = collection.protocol.aggregator()
        intake = added.add(reports)
        received = Received(intake.accepted, len(intake.refused))
        if not intake.accepted:
            return received  # whoever sends what is no report fills no table
        names = (collection.name, collection.protocol_hash, sender, batch)
        known = sha256("\0".join(names).encode()).hexdigest()
        digest = hmac.digest(batch.encode(), body, "sha256").hex()
        counts = {"accepted": received.accepted, "refused": received.refused}
        if self._horizon < first.isoformat():
            self._forget_before(first.isoformat())
        with self._database.writing() as connection:
            # As long as this transaction reads the horizon, nobody moves it; so no row that it looks for is deleted.
            oldest = select(func.min(BATCHES.c.day)).scalar_subquery().label("oldest")
            kept = connection.execute(select(HORIZON.c.first_day, oldest).with_for_update(read=True, of=HORIZON)).one()
            if day.isoformat() < kept.first_day:
                raise _wrong_day(batch, kept.first_day, last)
            if kept.oldest is not None and kept.oldest < kept.first_day:
                self._delete_some(connection, kept.first_day)
            row = {"id": known, "day": day.isoformat(), "digest": digest, **counts}
            if not self._database.insert_new(connection, BATCHES, **row):
                before = connection.execute(select(BATCHES).where(BATCHES.c.id == known)).one()
                is_same = hmac.compare_digest(before.digest, digest)
                return Received(before.accepted, before.refused, is_repeated=True) if is_same else None
            self._add(connection, collection, added)
        return received

    def counted(self, collection: Collection) -> Aggregator[Any]:
        """What was counted of a collection by now.

        Raises:
            DatabaseError: It cannot be read, or is of another protocol.
        """
        with self._database.reading() as connection:
            return self._restored(collection, self._found(connection, collection))

    def names(self) -> tuple[str, ...]:
        """The collections of which there are counts, also such as the curator's file does not have any more."""
        with self._database.reading() as connection:
            return tuple(connection.execute(select(COLLECTIONS.c.name).order_by(COLLECTIONS.c.name)).scalars())

    def horizon(self) -> str:
        """The day before which batches are forgotten for good, however many days they are known from now on."""
        with self._database.reading() as connection:
            found: str = connection.execute(select(HORIZON.c.first_day)).scalar_one()
            return found

    def require_protocols(self, collections: Iterable[Collection]) -> None:
        """Refuse collections whose counts are of another protocol than the curator's file has now.

        Raises:
            PolicyError: One has; its counts stay as they are.
        """
        with self._database.reading() as connection:
            found = connection.execute(select(COLLECTIONS.c.name, COLLECTIONS.c.protocol)).all()
        before = {row.name: row.protocol for row in found}
        for each in collections:
            if before.get(each.name, each.protocol_hash) != each.protocol_hash:
                raise PolicyError(
                    f"collections.{each.name}.protocol",
                    f"must stay as it was, as there are counts of it; put the file back, give the new protocol a name "
                    f"of its own, or run: sfumato curator remove-collection {each.name}",
                )

    def remove(self, name: str) -> None:
        """Delete the counts of a collection for good. Its batches stay known for their days, and count no more.

        Raises:
            NotFoundError: There are none.
        """
        with self._database.writing() as connection:
            if connection.execute(delete(COLLECTIONS).where(COLLECTIONS.c.name == name)).rowcount == 0:
                raise NotFoundError("collection", name)

    def _forget_before(self, first: str) -> None:
        """Refuse batches of earlier days from now on, and for good; a horizon that is later already stays."""
        with self._database.writing() as connection:
            connection.execute(update(HORIZON).where(HORIZON.c.first_day < first).values(first_day=first))
        self._horizon = first

    @staticmethod
    def _delete_some(connection: Connection, horizon: str) -> None:
        """Delete rows of days before the horizon, whose batches are refused; rows that another one deletes are left."""
        oldest = select(BATCHES.c.id).where(BATCHES.c.day < horizon).limit(_FORGOTTEN_AT_ONCE)
        connection.execute(delete(BATCHES).where(BATCHES.c.id.in_(oldest.with_for_update(skip_locked=True))))

    def _add(self, connection: Connection, collection: Collection, added: Aggregator[Any]) -> None:
        """Add counts to those of a collection, which nobody else changes until the transaction ends."""
        found = self._found(connection, collection, to_write=True)
        if found is None:  # in PostgreSQL another gateway may insert it now, too; then this one waits for that
            empty = {"protocol": collection.protocol_hash, "snapshot": collection.protocol.aggregator().snapshot()}
            self._database.insert_new(connection, COLLECTIONS, name=collection.name, **empty)
            found = self._found(connection, collection, to_write=True)
        counted = self._restored(collection, found)
        counted.merge(added)
        of_it = COLLECTIONS.c.name == collection.name
        connection.execute(update(COLLECTIONS).where(of_it).values(snapshot=counted.snapshot()))

    @staticmethod
    def _found(
        connection: Connection, collection: Collection, *, to_write: bool = False
    ) -> tuple[str, bytes] | None:  # fmt: skip
        """The hash of the protocol of a collection, and its counts; None where there are none."""
        query = select(COLLECTIONS.c.protocol, COLLECTIONS.c.snapshot).where(COLLECTIONS.c.name == collection.name)
        found = connection.execute(query.with_for_update() if to_write else query).one_or_none()
        return None if found is None else (found.protocol, found.snapshot)

    def _restored(self, collection: Collection, found: tuple[str, bytes] | None) -> Aggregator[Any]:
        """The counts that were found; where there are none, nothing counted.

        Raises:
            DatabaseError: They are of another protocol, or damaged.
        """
        counted = collection.protocol.aggregator()
        if found is None:
            return counted
        protocol, snapshot = found
        if protocol != collection.protocol_hash:
            requirement = f"holds counts of another protocol for the collection {collection.name}; see curator.toml"
            raise DatabaseError(self._database.name, requirement)
        try:
            return counted.restore(snapshot)
        except ParameterError:
            requirement = f"holds damaged counts of the collection {collection.name}; restore a backup"
            raise DatabaseError(self._database.name, requirement) from None


def _day_of(batch: str) -> date | None:
    """The day in the id of a batch; None for a text that is none."""
    found = _ID.fullmatch(batch)
    with suppress(ValueError):
        return None if found is None else date.fromisoformat(found[1])
    return None


def _wrong_day(batch: str, first: str, last: date) -> ParameterError:
    requirement = (
        f"must be the id of a batch: a day in UTC from {first} to {last}, a dot, and 16 to 189 characters chosen at "
        "random; an older batch is refused, as whether it was counted is forgotten"
    )
    return ParameterError("Idempotency-Key", batch[:_SHOWN], requirement)
