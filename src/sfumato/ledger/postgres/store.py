"""A ledger in PostgreSQL, shared by processes on several hosts.

A turn is one transaction that holds the only row of the table `head`: all of it is on the server's disk when the turn
is over.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar
from weakref import finalize

from sfumato.ledger.core.store import End, Pointer, Record
from sfumato.ledger.postgres.address import address_of
from sfumato.ledger.postgres.connection import LedgerConnection
from sfumato.ledger.postgres.tables import PostgresTables
from sfumato.ledger.writing.turns import OneAtATime, OpenTurn

T = TypeVar("T")


class PostgresStore:
    """Records, pointers and a snapshot in tables that triggers keep append-only, in a schema of their own.

    Args:
        location: ``postgresql://user@host/database?ledger=name``, as libpq reads it but for the ledger's name; the
            schema is ``sfumato_name``, made if missing.
        must_exist: Whether a missing ledger is an error.
        is_upgraded: Whether a ledger of a version that sealed nothing is opened, for who migrates it.

    Raises:
        ParameterError: The location is no such address.
        LedgerError: The server cannot be reached, may forget, or has no ledger there.
        LedgerCorruptError: Records are gone.
    """

    def __init__(self, location: str, *, must_exist: bool = False, is_upgraded: bool = False) -> None:
        address = address_of(location)
        self._place = address.shown
        self._turns = OneAtATime(self._place)
        # One connection sees what a turn has not yet committed, the other one never does and never waits for it.
        self._writer = LedgerConnection(address, must_exist=must_exist, is_upgraded=is_upgraded)
        self._reader = LedgerConnection(address, must_exist=True)
        self._reading = Lock()
        finalize(self, _close, self._writer, self._reader)
        self._writer.asked(PostgresTables.end)

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        return self._asked(lambda tables: tables.read(start, limit=limit))

    def find(self, name: str) -> Pointer | None:
        """The pointer of a name."""
        return self._asked(lambda tables: tables.find(name))

    def pointers(self, *, after: str = "", limit: int) -> tuple[Pointer, ...]:
        """The pointers after a name."""
        return self._asked(lambda tables: tables.pointers(after=after, limit=limit))

    def snapshot(self) -> str | None:
        """The last snapshot."""
        return self._asked(PostgresTables.snapshot)

    def end(self) -> End:
        """How far it is."""
        return self._asked(PostgresTables.end)

    @contextmanager
    def turn(self) -> Iterator[OpenTurn]:
        """Wait for the right to append; at the end of the block it is on the server's disk."""
        with self._turns.taken():
            try:
                tables, end = self._writer.begin()
                with OpenTurn(tables, end, self._place).ending() as turn:
                    yield turn
                self._writer.commit()
            finally:
                self._writer.end()

    def check(self) -> None:
        """Count; that the server's pages are whole is for its own tools to say."""
        self._asked(PostgresTables.check)

    def close(self) -> None:
        """Close both connections, once a turn that another thread has is over."""
        with self._turns.taken(), self._reading:
            _close(self._writer, self._reader)

    def _asked(self, question: Callable[[PostgresTables], T]) -> T:
        with self._reading:
            return self._reader.asked(question)


def _close(*connections: LedgerConnection) -> None:
    for connection in connections:
        connection.close()
