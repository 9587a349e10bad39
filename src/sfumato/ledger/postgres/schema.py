"""The tables of a ledger in PostgreSQL, which triggers keep append-only."""

from typing import Any, Final

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

from sfumato.ledger.core.store import GENESIS

_MAKERS: Final = 0x5346756D61746F  # a number of our own, by which those who make a ledger wait for each other

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
"""
_FUNCTION: Final = """
CREATE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS {body}
"""
# ALWAYS: also in a session that says it is a replica, where other triggers are silent.
_TRIGGERS: Final = """
INSERT INTO {schema}.head VALUES (true, 0, {genesis}, NULL);
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
FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind <> 'i'
UNION ALL
SELECT 'column', concat(relname, '.', attname), concat_ws(' ', attnum, format_type(atttypid, atttypmod), attnotnull)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = %(schema)s::regnamespace AND relkind <> 'i' AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT 'constraint', conname::text, concat_ws(' ', contype, convalidated)
FROM pg_constraint WHERE connamespace = %(schema)s::regnamespace AND contype <> 'n'
UNION ALL
SELECT 'trigger', concat(relname, '.', tgname), concat_ws(' ', tgenabled, tgtype, proname, nullif(tgattr::text, ''))
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE relnamespace = %(schema)s::regnamespace AND NOT tgisinternal
UNION ALL
SELECT 'function', proname::text, prosrc FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
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


def make(connection: Connection[Any], schema: str) -> None:
    """Make an empty ledger, unless somebody else does so first; those who try wait for each other.

    Raises:
        psycopg.Error: The role may not, or the connection is lost.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKERS,))
        if not exists(connection, schema):
            names = {"schema": Identifier(schema), "genesis": Literal(GENESIS)}
            connection.execute(SQL(_TABLES).format(**names))
            for name, body in _functions(schema).items():
                connection.execute(SQL(_FUNCTION).format(name=Identifier(name), body=Literal(body), **names))
            connection.execute(SQL(_TRIGGERS).format(**names))


def exists(connection: Connection[Any], schema: str) -> bool:
    """Whether there is a schema of this name, whatever is in it."""
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
    return found.fetchone() is not None


def is_ledger(connection: Connection[Any], schema: str) -> bool:
    """Whether the schema has just the tables, constraints, triggers and functions that `make` makes."""
    return _found(connection, schema) == _wanted(schema, *_SEALED)


def is_old(connection: Connection[Any], schema: str) -> bool:
    """Whether the schema is that of a ledger of a version that sealed no batch."""
    return _found(connection, schema) == _wanted(schema, ("trigger", "head.head_grows", "A 19 grow"))


def upgrade(connection: Connection[Any], schema: str) -> None:
    """Give an older ledger the tables of today, without what they would hold.

    Raises:
        psycopg.Error: The role may not, or the connection is lost.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKERS,))
        if is_old(connection, schema):  # or another process was quicker
            connection.execute(SQL(_UPGRADE).format(schema=Identifier(schema)))


def _found(connection: Connection[Any], schema: str) -> set[tuple[Any, ...]]:
    return set(connection.execute(_FOUND, {"schema": Identifier(schema).as_string()}).fetchall())


def _wanted(schema: str, *more: tuple[str, str, str]) -> set[tuple[str, str, str]]:
    return {*_SHAPE, *more, *(("function", name, body) for name, body in _functions(schema).items())}


def _functions(schema: str) -> dict[str, str]:
    return {
        "follow": SQL(_FOLLOW).format(schema=Identifier(schema)).as_string(),
        "grow": _GROW,
        "refuse": _REFUSE,
    }
