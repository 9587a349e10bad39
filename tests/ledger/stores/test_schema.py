import sqlite3
from contextlib import closing
from threading import Barrier, Thread

import pytest
from tests.ledger.sqlite_edits import edit, first_version, verified, without_triggers, write
from tests.ledger.store_contract import filled, linked, texts

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.core.store import Chain
from sfumato.ledger.stores import sqlite
from sfumato.ledger.stores.sqlite import SQLiteStore


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.db"
    with closing(SQLiteStore(path)) as store:
        filled(store, *"abc", snapshot="sum")
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE record SET text = 'x' WHERE position = 1",
        "DELETE FROM record",
        "DELETE FROM record WHERE position = 2",
        "INSERT OR REPLACE INTO record VALUES (2, '', '', '')",
        "REPLACE INTO record VALUES (0, '', '', '')",
        "INSERT INTO record VALUES (900, '', '', '')",
        "INSERT INTO record SELECT position + 900, previous, text, hash FROM record",
        "UPDATE pointer SET position = 0",
        "DELETE FROM pointer WHERE name = 'a'",
        "INSERT OR REPLACE INTO pointer VALUES ('a', 1, 's')",
        "UPDATE head SET length = 2",
        "UPDATE head SET hash = 'h'",
        "DELETE FROM head",
    ],
)
def test_triggers_keep_the_tables_append_only(path, statement):
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        edit(path, statement)
    assert verified(path) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO head VALUES (1, 0, '', NULL)",
        "INSERT INTO snapshot VALUES (1, '')",
        "INSERT INTO head VALUES (0, 0, '', NULL)",
        "INSERT INTO snapshot VALUES (0, '')",
    ],
)
def test_there_is_one_head_and_one_snapshot(path, statement):
    with pytest.raises(sqlite3.IntegrityError):
        edit(path, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER record_is_not_deleted",
        "DROP TRIGGER head_follows",
        "DROP TABLE snapshot",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER spy AFTER INSERT ON record BEGIN SELECT 1; END",
        "ALTER TABLE record ADD COLUMN more TEXT",
    ],
)
def test_another_schema_is_refused(path, statement):
    edit(path, statement)
    with pytest.raises(LedgerError, match="no ledger"):
        SQLiteStore(path)


def test_somebody_elses_database_is_refused(tmp_path):
    edit(tmp_path / "shop.db", "CREATE TABLE customer (name)")
    with pytest.raises(LedgerError, match="no ledger"):
        SQLiteStore(tmp_path / "shop.db")


@pytest.mark.parametrize("before", [[], ["a", "b"]])
def test_a_ledger_of_the_first_version_is_upgraded_for_who_migrates_it_and_for_nobody_else(tmp_path, before):
    path = tmp_path / "old.db"
    first_version(path, *before).close()
    content = path.read_bytes()
    with pytest.raises(LedgerCorruptError, match=r"has no seals.*`sfumato ledger migrate --unsealed`"):
        SQLiteStore(path)
    assert path.read_bytes() == content
    with closing(SQLiteStore(path, is_upgraded=True)) as store:
        assert (texts(store), store.find("a"), store.snapshot()) == (before, None, None)
        filled(store, "new", snapshot="sum")
        assert store.find("new").index == len(before)
    assert verified(path) == [*before, "new"]


def test_two_that_upgrade_one_ledger_at_once_both_have_it(tmp_path):
    path, start, opened = tmp_path / "old.db", Barrier(4), []
    first_version(path, "a").close()

    def open_it():
        start.wait()
        opened.append(SQLiteStore(path, is_upgraded=True))

    threads = [Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [texts(store) for store in opened] == [["a"]] * 4
    for store in opened:
        store.close()


def test_who_is_overtaken_by_another_that_upgrades_takes_what_it_made(tmp_path, monkeypatch):
    path, check_pages = tmp_path / "old.db", sqlite.check_pages
    first_version(path, "a").close()

    def overtaken(connection, where):
        monkeypatch.setattr(sqlite, "check_pages", check_pages)
        SQLiteStore(path, is_upgraded=True).close()
        check_pages(connection, where)

    monkeypatch.setattr(sqlite, "check_pages", overtaken)
    SQLiteStore(path, is_upgraded=True).close()
    assert verified(path) == ["a"]


def test_a_process_of_the_first_version_that_has_the_file_open_cannot_make_the_head_untrue(tmp_path):
    path = tmp_path / "old.db"
    with closing(first_version(path, "a")) as old, closing(SQLiteStore(path, is_upgraded=True)) as store:
        write(old, *linked(Chain(), "a", "b")[1:])
        filled(store, "c")
    assert verified(path) == ["a", "b", "c"]


def test_a_damaged_ledger_of_the_first_version_is_refused_before_it_is_upgraded(tmp_path):
    path = tmp_path / "old.db"
    first_version(path, *(str(number) * 50 for number in range(200))).close()
    content = bytearray(path.read_bytes())
    content[content.rindex(b"199199") // 4096 * 4096 + 4] -= 1  # one record less in the last page
    path.write_bytes(content)
    with pytest.raises(LedgerCorruptError, match="damaged"):
        SQLiteStore(path, is_upgraded=True)
    assert path.read_bytes() == content


def test_an_edited_ledger_of_the_first_version_is_refused(tmp_path):
    path = tmp_path / "old.db"
    first_version(path, *"abc").close()
    without_triggers(path, "DELETE FROM record WHERE position = 1")
    with pytest.raises(LedgerCorruptError):
        verified(path)
