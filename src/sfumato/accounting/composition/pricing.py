"""What each event costs as (ε, δ): one table of handlers, one short function for each kind of event.

Gaussian noise has no ε of its own, only a curve: its price depends on the δ that it may use. An event is therefore
priced under `Terms`, which say how much δ each curve gets. What is nested in samples and partitions is flattened first,
so that a handler only ever sees single events, and groups only around what has no simpler name.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import nlargest
from typing import Any, Final

from sfumato.accounting.core.amplification import amplified, any_sampled_up
from sfumato.accounting.core.conversions import (
    NOTHING_RELEASED,
    added,
    group,
    parallel,
    promise,
    repeated,
    touched_parts,
)
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.core.tally import Tally, flattened, grouped, replacement_group, response_epsilon_up
from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_epsilon_up
from sfumato.accounting.gaussian.gaussian import gaussian_epsilon_up
from sfumato.errors import UnsupportedEventError
from sfumato.numeric.rounding import exp_up
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, Guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Under what an event is priced."""

    neighboring_relation: NeighboringRelation
    group_size: int = 1  # of units, around an event that has no group of its own
    delta_per_curve: Fraction | None = None  # None: count the curves, but leave out what they cost


@dataclass(frozen=True, slots=True)
class Cost:
    """A guarantee, and how many Gaussian curves had to share δ for it."""

    guarantee: Guarantee
    curves: int = 0


FREE: Final = Cost(NOTHING_RELEASED)


def price(event: Event, terms: Terms) -> Cost:
    """The cost of a single event of a tally, by basic composition of what is nested in it.

    **Guarantee**: never below the truth, for the relation of the terms; the δ used is at most that of the events
    without curves, and `delta_per_curve` for each curve.

    Raises:
        UnsupportedEventError: The event, or one nested in it, has no price here.
    """
    handler = _HANDLERS.get(type(event))
    if handler is None:
        raise UnsupportedEventError(event, "BasicAccountant")
    return handler(event, terms)


def is_priced(event: Event, neighboring_relation: NeighboringRelation) -> bool:
    """Whether a single event of a tally, with everything nested in it, has a price."""
    return _price_or_none(Tally(((event, 1),)), neighboring_relation) is not None


def point(event: Event, neighboring_relation: NeighboringRelation) -> Guarantee | None:
    """The (ε, δ) of any event that has one of its own; None for curves and for events without a price."""
    cost = _price_or_none(flattened(event, neighboring_relation), neighboring_relation)
    return None if cost is None or cost.curves else cost.guarantee


def _price_or_none(tally: Tally, relation: NeighboringRelation) -> Cost | None:
    try:
        return price_all(tally, Terms(neighboring_relation=relation))
    except UnsupportedEventError:
        return None


def price_all(tally: Tally, terms: Terms) -> Cost:
    """The cost of a whole tally.

    Raises:
        UnsupportedEventError: An event, or one nested in it, has no price here.
    """
    return total(times(price(event, terms), count) for event, count in tally.counts)


def total(costs: Iterable[Cost]) -> Cost:
    """The cost of everything together, by sequential composition."""
    result = FREE
    for cost in costs:
        result = Cost(added(result.guarantee, cost.guarantee), result.curves + cost.curves)
    return result


def times(cost: Cost, count: int) -> Cost:
    """`total` of `count` equal costs."""
    return Cost(repeated(cost.guarantee, count), cost.curves * count)


def _non_private(_event: NonPrivateEvent, _terms: Terms) -> Cost:
    return Cost(NO_GUARANTEE)


def _pure(event: PureEvent | ExponentialEvent, _terms: Terms) -> Cost:
    return Cost(promise(event.epsilon, Fraction(0)))


def _approx(event: ApproxEvent, _terms: Terms) -> Cost:
    return Cost(promise(event.epsilon, event.delta))


def _laplace(event: LaplaceEvent | DiscreteLaplaceEvent, _terms: Terms) -> Cost:
    return Cost(promise(1 / event.noise_multiplier, Fraction(0)))


def _randomized_response(event: RandomizedResponseEvent, _terms: Terms) -> Cost:
    epsilon = response_epsilon_up(event)
    return Cost(NO_GUARANTEE if epsilon is None else promise(epsilon, Fraction(0)))


def _finite(event: FiniteEvent, terms: Terms) -> Cost:
    """The outcomes that only one of the two laws has are δ; of the others the largest loss is ε."""
    pairs = tuple(zip(event.p, event.q, strict=True))
    delta = max(sum((p for p, q in pairs if not q), Fraction(0)), sum((q for p, q in pairs if not p), Fraction(0)))
    return Cost(group(promise(smallest_epsilon(event.p, event.q, delta=delta), delta), terms.group_size))


def _gaussian(event: GaussianEvent, terms: Terms) -> Cost:
    return _curve(lambda delta: gaussian_epsilon_up(noise_multiplier=event.noise_multiplier, delta=delta), terms)


def _discrete_gaussian(event: DiscreteGaussianEvent, terms: Terms) -> Cost:
    return _curve(
        lambda delta: discrete_gaussian_epsilon_up(
            stddev=event.stddev,
            l2_sensitivity=event.l2_sensitivity,
            delta=delta,
            l0_sensitivity=event.l0_sensitivity,
        ),
        terms,
    )


def _curve(epsilon_up: Callable[[Fraction], Fraction | float], terms: Terms) -> Cost:
    delta = terms.delta_per_curve
    if delta is None:
        return Cost(NOTHING_RELEASED, curves=1)
    return Cost(NO_GUARANTEE if delta >= 1 else promise(epsilon_up(delta), delta), curves=1)


