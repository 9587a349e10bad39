"""The tables of a ledger in SQLite, which triggers keep append-only, and how a migration gives an older file those."""

import sqlite3
from contextlib import closing
from functools import cache
from typing import Final

from sfumato.ledger.core.store import GENESIS

# BEFORE INSERT also stops INSERT OR REPLACE, which deletes without asking the triggers on DELETE.
_RECORDS: Final = (
    """CREATE TABLE record (
  position INTEGER PRIMARY KEY,
  previous TEXT NOT NULL,
  text TEXT NOT NULL,
  hash TEXT NOT NULL
)""",
    """CREATE TRIGGER record_is_next BEFORE INSERT ON record
WHEN NEW.position IS NOT (SELECT coalesce(max(position) + 1, 0) FROM record)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER record_is_not_updated BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER record_is_not_deleted BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
)
_POINTERS: Final = (
    """CREATE TABLE pointer (
  name TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  seal TEXT NOT NULL
) WITHOUT ROWID""",
    """CREATE TRIGGER pointer_is_new BEFORE INSERT ON pointer
WHEN EXISTS (SELECT 1 FROM pointer WHERE name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER pointer_is_not_updated BEFORE UPDATE ON pointer
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER pointer_is_not_deleted BEFORE DELETE ON pointer
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
)
_SNAPSHOT: Final = """CREATE TABLE snapshot (
  only INTEGER PRIMARY KEY CHECK (only = 0),
  text TEXT NOT NULL
)"""
# The head is on another page than the records: that the last of them are gone shows without reading all of them. A
# trigger moves it. The seal is beside it, so that sealing a batch writes no other page.
_HEAD: Final = (
    """CREATE TABLE head (
  only INTEGER PRIMARY KEY CHECK (only = 0),
  length INTEGER NOT NULL,
  hash TEXT NOT NULL,
  seal TEXT
)""",
    """CREATE TRIGGER head_follows AFTER INSERT ON record
BEGIN UPDATE head SET length = NEW.position + 1, hash = NEW.hash; END""",
    """CREATE TRIGGER head_grows BEFORE UPDATE OF only, length, hash ON head WHEN NEW.length IS NOT OLD.length + 1
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER head_is_not_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
)
_HEAD_OF_VERSION_2: Final = (
    """CREATE TABLE head (
  only INTEGER PRIMARY KEY CHECK (only = 0),
  length INTEGER NOT NULL,
  hash TEXT NOT NULL
)""",
    """CREATE TRIGGER head_follows AFTER INSERT ON record
BEGIN UPDATE head SET length = NEW.position + 1, hash = NEW.hash; END""",
    """CREATE TRIGGER head_grows BEFORE UPDATE ON head WHEN NEW.length IS NOT OLD.length + 1
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER head_is_not_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
)
_CURRENT: Final = (*_RECORDS, *_POINTERS, _SNAPSHOT, *_HEAD)
_OLDER: Final = (_RECORDS, (*_RECORDS, *_POINTERS, _SNAPSHOT, *_HEAD_OF_VERSION_2))
"""The tables of versions 1 and 2, which sealed no batch."""
_START: Final = f"""
INSERT INTO head SELECT 0, (SELECT coalesce(max(position) + 1, 0) FROM record),
  coalesce((SELECT hash FROM record ORDER BY position DESC LIMIT 1), '{GENESIS}'), NULL
"""


def create(connection: sqlite3.Connection) -> None:
    """Make all tables of a new ledger, within the transaction that there is."""
    for statement in (*_CURRENT, _START):
        connection.execute(statement)


def upgrade(connection: sqlite3.Connection) -> None:
    """Give an older ledger the tables of today, without what they would hold, within the transaction that there is."""
    if _schema(connection) == _schema_of(_OLDER[1]):
        connection.execute("DROP TRIGGER head_follows")
        connection.execute("DROP TABLE head")
    else:
        for statement in (*_POINTERS, _SNAPSHOT):
            connection.execute(statement)
    for statement in (*_HEAD, _START):
        connection.execute(statement)


def forget_pointers(connection: sqlite3.Connection) -> None:
    """Make the table of pointers anew, within the transaction that there is: they are sealed under another key."""
    for statement in ("DROP TABLE pointer", *_POINTERS):
        connection.execute(statement)


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the file has just these tables and triggers."""
    return _schema(connection) == _schema_of(_CURRENT)


def is_old(connection: sqlite3.Connection) -> bool:
    """Whether the file is a ledger of a version that sealed no batch."""
    return _schema(connection) in {_schema_of(statements) for statements in _OLDER}


def is_damaged(connection: sqlite3.Connection) -> bool:
    """Whether a file that is no ledger was one: some table or trigger in it is that of a ledger."""
    return not set(_schema(connection)).isdisjoint(_schema_of(_CURRENT))


def _schema(connection: sqlite3.Connection) -> tuple[tuple[str, str, str], ...]:
    return tuple(connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"))


@cache
def _schema_of(statements: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        return _schema(connection)
