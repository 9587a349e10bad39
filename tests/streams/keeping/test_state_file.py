import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from unittest.mock import patch

import pytest
from tests.ledger.faults import FailingConnection

from sfumato.errors import StateError
from sfumato.streams.keeping.state_file import LiveState, StateFile, make_state_file

ONE = LiveState(number=1, owner="o", previous="p", head="h", content=b"\0one")


def elsewhere(path):
    """How another process ends that reads the file."""
    read = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('SELECT * FROM state')"
    return subprocess.run([sys.executable, "-S", "-c", read], check=False, stderr=subprocess.DEVNULL).returncode


@pytest.fixture
def path(tmp_path):
    make_state_file(tmp_path / "state", "header")
    return tmp_path / "state"


def test_what_was_written_is_there_when_it_is_opened_again(path):
    file = StateFile(path)
    assert (file.header, file.read(), list(file.rows())) == ("header", LiveState(), [])
    file.write(ONE, b"first")
    file.write(replace(ONE, number=2), b"")
    file.write(replace(ONE, number=3, content=b""), b"third")
    file.close()
    again = StateFile(path)
    assert again.read() == replace(ONE, number=3, content=b"")
    assert list(again.rows()) == [b"first", b"third"]
    again.close()


def test_only_its_owner_may_read_it_and_no_draft_is_left(path):
    assert path.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["state"]


def test_a_file_that_is_open_cannot_be_opened_again_by_this_process_or_another(path):
    file = StateFile(path)
    with pytest.raises(StateError, match="another process has it open"):
        StateFile(path)
    assert elsewhere(path) != 0
    file.close()
    assert elsewhere(path) == 0
    StateFile(path).close()


def test_a_missing_file_is_not_made_and_an_existing_one_not_replaced(tmp_path, path):
    with pytest.raises(StateError, match="does not exist"):
        StateFile(tmp_path / "other")
    with pytest.raises(StateError, match="was made by another process meanwhile"):
        make_state_file(path, "header")
    with pytest.raises(StateError, match="name a file in an existing local folder"):
        make_state_file(tmp_path / "no folder" / "state", "header")


@pytest.mark.parametrize("content", [b"", b"text that is no database" * 100], ids=["empty", "text"])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(StateError, match="is no state of a stream"):
        StateFile(tmp_path / "state")


def test_a_state_of_another_version_and_one_without_its_row_are_refused(path):
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM state")
    connection.commit()
    connection.close()
    file = StateFile(path)
    with pytest.raises(StateError, match="is damaged"):
        file.read()
    file.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE header SET format = 2")
    connection.commit()
    connection.close()
    with pytest.raises(StateError, match="another version"):
        StateFile(path)


@pytest.mark.parametrize("is_kept", [False, True], ids=["lost", "kept"])
def test_a_commit_that_fails_is_an_error_without_the_words_of_the_database(path, is_kept):
    file = StateFile(path)
    failing = FailingConnection(file._connection, is_kept=is_kept)
    refuses = pytest.raises(StateError, match="cannot be read or written")
    with patch.object(file, "_connection", failing), refuses as refused:
        file.write(ONE, b"row")
    assert "disk I/O" not in str(refused.value)
    file.close()
    again = StateFile(path)
    assert again.read() == (ONE if is_kept else LiveState())
    again.close()


def test_a_fork_of_the_process_cannot_write(path):
    file = StateFile(path)
    child = os.fork()
    if not child:
        try:
            file.write(ONE, b"row")
        except StateError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    file.write(ONE, b"row")
    file.close()


def test_a_commit_waits_for_the_disk(path):
    file = StateFile(path)
    settings = [file._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")]
    assert settings == [2, "wal"]
    file.close()
