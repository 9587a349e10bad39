import sqlite3
import stat
from contextlib import closing

import pytest
from tests.ledger.accounts import people, reserve
from tests.ledger.store_contract import filled

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.sqlite import SQLiteStore
from sfumato.ledger.sqlite_file import make
from sfumato.privacy.guarantees import PureDP


@pytest.fixture
def path(tmp_path):
    """A ledger of 200 reservations of 0.001: several pages."""
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ledger.open_account(people())
        for _ in range(200):
            reserve(ledger, "0.001")
    return path


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


def test_the_fixture_is_whole(path):
    with open_ledger(path) as ledger:
        assert ledger.spent("people") == PureDP("0.2")
        assert ledger.verify().length == 201


def test_only_the_owner_may_read_the_file(path, tmp_path):
    with open_ledger(path) as ledger:
        reserve(ledger, "0.001")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("ledger.db", "ledger.db-wal", "ledger.db-shm"), 0o600)


def test_no_draft_is_left_behind(path, tmp_path):
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_another_process_made_meanwhile_is_kept(path):
    make(path)
    with open_ledger(path) as ledger:
        assert ledger.verify().length == 201


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE record SET text = 'x' WHERE position = 1",
        "DELETE FROM record",
        "DELETE FROM record WHERE position = 200",
        "INSERT OR REPLACE INTO record VALUES (200, '', '', '')",
        "REPLACE INTO record VALUES (0, '', '', '')",
        "INSERT INTO record VALUES (900, '', '', '')",
        "INSERT INTO record SELECT position + 900, previous, text, hash FROM record",
    ],
)
def test_triggers_keep_the_table_append_only(path, statement):
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        edit(path, statement)
    with open_ledger(path) as ledger:
        assert ledger.verify().length == 201


def test_a_flipped_byte_in_an_entry_is_found_and_named(path):
    content = bytearray(path.read_bytes())
    content[content.index(b"how many?")] ^= 0x01
    path.write_bytes(content)
    with pytest.raises(LedgerCorruptError, match="hash"):
        open_ledger(path)


def test_a_byte_that_is_no_text_is_found(path):
    content = bytearray(path.read_bytes())
    content[content.index(b"how many?")] = 0xFF
    path.write_bytes(content)
    with pytest.raises(LedgerCorruptError):
        open_ledger(path)


@pytest.mark.parametrize("kept", [0, 1, 50, 100, 4095, 4096, 8192, 20_000, -4096, -1])
def test_a_truncated_file_is_refused(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(LedgerError):
        open_ledger(path)


def test_damage_that_hides_the_last_record_is_found(path):
    with open_ledger(path) as ledger:
        for _ in range(4):  # so that the last page holds several records, and stays readable with one less
            reserve(ledger, "0.001")
        last = ledger.verify().head
    content = bytearray(path.read_bytes())
    page = content.index(last.encode()) // 4096 * 4096
    content[page + 4] -= 1  # the low byte of the number of cells in this page
    path.write_bytes(content)
    with pytest.raises(LedgerCorruptError, match="damaged"):
        open_ledger(path)


@pytest.mark.parametrize("page", range(1, 12))
def test_a_page_of_zeros_is_refused(path, page):
    content = bytearray(path.read_bytes())
    content[4096 * page : 4096 * (page + 1)] = bytes(4096)
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        open_ledger(path)


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 8192, b"not a database, by any means" * 100, bytes(range(256)) * 64]
)
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        open_ledger(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER record_is_not_deleted",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER spy AFTER INSERT ON record BEGIN SELECT 1; END",
        "ALTER TABLE record ADD COLUMN more TEXT",
    ],
)
def test_another_schema_is_refused(path, statement):
    edit(path, statement)
    with pytest.raises(LedgerError, match="no ledger"):
        open_ledger(path)


def test_somebody_elses_database_is_refused(tmp_path):
    edit(tmp_path / "shop.db", "CREATE TABLE customer (name)")
    with pytest.raises(LedgerError, match="no ledger"):
        open_ledger(tmp_path / "shop.db")


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("DELETE FROM record WHERE position = 100", 100),
        ("DELETE FROM record WHERE position = 0", 0),
        ("UPDATE record SET text = replace(text, '1/1000', '0') WHERE position = 7", 7),
        ("UPDATE record SET text = x'00' WHERE position = 7", 7),
        ("UPDATE record SET previous = hash WHERE position = 7", 7),
        ("UPDATE record SET position = 999 WHERE position = 150", 150),
    ],
)
def test_an_edit_behind_the_triggers_is_found_and_named(path, statement, index):
    without_triggers(path, statement)
    with pytest.raises(LedgerCorruptError) as caught:
        open_ledger(path)
    assert caught.value.index == index


def test_another_journal_mode_is_refused(path):
    edit(path, "PRAGMA journal_mode = DELETE")
    with pytest.raises(LedgerError, match="local disk"):
        open_ledger(path)


def test_a_directory_that_is_missing_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(LedgerError, match="existing local directory"):
        open_ledger(tmp_path / "nowhere" / "ledger.db")


def test_a_directory_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="cannot be opened"):
        open_ledger(tmp_path)


@pytest.mark.parametrize(
    ("setting", "remedy"), [("query_only = ON", "right to write"), ("max_page_count = 1", "disk is full")]
)
def test_a_disk_that_refuses_grants_nothing(path, setting, remedy):
    store = SQLiteStore(path)
    before = store.read(0)
    store._connection.execute(f"PRAGMA {setting}").fetchall()
    with pytest.raises(LedgerError, match=remedy):
        filled_from(store, before, "x" * 100_000)
    assert store.read(0) == before
    store.close()


def filled_from(store, records, text):
    last = records[-1]
    store.append(type(last)(index=len(records), previous=last.hash, text=text, hash="h"), expected_head=last.hash)


def test_every_setting_that_makes_a_commit_last_is_on(path):
    store = SQLiteStore(path)
    values = {
        name: store._connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "trusted_schema", "busy_timeout")
    }
    assert values == {"journal_mode": "wal", "synchronous": 2, "trusted_schema": 0, "busy_timeout": 0}
    store.close()


def test_names_with_odd_characters_are_names(tmp_path):
    store = SQLiteStore(tmp_path / "a b%20?mode=memory#ü.db")
    filled(store, "one")
    store.close()
    assert [file.name for file in tmp_path.iterdir()] == ["a b%20?mode=memory#ü.db"]
