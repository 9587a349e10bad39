"""Who is at work on an answer, and who may take that over."""

import pytest
from tests.ledger.accounts import people

from sfumato.errors import ReservationError
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP

MINE = Asked(principal="ann", idempotency_key="mine", body="b")


def fly(ledger, **options):
    return ledger.fly("people", "k", event=PureEvent("0.1"), charge=PureDP("0.1"), question="q", **options)


def test_who_was_taken_over_can_neither_renew_nor_commit():
    ledger = Ledger(MemoryStore())
    ledger.open_account(people())
    first = fly(ledger, asked=MINE)
    flight = ledger.flight("people", "k")
    second = fly(ledger, asked=MINE, over=flight)
    assert fly(ledger, asked=MINE, over=flight) == ledger.flight("people", "k")
    for action in (ledger.renew, lambda one: ledger.commit(one, key="k", answer=1)):
        with pytest.raises(ReservationError, match="taken over"):
            action(first)
    ledger.commit(second, key="k", answer=2)
    assert (ledger.answer("people", "k"), str(ledger.spent("people"))) == (2, "ε 0.1")
    assert fly(ledger) is None
    ledger.verify()
