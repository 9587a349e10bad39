"""From a query and a cost to a `PrivatePlan`: its sections, and the bounds that are chosen first."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from math import floor
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.keys import grouping_sets
from sfumato.query.analysis.shape import Metric
from sfumato.query.model.facts import Edition
from sfumato.query.planning.allocation import allocate
from sfumato.query.planning.auto_bounds import (
    SHARE,
    automatic,
    bounds_section,
    chosen_bounds,
    widest_bounds,
    with_bounds,
)
from sfumato.query.planning.questions import Aggregate, folded_question
from sfumato.query.planning.sections import check_size, draft, grouped_rows
from sfumato.query.statistics.measurements import LAWS, CenteredOutput, Law, LinearOutput, Output, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlan:
    """A query with a cost: nothing about it depends on the data.

    Attributes:
        question: What it answers.
        sections: One, or one a grouping set. Where bounds are chosen first, what is released if the widest are chosen.
        charge: The cost that is charged to the account.
        bounds: What is released first, to choose bounds; None where all of them are stated.
        edition: By which rules it was made.
        event: All that is released, for the accountants; after bounds were chosen, no more than what was kept for it.
    """

    question: Aggregate
    sections: tuple[Section, ...]
    charge: PureDP | ApproxDP
    bounds: "BoundsFirst | None" = None
    edition: Edition = Edition.LATEST
    event: ComposedEvent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.bounds is None:
            events: list[Event] = [event for section in self.sections for event in section.events]
        else:
            rest = self.bounds.rest
            kept = PureEvent(rest.epsilon) if rest.delta == 0 else ApproxEvent(rest.epsilon, rest.delta)
            events = [*self.bounds.section.events, kept]
        set_fields(self, event=ComposedEvent(tuple(events)))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsFirst:
    """The choice of bounds that comes before a query.

    Attributes:
        section: What is released to choose them.
        rest: What the query itself may then cost.
        law: The distribution of additive noise that was asked for.
    """

    section: Section
    rest: PureDP | ApproxDP
    law: Law | None


Measured: TypeAlias = Sequence[Sequence[Sequence[int]]]
"""For each measurement, for each group, its whole numbers."""


def compile_plan(
    question: Aggregate,
    total: PureDP | ApproxDP,
    *,
    neighboring_relation: NeighboringRelation,
    law: Law | None = None,
    edition: Edition = Edition.LATEST,
) -> PrivatePlan:
    """The plan that answers a query for at most `total`.

    Args:
        question: What is asked.
        total: What all of it may cost together.
        neighboring_relation: What may change between neighboring databases.
        law: The distribution that additive noise must have; None takes the better one for each measure.
        edition: By which rules; by those before the latest to find an answer that was bought then.

    Raises:
        NotPrivateError: Private keys without δ, or a query that looks at two units at once.
        UnboundedSensitivityError: A sum without bounds, or a unit without limits.
        ParameterError: An unknown column, values of a wrong kind, more groups than an answer can hold, or no such
            distribution.
    """
    if law is not None and not is_one_of(law, LAWS):
        raise ParameterError("mechanism", law, f"must be one of: {', '.join(LAWS)}")
    if edition is Edition.LATEST:
        question = folded_question(question)
    if automatic(question):
        return _bounds_first(question, total, neighboring_relation, law, edition)
    drafted = partial(draft, question, neighboring_relation=neighboring_relation, law=law, edition=edition)
    drafts = list(map(drafted, grouping_sets(question.child)))
    check_size(drafts)
    needs = [one.needs for one in drafts]
    weights = [weight for one in drafts for weight in one.weights]
    allocation = allocate(list(chain.from_iterable(needs)), total, weights=weights, law=law)
    shares = iter(allocation.shares)
    sections = tuple(one.section(list(islice(shares, len(own)))) for one, own in zip(drafts, needs, strict=True))
    return PrivatePlan(question=question, sections=sections, charge=allocation.charge, edition=edition)


def with_chosen_bounds(
    plan: PrivatePlan, released: Measured, *, neighboring_relation: NeighboringRelation
) -> PrivatePlan:
    """The plan of a query once its bounds are chosen, for what was kept for it; any other plan as it is.

    It never fails: where noise cannot be drawn for the chosen bounds, the widest are taken, for which it was tried.

    Args:
        plan: A plan, perhaps with `bounds`.
        released: What each measurement of those released.
        neighboring_relation: What may change between neighboring databases.
    """
    if plan.bounds is None:
        return plan
    rows = grouped_rows(plan.question, (), plan.edition)
    chosen = chosen_bounds(rows, plan.question, plan.bounds.section, released)
    question = with_bounds(plan.question, chosen)
    try:
        final = compile_plan(
            question, plan.bounds.rest, neighboring_relation=neighboring_relation, law=plan.bounds.law,
            edition=plan.edition,
        )  # fmt: skip
        return _with_wide_sums(final, plan.question)
    except ParameterError:
        widest = with_bounds(plan.question, widest_bounds(rows, plan.question))
        return replace(plan, question=widest, bounds=None)


def _with_wide_sums(final: PrivatePlan, question: Aggregate) -> PrivatePlan:
    """The final plan with automatic sums as FLOATs, which they were before anything was chosen."""
    names = {name for name, _ in automatic(question)}

    def shown(output: Output) -> Output:
        return (
            replace(output, is_whole=False)
            if isinstance(output, LinearOutput | CenteredOutput) and output.name in names
            else output
        )

    sections = (replace(section, outputs=tuple(map(shown, section.outputs))) for section in final.sections)
    return replace(final, sections=tuple(sections))


def _bounds_first(
    question: Aggregate,
    total: PureDP | ApproxDP,
    neighboring_relation: NeighboringRelation,
    law: Law | None,
    edition: Edition,
) -> PrivatePlan:
    """A quarter of the share of an automatic statistic goes to its bounds; planned with the widest ones.

    δ is charged even if no noise takes it: whether it does may depend on the bounds. Public rows cost nothing.
    """
    rows = grouped_rows(question, (), edition)
    if rows.shape.metric is Metric.PUBLIC:
        total = PureDP(0)
    weights = question.weights or (Fraction(1),) * len(question.statistics)
    weight_of = dict(zip((name for name, _ in question.statistics), weights, strict=True))
    whole = sum(weights, start=Fraction(0))
    parts = [total.epsilon * SHARE * weight_of[name] / whole for name, _ in automatic(question)]
    # Rounded down to 12 decimals, so that what is left of the budget is a decimal too.
    epsilons = [Fraction(floor(part * 10**12), 10**12) for part in parts]
    section = bounds_section(question, rows, epsilons, neighboring_relation, edition)
    rest = guarantee(total.epsilon - sum(epsilons, start=Fraction(0)), total.delta)
    widest = compile_plan(
        with_bounds(question, widest_bounds(rows, question)), rest, neighboring_relation=neighboring_relation, law=law,
        edition=edition,
    )  # fmt: skip
    return PrivatePlan(
        question=question, sections=widest.sections, charge=total,
        bounds=BoundsFirst(section=section, rest=rest, law=law), edition=edition,
    )  # fmt: skip
