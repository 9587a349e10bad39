from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from tests.engines.postgres_server import owner, server
from tests.ledger.postgres_ledgers import location, schema
from tests.ledger.store_contract import filled, texts

from sfumato.errors import LedgerError
from sfumato.ledger.stores.postgres import PostgresStore


@pytest.fixture(scope="module")
def found():
    """A ledger with three records that no test changes."""
    found = location()
    with closing(PostgresStore(found)) as store:
        filled(store, *"abc", snapshot="sum")
    return found


def edit(found, statement):
    """Do something to the tables of a ledger, as a superuser, but with the triggers."""
    with owner(server().port).transaction():
        server().execute(f"SET LOCAL search_path = {schema(found)}", statement)


@pytest.mark.parametrize("role", ["origin", "replica"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE record SET text = 'x' WHERE position = 1",
        "DELETE FROM record",
        "DELETE FROM record WHERE position = 2",
        "TRUNCATE record",
        "INSERT INTO record VALUES (900, '', '', '')",
        "INSERT INTO record VALUES (4, '', '', ''), (5, '', '', '')",
        "INSERT INTO record VALUES (3, '', '', ''), (5, '', '', '')",
        "INSERT INTO record SELECT position + 900, previous, text, hash FROM record",
        "INSERT INTO record VALUES (2, '', '', '') ON CONFLICT (position) DO UPDATE SET text = 'x'",
        "UPDATE pointer SET position = 0",
        "DELETE FROM pointer WHERE name = 'a'",
        "TRUNCATE pointer",
        "INSERT INTO pointer VALUES ('a', 1, 's') ON CONFLICT (name) DO UPDATE SET position = 1",
        "UPDATE head SET length = 2",
        "UPDATE head SET hash = 'h'",
        "DELETE FROM head",
        "TRUNCATE head",
        "INSERT INTO head VALUES (false, 0, '')",
    ],
)
def test_triggers_keep_the_tables_append_only(found, role, statement):
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        edit(found, f"SET LOCAL session_replication_role = {role}; {statement}")
    with closing(PostgresStore(found)) as store:
        assert texts(store) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "statement", ["INSERT INTO snapshot VALUES (false, '')", "INSERT INTO snapshot VALUES (true, '')"]
)
def test_there_is_one_snapshot(found, statement):
    with pytest.raises(psycopg.errors.IntegrityError):
        edit(found, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER record_stays ON record",
        "ALTER TABLE record DISABLE TRIGGER record_stays",
        "ALTER TABLE record ENABLE REPLICA TRIGGER head_follows",
        "DROP TABLE snapshot",
        "CREATE TABLE more (x int)",
        "ALTER TABLE record ADD COLUMN more text",
        "ALTER TABLE record ALTER COLUMN text DROP NOT NULL",
        "ALTER TABLE pointer DROP CONSTRAINT pointer_pkey",
        "ALTER TABLE record SET UNLOGGED",
        "ALTER TABLE record ENABLE ROW LEVEL SECURITY",
        "CREATE RULE silent AS ON INSERT TO record DO INSTEAD NOTHING",
        "CREATE TABLE public.child () INHERITS (record)",
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER spy AFTER INSERT ON record FOR EACH STATEMENT EXECUTE FUNCTION refuse()",
    ],
)
def test_another_schema_is_refused(statement):
    found = location()
    PostgresStore(found).close()
    edit(found, statement)
    with pytest.raises(LedgerError, match="no ledger that this version knows"):
        PostgresStore(found)
    server().execute(f"DROP SCHEMA {schema(found)} CASCADE")


def test_somebody_elses_schema_is_refused():
    found = location()
    server().execute(f"CREATE SCHEMA {schema(found)} AUTHORIZATION keeper")
    with pytest.raises(LedgerError, match="no ledger"):
        PostgresStore(found)


def test_many_who_make_one_ledger_at_once_share_it():
    found = location()
    with ThreadPoolExecutor(6) as threads:
        stores = list(threads.map(PostgresStore, [found] * 6))
    for number, store in enumerate(stores):
        filled(store, str(number))
    assert [len(store.read(0)) for store in stores] == [6] * 6
    for store in stores:
        store.close()


def test_names_with_odd_characters_are_names():
    name = "a\"b';DROP é"
    with closing(PostgresStore(location("a%22b%27%3BDROP%20%C3%A9"))) as store:
        filled(store, "one")
        assert texts(store) == ["one"]
    found = owner(server().port).execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (f"sfumato_{name}",))
    assert found.fetchone() == (1,)


def test_ledgers_of_one_database_are_separate():
    with closing(PostgresStore(location())) as one, closing(PostgresStore(location())) as other:
        filled(one, "one")
        assert other.read(0) == ()
