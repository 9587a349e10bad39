"""One question from plan to answer: functions over frozen values, so that each can run in its own process.

`prepare` looks at no data, `flights.flown` makes the cost durable, `execute` is the only one that touches data.
"""

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeAlias

from sfumato.engines.base import Engine, Found, batches_of
from sfumato.engines.registry import SeveralEngines
from sfumato.errors import (
    FailedOnRowsError,
    LedgerError,
    NotPrivateError,
    ParameterError,
    ReservationError,
    SfumatoError,
    UnavailableError,
)
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.prices import admitted
from sfumato.ledger.core.reservations import NOBODY, Asked, Reservation
from sfumato.ledger.ledger import Ledger
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.query.model.relations import PeoplePart, Relation, Source, inputs, tables_of
from sfumato.query.model.statement import Statement
from sfumato.query.planning.plan import PrivatePlan, compile_plan, with_chosen_bounds
from sfumato.query.planning.questions import Aggregate
from sfumato.query.policy.policy import Policy
from sfumato.query.printing.canonical import question_hash
from sfumato.query.statistics.measurements import Law, Section
from sfumato.session.asking.answer_key import answer_key
from sfumato.session.releases.receipt import Receipt, receipt_from_dict
from sfumato.session.releases.releasing import Released, Run, Stream, release
from sfumato.session.releases.stored import encode_released

_LOG: Final = logging.getLogger("sfumato.owner")
"""What only the owner may read; without a handler of theirs nothing is written."""
_LOG.addHandler(logging.NullHandler())

Keep: TypeAlias = Callable[[PrivatePlan, Section, Run, Stream], Json]
"""Releases a section and keeps it; what it gives back stands for it in the stored answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a curator has at hand: the policy, the engine with the data, the ledger and the account that pays."""

    policy: Policy
    engine: Engine
    ledger: Ledger
    account: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A planned question: its price is known, and nothing has happened yet.

    Attributes:
        plan: What would be released.
        text: The question as people read it.
        key: What a stored answer is kept under: all that the answer depends on.
        part: The part of a partition that it reads, if it reads no other.
    """

    plan: PrivatePlan
    text: str
    key: str
    part: PartitionPart | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A prepared question that is paid for."""

    prepared: Prepared
    reservation: Reservation


def prepare(
    desk: Desk,
    question: Aggregate,
    *,
    text: str,
    total: PureDP | ApproxDP,
    part: PartitionPart | None = None,
    law: Law | None = None,
) -> Prepared:
    """Plan a question for at most `total`; no data, no charge.

    Raises:
        NotPrivateError: It would be charged to a part of a partition, and reads people outside of it.
    """
    admitted(total)
    _check_tables(desk, question)
    if part is not None:
        _check_part(question, part)
    plan = compile_plan(question, total, neighboring_relation=desk.policy.neighboring_relation, law=law)
    return Prepared(plan=plan, text=text, key=answer_key(desk.policy, plan), part=part)


def _check_tables(desk: Desk, question: Aggregate) -> None:
    """Relations carry their tables with them; those of another session may have laxer limits."""
    tables = tables_of(question.child.child)
    for table in tables:
        if desk.policy.tables.get(table.name) != table:
            raise ParameterError("table", table.name, "must be of this session; ask each session about its own tables")
    if isinstance(desk.engine, SeveralEngines):
        desk.engine.one_for(tables)


def charged_part(part: PeoplePart) -> PartitionPart:
    """The part of an account that pays for a part of people; it names the partition without telling its salt."""
    partition = (part.child.table.name, part.by, part.values, part.max_parts_per_unit, part.salt)
    return PartitionPart(
        partition=sha256(repr(partition).encode()).hexdigest()[:32], value=repr(part.value),
        max_parts_per_unit=part.max_parts_per_unit,
    )  # fmt: skip


def _check_part(question: Aggregate, part: PartitionPart) -> None:
    """Parts are charged as if they had no people in common, so that frames of other parts must not be joined to one."""
    for source in _people(question.child.child):
        table = source.table if isinstance(source, Source) else source.child.table
        if isinstance(source, PeoplePart) and charged_part(source) == part:
            continue
        if isinstance(source, PeoplePart) or not table.is_public:
            raise NotPrivateError(
                table.name, "a question to one part of a partition reads people outside of that part",
                "Join its frames to each other and to public tables alone, or ask the session about all people.",
            )  # fmt: skip


def _people(relation: Relation) -> Iterator[Source | PeoplePart]:
    """The tables and parts of tables that a relation reads."""
    if isinstance(relation, Source | PeoplePart):
        yield relation
        return
    for inner in inputs(relation):
        yield from _people(inner)


def share(desk: Desk, prepared: Prepared, *, asked: Asked = NOBODY) -> Reservation | None:
    """Charge this account for the answer that another one of the dataset has, if there is one, and keep it here.

    The receipt that is kept is this account's own: it looks as if the question had been asked anew.

    Raises:
        BudgetExceededError: The account cannot pay; nothing was spent.
    """
    if prepared.part is not None:
        return None

    plan, own = prepared.plan, partial(own_answer, prepared)
    return desk.ledger.share(
        desk.account, prepared.key, event=plan.event, charge=plan.charge, own=own, asked=asked
    )  # fmt: skip


