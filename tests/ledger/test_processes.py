"""A ledger between processes: made by several at once, and used by two of which one is killed."""

import os
import signal
from itertools import islice

import pytest
from tests.ledger.killing import CHARGE, NOISE, open_accounts
from tests.ledger.processes import ended, home, started, wire
from tests.ledger.writers import endless, maker
from tests.sizes import FULL_SIZE

from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.privacy.guarantees import ApproxDP

ROUNDS = 30 if FULL_SIZE else 3


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    return home(request.param, tmp_path)


def test_processes_that_make_a_ledger_at_once_share_it_and_its_key(place):
    own, other = wire()
    makers = [started(maker, place, other, f"account {number}") for number in range(4)]
    assert [ended(process) for process in makers] == [0] * 4
    names = {own.recv() for _ in makers}
    with place.opened(must_exist=True) as ledger:
        assert names == {ledger.key.name}
        assert sorted(ledger.accounts()) == [f"account {number}" for number in range(4)]
        ledger.verify()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_when_one_of_two_is_killed_at_any_moment_the_other_goes_on_and_all_that_was_released_is_charged(place, number):
    """Catalogue 35."""
    with place.opened() as ledger:
        open_accounts(ledger)
    (first, told), (second, also_told) = wire(), wire()
    victim, other = started(endless, place, told, "victim"), started(endless, place, also_told, "other")
    told.close()
    also_told.close()
    released = [*_heard(first, 3 * number), *_heard(second, 1)]
    os.kill(victim.pid, signal.SIGKILL)
    assert ended(victim) == -signal.SIGKILL
    released += _heard(first, None)
    released += _heard(second, 10)
    os.kill(other.pid, signal.SIGKILL)
    assert ended(other) == -signal.SIGKILL
    released += _heard(second, None)
    with place.opened() as ledger:
        entries = tuple(ledger.entries())
        charged = sum(isinstance(entry, Reserved) for entry in entries)
        stored = {entry.key: entry.answer for entry in entries if isinstance(entry, Committed)}
        assert all(stored[key] == answer for key, answer in released)
        assert len(stored) <= charged <= len(stored) + 2
        assert ledger.spent("project") == ApproxDP(charged * CHARGE.epsilon, charged * CHARGE.delta)
        ledger.verify()


def _heard(end, count):
    """So many of the messages of a process, or all until its end."""

    def messages():
        while True:
            try:
                yield end.recv()
            except EOFError:
                return

    return list(islice(messages(), count))


def test_two_ledgers_on_one_file_see_what_the_other_spends(place):
    with place.opened() as first, place.opened() as second:
        open_accounts(first)
        second.reserve("project", event=NOISE, charge=CHARGE, question="one")
        first.reserve("project", event=NOISE, charge=CHARGE, question="two")
        assert first.spent("project") == second.spent("project") == ApproxDP(2 * CHARGE.epsilon, 2 * CHARGE.delta)
