"""Basic composition: ε and δ add up. Simple, exact, and sound for adaptive analysts.

What each event costs as (ε, δ) is one table of rules, a short function for each kind of event. Gaussian noise has no ε
of its own, only a curve: its cost depends on the share of δ that it may use.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import nlargest
from typing import Any, Final, TypeAlias

from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.accounting.core.amplification import amplified, any_sampled_up
from sfumato.accounting.core.conversions import NOTHING_RELEASED, added, group, parallel, promise
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.core.normal_form import EventCounts, NeighborGroup, NormalEvent, flattened, response_epsilon_up
from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_epsilon_up
from sfumato.accounting.gaussian.gaussian import gaussian_epsilon_up
from sfumato.errors import UnsupportedEventError
from sfumato.numeric.rounding import exp_up
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
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
from sfumato.privacy.neighbors import NeighboringRelation

_FIRST_GUESS: Final = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Cost:
    """A guarantee, and how many Gaussian curves had to share δ for it."""

    guarantee: Guarantee
    curves: int = 0


FREE: Final = Cost(NOTHING_RELEASED)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAccountant(TalliedAccountant):
    """Sequential composition of (ε, δ): k releases cost Σ εᵢ and Σ δᵢ.

    Events with a fixed ε and δ are added exactly. What they leave of the δ asked for is split equally among the
    Gaussian curves, each of which gives its exact ε at its share. Samples are amplified [BBG18].

    **Guarantee**: never below the truth, for its neighboring relation and for adaptively chosen events.

    Edge cases: sums are exact up to 9000 bits, and above rounded up by at most 2^-4096. Nothing composed costs ε = 0;
    a `NonPrivateEvent` costs an infinite ε, unless it is sampled, when it is (0, q). zCDP events are refused, wherever
    they are nested, and so is selection among answers that are not pure. The lower end of `interval` is the exact sum
    for pure events at δ = 0, and 0 otherwise.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> BasicAccountant().compose(PureEvent("0.1"), count=10).epsilon()
        Fraction(1, 1)

    References:
        [DKMMN06] Theorem 1.
    """

    def _supports(self, event: Event) -> bool:
        return _price_or_none(EventCounts(((event, 1),)), self.neighboring_relation) is not None

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        """Infinite where δ is below what the events themselves need, or 0 with Gaussian noise."""
        upper = _epsilon(self.tally, NeighborGroup(self.neighboring_relation), delta)
        pure = [(event.epsilon, count) for event, count in self.tally if isinstance(event, PureEvent)]
        if delta or len(pure) < len(self.tally.counts):
            return EpsilonInterval(Fraction(0), upper)
        return EpsilonInterval(sum((epsilon * count for epsilon, count in pure), Fraction(0)), upper)

    def _delta(self, epsilon: Fraction) -> Fraction:
        """1, which promises nothing, where ε is below what the events themselves need."""
        neighbors = NeighborGroup(self.neighboring_relation)
        fixed = price_all(self.tally, neighbors, None)
        if not fixed.curves:
            return fixed.guarantee.delta if fixed.guarantee.epsilon <= epsilon else Fraction(1)
        found = smallest_dyadic(
            lambda delta: delta >= 1 or _epsilon(self.tally, neighbors, delta, fixed) <= epsilon, guess=_FIRST_GUESS
        )
        return Fraction(1) if found is None else min(found, Fraction(1))


def event_epsilon(event: Event, *, delta: Fraction, neighboring_relation: NeighboringRelation) -> Fraction | float:
    """The ε that `BasicAccountant` proves at δ of an event alone.

    Raises:
        UnsupportedEventError: The event, or one nested in it, has no cost here.
    """
    neighbors = NeighborGroup(neighboring_relation)
    return _epsilon(flattened(event, neighbors), neighbors, delta)


def _epsilon(
    tally: EventCounts, neighbors: NeighborGroup, delta: Fraction, fixed: Cost | None = None
) -> Fraction | float:
    """The ε of a tally at δ; `fixed` is its cost without what the curves cost, for those who know it."""
    fixed = fixed or price_all(tally, neighbors, None)
    left = delta - fixed.guarantee.delta
    if left < 0 or (left == 0 and fixed.curves):
        return math.inf
    if not fixed.curves:
        return fixed.guarantee.epsilon
    # A curve without a finite ε promises nothing, and in a sample that is a δ of its own.
    found = price_all(tally, neighbors, left / fixed.curves).guarantee
    return found.epsilon if found.delta <= delta else math.inf


def price(single: NormalEvent, delta_per_curve: Fraction | None) -> Cost:
    """The cost of a release, by basic composition of what is nested in it.

    **Guarantee**: never below the truth, for the neighbors of the release; the δ used is at most that of the events
    without curves, and `delta_per_curve` for each curve. None leaves out what the curves cost, and counts them.

    Raises:
        UnsupportedEventError: The event, or one nested in it, has no cost here.
    """
    rule = _RULES.get(type(single.event))
    if rule is None:
        raise UnsupportedEventError(single.event, "BasicAccountant")
    return rule(single.event, single.neighbors, delta_per_curve)


def own_guarantee(event: Event, neighboring_relation: NeighboringRelation) -> Guarantee | None:
    """The (ε, δ) of any event that has one of its own; None for curves and for events without a cost."""
    cost = _price_or_none(flattened(event, NeighborGroup(neighboring_relation)), neighboring_relation)
    return None if cost is None or cost.curves else cost.guarantee


def _price_or_none(tally: EventCounts, relation: NeighboringRelation) -> Cost | None:
    try:
        return price_all(tally, NeighborGroup(relation), None)
    except UnsupportedEventError:
        return None


def price_all(tally: EventCounts, neighbors: NeighborGroup, delta_per_curve: Fraction | None) -> Cost:
    """The cost of a whole tally that was flattened for these neighbors, by sequential composition.

    Raises:
        UnsupportedEventError: An event, or one nested in it, has no cost here.
    """
    whole = FREE
    for event, count in tally:
        single = price(NormalEvent.of(event, neighbors), delta_per_curve)
        together = added(whole.guarantee, single.guarantee, count=count)
        whole = Cost(together, whole.curves + single.curves * count)
    return whole


_Share: TypeAlias = Fraction | None
"""The δ that each Gaussian curve may use."""


def _randomized_response(event: RandomizedResponseEvent, _neighbors: NeighborGroup, _share: _Share) -> Cost:
    epsilon = response_epsilon_up(event)
    return Cost(NO_GUARANTEE if epsilon is None else promise(epsilon, Fraction(0)))


def _finite(event: FiniteEvent, neighbors: NeighborGroup, _share: _Share) -> Cost:
    """The outcomes that only one of the two distributions has are δ; of the others the largest loss is ε."""
    pairs = tuple(zip(event.p, event.q, strict=True))
    delta = max(sum((p for p, q in pairs if not q), Fraction(0)), sum((q for p, q in pairs if not p), Fraction(0)))
    return Cost(group(promise(smallest_epsilon(event.p, event.q, delta=delta), delta), neighbors.size))


def _discrete_gaussian(event: DiscreteGaussianEvent, _neighbors: NeighborGroup, share: _Share) -> Cost:
    epsilon_up = partial(
        discrete_gaussian_epsilon_up,
        stddev=event.stddev,
        l2_sensitivity=event.l2_sensitivity,
        l0_sensitivity=event.l0_sensitivity,
    )
    return _curve(epsilon_up, share)


def _curve(epsilon_up: Callable[..., Fraction | float], share: _Share) -> Cost:
    if share is None:
        return Cost(NOTHING_RELEASED, curves=1)
    return Cost(NO_GUARANTEE if share >= 1 else promise(epsilon_up(delta=share), share), curves=1)


def _mixture(event: MixtureOfGaussiansEvent, neighbors: NeighborGroup, share: _Share) -> Cost:
    """No worse than if the largest sensitivity took the place of all others above 0: a sampled Gaussian."""
    moved = sum((p for s, p in zip(event.sensitivities, event.probabilities, strict=True) if s), Fraction(0))
    if moved == 0:
        return FREE
    return _poisson(
        PoissonSampledEvent(moved, GaussianEvent(event.stddev / max(event.sensitivities))), neighbors, share
    )


def _poisson(event: PoissonSampledEvent, neighbors: NeighborGroup, share: _Share) -> Cost:
    any_of_them = any_sampled_up(event.sampling_probability, neighbors.size)
    return _sampled(event, neighbors.one_by_one.single, neighbors.one_by_one, any_of_them, share)


def _truncated_poisson(event: TruncatedPoissonSampledEvent, neighbors: NeighborGroup, share: _Share) -> Cost:
    """Who enters a full sample drives another out of it: two units of the sample for one of the people."""
    any_of_them = any_sampled_up(event.sampling_probability, neighbors.size)
    return _sampled(event, neighbors.single.replaced.one_by_one, neighbors.replaced.one_by_one, any_of_them, share)


def _without_replacement(event: SampledWithoutReplacementEvent, neighbors: NeighborGroup, share: _Share) -> Cost:
    any_of_them = min(neighbors.size * event.sampling_probability, Fraction(1))
    return _sampled(event, neighbors.single.replaced, neighbors.replaced, any_of_them, share)


def _sampled(
    event: PoissonSampledEvent | TruncatedPoissonSampledEvent | SampledWithoutReplacementEvent,
    one: NeighborGroup,
    together: NeighborGroup,
    any_of_them: Fraction,
    share: _Share,
) -> Cost:
    """Without curves, `one` is amplified and the group rule applied; with them, all enter the sample `together`."""
    single = _inside(event.event, one, share)
    if not single.curves:
        return Cost(group(amplified(single.guarantee, event.sampling_probability), together.size // one.size))
    whole = _inside(event.event, together, None if share is None else share / any_of_them)
    return Cost(amplified(whole.guarantee, any_of_them), whole.curves)


def _inside(event: Event, neighbors: NeighborGroup, share: _Share) -> Cost:
    return price_all(flattened(event, neighbors), neighbors, share)


def _repeat_and_select(event: RepeatAndSelectEvent, neighbors: NeighborGroup, share: _Share) -> Cost:
    """(2 + shape)ε for truncated negative binomial repetitions, ε + mean·tanh(ε/2) for Poisson ones; pure ε only."""
    single = _inside(event.event, neighbors.single, share)
    if single.guarantee == NO_GUARANTEE:
        return single
    if single.curves or single.guarantee.delta:
        raise UnsupportedEventError(event, "BasicAccountant")
    epsilon = Fraction(single.guarantee.epsilon)
    bound = epsilon + event.mean * _tanh_half_up(epsilon) if event.shape is None else (2 + event.shape) * epsilon
    return Cost(group(promise(bound, Fraction(0)), neighbors.size))


def _tanh_half_up(epsilon: Fraction) -> Fraction:
    """tanh(ε/2) = 1 − 2/(e^ε + 1), the largest total variation distance under ε, rounded up."""
    odds = exp_up(epsilon)
    return min(1 - 2 / (Fraction(odds) + 1), epsilon / 2) if odds < float("inf") else Fraction(1)


def _partition(event: PartitionEvent, neighbors: NeighborGroup, share: _Share) -> Cost:
    """Without curves, the group rule on the whole; with them, c units of k parts each are one unit of c·k parts."""
    parts = [_inside(part, neighbors.single, share) for part in event.events]
    if not any(part.curves for part in parts):
        return Cost(group(_parallel(parts, event.max_parts_per_unit, neighbors), neighbors.size))
    parts = [_inside(part, neighbors, share) for part in event.events]
    curves = nlargest(neighbors.touched(event.max_parts_per_unit), (part.curves for part in parts))
    return Cost(_parallel(parts, event.max_parts_per_unit * neighbors.size, neighbors), sum(curves))


def _parallel(parts: Iterable[Cost], max_parts_per_unit: int, neighbors: NeighborGroup) -> Guarantee:
    guarantees = [part.guarantee for part in parts]
    return parallel(guarantees, max_parts_per_unit=max_parts_per_unit, neighboring_relation=neighbors.relation)


_RULES: Final[dict[type, Callable[[Any, NeighborGroup, _Share], Cost]]] = {
    NonPrivateEvent: lambda *_: Cost(NO_GUARANTEE),
    PureEvent: lambda event, *_: Cost(promise(event.epsilon, Fraction(0))),
    ExponentialEvent: lambda event, *_: Cost(promise(event.epsilon, Fraction(0))),
    ApproxEvent: lambda event, *_: Cost(promise(event.epsilon, event.delta)),
    LaplaceEvent: lambda event, *_: Cost(promise(1 / event.noise_multiplier, Fraction(0))),
    DiscreteLaplaceEvent: lambda event, *_: Cost(promise(1 / event.noise_multiplier, Fraction(0))),
    RandomizedResponseEvent: _randomized_response,
    FiniteEvent: _finite,
    GaussianEvent: lambda event, _neighbors, share: _curve(
        partial(gaussian_epsilon_up, noise_multiplier=event.noise_multiplier), share
    ),
    DiscreteGaussianEvent: _discrete_gaussian,
    MixtureOfGaussiansEvent: _mixture,
    PoissonSampledEvent: _poisson,
    TruncatedPoissonSampledEvent: _truncated_poisson,
    SampledWithoutReplacementEvent: _without_replacement,
    RepeatAndSelectEvent: _repeat_and_select,
    PartitionEvent: _partition,
}
