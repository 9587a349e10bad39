import fcntl
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.ledger.keeping import locks
from sfumato.ledger.keeping.locks import locked


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

    monkeypatch.setattr(locks.os, "open", copied)
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
