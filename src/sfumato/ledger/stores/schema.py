"""The tables of a ledger in SQLite and in PostgreSQL, which triggers keep append-only.

A migration gives a ledger of a version that sealed no batch the tables of today, without what they would hold.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from functools import cache
from typing import Any, Final, Protocol

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
_INDEX_ENTRIES: Final = (
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
_CURRENT: Final = (*_RECORDS, *_INDEX_ENTRIES, _SNAPSHOT, *_HEAD)
_OLDER: Final = (_RECORDS, (*_RECORDS, *_INDEX_ENTRIES, _SNAPSHOT, *_HEAD_OF_VERSION_2))
"""The tables of versions 1 and 2, which sealed no batch."""
_START: Final = f"""
INSERT INTO head SELECT 0, (SELECT coalesce(max(position) + 1, 0) FROM record),
  coalesce((SELECT hash FROM record ORDER BY position DESC LIMIT 1), '{GENESIS}'), NULL
"""


class SQLiteSchema:
    """The tables of an SQLite file.

    Args:
        connection: To the file; whatever is changed is within the transaction that there is.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def create(self) -> None:
        """Make all tables of a new ledger."""
        self._run(*_CURRENT, _START)

    def upgrade(self) -> None:
        """Give an older ledger the tables of today."""
        if self._found() == _made_by(_OLDER[1]):
            self._run("DROP TRIGGER head_follows", "DROP TABLE head")
        else:
            self._run(*_INDEX_ENTRIES, _SNAPSHOT)
        self._run(*_HEAD, _START)

    def forget_index_entries(self) -> None:
        """Make the table of index entries anew: they are sealed under another key."""
        self._run("DROP TABLE pointer", *_INDEX_ENTRIES)

    def is_current(self) -> bool:
        """Whether the file has just these tables and triggers."""
        return self._found() == _made_by(_CURRENT)

    def is_old(self) -> bool:
        """Whether the file is a ledger of a version that sealed no batch."""
        return self._found() in {_made_by(statements) for statements in _OLDER}

    def is_damaged(self) -> bool:
        """Whether a file that is no ledger was one: some table or trigger in it is that of a ledger."""
        return not set(self._found()).isdisjoint(_made_by(_CURRENT))

    def _found(self) -> tuple[tuple[str, str, str], ...]:
        return _tables_in(self._connection)

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self._connection.execute(statement)


