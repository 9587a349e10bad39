from dataclasses import replace
from pathlib import Path

import pytest
from tests.ledger import postgres_ledgers
from tests.ledger.accounts import people
from tests.ledger.processes import home

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerMissingError, ParameterError
from sfumato.ledger.locations import FOLDER, open_ledger, place_of
from sfumato.ledger.stores.sqlite import SQLiteStore


@pytest.mark.parametrize("location", [None, "memory:"])
def test_a_ledger_in_memory_starts_empty(location):
    with open_ledger(location) as ledger:
        assert ledger.accounts() == ()


@pytest.mark.parametrize("write", [str, Path, lambda path: f"sqlite:///{path}"], ids=["text", "path", "url"])
def test_the_same_file_is_found_however_it_is_written(tmp_path, write):
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ledger.open_account(people())
    with open_ledger(write(tmp_path / "ledger.db")) as ledger:
        assert ledger.accounts() == ("people",)


def test_three_slashes_are_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    open_ledger("sqlite:///ledger.db").close()
    assert (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize(
    "location",
    ["", "sqlite:///", "sqlite://", "sqlite:ledger.db", "sqlite:///:memory:", ":memory:", "mysql://h/d"],
)
def test_a_location_of_no_known_kind_is_refused(location):
    with pytest.raises(ParameterError, match="ledger"):
        open_ledger(location)


def test_who_only_looks_does_not_make_a_ledger(tmp_path):
    with pytest.raises(LedgerError, match="does not exist"):
        open_ledger(tmp_path / "ledger.db", must_exist=True)
    assert list(tmp_path.iterdir()) == []


def test_answers_lie_beside_the_ledger_itself_also_where_it_is_found_by_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    open_ledger(tmp_path / "real" / "ledger.db").close()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "ledger.db")
    with open_ledger(tmp_path / "link.db") as ledger, ledger.attachments.writing() as path:
        assert path.parent == tmp_path / "real" / "ledger.db.answers"


def test_a_place_names_what_lies_beside_a_ledger_and_makes_nothing(tmp_path):
    place = place_of(f"sqlite:///{tmp_path}/ledger.db")
    assert (place.key, place.is_on_server) == (tmp_path / "ledger.db.key", False)
    assert list(tmp_path.iterdir()) == []


def test_what_belongs_to_a_ledger_on_a_server_is_in_a_folder_under_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    place = place_of("postgresql://keeper:secret@db.example.org/books?ledger=..%2Fhospital")
    assert place.key == tmp_path / "sfumato_..%2Fhospital.key"
    assert "secret" not in repr(place)


def test_a_ledger_on_a_server_needs_a_folder(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(ParameterError, match=FOLDER):
        place_of("postgresql://keeper:secret@db.example.org/books")


def test_what_goes_with_its_process_has_no_place():
    with pytest.raises(ParameterError, match="exists only in its process"):
        place_of("memory:")


def test_who_only_looks_makes_no_ledger_on_a_server(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with pytest.raises(LedgerError):
        open_ledger(postgres_ledgers.location(), must_exist=True)
    assert list(tmp_path.iterdir()) == []


def older_copy(path):
    """A ledger with a checkpoint of two accounts, in whose place a copy with one account was put."""
    with open_ledger(path) as ledger:
        ledger.open_account(people())
    copy = path.read_bytes()
    with open_ledger(path) as ledger:
        ledger.open_account(replace(people(), account="others"))
        ledger.checkpoint()
    path.write_bytes(copy)


def test_an_older_copy_is_opened_by_whoever_says_so_and_by_nobody_else(tmp_path):
    older_copy(tmp_path / "ledger.db")
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint"):
        open_ledger(tmp_path / "ledger.db")
    noted = (tmp_path / "ledger.db.checkpoint").read_bytes()
    with open_ledger(tmp_path / "ledger.db", ignoring_checkpoint=True) as ledger:
        assert ledger.accounts() == ("people",)
    assert (tmp_path / "ledger.db.checkpoint").read_bytes() == noted


@pytest.mark.parametrize("scheme", ["postgresql+psycopg2", "POSTGRESQL", "mysql"])
def test_an_address_of_no_known_kind_is_not_shown_as_it_may_hold_a_password(scheme):
    with pytest.raises(ParameterError) as caught:
        open_ledger(f"{scheme}://keeper:secret@db.example.org/books")
    assert "secret" not in str(caught.value)
    assert f"{scheme}://…" in str(caught.value)


def test_a_new_ledger_is_announced_with_its_whole_path_and_once(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        open_ledger("ledger.db").close()
    assert caplog.messages == [f"new ledger at {tmp_path / 'ledger.db'}: nothing was spent in it yet"]


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
@pytest.mark.parametrize("must_exist", [True, False])
def test_a_key_without_its_ledger_is_no_new_ledger(tmp_path, store, must_exist):
    place = home(store, tmp_path)
    place.opened().close()
    (key,) = tmp_path.glob("*.key")
    other = home(store, tmp_path / "other") if store == "postgres" else place
    if store == "sqlite":
        (tmp_path / "ledger.db").unlink()
    else:
        other.folder.mkdir()
        key.rename(other.folder / f"sfumato_{other.location.partition('?ledger=')[2]}.key")
    for _ in range(2):
        with pytest.raises(LedgerMissingError, match="exists and its ledger is missing"):
            other.opened(must_exist=must_exist)
    assert not (tmp_path / "ledger.db").exists()


def test_an_empty_ledger_that_its_key_did_not_seal_is_no_new_ledger(tmp_path):
    open_ledger(tmp_path / "ledger.db").close()
    (tmp_path / "ledger.db").unlink()
    SQLiteStore(tmp_path / "ledger.db").close()
    with pytest.raises(LedgerCorruptError, match="exists and its ledger is missing"):
        open_ledger(tmp_path / "ledger.db")
