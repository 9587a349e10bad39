from pathlib import Path

import pytest
from tests.ledger.accounts import people

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.locations import open_ledger


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
