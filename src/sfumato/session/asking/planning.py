"""The half of a session that needs no engine: functions over frozen values plan a query and charge it.

`prepare` looks at no data, `charge` makes the cost durable; `execution.execute` is the only one that touches data. So a
gateway that has the policy and the ledger, and neither data nor an engine, can do all that is done before.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from sfumato.engines.base import one_place
from sfumato.errors import (
    LedgerError,
    NotPrivateError,
    ParameterError,
    ReservationError,
    SfumatoError,
    UnavailableError,
)
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.prices import admitted
from sfumato.ledger.core.reservations import NOBODY, Asked, Flight, Reservation
from sfumato.ledger.ledger import Ledger
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import PeoplePart, Relation, Source, inputs, tables_of
from sfumato.query.planning.batch import BatchPlan, compile_batch
from sfumato.query.planning.plan import PrivatePlan, compile_plan
from sfumato.query.planning.questions import Aggregate, Presented
from sfumato.query.policy.policy import Policy
from sfumato.query.statistics.measurements import Law
from sfumato.session.asking.answer_key import declared_tables, is_of_latest_edition, names_of
from sfumato.session.releases.receipt import receipt_from_dict
from sfumato.session.training.plan import FitPlan

LEASE = 30.0
"""Seconds without a word after which whoever is at work is taken for gone."""

_FIRST_LOOK: Final = 0.002
_LONGEST_LOOK: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """What planning and charging need: the policy, the ledger and the charged account.

    Attributes:
        policy: What the owner declares.
        ledger: Where spending and answers are kept.
        account: The charged account.
        places: The name of the engine of each table; empty where all are in one.
        declared: How each table is declared, as keys of answers say it.
    """

    policy: Policy
    ledger: Ledger
    account: str
    places: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    declared: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_fields(self, declared=declared_tables(self.policy))


Plan_co = TypeVar("Plan_co", PrivatePlan, BatchPlan, FitPlan, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Generic[Plan_co]):
    """A planned question, or several together: the cost is known, and nothing has happened yet.

    Attributes:
        plan: What would be released.
        text: The query as people read it.
        question: What ledgers and receipts call it by: a hash of its canonical form.
        key: What a stored answer is kept under: all that the answer depends on.
        part: The part of a partition that it reads, if it reads no other.
    """

    plan: Plan_co
    text: str
    question: str
    key: str
    part: PartitionPart | None


AnyPrepared: TypeAlias = Prepared[PrivatePlan] | Prepared[BatchPlan] | Prepared[FitPlan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A prepared query that was charged."""

    prepared: AnyPrepared
    reservation: Reservation


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """A stored answer, and whether it was there before it was asked for."""

    answer: dict[str, Any]
    is_reused: bool


def prepare(
    planning: Planning,
    question: Aggregate,
    *,
    text: str,
    total: PureDP | ApproxDP,
    part: PartitionPart | None = None,
    law: Law | None = None,
    first: Aggregate | None = None,
) -> Prepared[PrivatePlan]:
    """Plan a query for at most `total`; no data, no charge.

    An answer that was bought by earlier rules is still the answer: then the plan is the one by which it was bought.

    Args:
        planning: Who plans.
        question: What is released.
        text: The query as people read it.
        total: The most that it may cost.
        part: The part of a partition that it reads, if it reads no other.
        law: The distribution that additive noise must have; None takes the better one.
        first: What the first rules made of the query, if it was something else.

    Raises:
        ParameterError: A table is of another session.
        NotPrivateError: It reads people outside of the part that is charged, or its tables are in several engines.
    """
    admitted(total)
    declared = _declared(planning, [question], part)

    def planned(edition: Edition) -> Prepared[PrivatePlan]:
        relation = planning.policy.neighboring_relation
        asked = first if edition is Edition.FIRST and first is not None else question
        plan = compile_plan(asked, total, neighboring_relation=relation, law=law, edition=edition)
        hashed, key = names_of(planning.policy, plan, declared)
        return Prepared(plan=plan, text=text, question=hashed, key=key, part=part)

    latest = planned(Edition.LATEST)
    return _bought_before(planning, planned) or latest


