"""Tickets as text, from the process that plans and charges to the one that holds the data.

**Guarantee**: what `decode_ticket` gives is a ticket that this process, with its own policy, would have made of the
question in it: tables, statements, sensitivities, the classes of mechanisms and what they hide, hash, key and event
follow from the question, and the charge covers the event. Of a fit its method, event, charge and parameters follow from
the order, and the fit that is run is the one that was made here. So a text that was changed on its way is refused, or
it asks another question under another name, which no ledger has charged. Whether the ledger has charged the reservation
is for the ledger to say: `require_charged` asks it.

Proof: proofs/session/wire/tickets.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, get_args

from sfumato.errors import TicketError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.prices import require_price
from sfumato.ledger.core.reservations import Reservation
from sfumato.ledger.ledger import Ledger
from sfumato.mechanisms.additive.gaussian import Gaussian, GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.mechanisms.workloads.planning import WorkloadPlan
from sfumato.mechanisms.workloads.queries import LinearQueries, Subsets
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.guarantees import ApproxDP, NoGuarantee, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.columns import Column
from sfumato.query.model.expressions import Comparison, Expression
from sfumato.query.model.facts import Edition
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Fold, Folded, GroupBy, JoinKind, Relation, RowFunction
from sfumato.query.model.schema import Limits, Table, TableUnit
from sfumato.query.model.statement import Auto, Cell, KeyColumn, LatticeValue, Measure, Statement
from sfumato.query.planning.again import batches_again, plans_again
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.planning.plan import BoundsFirst, PrivatePlan
from sfumato.query.planning.questions import Aggregate
from sfumato.query.statistics.measurements import KeyChoice, Measurement, Output, Section
from sfumato.query.statistics.registry import OUTPUTS, STATISTICS
from sfumato.query.statistics.statistic import Statistic
from sfumato.query.statistics.workloads import Workload
from sfumato.session.asking.planning import Planning, Prepared, Ticket, names_again
from sfumato.session.training.columns import TrainingColumn
from sfumato.session.training.ordered import FitOrder, OrderedFit
from sfumato.session.training.plan import FitPlan, FitQuery, PrivateFit, TrainingQuery
from sfumato.session.wire.fits import PlannedFit, declared_rows, query_again
from sfumato.session.wire.nodes import MISTAKES, Wire

VERSION: Final = 1
"""Of the way in which tickets are written."""

CLASSES: Final[tuple[type[Any], ...]] = (
    Ticket, Prepared, PartitionPart, Reservation, PureDP, ApproxDP, NoGuarantee, ZCDP, RenyiDP,
    PrivatePlan, BoundsFirst, BatchPlan, Aggregate, *STATISTICS,
    GroupBy, *get_args(Relation), Folded, *get_args(Expression), Table, *get_args(TableUnit), Column, Limits,
    Section, Statement, KeyColumn, *get_args(Measure), *get_args(Cell), LatticeValue, *OUTPUTS,
    *get_args(Measurement), KeyChoice, Sensitivity,
    Laplace, Gaussian, GaussianNoise, Quantile, QuantileEnd, JointQuantiles, Extreme, NoisyTopK,
    TruncatedGeometricSelection, Workload, WorkloadMechanism, WorkloadPlan, LinearQueries, Subsets, CellSensitivity,
    FitPlan, TrainingQuery, TrainingColumn, OrderedFit, FitOrder,
)  # fmt: skip
"""Every class that a ticket may hold; nothing else is written, and nothing else is made of a text."""

WORDS: Final = (Kind, Comparison, Function, JoinKind, Fold, RowFunction, Auto, Edition, NeighboringRelation)
"""Every enumeration of which a ticket may hold members."""

TICKETS: Final = Wire(
    Ticket,
    version=VERSION,
    classes=CLASSES,
    words=WORDS,
    roles={Statistic: STATISTICS, Output: OUTPUTS, PrivateFit: (OrderedFit,), FitQuery: (TrainingQuery,)},
    made={LinearQueries: lambda kinds, weight: LinearQueries(dict(kinds), weight=weight)},
)
"""How tickets are written."""


def encode_ticket(ticket: Ticket) -> str:
    """A ticket as text, in ASCII; equal tickets have one text."""
    return TICKETS.encode(ticket)


def decode_ticket(text: str, planning: Planning, *, fits: PlannedFit | None = None) -> Ticket:
    """The ticket that `encode_ticket` wrote in another process.

    Args:
        text: What it wrote.
        planning: The policy by which this process plans, and the account that was charged.
        fits: Makes the fits of orders; without it no fit is run here.

    Raises:
        TicketError: The text is no ticket, or one that this process would not have made of its question.
    """
    claim = TICKETS.decode(text)
    if claim.reservation.account != planning.account:
        raise TicketError("account", f"must be {planning.account!r}")
    try:
        ticket = next((one for one in _made_again(claim, planning, fits) if TICKETS.encode(one) == text), None)
        names = None if ticket is None else names_again(planning, ticket.prepared)
        for plan in () if ticket is None else _measured(ticket.prepared.plan):
            require_price(plan.event, plan.charge, planning.policy.neighboring_relation)
    except MISTAKES:
        ticket = None
    if ticket is None:
        raise TicketError("plan", "must be one that this process makes of its question under its own policy")
    if names != (ticket.prepared.question, ticket.prepared.key):
        raise TicketError("hash and key", "must be those of its plan under the policy of this process")
    return ticket


def require_charged(ticket: Ticket, ledger: Ledger) -> None:
    """Refuse a ticket whose very query the ledger has not charged, or has an answer to: before data is read.

    Args:
        ticket: What `decode_ticket` gave.
        ledger: The authority on what was charged.

    Raises:
        TicketError: It is not charged; or it was answered, or abandoned, by now.
    """
    prepared, request = ticket.prepared, ticket.reservation.request
    found = ledger.charged(request)
    claimed = (
        ticket.reservation.account, prepared.question, prepared.plan.event, prepared.plan.charge, prepared.part,
        prepared.key,
    )  # fmt: skip
    known = None if found is None else (
        found.account, found.question, found.event, found.charge, found.part, found.key,
    )  # fmt: skip
    if known != claimed:
        raise TicketError("reservation", "must be charged for this very query, and wait for its answer")


def _made_again(claim: Ticket, planning: Planning, fits: PlannedFit | None) -> Iterator[Ticket]:
    """The same with plans that are made here of its question."""
    prepared: Any = claim.prepared  # of any kind of plan
    if isinstance(prepared.plan, FitPlan):
        yield replace(claim, prepared=replace(prepared, plan=_fit_again(prepared.plan, planning, fits)))
        return
    is_batch = isinstance(prepared.plan, BatchPlan)
    made: Callable[..., Iterator[PrivatePlan | BatchPlan]] = batches_again if is_batch else plans_again
    for plan in made(prepared.plan, neighboring_relation=planning.policy.neighboring_relation):
        yield replace(claim, prepared=replace(prepared, plan=plan))


def _fit_again(plan: FitPlan, planning: Planning, fits: PlannedFit | None) -> FitPlan:
    """The fit that is made here of the order in a plan, on the rows that it asks for."""
    if fits is None or not isinstance(plan.fit, OrderedFit) or not isinstance(plan.query, TrainingQuery):
        raise TicketError("fit", "is run by a process that makes fits of orders")
    query = query_again(plan.query)
    return FitPlan(query=query, fit=fits(plan.fit.order, declared_rows(query, planning.policy.neighboring_relation)))


def _measured(plan: PrivatePlan | BatchPlan | FitPlan) -> Iterator[PrivatePlan | BatchPlan | FitPlan]:
    """All that may be measured for a price: where bounds are chosen first, also what is where none can be taken."""
    yield plan
    if isinstance(plan, PrivatePlan) and plan.bounds is not None:
        yield replace(plan, bounds=None, charge=plan.bounds.rest)
