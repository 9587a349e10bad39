import fcntl
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import takewhile

import pytest
from tests.ledger.sqlite_edits import verified
from tests.ledger.store_contract import LedgerStoreContract, append, filled, following, texts

from sfumato.errors import LedgerError, LedgerTimeoutError
from sfumato.ledger.stores import failures
from sfumato.ledger.stores.sqlite import SQLiteStore, Turnstile


class TestSQLiteStore(LedgerStoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = SQLiteStore(tmp_path / "ledger.db")
        yield store
        store.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def test_what_was_kept_survives_closing(path):
    with closing(SQLiteStore(path)) as store:
        filled(store, "one", "two", snapshot="both")
    with closing(SQLiteStore(path)) as store:
        assert (texts(store), store.find("two").index, store.snapshot()) == (["one", "two"], 1, "both")


def test_two_stores_on_one_file_see_each_other(path):
    with closing(SQLiteStore(path)) as first, closing(SQLiteStore(path)) as second:
        filled(first, "one")
        filled(second, "two")
        assert texts(first) == texts(second) == ["one", "two"]


def test_a_symbolic_link_leads_to_the_same_ledger_even_before_there_is_one(tmp_path, path):
    (tmp_path / "link.db").symlink_to(path)
    with closing(SQLiteStore(tmp_path / "link.db")) as second, closing(SQLiteStore(path)) as first:
        filled(second, "one")
        assert len(first.read(0)) == 1


def test_a_file_that_must_exist_is_not_made(path):
    with pytest.raises(LedgerError, match="does not exist"):
        SQLiteStore(path, must_exist=True)
    assert not path.exists()


@pytest.mark.parametrize("replacement", [None, "another ledger"])
def test_a_file_taken_away_while_in_use_is_noticed(tmp_path, path, replacement):
    with closing(SQLiteStore(path)) as store:
        path.rename(tmp_path / "elsewhere.db")
        if replacement:
            SQLiteStore(path).close()
        with pytest.raises(LedgerError, match="while in use"):
            filled(store, "one")
        with pytest.raises(LedgerError, match="while in use"):
            store.read(0)


def test_a_file_replaced_while_a_turn_was_waited_for_is_noticed(tmp_path, path, monkeypatch):
    with closing(SQLiteStore(path)) as store:
        passed = store._turnstile.passed

        def replaced():
            path.rename(tmp_path / "elsewhere.db")
            SQLiteStore(path).close()
            return passed()

        monkeypatch.setattr(store._turnstile, "passed", replaced)
        with pytest.raises(LedgerError, match="was replaced"):
            filled(store, "one")


def test_a_file_that_another_program_keeps_busy_is_an_error_in_the_end(path, monkeypatch):
    monkeypatch.setattr(failures, "_ATTEMPTS", 3)
    with closing(SQLiteStore(path)) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerTimeoutError, match="has locked it for more than"):
                filled(store, "one")
            other.execute("ROLLBACK")
        filled(store, "one")
        assert texts(store) == ["one"]


def test_during_a_turn_no_other_program_writes(path):
    with closing(SQLiteStore(path)) as store, closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        with store.transaction(), pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE")


def test_during_a_turn_its_file_is_locked_and_nobody_waits_in_the_queue(tmp_path, path):
    def is_locked(name):
        with (tmp_path / name).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    with closing(SQLiteStore(path)) as store:
        with store.transaction():
            assert (is_locked("ledger.db.turn"), is_locked("ledger.db.queue")) == (True, False)
        assert not is_locked("ledger.db.turn")


def test_who_reads_waits_for_no_turn(path):
    with (
        closing(SQLiteStore(path)) as writer,
        closing(SQLiteStore(path)) as reader,
        writer.transaction() as transaction,
    ):
        transaction.append(following(transaction, "one"))
        assert reader.read(0) == ()