def _tables_in(connection: sqlite3.Connection) -> tuple[tuple[str, str, str], ...]:
    return tuple(connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"))


@cache
def _made_by(statements: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        return _tables_in(connection)


_WAIT_FOR_MAKERS: Final = f"SELECT pg_advisory_xact_lock({0x5346756D61746F})"  # a number of our own

# The head moves once a statement, not once a row: a thousand versions of one row in a transaction are slow to pass.
_FOLLOW: Final = """
BEGIN
  UPDATE {schema}.head SET length = head.length + added.count, hash = added.hash
  FROM (SELECT count(*), min(position), max(position), (array_agg(hash ORDER BY position DESC))[1] AS hash
        FROM new_records) AS added
  WHERE head.length = added.min AND head.length + added.count = added.max + 1;
  IF NOT FOUND THEN RAISE EXCEPTION 'the ledger is append-only'; END IF;
  RETURN NULL;
END
"""
_GROW: Final = """
BEGIN
  IF NEW.length <= OLD.length THEN RAISE EXCEPTION 'the ledger is append-only'; END IF;
  RETURN NEW;
END
"""
_REFUSE: Final = """
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END
"""
_TABLES: Final = """
CREATE SCHEMA {schema};
CREATE TABLE {schema}.record (
  position bigint PRIMARY KEY CHECK (position >= 0),
  previous text NOT NULL,
  text text NOT NULL,
  hash text NOT NULL
);
CREATE TABLE {schema}.pointer (
  name text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL CHECK (position >= 0),
  seal text NOT NULL
);
CREATE TABLE {schema}.snapshot (
  single boolean PRIMARY KEY CHECK (single),
  text text NOT NULL
);
CREATE TABLE {schema}.head (
  single boolean PRIMARY KEY CHECK (single),
  length bigint NOT NULL CHECK (length >= 0),
  hash text NOT NULL,
  seal text
);
INSERT INTO {schema}.head VALUES (true, 0, {}, NULL);
"""
_FUNCTION: Final = """
CREATE FUNCTION {schema}.NAME() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS {}
"""
# ALWAYS: also in a session that says it is a replica, where other triggers are silent.
_TRIGGERS: Final = """
CREATE TRIGGER head_follows AFTER INSERT ON {schema}.record REFERENCING NEW TABLE AS new_records
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.follow();
CREATE TRIGGER record_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.record
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse();
CREATE TRIGGER pointer_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.pointer
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse();
CREATE TRIGGER head_stays BEFORE INSERT OR DELETE OR TRUNCATE ON {schema}.head
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse();
CREATE TRIGGER head_grows BEFORE UPDATE OF single, length, hash ON {schema}.head
  FOR EACH ROW EXECUTE FUNCTION {schema}.grow();
ALTER TABLE {schema}.record ENABLE ALWAYS TRIGGER head_follows;
ALTER TABLE {schema}.record ENABLE ALWAYS TRIGGER record_stays;
ALTER TABLE {schema}.pointer ENABLE ALWAYS TRIGGER pointer_stays;
ALTER TABLE {schema}.head ENABLE ALWAYS TRIGGER head_stays;
ALTER TABLE {schema}.head ENABLE ALWAYS TRIGGER head_grows;
"""
_UPGRADE: Final = """
ALTER TABLE {schema}.head ADD COLUMN seal text;
DROP TRIGGER head_grows ON {schema}.head;
CREATE TRIGGER head_grows BEFORE UPDATE OF single, length, hash ON {schema}.head
  FOR EACH ROW EXECUTE FUNCTION {schema}.grow();
ALTER TABLE {schema}.head ENABLE ALWAYS TRIGGER head_grows;
"""
# Each table is plain and lasting: no view, not unlogged, without rules, row security or children.
_FOUND: Final = """
SELECT 'table', relname::text,
  concat_ws(' ', relkind, relpersistence, relhasrules, relrowsecurity, relhassubclass)
FROM pg_class WHERE relnamespace = {}::regnamespace AND relkind <> 'i'
UNION ALL
SELECT 'column', concat(relname, '.', attname), concat_ws(' ', attnum, format_type(atttypid, atttypmod), attnotnull)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = {}::regnamespace AND relkind <> 'i' AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT 'constraint', conname::text, concat_ws(' ', contype, convalidated)
FROM pg_constraint WHERE connamespace = {}::regnamespace AND contype <> 'n'
UNION ALL
SELECT 'trigger', concat(relname, '.', tgname), concat_ws(' ', tgenabled, tgtype, proname, nullif(tgattr::text, ''))
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE relnamespace = {}::regnamespace AND NOT tgisinternal
UNION ALL
SELECT 'function', proname::text, prosrc FROM pg_proc WHERE pronamespace = {}::regnamespace
"""
_SEALED: Final = (  # what ledgers of version 2 lack
    ("column", "head.seal", "4 text f"),
    ("trigger", "head.head_grows", "A 19 grow 1 2 3"),
)
_SHAPE: Final = (  # what that finds in a new ledger, but for the functions
    ("column", "head.hash", "3 text t"),
    ("column", "head.length", "2 bigint t"),
    ("column", "head.single", "1 boolean t"),
    ("column", "pointer.name", "1 text t"),
    ("column", "pointer.position", "2 bigint t"),
    ("column", "pointer.seal", "3 text t"),
    ("column", "record.hash", "4 text t"),
    ("column", "record.position", "1 bigint t"),
    ("column", "record.previous", "2 text t"),
    ("column", "record.text", "3 text t"),
    ("column", "snapshot.single", "1 boolean t"),
    ("column", "snapshot.text", "2 text t"),
    ("constraint", "head_length_check", "c t"),
    ("constraint", "head_pkey", "p t"),
    ("constraint", "head_single_check", "c t"),
    ("constraint", "pointer_pkey", "p t"),
    ("constraint", "pointer_position_check", "c t"),
    ("constraint", "record_pkey", "p t"),
    ("constraint", "record_position_check", "c t"),
    ("constraint", "snapshot_pkey", "p t"),
    ("constraint", "snapshot_single_check", "c t"),
    ("table", "head", "r p f f f"),
    ("table", "pointer", "r p f f f"),
    ("table", "record", "r p f f f"),
    ("table", "snapshot", "r p f f f"),
    ("trigger", "head.head_stays", "A 46 refuse"),
    ("trigger", "pointer.pointer_stays", "A 58 refuse"),
    ("trigger", "record.head_follows", "A 4 follow"),
    ("trigger", "record.record_stays", "A 58 refuse"),
)


class PostgresServer(Protocol):
    """A connection to PostgreSQL: in what is asked, ``{schema}`` stands for the quoted name of the ledger's schema."""

    def rows(self, query: str, *parameters: object) -> Sequence[tuple[Any, ...]]:
        """What a query finds, with ``{}`` for each parameter."""

    def run(self, statements: str, *literals: str) -> None:
        """Do something, with ``{}`` for each text as it is written in SQL."""

    def written(self, text: str) -> str:
        """A text of SQL with the name of the schema in it."""

    def transaction(self) -> AbstractContextManager[object]:
        """A block that is done as a whole or not at all."""


class PostgresSchema:
    """The tables of a schema in a PostgreSQL database.

    Args:
        server: To the database, outside of a transaction.
        name: Of the schema.
    """

    def __init__(self, server: PostgresServer, name: str) -> None:
        self._server, self._name = server, name

    def create(self) -> None:
        """Make an empty ledger, unless somebody else does so first; those who try wait for each other."""
        with self._server.transaction():
            self._server.rows(_WAIT_FOR_MAKERS)
            if not self.exists():
                self._server.run(_TABLES, GENESIS)
                for name, body in self._functions().items():
                    self._server.run(_FUNCTION.replace("NAME", name), body)
                self._server.run(_TRIGGERS)

    def upgrade(self) -> None:
        """Give an older ledger the tables of today."""
        with self._server.transaction():
            self._server.rows(_WAIT_FOR_MAKERS)
            if self.is_old():  # or another process was quicker
                self._server.run(_UPGRADE)

    def exists(self) -> bool:
        """Whether there is a schema of this name, whatever is in it."""
        return bool(self._server.rows("SELECT 1 FROM pg_namespace WHERE nspname = {}", self._name))

    def is_current(self) -> bool:
        """Whether the schema has just the tables, constraints, triggers and functions that `create` makes."""
        return self._found() == self._wanted(*_SEALED)

    def is_old(self) -> bool:
        """Whether the schema is that of a ledger of a version that sealed no batch."""
        return self._found() == self._wanted(("trigger", "head.head_grows", "A 19 grow"))

    def _found(self) -> set[tuple[Any, ...]]:
        return set(self._server.rows(_FOUND, *[self._server.written("{schema}")] * _FOUND.count("{}")))

    def _wanted(self, *more: tuple[str, str, str]) -> set[tuple[str, str, str]]:
        return {*_SHAPE, *more, *(("function", name, body) for name, body in self._functions().items())}

    def _functions(self) -> dict[str, str]:
        return {"follow": self._server.written(_FOLLOW), "grow": _GROW, "refuse": _REFUSE}
