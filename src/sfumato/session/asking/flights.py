"""A question that many ask at once is answered by one of them; the others wait for that answer, and are not charged.

Who is at work says so now and then in the ledger. If nothing is heard of them for as long as a lease, as after a kill,
one of those who wait takes over and is charged; whoever was taken over can neither store an answer nor show one.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, Final

from sfumato.errors import ReservationError, SfumatoError, UnavailableError
from sfumato.ledger.core.reservations import Asked, Flight, Reservation
from sfumato.ledger.ledger import Ledger
from sfumato.query.printing.canonical import question_hash
from sfumato.session.asking.pipeline import (
    Desk,
    Keep,
    Prepared,
    Ticket,
    answer_of,
    committed,
    execute,
    own_answer,
    stored,
)
from sfumato.version import __version__

LEASE = 30.0
"""Seconds without a word after which whoever is at work is taken for gone."""
_FIRST_LOOK: Final = 0.002
_LONGEST_LOOK: Final = 0.2


def flown(desk: Desk, prepared: Prepared, *, asked: Asked, keep: Keep | None) -> tuple[dict[str, Any], str | None]:
    """The answer of the one who is charged for it, whoever that is, and the reservation if it was made here.

    **Guarantee**: of all that ask at once on an account, in any number of threads, processes and hosts, one is charged,
    and all get the same answer. Each time that the one at work is killed or stopped for a lease, at most one more is.

    Edge cases: another account that shares answers is charged as if it were alone before it waits, so neither a refusal
    nor a charge tells it that somebody else asked. If the one at work fails, those who wait on the same account fail
    too, and are not charged.

    Raises:
        ReservationError: The one at work failed, or the key of the one who asks was used for another question.
        UnavailableError: The account is suspended.
        BudgetExceededError: An account cannot pay; nothing was spent.
    """
    over: Flight | None = None
    while True:
        found = _begun(desk, prepared, asked, over)
        over = None
        if found is None:
            answer = stored(desk, prepared)
            if answer is not None:
                return answer, None
        elif isinstance(found, Flight):
            over = _lapsed(desk.ledger, found.request)
            if over is None and not _goes_on(desk, prepared):
                raise _failed(desk)
        else:
            ticket = Ticket(prepared=prepared, reservation=found)
            try:
                return _worked(desk, ticket, keep), found.request
            except ReservationError:
                if not _goes_on(desk, prepared):
                    raise


def _begun(desk: Desk, prepared: Prepared, asked: Asked, over: Flight | None) -> Reservation | Flight | None:
    plan = prepared.plan
    return desk.ledger.fly(
        desk.account, prepared.key, event=plan.event, charge=plan.charge, question=question_hash(plan.question),
        part=prepared.part, asked=asked, over=over,
    )  # fmt: skip


def _worked(desk: Desk, ticket: Ticket, keep: Keep | None) -> dict[str, Any]:
    """The answer to a reservation: the one that it has, that of another account which asked earlier, or a new one."""
    answer = answer_of(desk, ticket) if ticket.reservation.is_answered else None
    if answer is not None:
        return answer
    with _renewed(desk.ledger, ticket.reservation):
        if desk.policy.shares_answers and ticket.prepared.part is None:
            answer = _joined(desk, ticket)
        return answer or execute(desk, ticket, library=__version__, keep=keep)


def _joined(desk: Desk, ticket: Ticket) -> dict[str, Any] | None:
    """The answer that another account is about to have, or has by now, kept for this one; None if it has to work."""
    ledger, reservation = desk.ledger, ticket.reservation
    try:
        for flight in ledger.flights_before(reservation.request):
            _lapsed(ledger, flight.request)
        first = ledger.first_answer(desk.account, ticket.prepared.key)
        if not isinstance(first, dict):
            return None
        return committed(desk, ticket, own_answer(ticket.prepared, first, reservation))
    except BaseException:
        with suppress(SfumatoError):  # so that nobody waits for it
            ledger.abandon(reservation, reason="it failed after it was charged")
        raise


def _lapsed(ledger: Ledger, request: str) -> Flight | None:
    """Wait until a flight has ended, which gives None; or the flight, if nothing was heard of it for a lease."""
    return _unchanged(lambda: ledger.flight_of(request), LEASE)


def _unchanged(watched: Callable[[], Flight | None], patience: float) -> Flight | None:
    """What stays as it is for so long; None once there is nothing.

    Time is measured here, as clocks of several hosts differ.
    """
    seen, since, pause = watched(), time.monotonic(), _FIRST_LOOK
    while seen is not None and time.monotonic() - since < patience:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_LOOK)
        now = watched()
        if now != seen:
            seen, since = now, time.monotonic()
    return seen


def _goes_on(desk: Desk, prepared: Prepared) -> bool:
    """Whether there is an answer by now, or somebody else is at work on it."""
    return stored(desk, prepared) is not None or desk.ledger.flight(desk.account, prepared.key) is not None


def _failed(desk: Desk) -> SfumatoError:
    if desk.ledger.is_suspended(desk.account):
        return UnavailableError()
    requirement = "was asked by others at the same time, of whom one was charged and failed; ask again"
    return ReservationError("of this question", requirement)


@contextmanager
def _renewed(ledger: Ledger, reservation: Reservation) -> Iterator[None]:
    """Inside, the ledger is told three times a lease that somebody is at work."""
    is_over = Event()

    def renew() -> None:
        with suppress(SfumatoError):  # it was taken over, or the ledger is closed: who works will hear of it
            while not is_over.wait(LEASE / 3):
                ledger.renew(reservation)

    worker = Thread(target=renew, name="sfumato-flight", daemon=True)
    worker.start()
    try:
        yield
    finally:
        is_over.set()
        worker.join()