def test_every_setting_that_makes_a_commit_last_is_on(path):
    with closing(SQLiteStore(path)) as store:
        for connection in (store._writer, store._reader):
            values = {
                name: connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "fullfsync", "trusted_schema", "busy_timeout")
            }
            assert values == {
                "journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "trusted_schema": 0, "busy_timeout": 0,
            }  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "remedy"), [("query_only = ON", "right to write"), ("max_page_count = 1", "disk is full")]
)
def test_a_disk_that_refuses_keeps_nothing(path, setting, remedy):
    with closing(SQLiteStore(path)) as store:
        filled(store, "one", snapshot="first")
        store._writer.execute(f"PRAGMA {setting}").fetchall()
        with pytest.raises(LedgerError, match=remedy):
            filled(store, "two", "x" * 100_000, snapshot="second")
        assert (texts(store), store.find("two"), store.snapshot()) == (["one"], None, "first")


BATCHES = [[f"{batch}.{number}" for number in range(3)] for batch in range(8)]


@pytest.fixture
def log(tmp_path, path):
    """The write-ahead log of a ledger to which batches were appended; beside it a copy of the file without it."""
    with closing(SQLiteStore(path)) as store:
        for batch in BATCHES:
            filled(store, *batch, snapshot=batch[-1])
        shutil.copy(path, tmp_path / "copy.db")
        return (tmp_path / "ledger.db-wal").read_bytes()


def recovered(folder, log):
    """How many batches are in the copy with this write-ahead log, all of them whole."""
    shutil.copy(folder / "copy.db", folder / "crashed.db")
    (folder / "crashed.db-wal").write_bytes(log)
    found = verified(folder / "crashed.db")
    count = len(found) // 3
    assert found == [text for batch in BATCHES[:count] for text in batch]
    with closing(SQLiteStore(folder / "crashed.db")) as store:
        assert store.snapshot() == (BATCHES[count - 1][-1] if count else None)
        assert [name for batch in BATCHES for name in batch if store.find(name)] == found
        append(store, following(store, "the ledger goes on"))
    return count


