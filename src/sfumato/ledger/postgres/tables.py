"""What a ledger's tables in PostgreSQL hold, read and written through a connection; failures in our words."""

from typing import Any, Final

from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from sfumato.ledger.core.store import GENESIS, Batch, Chain, End, Pointer, Record
from sfumato.ledger.postgres.address import Address
from sfumato.ledger.postgres.failures import damaged, in_our_words

_READ: Final = """
SELECT position, previous, text, hash FROM {schema}.record WHERE position >= %s ORDER BY position LIMIT %s
"""
_FIND: Final = "SELECT name, position, seal FROM {schema}.pointer WHERE name = %s"
_PAGE: Final = "SELECT name, position, seal FROM {schema}.pointer WHERE name > %s ORDER BY name LIMIT %s"
_SNAPSHOT: Final = "SELECT text FROM {schema}.snapshot"
# Each is one statement, which sees one state of the tables, also where there is no transaction around it.
_HEAD: Final = """
SELECT length, head.hash, seal, coalesce(position + 1, 0), coalesce(record.hash, {genesis})
FROM {schema}.head LEFT JOIN {schema}.record ON position = (SELECT max(position) FROM {schema}.record)
"""
_COUNTS: Final = """
SELECT length, (SELECT count(*) FROM {schema}.record),
  (SELECT count(*) FROM {schema}.pointer WHERE position NOT BETWEEN 0 AND length - 1)
FROM {schema}.head
"""
# A batch is one statement however long it is, with its seal: one way to the server and back.
_RECORDS: Final = """
WITH sealed AS (UPDATE {schema}.head SET seal = coalesce(%s, seal))
INSERT INTO {schema}.record SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[])
"""
_POINTERS: Final = "INSERT INTO {schema}.pointer SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[])"
_FORGET: Final = """
ALTER TABLE {schema}.pointer DISABLE TRIGGER pointer_stays;
DELETE FROM {schema}.pointer;
ALTER TABLE {schema}.pointer ENABLE ALWAYS TRIGGER pointer_stays
"""
_SEAL: Final = "UPDATE {schema}.head SET seal = %s"
_REPLACE: Final = """
INSERT INTO {schema}.snapshot VALUES (true, %s) ON CONFLICT (single) DO UPDATE SET text = excluded.text
"""


class PostgresTables:
    """The tables behind a connection.

    Args:
        connection: In a transaction or in none.
        address: Which ledger of that database.
    """

    def __init__(self, connection: Connection[Any], address: Address) -> None:
        self._connection, self._place = connection, address.shown
        self._names = {"schema": Identifier(address.schema), "genesis": Literal(GENESIS)}

    def read(self, start: int, *, limit: int | None = None) -> tuple[Record, ...]:
        """The records from an index on."""
        rows = self._rows(SQL(_READ).format(**self._names), start, limit)
        return tuple(
            Record(index=index, previous=previous, text=text, hash=digest) for index, previous, text, digest in rows
        )

    def find(self, name: str) -> Pointer | None:
        """The pointer of a name."""
        rows = self._rows(SQL(_FIND).format(**self._names), name)
        return next((Pointer(name=found, index=index, seal=seal) for found, index, seal in rows), None)

    def pointers(self, *, after: str = "", limit: int) -> tuple[Pointer, ...]:
        """The pointers after a name."""
        rows = self._rows(SQL(_PAGE).format(**self._names), after, limit)
        return tuple(Pointer(name=name, index=index, seal=seal) for name, index, seal in rows)

    def snapshot(self) -> str | None:
        """The last snapshot."""
        return next((str(text) for (text,) in self._rows(SQL(_SNAPSHOT).format(**self._names))), None)

    def end(self) -> End:
        """How many records there are, the hash of the last, and the last seal.

        Raises:
            LedgerCorruptError: The head says otherwise: records are gone.
        """
        match self._rows(SQL(_HEAD).format(**self._names)):
            case [(length, digest, seal, count, last)] if (length, digest) == (count, last):
                return End(chain=Chain(length=length, head=digest), seal=seal)
            case _:
                raise damaged(self._place)

    def keep(self, batch: Batch) -> None:
        """Insert a batch."""
        if batch.records:
            rows = [(record.index, record.previous, record.text, record.hash) for record in batch.records]
            self._do(SQL(_RECORDS).format(**self._names), batch.seal, *map(list, zip(*rows, strict=True)))
        elif batch.seal is not None:
            self._do(SQL(_SEAL).format(**self._names), batch.seal)
        if batch.is_reindexed:
            self._do(SQL(_FORGET).format(**self._names))
        if batch.pointers:
            pointers = [(pointer.name, pointer.index, pointer.seal) for pointer in batch.pointers]
            self._do(SQL(_POINTERS).format(**self._names), *map(list, zip(*pointers, strict=True)))
        if batch.snapshot is not None:
            self._do(SQL(_REPLACE).format(**self._names), batch.snapshot)

    def check(self) -> None:
        """Count.

        Raises:
            LedgerCorruptError: There are not as many records as the head says, or a pointer leads nowhere.
        """
        self.end()
        match self._rows(SQL(_COUNTS).format(**self._names)):
            case [(length, count, 0)] if length == count:
                return
            case _:
                raise damaged(self._place)

    def _rows(self, query: Composed, *parameters: object) -> list[tuple[Any, ...]]:
        return in_our_words(lambda: self._connection.execute(query, parameters).fetchall(), self._place)

    def _do(self, statement: Composed, *parameters: object) -> None:
        in_our_words(lambda: self._connection.execute(statement, parameters or None), self._place)
