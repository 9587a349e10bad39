"""A process is stopped while it writes: others are told who holds the ledger, and read on."""

import os
import signal
import socket
from contextlib import suppress

import pytest
from tests.ledger.accounts import people, reserve
from tests.ledger.processes import ended, home, started, wire
from tests.ledger.writers import holding

from sfumato.errors import LedgerTimeoutError
from sfumato.ledger.stores import postgres, sqlite
from sfumato.privacy.guarantees import PureDP


@pytest.fixture(params=["sqlite", "postgres"])
def stopped(request, tmp_path, monkeypatch):
    """A ledger, and a stopped process that has the transaction."""
    monkeypatch.setattr(sqlite, "PATIENCE", 0.1)
    monkeypatch.setitem(postgres._SETTINGS, "lock_timeout", "100ms")
    place = home(request.param, tmp_path)
    own, other = wire()
    process = started(holding, place, other)
    assert own.recv()
    os.kill(process.pid, signal.SIGSTOP)
    yield place, process.pid
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    ended(process)


def test_who_waits_too_long_is_told_who_holds_it_and_nothing_is_charged(stopped):
    place, pid = stopped
    with place.opened() as ledger:
        for _ in range(2):
            with pytest.raises(LedgerTimeoutError, match=f"process {pid} on {socket.gethostname()}") as caught:
                reserve(ledger)
        assert str(pid) in caught.value.holder
        assert ledger.spent("people") == PureDP(0)
        os.kill(pid, signal.SIGKILL)
        reserve(ledger)
        assert ledger.spent("people") == PureDP("0.1")


def test_an_account_that_exists_is_opened_meanwhile(stopped):
    place, _ = stopped
    with place.opened() as ledger:
        ledger.open_account(people())
        assert ledger.remaining("people") == PureDP(1)