def prepare_batch(
    planning: Planning,
    questions: Sequence[Presented],
    *,
    text: str,
    total: PureDP | ApproxDP,
    part: PartitionPart | None = None,
    law: Law | None = None,
) -> Prepared[BatchPlan]:
    """Plan several queries for at most `total` together; no data, no charge.

    Args:
        planning: Who plans.
        questions: What is released and how it is shown.
        text: The queries as people read them.
        total: The most that all of them may cost together.
        part: The part of a partition that they read, if they read no other.
        law: The distribution that additive noise must have; None takes the better one.

    Raises:
        ParameterError: A table is of another session.
        NotPrivateError: They would be charged to a part of a partition, and read people outside of it; or their tables
            are in several engines.
    """
    admitted(total)
    declared = _declared(planning, [question.child for question in questions], part)
    plan = compile_batch(questions, total, neighboring_relation=planning.policy.neighboring_relation, law=law)
    hashed, key = names_of(planning.policy, plan, declared)
    return Prepared(plan=plan, text=text, question=hashed, key=key, part=part)


def names_again(planning: Planning, prepared: AnyPrepared) -> tuple[str, str]:
    """What ledgers call a plan by, and the key of its answer, as found here; refuses what `prepare` does."""
    plan = prepared.plan
    questions = [one.question for one in plan.plans] if isinstance(plan, BatchPlan) else [plan.question]
    return names_of(planning.policy, plan, _declared(planning, questions, prepared.part))


def _declared(planning: Planning, questions: Sequence[Aggregate], part: PartitionPart | None) -> dict[str, str]:
    """How the tables are declared that some questions may read.

    Raises:
        ParameterError: One is of another session.
        NotPrivateError: They are in several engines, or hold people outside of the part that is charged.
    """
    read = [table for question in questions for table in tables_of(question.child.child)]
    for table in read:  # which relations carry with them; those of another session may have laxer limits
        if planning.policy.tables.get(table.name) != table:
            requirement = "must belong to this session; each session queries its own tables"
            raise ParameterError("table", table.name, requirement)
    if planning.places:
        one_place(read, planning.places)
    if part is not None:
        for question in questions:
            _check_part(question, part)
    return {table.name: planning.declared[table.name] for table in read}


def _bought_before(
    planning: Planning, planned: Callable[[Edition], Prepared[PrivatePlan]]
) -> Prepared[PrivatePlan] | None:  # fmt: skip
    """The query as it was planned by the first rules, if the account has its answer since then.

    Versions of the package go one way: where one that knows only the first rules wrote to a ledger that began by later
    ones, its answers are not looked for, and asking again is charged.
    """
    oldest = planning.ledger.oldest_key
    if oldest is None or is_of_latest_edition(oldest):
        return None
    try:
        first = planned(Edition.FIRST)
    except SfumatoError:  # those rules refused it
        return None
    return None if planning.ledger.answer(planning.account, first.key) is None else first


def charged_part(part: PeoplePart) -> PartitionPart:
    """The charged part of a partition of people; it names the partition without revealing its salt."""
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
                table.name, "a query about one part of a partition reads people outside of that part",
                "Join its frames only to each other and to public tables, or query all people through the session.",
            )  # fmt: skip


def _people(relation: Relation) -> Iterator[Source | PeoplePart]:
    """The tables and parts of tables that a relation reads."""
    if isinstance(relation, Source | PeoplePart):
        yield relation
        return
    for inner in inputs(relation):
        yield from _people(inner)


