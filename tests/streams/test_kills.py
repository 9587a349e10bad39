"""Counters are killed on their way to a release; SFUMATO_FULL_SIZE kills 200 of them."""

import signal

import pytest
from tests.ledger.processes import ended, started, wire
from tests.sizes import FULL_SIZE
from tests.streams.accounts import LOUD, stream
from tests.streams.killing import HORIZON, POINTS, parent, shown

from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.privacy.guarantees import PureDP

ROUNDS = 20 if FULL_SIZE else 1
TRIED = POINTS if FULL_SIZE else POINTS[1::3] + POINTS[5:6] + POINTS[8:9]
EXACT = {step: sum(range(1, step + 1)) + min(step, 2) for step in range(1, HORIZON + 1)}
"""The events of each step, and those of ann, who takes part twice."""
ONCE = {
    "before it is charged", "within the transaction that charges", "before the state is taken over",
    "within the transaction that ends",
}  # fmt: skip
"""Points that a process passes once at most."""


@pytest.fixture(scope="module")
def run():
    """How a curator ends, in a process of its own."""
    here, there = wire()
    process = started(parent, there)

    def ran(*told):
        here.send(told)
        return here.recv()

    yield ran
    here.send(None)
    assert ended(process) == 0


@pytest.mark.parametrize("point", TRIED)
def test_wherever_a_counter_is_killed_it_goes_on_with_its_noise_and_is_charged_once(tmp_path, run, point):
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        seen = folder / "seen"
        survived = 0 if point in ONCE else (number * 2 + 1) % 5
        assert run(folder, point, survived, seen) == -signal.SIGKILL
        if number % 2:
            run(folder, POINTS[number % 7 + 1], number % 3, seen)
        assert run(folder, None, 0, seen) == 0
        released = shown(seen)
        assert sorted(step for step, _ in released) == list(EXACT)  # one value a step, whoever showed it
        assert len({(value - EXACT[step]) / step for step, value in released}) == 1  # and one noise in all of them
        with stream(folder) as session:
            entries = list(session.payer.ledger.entries())
            assert [sum(isinstance(entry, kind) for entry in entries) for kind in (Reserved, Committed)] == [1, 1]
            assert session.spent == PureDP(LOUD)
            session.payer.ledger.verify()
