import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.ledger.accounts import TENTH, people, reserve
from tests.ledger.store_contract import LedgerStoreContract, filled

from sfumato.errors import LedgerError
from sfumato.ledger import sqlite
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.sqlite import SQLiteStore
from sfumato.privacy.guarantees import PureDP


class TestSQLiteStore(LedgerStoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = SQLiteStore(tmp_path / "ledger.db")
        yield store
        store.close()


def test_records_survive_closing(tmp_path):
    store = SQLiteStore(tmp_path / "ledger.db")
    filled(store, "one", "two")
    store.close()
    again = SQLiteStore(tmp_path / "ledger.db")
    assert [record.text for record in again.read(0)] == ["one", "two"]
    again.close()


def test_two_stores_on_one_file_see_each_other(tmp_path):
    first, second = SQLiteStore(tmp_path / "ledger.db"), SQLiteStore(tmp_path / "ledger.db")
    filled(first, "one")
    assert [record.text for record in second.read(0)] == ["one"]
    first.close()
    second.close()


def test_a_symbolic_link_leads_to_the_same_ledger_even_before_there_is_one(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "ledger.db")
    second, first = SQLiteStore(tmp_path / "link.db"), SQLiteStore(tmp_path / "ledger.db")
    filled(second, "one")
    assert len(first.read(0)) == 1
    first.close()
    second.close()


@pytest.mark.parametrize("replacement", [None, "another ledger"])
def test_a_file_taken_away_while_in_use_is_noticed(tmp_path, replacement):
    path = tmp_path / "ledger.db"
    store = SQLiteStore(path)
    path.rename(tmp_path / "elsewhere.db")
    if replacement:
        SQLiteStore(path).close()
    with pytest.raises(LedgerError, match="while in use"):
        filled(store, "one")
    store.close()


def test_a_file_that_stays_busy_is_an_error_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "_ATTEMPTS", 3)
    store = SQLiteStore(tmp_path / "ledger.db")
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="another process"):
            filled(store, "one")
        other.execute("ROLLBACK")
    filled(store, "one")
    assert len(store.read(0)) == 1
    store.close()


def test_whatever_part_of_the_last_writes_reached_the_disk_a_whole_beginning_is_read(tmp_path):
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ledger.open_account(people())
        for _ in range(10):
            reserve(ledger)
        story = ledger.entries()
        shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
        log = (tmp_path / "ledger.db-wal").read_bytes()
    for kept in range(0, len(log) + 1, len(log) // 23):
        recovered = recover(tmp_path, log[:kept])
        assert recovered == story[: len(recovered)]
    assert recover(tmp_path, log) == story


def recover(tmp_path, log):
    """The entries of the copy with this write-ahead log, as after a power failure."""
    shutil.copy(tmp_path / "copy.db", tmp_path / "crashed.db")
    (tmp_path / "crashed.db-wal").write_bytes(log)
    with open_ledger(tmp_path / "crashed.db") as ledger:
        entries = ledger.entries()
        assert ledger.verify().length == len(entries)
        if entries:
            assert ledger.spent("people") == PureDP((len(entries) - 1) * TENTH)
    return entries
