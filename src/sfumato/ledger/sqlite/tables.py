"""What a ledger's SQLite file holds, read and written through a connection; failures in our words."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.store import GENESIS, Batch, Chain, End, Pointer, Record
from sfumato.ledger.sqlite.failures import damaged, patiently
from sfumato.ledger.sqlite.schema import forget_pointers

_READ: Final = "SELECT position, previous, text, hash FROM record WHERE position >= ? ORDER BY position LIMIT ?"
# Each is one statement, which sees one state of the file, also where there is no transaction around it.
_HEAD: Final = f"""
SELECT length, head.hash, seal, coalesce(position + 1, 0), coalesce(record.hash, '{GENESIS}')
FROM head LEFT JOIN record ON position = (SELECT max(position) FROM record)
"""
_COUNTS: Final = """
SELECT length, (SELECT count(*) FROM record), (SELECT count(*) FROM pointer WHERE position NOT BETWEEN 0 AND length - 1)
FROM head
"""
_POINTERS: Final = "SELECT name, position, seal FROM pointer WHERE name > ? ORDER BY name LIMIT ?"
_NO_LIMIT: Final = -1


class SQLiteTables:
    """The tables behind a connection.

    Args:
        connection: From `sqlite_file.connect`.
        path: The file, as errors name it.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        return tuple(_record(row) for row in self._rows(_READ, start, _NO_LIMIT if limit is None else limit))

    def find(self, name: str) -> Pointer | None:
        """The pointer of a name."""
        rows = self._rows("SELECT name, position, seal FROM pointer WHERE name = ?", name)
        return self._pointer(rows[0]) if rows else None

    def pointers(self, *, after: str = "", limit: int) -> tuple[Pointer, ...]:
        """The pointers after a name."""
        return tuple(map(self._pointer, self._rows(_POINTERS, after, limit)))

    def snapshot(self) -> str | None:
        """The last snapshot."""
        match self._rows("SELECT text FROM snapshot"):
            case []:
                return None
            case [(str(text),)]:
                return text
            case _:
                raise damaged(self._path)

    def end(self) -> End:
        """How many records there are, the hash of the last, and the last seal.

        Raises:
            LedgerCorruptError: The head says otherwise: records are hidden by a damaged page, or gone.
        """
        match self._rows(_HEAD):
            case [(int(length), str(digest), str() | None as seal, count, last)] if (length, digest) == (count, last):
                return End(chain=Chain(length=length, head=digest), seal=seal)
            case _:
                raise damaged(self._path)

    def keep(self, batch: Batch) -> None:
        """Insert a batch."""
        records = [(record.index, record.previous, record.text, record.hash) for record in batch.records]
        if batch.is_reindexed:
            patiently(lambda: forget_pointers(self._connection), self._path)
        pointers = [(pointer.name, pointer.index, pointer.seal) for pointer in batch.pointers]
        self._insert("INSERT INTO record VALUES (?, ?, ?, ?)", records)
        self._insert("INSERT INTO pointer VALUES (?, ?, ?)", pointers)
        if batch.snapshot is not None:
            self._insert("INSERT OR REPLACE INTO snapshot VALUES (0, ?)", [(batch.snapshot,)])
        if batch.seal is not None:
            self._insert("UPDATE head SET seal = ?", [(batch.seal,)])

    def check(self) -> None:
        """Count.

        Raises:
            LedgerCorruptError: There are not as many records as the head says, or a pointer leads nowhere.
        """
        match self._rows(_COUNTS):
            case [(length, count, 0)] if length == count:
                return
            case _:
                raise damaged(self._path)

    def _pointer(self, row: tuple[object, ...]) -> Pointer:
        match row:
            case (str(name), int(index), str(seal)):
                return Pointer(name=name, index=index, seal=seal)
            case _:
                raise damaged(self._path)

    def _rows(self, query: str, *parameters: object) -> list[tuple[object, ...]]:
        return patiently(lambda: self._connection.execute(query, parameters).fetchall(), self._path)

    def _insert(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        patiently(lambda: self._connection.executemany(statement, rows), self._path)


def _record(row: tuple[object, ...]) -> Record:
    match row:
        case (int(index), str(previous), str(text), str(digest)):
            return Record(index=index, previous=previous, text=text, hash=digest)
        case (int(index), *_):
            raise LedgerCorruptError(index)
        case _:
            raise LedgerCorruptError(0)
