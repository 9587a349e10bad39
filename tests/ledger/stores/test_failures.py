import sqlite3

import pytest

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.stores import failures
from sfumato.ledger.stores.failures import patiently


def failure(code):
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorcode = code
    return error


def failing(*errors):
    """Work that fails so often, and then gives "done"."""
    left = list(errors)

    def work():
        if left:
            raise left.pop(0)
        return "done"

    return work


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY, sqlite3.SQLITE_LOCKED])
def test_a_busy_file_is_waited_for(tmp_path, code):
    assert patiently(failing(failure(code), failure(code)), tmp_path) == "done"


def test_waiting_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(failures, "_ATTEMPTS", 2)
    with pytest.raises(LedgerError, match="end that process"):
        patiently(failing(*[failure(sqlite3.SQLITE_BUSY)] * 2), tmp_path)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (sqlite3.SQLITE_NOTADB, "not an SQLite file"),
        (sqlite3.SQLITE_FULL, "free disk space"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "right to write"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "cannot be opened"),
        (sqlite3.SQLITE_IOERR_FSYNC, "may count as spent"),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, "name that is taken"),
        (sqlite3.SQLITE_MISUSE, "cannot be used"),
    ],
)
def test_a_failure_is_put_in_our_words_at_once(tmp_path, code, remedy):
    with pytest.raises(LedgerError, match=remedy) as caught:
        patiently(failing(failure(code)), tmp_path)
    assert caught.value.ledger == str(tmp_path)
    assert "what SQLite says" not in str(caught.value)


def test_a_failure_of_python_itself_is_one_too(tmp_path):
    with pytest.raises(LedgerError, match="is closed"):
        patiently(failing(sqlite3.ProgrammingError("closed")), tmp_path)


def test_damage_is_told_as_such(tmp_path):
    with pytest.raises(LedgerCorruptError, match="restore a good copy"):
        patiently(failing(failure(sqlite3.SQLITE_CORRUPT_VTAB)), tmp_path)
