"""The half of a session with the engine: run what was charged, add noise, and store it before anybody sees it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, ClassVar, Final, TypeAlias

from sfumato.engines.base import Engine, ExactGroups, batches_of
from sfumato.errors import FailedOnRowsError, ReservationError, SfumatoError, UnavailableError
from sfumato.ledger.core.reservations import Asked, Reservation
from sfumato.ledger.ledger import Ledger
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json
from sfumato.privacy.formats import uncollected
from sfumato.privacy.secret import Secret
from sfumato.query.model.statement import Statement
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.planning.linear import LinearWorkload, linear_section, linear_workload
from sfumato.query.planning.plan import PrivatePlan, with_chosen_bounds
from sfumato.query.statistics.measurements import Section
from sfumato.session.asking import planning
from sfumato.session.asking.answer_key import table_digest
from sfumato.session.asking.explain import programs
from sfumato.session.asking.planning import (
    AnyPrepared,
    Planning,
    StoredAnswer,
    Ticket,
    answer_to,
    charge,
    is_under_way,
    lapsed,
    own_answer,
    readable,
)
from sfumato.session.releases.receipt import Receipt
from sfumato.session.releases.releasing import Released, Run, Stream, release, release_together
from sfumato.session.releases.written import encode_released
from sfumato.session.training.plan import FitPlan
from sfumato.version import __version__

_LOG: Final = logging.getLogger("sfumato.owner")
"""What only the owner may read; without a handler of theirs nothing is written."""
_LOG.addHandler(logging.NullHandler())

Keep: TypeAlias = Callable[[PrivatePlan, Section, Run, Stream], Json]
"""Releases a section and keeps it; what it gives back stands for it in the stored answer."""


class Answering(Planning, ABC):
    """A curator who plans and charges, and has charged queries run: here, or in another process that has the data.

    Attributes:
        joins_at_once: Whether the answer that another account has is taken as soon as it is charged; see `charge`.
    """

    __slots__ = ()
    joins_at_once: ClassVar[bool] = True

    def expect(self, prepared: AnyPrepared) -> None:
        """Be ready to answer a query, before it is charged.

        Raises:
            SfumatoError: It could not be answered now; nothing was charged.
        """

    @abstractmethod
    def answer(self, ticket: Ticket, *, keep: Keep | None = None) -> dict[str, Any]:
        """The stored answer to a charged query; arguments, results and errors are those of `execute`."""

    @abstractmethod
    def programs(self, plan: PrivatePlan) -> str:
        """The SQL that an engine will run, as text.

        Raises:
            ParameterError: It is not known here.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk(Answering):
    """All that a curator has at hand: what planning needs, and the engine with the data."""

    engine: Engine

    def answer(self, ticket: Ticket, *, keep: Keep | None = None) -> dict[str, Any]:
        """The stored answer to a charged query; see `execute`."""
        return execute(self, ticket, keep=keep)

    def programs(self, plan: PrivatePlan) -> str:
        """The SQL that the engine will run for each statement; no data is read."""
        return programs(plan, self.engine)


def answered(desk: Answering, prepared: AnyPrepared, *, asked: Asked, keep: Keep | None = None) -> StoredAnswer:
    """The answer to a question: the stored one for nothing, else one that is charged.

    Args:
        desk: The session that answers.
        prepared: What is asked.
        asked: Who asks, and under which key they may ask again.
        keep: How a new answer is kept; see `execute`.

    Raises:
        BudgetExceededError: Too little budget remains; nothing was spent.
        ReservationError: The key was used for another query, or for one that failed.
    """
    while True:
        desk.expect(prepared)
        charged = charge(desk, prepared, asked=asked, joins=desk.joins_at_once)
        if isinstance(charged, StoredAnswer):
            return charged
        try:
            answer = desk.answer(charged, keep=keep)
        except ReservationError:
            if not is_under_way(desk, prepared):
                raise
        else:
            return answer_to(desk, answer, asked=asked, paid=charged.reservation.request)


