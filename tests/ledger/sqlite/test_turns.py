import fcntl
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.errors import LedgerError
from sfumato.ledger.sqlite.turns import Turnstile


def wait_until_somebody_waits(queue):
    """Until the file is locked by who waits for the turn."""
    with queue.open() as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(file, fcntl.LOCK_UN)


def test_who_comes_back_does_not_get_ahead_of_who_waits(tmp_path):
    path, order = tmp_path / "ledger.db", []

    def other():
        with Turnstile(path).passed():
            order.append("other")

    with ThreadPoolExecutor(1) as threads:
        for _ in range(20):
            with Turnstile(path).passed():
                order.append("one")
                waiting = threads.submit(other)
                wait_until_somebody_waits(tmp_path / "ledger.db.queue")
            with Turnstile(path).passed():
                order.append("one again")
            waiting.result()
    assert order == ["one", "other", "one again"] * 20


def test_a_block_that_raises_lets_the_next_one_in(tmp_path):
    turnstile = Turnstile(tmp_path / "ledger.db")
    with pytest.raises(KeyError), turnstile.passed():
        raise KeyError
    with turnstile.passed():
        pass


@pytest.mark.parametrize("name", ["ledger.db.queue", "ledger.db.turn"])
def test_files_that_cannot_be_locked_are_an_error_with_the_remedy(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(LedgerError, match="right to lock"), Turnstile(tmp_path / "ledger.db").passed():
        pytest.fail("passed")


def test_an_error_of_the_block_is_not_taken_for_one_of_the_files(tmp_path):
    with pytest.raises(OSError, match="the block's own"), Turnstile(tmp_path / "ledger.db").passed():
        raise OSError("the block's own")
