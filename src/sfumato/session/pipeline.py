"""One question from plan to answer: three functions over frozen values, so that each can run in its own process.

`prepare` looks at no data, `charge` makes the cost durable, `execute` is the only one that touches data.
"""

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sfumato.engines.base import Engine
from sfumato.errors import LedgerError
from sfumato.ledger.entry import Part
from sfumato.ledger.ledger import Ledger, Reservation
from sfumato.ledger.prices import admitted
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json, encode_event, encode_guarantee
from sfumato.privacy.guarantees import ApproxDP, Guarantee, PureDP
from sfumato.query.canonical import question_hash, question_text
from sfumato.query.compile import compile_plan
from sfumato.query.plan import PrivatePlan
from sfumato.query.policy import Policy
from sfumato.query.relations import Aggregate, table_of
from sfumato.session.receipt import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a curator has at hand: the policy, the engine with the data, the ledger."""

    policy: Policy
    engine: Engine
    ledger: Ledger

    @property
    def account(self) -> str:
        """The account that pays for every question about these people."""
        return self.policy.dataset


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
    part: Part | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A prepared question that is paid for."""

    prepared: Prepared
    reservation: Reservation
    spent: Guarantee
    left: Guarantee


def prepare(
    desk: Desk, question: Aggregate, *, text: str, total: PureDP | ApproxDP, part: Part | None = None
) -> Prepared:
    """Plan a question for at most `total`; no data, no charge."""
    admitted(total)
    plan = compile_plan(question, total, neighboring_relation=desk.policy.neighboring_relation)
    return Prepared(plan=plan, text=text, key=_key(desk.policy, plan), part=part)


def charge(desk: Desk, prepared: Prepared) -> Ticket:
    """Reserve the cost, durably, or refuse.

    Raises:
        BudgetExceededError: The account cannot pay; nothing was spent.
    """
    reservation = desk.ledger.reserve(
        desk.account, event=prepared.plan.event, charge=prepared.plan.charge,
        question=question_hash(prepared.plan.question), part=prepared.part,
    )  # fmt: skip
    return Ticket(
        prepared=prepared, reservation=reservation,
        spent=desk.ledger.spent(desk.account), left=desk.ledger.remaining(desk.account),
    )  # fmt: skip


def execute(desk: Desk, ticket: Ticket, *, library: str) -> dict[str, Json]:
    """Run the exact half, add noise, and keep the answer before anybody sees it.

    Returns:
        The stored answer: noisy integers and the receipt.
    """
    plan, receipt = ticket.prepared.plan, _receipt(desk, ticket, library).to_dict()
    exact = desk.engine.run(plan.statement, salt=random_bytes(16).hex())
    columns = [mechanism.release(exact.open_for_noise()[:, index]) for index, mechanism in enumerate(plan.mechanisms)]
    rows: Json = [[int(value) for value in row] for row in zip(*columns, strict=True)]
    answer: dict[str, Json] = {"noisy": rows, "receipt": receipt}
    desk.ledger.commit(ticket.reservation, key=ticket.prepared.key, answer=answer)
    return answer


def stored(desk: Desk, prepared: Prepared) -> dict[str, Any] | None:
    """The answer that was given to the same question before, if any."""
    answer = desk.ledger.answer(desk.account, prepared.key)
    if answer is None or isinstance(answer, dict):
        return answer
    raise LedgerError(desk.account, "holds an answer that this version cannot read; open it with a newer version")


def _receipt(desk: Desk, ticket: Ticket, library: str) -> Receipt:
    plan, policy = ticket.prepared.plan, desk.policy
    return Receipt(
        question=ticket.prepared.text, plan_hash=question_hash(plan.question), event=plan.event, guarantee=plan.charge,
        spent=ticket.spent, left=ticket.left, neighboring_relation=policy.neighboring_relation.value,
        privacy_unit=policy.unit_name, library=library, policy_version=policy.version, data_version=policy.data_version,
        request=ticket.reservation.request,
    )  # fmt: skip


def _key(policy: Policy, plan: PrivatePlan) -> str:
    """All that an answer depends on: question and limits, bounds and keys, mechanisms and price, versions."""
    document = {
        "question": question_text(plan.question),
        "measures": [repr(measure) for measure in plan.statement.measures],
        "outputs": [repr(replace(output, name="")) for output in plan.outputs],
        "keys": [[key.name, [repr(value) for value in key.values]] for key in plan.statement.keys],
        "kinds": {name: facts.kind.value for name, facts in table_of(plan.statement.rows).columns.items()},
        "event": encode_event(plan.event),
        "charge": encode_guarantee(plan.charge),
        "relation": policy.neighboring_relation.value,
        "policy": policy.version,
        "data": policy.data_version,
    }
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
