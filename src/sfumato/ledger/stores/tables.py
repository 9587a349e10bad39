"""The tables of a ledger in a database, read and written; what SQLite and PostgreSQL write differently is a dialect."""

from collections.abc import Sequence
from typing import Any, Final, Protocol

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.store import GENESIS, Chain, IndexEntry, Record, StoreBatch, StoreEnd
from sfumato.ledger.stores.failures import damaged

_READ: Final = """
SELECT position, previous, text, hash FROM {schema}.record WHERE position >= {} ORDER BY position LIMIT {}
"""
_FIND: Final = "SELECT name, position, seal FROM {schema}.pointer WHERE name = {}"
_PAGE: Final = "SELECT name, position, seal FROM {schema}.pointer WHERE name > {} ORDER BY name LIMIT {}"
_SNAPSHOT: Final = "SELECT text FROM {schema}.snapshot"
# Each is one statement, which sees one state of the tables, also where there is no transaction around it.
_HEAD: Final = """
SELECT length, head.hash, seal, position, record.hash
FROM {schema}.head LEFT JOIN {schema}.record ON position = (SELECT max(position) FROM {schema}.record)
"""
_COUNTS: Final = """
SELECT length, (SELECT count(*) FROM {schema}.record),
  (SELECT count(*) FROM {schema}.pointer WHERE position NOT BETWEEN 0 AND length - 1)
FROM {schema}.head
"""
_NO_LIMIT: Final = 2**63 - 1

Rows = Sequence[tuple[Any, ...]]


class TableDialect(Protocol):
    """A connection, and what is written differently on it; failures are in our words."""

    @property
    def place(self) -> str:
        """The ledger, as errors name it."""

    def rows(self, query: str, *parameters: object) -> Rows:
        """What a query finds, of which ``{schema}`` stands for where the tables are, and ``{}`` for each parameter."""

    def add_records(self, rows: Rows, seal: str | None) -> None:
        """Insert records, and put a seal in the place of the last one unless it is None."""

    def add_index_entries(self, rows: Rows) -> None:
        """Insert index entries by new names."""

    def forget_index_entries(self) -> None:
        """Remove all index entries: they are sealed under another key."""

    def replace_snapshot(self, text: str) -> None:
        """Put a snapshot in the place of the last one."""


class LedgerTables:
    """What a ledger's tables hold, seen through a connection.

    Args:
        dialect: The connection, in a transaction or in none.
    """

    def __init__(self, dialect: TableDialect) -> None:
        self._dialect = dialect

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        return tuple(map(_record, self._dialect.rows(_READ, start, _NO_LIMIT if limit is None else limit)))

    def find(self, name: str) -> IndexEntry | None:
        """The index entry of a name."""
        return next(map(self._index_entry, self._dialect.rows(_FIND, name)), None)

    def index_entries(self, *, after: str = "", limit: int) -> tuple[IndexEntry, ...]:
        """The index entries after a name."""
        return tuple(map(self._index_entry, self._dialect.rows(_PAGE, after, limit)))

    def snapshot(self) -> str | None:
        """The last snapshot."""
        match self._dialect.rows(_SNAPSHOT):
            case []:
                return None
            case [(str(text),)]:
                return text
            case _:
                raise damaged(self._dialect.place)

    def end(self) -> StoreEnd:
        """How many records there are, the hash of the last, and the last seal.

        Raises:
            LedgerCorruptError: The head says otherwise: records are hidden by a damaged page, or gone.
        """
        match self._dialect.rows(_HEAD):
            case [(int(length), str(digest), str() | None as seal, last, found)] if (length, digest) == (
                (0, GENESIS) if last is None else (last + 1, found)
            ):
                return StoreEnd(chain=Chain(length=length, head=digest), seal=seal)
            case _:
                raise damaged(self._dialect.place)

    def keep(self, batch: StoreBatch) -> None:
        """Insert a batch."""
        records = [(record.index, record.previous, record.text, record.hash) for record in batch.records]
        index_entries = [(index_entry.name, index_entry.index, index_entry.seal) for index_entry in batch.index_entries]
        self._dialect.add_records(records, batch.seal)
        if batch.is_reindexed:
            self._dialect.forget_index_entries()
        if index_entries:
            self._dialect.add_index_entries(index_entries)
        if batch.snapshot is not None:
            self._dialect.replace_snapshot(batch.snapshot)

    def check(self) -> None:
        """Count.

        Raises:
            LedgerCorruptError: There are not as many records as the head says, or an index entry leads nowhere.
        """
        self.end()
        match self._dialect.rows(_COUNTS):
            case [(length, count, 0)] if length == count:
                return
            case _:
                raise damaged(self._dialect.place)

    def _index_entry(self, row: tuple[object, ...]) -> IndexEntry:
        match row:
            case (str(name), int(index), str(seal)):
                return IndexEntry(name=name, index=index, seal=seal)
            case _:
                raise damaged(self._dialect.place)


def _record(row: tuple[object, ...]) -> Record:
    match row:
        case (int(index), str(previous), str(text), str(digest)):
            return Record(index=index, previous=previous, text=text, hash=digest)
        case (int(index), *_):
            raise LedgerCorruptError(index)
        case _:
            raise LedgerCorruptError(0)
