import signal
import subprocess
import sys

import pytest
from tests.ledger.postgres_ledgers import location
from tests.ledger.store_contract import LedgerStoreContract, filled, texts

from sfumato.ledger.core.store import Chain
from sfumato.ledger.stores.postgres import PostgresStore


class TestPostgresStore(LedgerStoreContract):
    @pytest.fixture
    def store(self):
        store = PostgresStore(location())
        yield store
        store.close()


@pytest.fixture
def found():
    return location()


@pytest.fixture
def store(found):
    store = PostgresStore(found)
    yield store
    store.close()


PROGRAM = """
import sys
from sfumato.ledger.stores.postgres import PostgresStore
from tests.ledger.store_contract import filled, following

store = PostgresStore(sys.argv[1])
"""
RACE = """
print("ready", flush=True)
input()
for number in range(20):
    filled(store, f"{sys.argv[2]}.{number}")
store.close()
"""
IN_A_TURN = """
with store.transaction() as transaction:
    transaction.append(following(transaction, "lost"))
    print("ready", flush=True)
    input()
"""


def started(program, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM + program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_was_kept_survives_closing(found, store):
    filled(store, "one", "two", snapshot="both")
    store.close()
    again = PostgresStore(found, must_exist=True)
    assert (texts(again), again.find("two").index, again.snapshot()) == (["one", "two"], 1, "both")
    again.close()


def test_of_several_processes_nothing_is_lost_and_all_is_in_order(found, store):
    racers = [started(RACE, found, name) for name in "abc"]
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        racer.communicate()
        assert racer.returncode == 0
    chain = Chain()
    for record in store.read(0):
        chain = chain.follow(record)
    assert chain.length == 60
    for name in "abc":
        assert [text for text in texts(store) if text[0] == name] == [f"{name}.{number}" for number in range(20)]
    store.check()


def test_a_process_killed_within_its_turn_leaves_nothing_and_lets_the_next_one_in(found, store):
    victim = started(IN_A_TURN, found)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    filled(store, "kept")
    assert texts(store) == ["kept"]


def test_who_reads_waits_for_no_turn(found, store):
    other = PostgresStore(found)
    with store.transaction():
        assert other.read(0) == ()
    other.close()


def test_a_store_that_is_forgotten_closes_its_connections(found):
    store = PostgresStore(found)
    filled(store, "one")
    assert texts(store) == ["one"]
    opened = [store._writer._open, store._reader._open]
    del store
    assert all(connection.closed for connection in opened)
