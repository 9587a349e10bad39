import stat
from contextlib import closing

import pytest
from tests.ledger.sqlite_edits import edit, verified, without_triggers
from tests.ledger.store_contract import filled

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.stores import sqlite
from sfumato.ledger.stores.sqlite import SQLiteStore, make

COUNT = 200
PAGE = 4096


@pytest.fixture
def path(tmp_path):
    """A ledger of 200 records in several pages, with pointers and a snapshot."""
    path = tmp_path / "ledger.db"
    with closing(SQLiteStore(path)) as store:
        filled(store, *(f"{number}: how many? {'x' * 100}" for number in range(COUNT)), snapshot="the sum")
    return path


@pytest.fixture
def in_a_large_file(monkeypatch):
    """No file is small enough to be looked through when it is opened."""
    monkeypatch.setattr(sqlite, "_QUICKLY_READ", 0)


def damage(path, place, change):
    content = bytearray(path.read_bytes())
    content[place] = change(content[place])
    path.write_bytes(content)


def place_of(path, number):
    """Where the text of a record is; of all places that hold this text it is the one with the hash behind it."""
    with closing(SQLiteStore(path)) as store:
        record = store.read(number)[0]
    return path.read_bytes().index(f"{record.text}{record.hash}".encode())


def page_of(path, number):
    return place_of(path, number) // PAGE * PAGE


def test_the_fixture_is_whole(path):
    assert len(verified(path)) == COUNT


def test_only_the_owner_may_read_the_files(path, tmp_path):
    with closing(SQLiteStore(path)) as store:
        filled(store, "one")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    names = ("ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.queue", "ledger.db.turn")
    assert modes == dict.fromkeys(names, 0o600)


def test_no_draft_is_left_behind(tmp_path):
    SQLiteStore(tmp_path / "ledger.db").close()
    assert list(tmp_path.iterdir()) == [tmp_path / "ledger.db"]


def test_a_file_that_another_process_made_meanwhile_is_kept(path):
    make(path)
    assert len(verified(path)) == COUNT


def test_a_flipped_byte_in_a_record_is_found_and_named(path):
    damage(path, place_of(path, 77), lambda byte: byte ^ 0x01)
    with pytest.raises(LedgerCorruptError, match="hash") as caught:
        verified(path)
    assert caught.value.index == 77


def test_a_byte_that_is_no_text_is_found(path):
    damage(path, place_of(path, 77), lambda _: 0xFF)
    with pytest.raises(LedgerCorruptError):
        verified(path)


@pytest.mark.parametrize("kept", [0, 1, 50, 100, PAGE - 1, PAGE, 2 * PAGE, 20_000, -PAGE])
def test_a_truncated_file_is_refused(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(LedgerError):
        SQLiteStore(path)


@pytest.mark.usefixtures("in_a_large_file")
def test_a_large_file_without_its_last_records_is_refused_at_once(path):
    path.write_bytes(path.read_bytes()[: page_of(path, 199)])
    with pytest.raises(LedgerCorruptError, match="damaged"):
        SQLiteStore(path)


@pytest.mark.usefixtures("in_a_large_file")
def test_damage_that_hides_the_last_record_of_a_large_file_is_found_at_once(path):
    place = page_of(path, 199)
    assert place == page_of(path, 198)  # so that the page stays readable with one record less
    damage(path, place + 4, lambda count: count - 1)  # the low byte of the number of cells in this page
    with pytest.raises(LedgerCorruptError, match="damaged"):
        SQLiteStore(path)


@pytest.mark.usefixtures("in_a_large_file")
def test_damage_that_hides_a_record_in_the_middle_of_a_large_file_is_found_by_looking(path):
    damage(path, page_of(path, 77) + 4, lambda count: count - 1)
    with closing(SQLiteStore(path)) as store, pytest.raises(LedgerCorruptError, match="damaged"):
        store.check()


@pytest.mark.parametrize("limit", [0, 1 << 24])
def test_a_page_of_zeros_is_refused(path, monkeypatch, limit):
    monkeypatch.setattr(sqlite, "_QUICKLY_READ", limit)
    whole = path.read_bytes()
    for page in range(PAGE, len(whole), PAGE):
        path.write_bytes(whole[:page] + bytes(PAGE) + whole[page + PAGE :])
        with pytest.raises(LedgerError):
            verified(path)


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 8192, b"not a database, by any means" * 100, bytes(range(256)) * 64]
)
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        SQLiteStore(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("DELETE FROM record WHERE position = 100", 0),
        ("DELETE FROM record WHERE position = 0", 0),
        ("DELETE FROM record WHERE position = 199", 0),
        ("DELETE FROM head", 0),
        ("UPDATE head SET length = length - 1", 0),
        ("UPDATE head SET hash = 'h'", 0),
        ("UPDATE record SET text = replace(text, 'many', 'few') WHERE position = 7", 7),
        ("UPDATE record SET text = x'00' WHERE position = 7", 7),
        ("UPDATE record SET previous = hash WHERE position = 7", 7),
        ("UPDATE record SET position = 999 WHERE position = 150", 0),
        ("UPDATE pointer SET position = 200 WHERE position = 7", 0),
    ],
)
def test_an_edit_behind_the_triggers_is_found(path, statement, index):
    without_triggers(path, statement)
    with pytest.raises(LedgerCorruptError) as caught:
        verified(path)
    assert caught.value.index == index


def test_another_journal_mode_is_refused(path):
    edit(path, "PRAGMA journal_mode = DELETE")
    with pytest.raises(LedgerError, match="local disk"):
        SQLiteStore(path)


def test_a_directory_that_is_missing_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(LedgerError, match="existing local directory"):
        SQLiteStore(tmp_path / "nowhere" / "ledger.db")


def test_a_directory_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="cannot be opened"):
        SQLiteStore(tmp_path)