def execute(
    desk: Desk,
    ticket: Ticket,
    *,
    keep: Keep | None = None,
    ready: Callable[[], None] = lambda: None,
    waits: bool = True,
) -> dict[str, Any]:
    """Run the exact half, add noise, and keep the answer before anybody sees it.

    Args:
        desk: The session that answers.
        ticket: The charged query.
        keep: How a section is released and kept: as a whole, if left out.
        ready: Called once data was read, before anybody can see that; it may wait, so that the time tells nothing.
        waits: Whether to wait for another account that asked the same earlier. Where tickets are run one after the
            other, that account may itself be waiting for this one: then whoever is first answers for both.

    Returns:
        The stored answer: what each section released, and the receipt. It is the one that the ticket has already; or
        that of another account, which asked earlier; or of a query that is asked twice at once the one that was
        stored first: nobody sees two draws of one noise.

    Raises:
        EngineError: The engine failed before it read a row, or its connection did; what was reserved stays charged, and
            the ledger notes that it has no answer.
        UnavailableError: It failed otherwise, this query or another one meanwhile. The root account of the data is
            suspended until its owner acknowledges that.
        ReservationError: The ticket was taken over.
    """
    ledger, reservation = desk.ledger, ticket.reservation
    if reservation.is_answered:
        return readable(desk, ledger.answer_of(reservation))
    with _renewed(ledger, reservation):
        if desk.policy.shares_answers and ticket.prepared.part is None:
            answer = _joined(desk, ticket, ready, waits=waits)
            if answer is not None:
                return answer
        try:
            answer = _drawn(desk, ticket, keep)
        except BaseException as error:
            cause = _cause(error)
            ready()
            with suppress(SfumatoError):  # it stays charged all the same
                if cause is None:
                    ledger.abandon(reservation, reason="it failed after it was charged")
                else:
                    ledger.suspend_account(reservation)
            if cause is None:
                raise
        else:
            ready()
            return _committed(desk, ticket, answer)
    _LOG.error("account %s is suspended: a query failed while it read rows (%s)", desk.account, cause)
    raise UnavailableError


def renew(ledger: Ledger, reservation: Reservation) -> None:
    """Tell the ledger that somebody is at work, as has to be said three times a lease."""
    with suppress(SfumatoError):  # it was taken over, or the ledger is closed: who works will hear of it
        ledger.renew(reservation)