def own_answer(prepared: Prepared, answer: Any, reservation: Reservation) -> dict[str, Json]:
    """The answer of another account with the receipt of a reservation: as if the question had been asked anew."""
    receipt = replace(
        receipt_from_dict(answer["receipt"]), question=prepared.text, spent=reservation.spent, left=reservation.left,
        request=reservation.request,
    )  # fmt: skip
    return {**answer, "receipt": receipt.to_dict()}


def execute(desk: Desk, ticket: Ticket, *, library: str, keep: Keep | None = None) -> dict[str, Any]:
    """Run the exact half, add noise, and keep the answer before anybody sees it.

    Args:
        desk: Who answers.
        ticket: What is paid for.
        library: The version of this library, for the receipt.
        keep: How a section is released and kept: as a whole, if left out.

    Returns:
        The stored answer: what each section released, and the receipt. Of a question that is asked twice at once both
        are charged, and both get the answer that was stored first: nobody sees two draws of one noise.

    Raises:
        EngineError: The engine failed before it read a row, or its connection did; what was reserved stays charged, and
            the ledger notes that it has no answer.
        UnavailableError: It failed otherwise, this question or another one meanwhile. The root account of the data is
            suspended until its owner acknowledges that.
    """
    try:
        answer = _answered(desk, ticket, library, keep)
    except BaseException as error:
        cause = _cause(error)
        with suppress(SfumatoError):  # it stays charged all the same
            if cause is None:
                desk.ledger.abandon(ticket.reservation, reason="it failed after it was charged")
            else:
                desk.ledger.suspend_account(ticket.reservation)
        if cause is None:
            raise
    else:
        return committed(desk, ticket, answer)
    _LOG.error("account %s is suspended: a question failed while it read rows (%s)", desk.account, cause)
    raise UnavailableError


def _cause(error: BaseException) -> str | None:
    """The class of a failure that may be about rows, for the owner alone; None if it cannot be."""
    match error:
        case FailedOnRowsError(cause=cause):
            return cause
        case SfumatoError() | KeyboardInterrupt() | SystemExit() | GeneratorExit():
            return None
        case _:
            return type(error).__name__


def committed(desk: Desk, ticket: Ticket, answer: dict[str, Json]) -> dict[str, Any]:
    """Keep an answer; or find the one that was kept first.

    Raises:
        UnavailableError: Another question failed meanwhile.
        ReservationError: It failed, or was taken over.
    """
    try:
        desk.ledger.commit(ticket.reservation, key=ticket.prepared.key, answer=answer)
    except UnavailableError:
        desk.ledger.abandon(ticket.reservation, reason="another question failed while it was answered")
        raise
    except ReservationError:
        # Asked again under its key while it was being answered: whoever was first has answered for both.
        found = answer_of(desk, ticket)
        if found is None:
            raise
        return found
    return stored(desk, ticket.prepared) or answer  # that of somebody else who asked it meanwhile, and was first


def _answered(desk: Desk, ticket: Ticket, library: str, keep: Keep | None) -> dict[str, Json]:
    """The exact half, and noise on it."""
    plan, receipt = ticket.prepared.plan, _receipt(desk, ticket, library).to_dict()
    salt = random_bytes(16).hex()  # one for all statements, so that all see the same sample of a unit's groups

    def run(statement: Statement) -> Secret[Found]:
        return desk.engine.run(statement, salt=salt)

    def stream(statement: Statement, size: int) -> Generator[Secret[Found], None, None]:
        return batches_of(desk.engine, statement, salt=salt, size=size)

    first = None if plan.bounds is None else release(plan.bounds.section, run)
    final = final_plan(desk, plan, first)
    sections: list[Json] = [
        encode_released(release(section, run)) if keep is None else keep(final, section, run, stream)
        for section in final.sections
    ]
    return {"bounds": None if first is None else encode_released(first), "sections": sections, "receipt": receipt}


def final_plan(desk: Desk, plan: PrivatePlan, first: Released | None) -> PrivatePlan:
    """The plan with the bounds that were released first, if they were."""
    if first is None:
        return plan
    return with_chosen_bounds(plan, first.measured, neighboring_relation=desk.policy.neighboring_relation)


def stored(desk: Desk, prepared: Prepared) -> dict[str, Any] | None:
    """The answer that was given to the same question before, if any."""
    return _readable(desk, desk.ledger.answer(desk.account, prepared.key))


def answer_of(desk: Desk, ticket: Ticket) -> dict[str, Any] | None:
    """The answer that a ticket has, if it was asked for before under its key."""
    return _readable(desk, desk.ledger.answer_of(ticket.reservation))


def _readable(desk: Desk, answer: Json) -> dict[str, Any] | None:
    if answer is None or isinstance(answer, dict):
        return answer
    raise LedgerError(desk.account, "holds an answer that this version cannot read; open it with a newer version")


def _receipt(desk: Desk, ticket: Ticket, library: str) -> Receipt:
    plan, policy = ticket.prepared.plan, desk.policy
    return Receipt(
        question=ticket.prepared.text, plan_hash=question_hash(plan.question), event=plan.event, guarantee=plan.charge,
        spent=ticket.reservation.spent, left=ticket.reservation.left,
        neighboring_relation=policy.neighboring_relation.value,
        privacy_unit=policy.unit_name, library=library, policy_version=policy.version, data_version=policy.data_version,
        request=ticket.reservation.request,
    )  # fmt: skip