def test_wherever_the_power_fails_whole_batches_are_left(tmp_path, log):
    counts = [recovered(tmp_path, log[:kept]) for kept in range(0, len(log) + 1, len(log) // 41)]
    assert counts == sorted(counts)
    assert set(range(8)) <= set(counts)
    assert recovered(tmp_path, log) == 8


def test_a_damaged_page_of_the_log_ends_it_at_a_whole_batch(tmp_path, log):
    for place in range(32, len(log), len(log) // 23):
        damaged = bytearray(log)
        damaged[place] ^= 0x10
        assert recovered(tmp_path, damaged) < 8


PROGRAM = """
import resource, sys, time
from sfumato.errors import LedgerError
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.ledger.core.store import StoreBatch
from tests.ledger.store_contract import after, filled, following, linked, texts

store = SQLiteStore(sys.argv[1])
"""
FULL = """
filled(store, "one", snapshot="first")
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
try:
    filled(store, "two", "x" * 300_000, snapshot="second")
except LedgerError:
    print(texts(store), store.find("two"), store.snapshot())
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
filled(store, "three")
store.check()
print(texts(store))
"""
IN_A_TURN = """
with store.transaction() as transaction:
    transaction.append(following(transaction, "lost"))
    print("begun", flush=True)
    input()
"""
TURNS = 300
RACE = f"""
mine, other = sys.argv[2:]
filled(store, mine)
while not store.find(other):
    pass
chain = after(store.read(0))
for number in range({TURNS}):
    with store.transaction() as transaction:
        chain = after(transaction.read(chain.length - 1))
        transaction.append(StoreBatch(records=linked(chain, mine + str(number))))
"""


def started(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_disk_that_is_full_keeps_nothing_and_the_ledger_goes_on_once_there_is_room(path):
    out, _ = started(FULL, str(path)).communicate()
    assert out.splitlines() == ["['one'] None first", "['one', 'three']"]
    assert verified(path) == ["one", "three"]


def test_a_process_killed_within_its_turn_leaves_nothing_and_lets_the_next_one_in(path):
    with closing(SQLiteStore(path)) as store:
        victim = started(IN_A_TURN, str(path))
        assert victim.stdout.readline() == "begun\n"
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        filled(store, "kept")
    assert verified(path) == ["kept"]


def test_two_processes_get_equal_turns_while_both_want_them(path):
    SQLiteStore(path).close()
    racers = [started(RACE, str(path), *names) for names in (("a", "b"), ("b", "a"))]
    assert [racer.communicate()[0] for racer in racers] == ["", ""]
    story = verified(path)
    begin = max(story.index("a0"), story.index("b0"))
    both = list(takewhile(lambda text: text[1:] != str(TURNS - 1), story[begin:]))
    assert sum(text[0] == "a" for text in both) >= len(both) // 4
    assert sum(text[0] == "b" for text in both) >= len(both) // 4
    assert len(both) > TURNS


def test_a_store_that_is_forgotten_closes_its_file(tmp_path, path):
    filled(SQLiteStore(path), "one")
    assert not (tmp_path / "ledger.db-wal").exists()


def test_names_with_odd_characters_are_names(tmp_path):
    name = "a b%20?mode=memory#ü.db"
    with closing(SQLiteStore(tmp_path / name)) as store:
        filled(store, "one")
    assert sorted(file.name for file in tmp_path.iterdir()) == [name, f"{name}.queue", f"{name}.turn"]


class Interrupting:
    """A connection: an interruption comes just when a transaction has begun, once."""

    def __init__(self, connection):
        self.connection, self.is_first = connection, True

    def execute(self, statement, *parameters):
        found = self.connection.execute(statement, *parameters)
        if statement == "BEGIN IMMEDIATE" and self.is_first:
            self.is_first = False
            raise KeyboardInterrupt
        return found

    def __getattr__(self, name):
        return getattr(self.connection, name)


def test_an_interruption_that_comes_with_the_turn_leaves_it_to_the_next(path):
    with closing(SQLiteStore(path)) as store, closing(SQLiteStore(path)) as other:
        store._writer = Interrupting(store._writer)
        with pytest.raises(KeyboardInterrupt):
            filled(store, "one")
        filled(other, "one")
        filled(store, "two")
        assert texts(store) == ["one", "two"]


def wait_until_somebody_waits(queue):
    """Until the file is locked by who waits for the transaction."""
    with queue.open() as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(file, fcntl.LOCK_UN)


def test_who_comes_back_does_not_get_ahead_of_who_waits(tmp_path):
    path, order = tmp_path / "ledger.db", []

    def other():
        with Turnstile(path).passed():
            order.append("other")

    with ThreadPoolExecutor(1) as threads:
        for _ in range(20):
            with Turnstile(path).passed():
                order.append("one")
                waiting = threads.submit(other)
                wait_until_somebody_waits(tmp_path / "ledger.db.queue")
            with Turnstile(path).passed():
                order.append("one again")
            waiting.result()
    assert order == ["one", "other", "one again"] * 20


def test_a_block_that_raises_lets_the_next_one_in(tmp_path):
    turnstile = Turnstile(tmp_path / "ledger.db")
    with pytest.raises(KeyError), turnstile.passed():
        raise KeyError
    with turnstile.passed():
        pass


@pytest.mark.parametrize("name", ["ledger.db.queue", "ledger.db.turn"])
def test_files_that_cannot_be_locked_are_an_error_with_the_remedy(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(LedgerError, match="right to lock"), Turnstile(tmp_path / "ledger.db").passed():
        pytest.fail("passed")


def test_an_error_of_the_block_is_not_taken_for_one_of_the_files(tmp_path):
    with pytest.raises(OSError, match="the block's own"), Turnstile(tmp_path / "ledger.db").passed():
        raise OSError("the block's own")