@contextmanager
def _renewed(ledger: Ledger, reservation: Reservation) -> Iterator[None]:
    """Inside, the ledger is told that somebody is at work."""
    is_over, renewing = Event(), Lock()

    def work() -> None:
        while not is_over.wait(planning.LEASE / 3):
            with renewing:
                if not is_over.is_set():
                    renew(ledger, reservation)

    Thread(target=work, name="sfumato-flight", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        with renewing:  # nothing is renewed from here on; to wait until the thread has ended as well would take longer
            pass


def _joined(desk: Desk, ticket: Ticket, ready: Callable[[], None], *, waits: bool) -> dict[str, Any] | None:
    """The answer that another account is about to have, or has by now, kept for this one; None if it has to work."""
    ledger, reservation = desk.ledger, ticket.reservation
    try:
        for flight in ledger.flights_before(reservation.request) if waits else ():
            lapsed(ledger, flight.request)
        first = ledger.first_answer(desk.account, ticket.prepared.key)
        if not isinstance(first, dict):
            return None
        ready()
        return _committed(desk, ticket, own_answer(ticket.prepared, first, reservation))
    except BaseException:
        with suppress(SfumatoError):  # so that nobody waits for it
            ledger.abandon(reservation, reason="it failed after it was charged")
        raise


def _drawn(desk: Desk, ticket: Ticket, keep: Keep | None) -> dict[str, Json]:
    """The exact half, and noise on it."""
    plan = ticket.prepared.plan
    if isinstance(plan, FitPlan):
        return _fitted(desk, ticket, plan)
    salt = random_bytes(16).hex()  # one for all statements, so that all see the same sample of a unit's groups
    run = partial(desk.engine.run, salt=salt)

    def stream(statement: Statement, size: int) -> Generator[Secret[ExactGroups], None, None]:
        return batches_of(desk.engine, statement, salt=salt, size=size)

    bounds: Json = None
    workloads: list[tuple[LinearWorkload, Json]] = []
    if isinstance(plan, BatchPlan):
        measured, together = plan.sections, release_together(plan.sections, plan.workloads, run)
        sections = list(map(encode_released, together.sections))
        known = zip(map(linear_workload, plan.workloads), together.measured, strict=True)
        workloads = [(one, list(numbers)) for one, numbers in known if one is not None]
    else:
        first = None if plan.bounds is None else release(plan.bounds.section, run)
        final = plan if first is None else final_plan(desk, plan, first)
        bounds = None if first is None else encode_released(first)
        measured = final.sections
        sections = [
            encode_released(release(section, run)) if keep is None else keep(final, section, run, stream)
            for section in measured
        ]
    linear = list(map(linear_section, measured))
    tables = {one.table for one in (*linear, *(one.histogram for one, _ in workloads)) if one is not None}
    return {
        "bounds": bounds, "sections": sections, "receipt": _receipt(desk, ticket).to_dict(),
        "linear": [None if one is None else one.document() for one in linear],
        "workloads": [[one.document(), numbers] for one, numbers in workloads],
        "tables": {name: table_digest(desk.policy, desk.declared[name], name) for name in sorted(tables)},
    }  # fmt: skip


def _fitted(desk: Desk, ticket: Ticket, plan: FitPlan) -> dict[str, Json]:
    """What the query reads, and the model that its fit makes of it."""
    rows = plan.query.read(partial(desk.engine.run, salt=random_bytes(16).hex()))
    with uncollected():
        model = plan.fit.release(rows)
    return {
        "bounds": None, "sections": [], "receipt": _receipt(desk, ticket).to_dict(), "linear": [], "workloads": [],
        "tables": {}, "model": model,
    }  # fmt: skip


def final_plan(desk: Planning, plan: PrivatePlan, first: Released) -> PrivatePlan:
    """The plan with the bounds that were released first."""
    return with_chosen_bounds(plan, first.measured, neighboring_relation=desk.policy.neighboring_relation)


def _receipt(desk: Desk, ticket: Ticket) -> Receipt:
    plan, policy = ticket.prepared.plan, desk.policy
    return Receipt(
        question=ticket.prepared.text, plan_hash=ticket.prepared.question, event=plan.event, guarantee=plan.charge,
        spent=ticket.reservation.spent, remaining=ticket.reservation.left,
        neighboring_relation=policy.neighboring_relation.value, privacy_unit=policy.unit_name, library=__version__,
        policy_version=policy.version, data_version=policy.data_version, request=ticket.reservation.request,
        sampling=desk.engine.sampling,
    )  # fmt: skip


def _committed(desk: Planning, ticket: Ticket, answer: dict[str, Json]) -> dict[str, Any]:
    """Keep an answer; or find the one that was kept first.

    Raises:
        UnavailableError: Another query failed meanwhile.
        ReservationError: It failed, or was taken over.
    """
    try:
        kept = desk.ledger.commit(ticket.reservation, key=ticket.prepared.key, answer=answer)
    except UnavailableError:
        desk.ledger.abandon(ticket.reservation, reason="another question failed while it was answered")
        raise
    except ReservationError:
        # Asked again under its key while it was being answered: whoever was first has answered for both.
        kept = desk.ledger.answer_of(ticket.reservation)
        if kept is None:
            raise
    return readable(desk, kept)


def _cause(error: BaseException) -> str | None:
    """The class of a failure that may be about rows, for the owner alone; None if it cannot be."""
    match error:
        case FailedOnRowsError(cause=cause):
            return cause
        case SfumatoError() | KeyboardInterrupt() | SystemExit() | GeneratorExit():
            return None
        case _:
            return type(error).__name__