def _mixture(event: MixtureOfGaussiansEvent, terms: Terms) -> Cost:
    """No worse than if the largest sensitivity took the place of all others above 0: a sampled Gaussian."""
    moved = sum((p for s, p in zip(event.sensitivities, event.probabilities, strict=True) if s), Fraction(0))
    if moved == 0:
        return FREE
    return _poisson(PoissonSampledEvent(moved, GaussianEvent(event.stddev / max(event.sensitivities))), terms)


def _poisson(event: PoissonSampledEvent, terms: Terms) -> Cost:
    size = terms.group_size
    units = size * replacement_group(terms.neighboring_relation)
    any_of_them = any_sampled_up(event.sampling_probability, size)
    return _sampled(event, terms, inside=ADD_OR_REMOVE_ONE, units=units, any_of_them=any_of_them)


def _truncated_poisson(event: TruncatedPoissonSampledEvent, terms: Terms) -> Cost:
    """Who enters a full sample drives another out of it: two units of the sample for one of the people."""
    any_of_them = any_sampled_up(event.sampling_probability, terms.group_size)
    return _sampled(event, terms, inside=ADD_OR_REMOVE_ONE, units=terms.group_size, any_of_them=any_of_them, steps=2)


def _without_replacement(event: SampledWithoutReplacementEvent, terms: Terms) -> Cost:
    any_of_them = min(terms.group_size * event.sampling_probability, Fraction(1))
    return _sampled(event, terms, inside=REPLACE_ONE, units=terms.group_size, any_of_them=any_of_them)


def _sampled(
    event: PoissonSampledEvent | TruncatedPoissonSampledEvent | SampledWithoutReplacementEvent,
    terms: Terms,
    *,
    inside: NeighboringRelation,
    units: int,
    any_of_them: Fraction,
    steps: int = 1,
) -> Cost:
    """Without curves, one unit is amplified and the group rule applied; with them, all units enter the sample at once.

    One of the `units` outside is `steps` units `inside`.
    """
    single = _nested(event.event, terms, inside, steps)
    if not single.curves:
        return Cost(group(amplified(single.guarantee, event.sampling_probability), units))
    share = terms.delta_per_curve
    sharing = replace(terms, delta_per_curve=None if share is None else share / any_of_them)
    together = _nested(event.event, sharing, inside, steps * units)
    return Cost(amplified(together.guarantee, any_of_them), together.curves)


def _nested(event: Event, terms: Terms, inside: NeighboringRelation, group_size: int) -> Cost:
    single = replace(terms, neighboring_relation=inside, group_size=1)
    return price_all(flattened(event, inside, group_size=group_size), single)


def _repeat_and_select(event: RepeatAndSelectEvent, terms: Terms) -> Cost:
    """(2 + shape)ε for truncated negative binomial repetitions, ε + mean·tanh(ε/2) for Poisson ones; pure ε only."""
    single = _nested(event.event, terms, terms.neighboring_relation, 1)
    if single.guarantee == NO_GUARANTEE:
        return single
    if single.curves or single.guarantee.delta:
        raise UnsupportedEventError(event, "BasicAccountant")
    epsilon = Fraction(single.guarantee.epsilon)
    bound = epsilon + event.mean * _tanh_half_up(epsilon) if event.shape is None else (2 + event.shape) * epsilon
    return Cost(group(promise(bound, Fraction(0)), terms.group_size))


def _tanh_half_up(epsilon: Fraction) -> Fraction:
    """tanh(ε/2) = 1 − 2/(e^ε + 1), the largest total variation distance under ε, rounded up."""
    odds = exp_up(epsilon)
    return min(1 - 2 / (Fraction(odds) + 1), epsilon / 2) if odds < float("inf") else Fraction(1)


def _partition(event: PartitionEvent, terms: Terms) -> Cost:
    """Without curves, the group rule on the whole; with them, c units of k parts each are one unit of c·k parts."""
    relation, size = terms.neighboring_relation, terms.group_size
    parts = [_nested(part, terms, relation, 1) for part in event.events]
    if not any(part.curves for part in parts):
        return Cost(group(_parallel(parts, event.max_parts_per_unit, relation), size))
    parts = [_nested(part, terms, relation, size) for part in event.events]
    most_parts = event.max_parts_per_unit * size
    curves = nlargest(touched_parts(most_parts, relation), (part.curves for part in parts))
    return Cost(_parallel(parts, most_parts, relation), sum(curves))


def _parallel(parts: Iterable[Cost], max_parts_per_unit: int, relation: NeighboringRelation) -> Guarantee:
    guarantees = [part.guarantee for part in parts]
    return parallel(guarantees, max_parts_per_unit=max_parts_per_unit, neighboring_relation=relation)


def _group(event: GroupEvent, terms: Terms) -> Cost:
    size = terms.group_size * event.size
    simpler = grouped(event.event, size)
    return (
        price(event.event, replace(terms, group_size=size))
        if isinstance(simpler, GroupEvent)
        else price(simpler, terms)
    )


_HANDLERS: Final[dict[type, Callable[[Any, Terms], Cost]]] = {
    NonPrivateEvent: _non_private,
    PureEvent: _pure,
    ExponentialEvent: _pure,
    ApproxEvent: _approx,
    LaplaceEvent: _laplace,
    DiscreteLaplaceEvent: _laplace,
    RandomizedResponseEvent: _randomized_response,
    FiniteEvent: _finite,
    GaussianEvent: _gaussian,
    DiscreteGaussianEvent: _discrete_gaussian,
    MixtureOfGaussiansEvent: _mixture,
    PoissonSampledEvent: _poisson,
    TruncatedPoissonSampledEvent: _truncated_poisson,
    SampledWithoutReplacementEvent: _without_replacement,
    RepeatAndSelectEvent: _repeat_and_select,
    PartitionEvent: _partition,
    GroupEvent: _group,
}
