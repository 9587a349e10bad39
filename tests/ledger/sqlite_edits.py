"""What tests do to a ledger's SQLite file behind its back."""

import sqlite3
from contextlib import closing

from tests.ledger.store_contract import linked

from sfumato.ledger.core.store import Chain
from sfumato.ledger.stores.sqlite import SQLiteStore

FIRST_VERSION = """
CREATE TABLE record (
  position INTEGER PRIMARY KEY,
  previous TEXT NOT NULL,
  text TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TRIGGER record_is_next BEFORE INSERT ON record
WHEN NEW.position IS NOT (SELECT coalesce(max(position) + 1, 0) FROM record)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER record_is_not_updated BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER record_is_not_deleted BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""
"""The tables of the first version, as it wrote them: such files are opened for ever."""


def edit(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def without_triggers(path, *statements):
    """Edit as somebody who takes the triggers away and puts them back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


def first_version(path, *texts):
    """A connection to a new file of the first version, with these records, as that version has it open."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(FIRST_VERSION)
    write(connection, *linked(Chain(), *texts))
    return connection


def write(connection, *records):
    """Append as the first version did."""
    rows = [(record.index, record.previous, record.text, record.hash) for record in records]
    connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)


def verified(path):
    """The texts of a ledger that is whole: its pages, its counts and its chain."""
    with closing(SQLiteStore(path, must_exist=True)) as store:
        store.check()
        chain = Chain()
        for record in store.read(0):
            chain = chain.follow(record)
        return [record.text for record in store.read(0)]
