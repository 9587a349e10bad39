"""The tables of a ledger in SQLite, which triggers keep append-only, and how an older file gets those it lacks."""

import sqlite3
from contextlib import closing
from functools import cache
from typing import Final

from sfumato.ledger.journal import GENESIS

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
# The head is on another page than the records: that the last of them are gone shows without reading all of them. A
# trigger moves it, so that also a process that opened the file before it had this table keeps it true.
_FINDING: Final = (
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
    """CREATE TABLE snapshot (
  only INTEGER PRIMARY KEY CHECK (only = 0),
  text TEXT NOT NULL
)""",
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
_START: Final = f"""
INSERT INTO head SELECT 0, (SELECT coalesce(max(position) + 1, 0) FROM record),
  coalesce((SELECT hash FROM record ORDER BY position DESC LIMIT 1), '{GENESIS}')
"""


def create(connection: sqlite3.Connection) -> None:
    """Make all tables of a new ledger, within the transaction that there is."""
    for statement in _RECORDS:
        connection.execute(statement)
    upgrade(connection)


def upgrade(connection: sqlite3.Connection) -> None:
    """Add what an older ledger lacks, within the transaction that there is."""
    for statement in (*_FINDING, _START):
        connection.execute(statement)


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the file has just these tables and triggers."""
    return _schema(connection) == _schema_of((*_RECORDS, *_FINDING))


def is_old(connection: sqlite3.Connection) -> bool:
    """Whether the file is a ledger from before there were pointers, a snapshot and a head."""
    return _schema(connection) == _schema_of(_RECORDS)


def _schema(connection: sqlite3.Connection) -> tuple[tuple[str, str, str], ...]:
    return tuple(connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"))


@cache
def _schema_of(statements: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        return _schema(connection)
