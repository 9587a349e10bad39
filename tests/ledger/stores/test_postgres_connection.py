"""What happens to connections: refused, cut, kept waiting; and what a transaction tells the server."""

import traceback
from contextlib import closing

import psycopg
import pytest
from tests.engines.postgres_server import OWNER, owner, server, standby
from tests.ledger.postgres_ledgers import PASSWORD, location, schema
from tests.ledger.store_contract import filled, following, texts

from sfumato.errors import LedgerError
from sfumato.ledger.stores import postgres
from sfumato.ledger.stores.postgres import PostgresStore


@pytest.fixture
def store():
    store = PostgresStore(location())
    yield store
    store.close()


def cut(connection):
    """End a session as an administrator, or the end of its server, does; it is over when this returns."""
    owner(server().port).execute("SELECT pg_terminate_backend(%s, 60000)", (connection._open.info.backend_pid,))


def told(connection, name):
    return connection._open.execute(f"SHOW {name}").fetchone()[0]


def test_a_turn_is_durable_and_sees_what_was_kept_before_it_whatever_the_role_says(store):
    with store.transaction():
        names = ("synchronous_commit", "transaction_isolation", "transaction_read_only", "search_path")
        values = [told(store._writer, name) for name in names]
    assert values == ["on", "read committed", "off", "pg_catalog, pg_temp"]


def test_a_turn_that_stops_does_not_stop_all_others_for_ever(store):
    with store.transaction():
        limits = [told(store._writer, name) for name in ("idle_in_transaction_session_timeout", "lock_timeout")]
    assert limits == ["30s", "30s"]


def test_text_is_utf8_whatever_the_address_says():
    with closing(PostgresStore(f"{location()}&client_encoding=LATIN1")) as store:
        filled(store, "✓")
        assert texts(store) == ["✓"]


def test_a_connection_that_is_lost_between_turns_is_opened_anew(store):
    filled(store, "one")
    cut(store._writer)
    filled(store, "two")
    texts(store)
    cut(store._reader)
    assert texts(store) == ["one", "two"]


def test_a_connection_that_is_lost_within_a_turn_keeps_nothing_and_the_next_turn_has_another(store):
    def lost():
        with store.transaction() as transaction:
            transaction.append(following(transaction, "lost"))
            cut(store._writer)
            transaction.read(0)

    filled(store, "one")
    with pytest.raises(LedgerError, match="lost its connection"):
        lost()
    assert texts(store) == ["one"]
    filled(store, "two")
    assert texts(store) == ["one", "two"]


def test_a_connection_that_is_lost_while_a_turn_is_kept_is_told_as_such(store):
    def lost():
        with store.transaction() as transaction:
            transaction.append(following(transaction, "lost"))
            cut(store._writer)

    with pytest.raises(LedgerError, match="may have been kept or not"):
        lost()
    filled(store, "one")
    assert texts(store) == ["one"]


@pytest.mark.parametrize("after", ["cut", "cancelled"])
def test_a_failure_that_the_block_hides_is_never_taken_for_a_commit(store, after):
    def hiding():
        with store.transaction() as transaction:
            transaction.append(following(transaction, "lost"))
            if after == "cut":
                cut(store._writer)
            with pytest.raises(LedgerError):
                transaction.read("no number")

    with pytest.raises(LedgerError, match=r"may have been kept or not|nothing of it is kept"):
        hiding()
    assert store.read(0) == ()
    filled(store, "one")
    assert texts(store) == ["one"]


def test_who_waits_too_long_for_a_turn_is_told_and_may_ask_again(monkeypatch):
    found = location()
    with closing(PostgresStore(found)) as one, closing(PostgresStore(found)) as other:
        monkeypatch.setitem(postgres._SETTINGS, "lock_timeout", "10ms")
        with one.transaction(), pytest.raises(LedgerError, match="has locked it for more than"):
            filled(other, "late")
        filled(other, "now")
        assert texts(one) == ["now"]


def test_a_ledger_that_must_exist_is_not_made():
    found = location()
    with pytest.raises(LedgerError, match="does not exist"):
        PostgresStore(found, must_exist=True)
    PostgresStore(found).close()


def test_a_ledger_that_is_gone_when_it_is_opened_again_is_not_made_anew():
    found = location()
    with closing(PostgresStore(found)) as store:
        server().execute(f"DROP SCHEMA {schema(found)} CASCADE")
        cut(store._writer)
        with pytest.raises(LedgerError, match="does not exist"):
            filled(store, "one")


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.replace("the%20keeper", "wrong"),
        lambda found: found.replace(f":{server().port}/", ":1/"),
        lambda found: found.replace("?ledger", "?sslmode=nonsense&ledger"),
        lambda found: found.replace("?ledger", "?nonsense=1&ledger"),
        lambda found: found.replace("@127.0.0.1", "@nowhere.invalid"),
        lambda found: found.replace(f":{server().port}/", ":port/"),
        lambda found: found.replace("/postgres?", "/missing?"),
    ],
)
def test_a_server_that_cannot_be_reached_is_an_error_without_a_password(change):
    with pytest.raises(LedgerError, match=r"check host|does not exist") as caught:
        PostgresStore(change(location()))
    shown = "".join(traceback.format_exception(caught.value))
    assert "keeper's" not in shown
    assert "keeper%27s" not in shown
    assert "wrong%27s" not in shown


def set_fsync(value):
    """Change it for all connections from now on."""
    statement = "ALTER SYSTEM RESET fsync" if value == "on" else f"ALTER SYSTEM SET fsync = {value}"
    server().execute(statement, "SELECT pg_reload_conf()")
    while True:
        with psycopg.connect(location().partition("?")[0]) as connection:
            if connection.execute("SHOW fsync").fetchone() == (value,):
                return


def test_a_server_that_forgets_when_the_power_fails_is_refused(store):
    filled(store, "one")
    set_fsync("off")
    try:
        with pytest.raises(LedgerError, match="fsync off"):
            PostgresStore(location())
        cut(store._writer)
        with pytest.raises(LedgerError, match="fsync off"):
            filled(store, "two")
    finally:
        set_fsync("on")
    filled(store, "two")


def test_a_standby_is_refused():
    with pytest.raises(LedgerError, match="name the primary"):
        PostgresStore(standby().url(user=OWNER))


def test_a_role_without_the_right_to_make_one_is_told():
    with pytest.raises(LedgerError, match="grant it the rights"):
        PostgresStore(f"{server().url()}?ledger=of_the_reader")


def test_somebody_elses_ledger_cannot_be_read():
    found = location()
    PostgresStore(found).close()
    with pytest.raises(LedgerError, match="grant it the rights"):
        PostgresStore(f"{server().url()}?ledger={found.partition('ledger=')[2]}")


def test_no_password_is_in_the_repr_of_a_store(store):
    assert PASSWORD not in repr(vars(store)) + repr(vars(store._writer))
    assert "the%20keeper" not in repr(vars(store)) + repr(vars(store._writer))


def test_a_forked_process_does_not_end_the_session_of_its_parent(store, monkeypatch):
    filled(store, "one")
    opened = store._writer._open
    monkeypatch.setattr(postgres.os, "getpid", lambda: -1)
    store._writer._let_go()
    monkeypatch.undo()
    assert opened.execute("SELECT 1").fetchone() == (1,)
    opened.close()