def charge(
    planning: Planning, prepared: AnyPrepared, *, asked: Asked = NOBODY, joins: bool = True
) -> Ticket | StoredAnswer:  # fmt: skip
    """Pay for a query that nobody is at work on; or find its answer, which is stored or soon will be.

    **Guarantee**: of all that ask at once on an account, in any number of threads, processes and hosts, one is charged,
    and all get the same answer. Each time that the one at work is killed or stopped for a lease, at most one more is.

    Edge cases: another account that shares answers is charged as if it were alone before it waits, so neither a refusal
    nor a charge tells it that somebody else asked. If the one at work fails, those who wait on the same account fail
    too, and are not charged.

    Args:
        planning: The policy, the ledger and the charged account.
        prepared: What is asked.
        asked: Who asks, and under which key they may ask again.
        joins: Whether the answer that another account has is taken at once. If not, whoever runs the ticket finds it,
            at the time when an own answer would be there: so the time does not tell that somebody else asked.

    Raises:
        BudgetExceededError: Too little budget remains; nothing was spent.
        ReservationError: The one at work failed; or the key was used for another query, or for one that failed.
        UnavailableError: The account is suspended.
    """
    planning.ledger.asked_before(asked)  # refuses a key of another question, also where the answer is stored
    paid: str | None = None
    answer = stored(planning, prepared)
    if answer is None and joins and planning.policy.shares_answers:
        reading = _shared(planning, prepared, asked=asked)
        paid = None if reading is None else reading.request
        answer = stored(planning, prepared)
    over: Flight | None = None
    while answer is None:
        plan = prepared.plan
        found = planning.ledger.fly(
            planning.account, prepared.key, event=plan.event, charge=plan.charge,
            question=prepared.question, part=prepared.part, asked=asked, over=over,
        )  # fmt: skip
        if isinstance(found, Reservation):
            return Ticket(prepared=prepared, reservation=found)
        over = None if found is None else lapsed(planning.ledger, found.request)
        if over is None:
            answer = stored(planning, prepared)
        if found is not None and over is None and answer is None and not _flies(planning, prepared):
            raise _failed(planning)
    return answer_to(planning, answer, asked=asked, paid=paid)


def answer_to(planning: Planning, answer: dict[str, Any], *, asked: Asked, paid: str | None) -> StoredAnswer:
    """An answer as it is returned; it does not count as reused if this very request was charged for it.

    Args:
        planning: Who planned it.
        answer: The stored answer.
        asked: Who sent the query; with their key, their own answer never counts as reused.
        paid: The reservation that was just made for it, if there is one.
    """
    before = planning.ledger.asked_before(asked)
    request = answer["receipt"]["request"]
    return StoredAnswer(answer=answer, is_reused=request != paid and (before is None or request != before.request))


def _shared(planning: Planning, prepared: AnyPrepared, *, asked: Asked) -> Reservation | None:
    """Charge this account for the answer that another one of the dataset has, if there is one, and keep it here.

    The receipt that is kept is this account's own, as if the query had been asked anew; which version drew the answer,
    and by which hash, stays as it was.

    Raises:
        BudgetExceededError: Too little budget remains; nothing was spent.
    """
    if prepared.part is not None:
        return None
    plan, own = prepared.plan, partial(own_answer, prepared)
    return planning.ledger.share(
        planning.account, prepared.key, event=plan.event, charge=plan.charge, own=own, asked=asked
    )  # fmt: skip


def own_answer(prepared: AnyPrepared, answer: Any, reservation: Reservation) -> dict[str, Json]:
    """The answer of another account with the receipt of a reservation: as if the query had been asked anew."""
    receipt = replace(
        receipt_from_dict(answer["receipt"]), question=prepared.text, request=reservation.request,
        spent=reservation.spent, remaining=reservation.left,
    )  # fmt: skip
    return {**answer, "receipt": receipt.to_dict()}


def stored(planning: Planning, prepared: AnyPrepared) -> dict[str, Any] | None:
    """The answer that was given to the same query before, if any."""
    answer = planning.ledger.answer(planning.account, prepared.key)
    return None if answer is None else readable(planning, answer)


def readable(planning: Planning, answer: Json) -> dict[str, Any]:
    """An answer as this version writes them.

    Raises:
        LedgerError: It is none.
    """
    if isinstance(answer, dict):
        return answer
    raise LedgerError(
        planning.account, "contains an answer that this version cannot read; open it with a newer version"
    )


def is_under_way(planning: Planning, prepared: AnyPrepared) -> bool:
    """Whether there is an answer by now, or somebody else is at work on it."""
    return stored(planning, prepared) is not None or _flies(planning, prepared)


def _flies(planning: Planning, prepared: AnyPrepared) -> bool:
    return planning.ledger.flight(planning.account, prepared.key) is not None


def lapsed(ledger: Ledger, request: str) -> Flight | None:
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


def _failed(planning: Planning) -> SfumatoError:
    if planning.ledger.is_suspended(planning.account):
        return UnavailableError()
    requirement = "one of several sent at the same time, and the charged one failed; try again"
    return ReservationError("of this query", requirement)
