"""From a prepared question to its answer: one that is stored, one that is shared, or a new one that is paid for."""

from dataclasses import dataclass
from typing import Any

from sfumato.ledger.core.reservations import Asked
from sfumato.session.asking.flights import flown
from sfumato.session.asking.pipeline import Desk, Keep, Prepared, share, stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A stored answer, and whether it was there before it was asked for."""

    answer: dict[str, Any]
    is_reused: bool


def answered(desk: Desk, prepared: Prepared, *, asked: Asked, keep: Keep | None) -> Answered:
    """The answer to a question: the stored one for nothing, else one that is charged.

    Args:
        desk: Who answers.
        prepared: What is asked.
        asked: Who asks, and under which key they may ask again.
        keep: How a new answer is kept; see `execute`.

    Raises:
        BudgetExceededError: An account cannot pay; nothing was spent.
        ReservationError: The key was used for another question, or for one that failed.
    """
    desk.ledger.asked_before(asked)  # refuses a key of another question, also where the answer is stored
    paid = set[str]()
    answer = stored(desk, prepared)
    if answer is None and desk.policy.shares_answers:
        reading = share(desk, prepared, asked=asked)
        paid |= set() if reading is None else {reading.request}
        answer = stored(desk, prepared)
    if answer is None:
        answer, request = flown(desk, prepared, asked=asked, keep=keep)
        paid |= set() if request is None else {request}
    # An answer that this very request paid for is not reused, however often it is asked for under its key.
    before = desk.ledger.asked_before(asked)
    paid |= set() if before is None else {before.request}
    return Answered(answer=answer, is_reused=answer["receipt"]["request"] not in paid)
