import fcntl
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.ledger.keeping import files
from sfumato.ledger.keeping.files import draft_of, locked


def count(path, number, times):
    for _ in range(times):
        with locked(path):
            number.write_text(str(int(number.read_text()) + 1))


@pytest.fixture
def number(tmp_path):
    (tmp_path / "number").write_text("0")
    return tmp_path / "number"


def test_threads_do_not_meet_inside(tmp_path, number):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: count(tmp_path / "lock", number, 20), range(8)))
    assert number.read_text() == "160"


def test_processes_do_not_meet_inside(tmp_path, number):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=count, args=(tmp_path / "lock", number, 50)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert number.read_text() == "100"


def test_an_error_inside_lets_go_of_it(tmp_path):
    with pytest.raises(KeyError), locked(tmp_path / "lock"):
        raise KeyError
    with locked(tmp_path / "lock"):
        pass


def test_a_copy_of_its_descriptor_does_not_keep_it(tmp_path, monkeypatch):
    real, copies = os.open, []

    def copied(*arguments):
        descriptor = real(*arguments)
        copies.append(os.dup(descriptor))  # as a process has that was forked meanwhile
        return descriptor

    monkeypatch.setattr(files.os, "open", copied)
    with locked(tmp_path / "lock"):
        pass
    with (tmp_path / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which fails where somebody has it
    for copy in copies:
        os.close(copy)


def test_its_file_is_the_owners_alone_and_stays(tmp_path):
    with locked(tmp_path / "lock"):
        pass
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_a_folder_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(FileNotFoundError), locked(tmp_path / "none" / "lock"):
        pass


def test_a_draft_is_whole_beside_its_file_and_its_owners_alone(tmp_path):
    with draft_of(tmp_path / "note", b"content") as draft:
        assert draft.parent == tmp_path
        assert draft.read_bytes() == b"content"
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_a_draft_that_was_given_its_name_stays(tmp_path):
    with draft_of(tmp_path / "note", b"content") as draft:
        draft.replace(tmp_path / "note")
    assert [file.name for file in tmp_path.iterdir()] == ["note"]


def test_it_is_on_the_disk_before_it_can_be_given_a_name_and_the_name_afterwards(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files, "synced", synced.append)
    with draft_of(tmp_path / "note", b"content") as draft:
        assert synced == [draft]
    assert synced == [draft, tmp_path]


def test_an_error_leaves_nothing_behind(tmp_path):
    with pytest.raises(KeyError), draft_of(tmp_path / "note", b"content"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
