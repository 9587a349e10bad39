"""The Rényi bound of each event: one table of handlers, one short function for each kind.

A rule sees an event in normal form, and the size of a group only where the event has no rule of its own for groups.
Of a sample, Gaussian noise is integrated, and everything else is expanded.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import floor
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.accounting.core.amplification import any_sampled_up
from sfumato.accounting.core.normal_form import EventCounts, NeighborGroup, NormalEvent, flattened, response_epsilon_up
from sfumato.accounting.renyi import curves
from sfumato.accounting.renyi.bound import EVERYTHING, RenyiBound, composed, costliest, grouped_bound, worst
from sfumato.accounting.renyi.curves import Array
from sfumato.accounting.renyi.gaussian_samples import (
    exchanged_gaussian_bound,
    mixture_bound,
    sampled_gaussian_bound,
    sampled_group_bound,
)
from sfumato.accounting.renyi.sampling import (
    SMALLEST_CHANCE,
    exchanged_bound,
    overflow_of,
    sampled_bound,
    truncated_bound,
)
from sfumato.accounting.renyi.selection import selected_bound
from sfumato.errors import UnsupportedEventError
from sfumato.numeric.divergences import max_divergence
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up
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
    ZCDPEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True)
class SampleContents:
    """What is done to a sample: the events, and their bound."""

    tally: EventCounts
    bound: RenyiBound

    @property
    def distance(self) -> Fraction | None:
        """Of two means in standard deviations, if all noise is Gaussian: √ Σ (Δ/σ)²."""
        square = Fraction(0)
        for event, count in self.tally.counts:
            if not isinstance(event, GaussianEvent):
                return None
            square += count / event.noise_multiplier**2
        return sqrt_up(square)


def sampled(probability: Fraction, inside: SampleContents) -> RenyiBound:
    """A unit that is in the sample, or not at all."""
    if probability == 1:
        return inside.bound
    distance = inside.distance
    if distance is None:
        return sampled_bound(probability, inside.bound)
    return sampled_gaussian_bound(probability, inside.bound, distance=distance)


def exchanged(probability: Fraction, near: SampleContents, far: RenyiBound) -> RenyiBound:
    """A unit that shows one of two values if it is in the sample; `near` is of each of them against no unit."""
    if probability == 1:
        return far
    distance = near.distance
    if distance is None:
        return exchanged_bound(probability, near.bound, far)
    return exchanged_gaussian_bound(probability, far, distance=distance)


Rule: TypeAlias = Callable[[Any, NeighborGroup], RenyiBound]

_LARGEST_MIXTURE: Final = 32  # components; more are replaced by the largest
_LARGE: Final = 10**15  # an ε that says nothing; below it nothing overflows
_LARGEST_FLOAT: Final = 10**290  # beyond it inverses lose digits
_MOST_BITS: Final = 2**16  # of a power that is computed exactly


def renyi_bound(event: Event, orders: Array, neighboring_relation: NeighboringRelation) -> Array:
    """An upper bound of D_α(P‖Q) and D_α(Q‖P) for all neighbors, at each order α, in the order of the orders.

    **Guarantee**: it holds up to the failure of `renyi_bound_of(event, neighboring_relation).failure`, which is to be
    added to δ; the bounds of adaptively chosen events add up.

    Args:
        event: Anything that an `RDPAccountant` supports.
        orders: Finite, above 1.
        neighboring_relation: Of the account.

    Raises:
        UnsupportedEventError: The event, or one nested in it, has no bound.

    Example:
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> renyi_bound(GaussianEvent(2), np.array([2.0, 8.0]), ADD_OR_REMOVE_ONE).round(9).tolist()
        [0.25, 1.0]
    """
    ranks = np.argsort(orders)
    result = np.empty(len(ranks))
    result[ranks] = renyi_bound_of(event, neighboring_relation).divergence(np.asarray(orders, dtype=np.float64)[ranks])
    return result


@lru_cache(maxsize=4096)
def renyi_bound_of(event: Event, neighboring_relation: NeighboringRelation) -> RenyiBound:
    """The bound of an event and everything nested in it.

    Raises:
        UnsupportedEventError: The event, or one nested in it, has no bound.
    """
    return _of(event, NeighborGroup(neighboring_relation))


def bound_of_tally(tally: EventCounts, neighbors: NeighborGroup) -> RenyiBound:
    """The bound of everything, composed, in a tally that was flattened for these neighbors."""
    return composed((_single(NormalEvent.of(event, neighbors)), count) for event, count in tally)


def _of(event: Event, neighbors: NeighborGroup) -> RenyiBound:
    return bound_of_tally(flattened(event, neighbors), neighbors)


@lru_cache(maxsize=4096)
def _single(single: NormalEvent) -> RenyiBound:
    rule = _RULES.get(type(single.event))
    if rule is None:
        raise UnsupportedEventError(single.event, "RDPAccountant")
    return rule(single.event, single.neighbors)


def _gaussian(event: GaussianEvent, _neighbors: NeighborGroup) -> RenyiBound:
    rho = 1 / (2 * event.noise_multiplier**2)
    return RenyiBound(divergence=partial(curves.concentrated, rho=rho), is_symmetric=True)


def _discrete_gaussian(event: DiscreteGaussianEvent, _neighbors: NeighborGroup) -> RenyiBound:
    """The squared length of an integer vector is an integer, and of one number a square."""
    one = event.l0_sensitivity == 1
    square = floor(event.l2_sensitivity) ** 2 if one else floor(event.l2_sensitivity**2)
    rho = square / (2 * event.stddev**2)
    return RenyiBound(divergence=partial(curves.concentrated, rho=rho), is_symmetric=one)


def _discrete_laplace(event: DiscreteLaplaceEvent, _neighbors: NeighborGroup) -> RenyiBound:
    shift = floor(event.l1_sensitivity)
    if shift > _LARGE * event.scale or shift > _LARGEST_FLOAT or event.scale > _LARGEST_FLOAT:
        return _with_epsilon(curves.randomized_response, shift / event.scale)
    curve = partial(curves.discrete_laplace, decay=float_up(1 / event.scale), shift=shift)
    return RenyiBound(divergence=curve, epsilon=shift / event.scale, is_symmetric=True)


def _randomized_response(event: RandomizedResponseEvent, _neighbors: NeighborGroup) -> RenyiBound:
    """The truth and one other answer exchange their probabilities; those of all others stay."""
    epsilon = response_epsilon_up(event)
    if epsilon is None:
        return EVERYTHING
    other = (1 - event.probability) / event.categories
    true, rest = other + event.probability, other * max(event.categories - 2, 0)
    exact = partial(curves.finite, p=(true, other, rest), q=(other, true, rest))
    return RenyiBound(divergence=exact, epsilon=epsilon, is_symmetric=True)


def _finite(event: FiniteEvent, neighbors: NeighborGroup) -> RenyiBound:
    epsilon = max(max_divergence(event.p, event.q), max_divergence(event.q, event.p))
    pair = RenyiBound(divergence=partial(curves.finite, p=event.p, q=event.q), epsilon=epsilon)
    return grouped_bound(pair, neighbors.size)


def _mixture(event: MixtureOfGaussiansEvent, neighbors: NeighborGroup) -> RenyiBound:
    """With the unit against without it, in either order, whatever the relation."""
    pair = mixture_bound([shift / event.stddev for shift in event.sensitivities], event.probabilities)
    return grouped_bound(pair, neighbors.size)


def _with_epsilon(curve: Callable[..., Array], epsilon: Fraction) -> RenyiBound:
    """Of a symmetric pair whose curve has an ε."""
    limit = float_up(epsilon)
    if limit > _LARGE:
        return RenyiBound(divergence=lambda orders: np.full_like(orders, limit), epsilon=epsilon, is_symmetric=True)
    return RenyiBound(divergence=partial(curve, epsilon=limit), epsilon=epsilon, is_symmetric=True)


def _poisson(event: PoissonSampledEvent, neighbors: NeighborGroup) -> RenyiBound:
    """At least one of a group of c is in the sample with probability 1 − (1 − q)^c, and then up to all of them."""
    probability, size = event.sampling_probability, neighbors.size
    distance = _inside(event.event, neighbors.single.present).distance
    if distance is not None and not neighbors.is_replacement and 1 < size <= _LARGEST_MIXTURE:
        return sampled_group_bound(probability, size, distance=distance)
    return _of_sample(_any_of(probability, size), event.event, neighbors)


def _any_of(probability: Fraction, size: int) -> Fraction:
    """1 − (1 − q)^size; rounded up where that has too many digits."""
    if size * probability.denominator.bit_length() <= _MOST_BITS:
        return 1 - (1 - probability) ** size
    most = min(size * probability, Fraction(1))
    return most if most < SMALLEST_CHANCE else any_sampled_up(probability, size)


def _of_sample(probability: Fraction, event: Event, neighbors: NeighborGroup) -> RenyiBound:
    """Of an event that is stated for adding or removing one: a replaced unit is two of these."""
    near = _inside(event, neighbors.present)
    if neighbors.is_replacement:
        return exchanged(probability, near, _of(event, neighbors.one_by_one))
    return sampled(probability, near)


def _truncated_poisson(event: TruncatedPoissonSampledEvent, neighbors: NeighborGroup) -> RenyiBound:
    """A unit that comes into a full sample takes the place of another one, which is a change by two."""
    poisson = _of_sample(event.sampling_probability, event.event, neighbors.single)
    if event.max_sample_size >= event.source_size:
        return grouped_bound(poisson, neighbors.size)
    removed = 1 if neighbors.is_replacement else neighbors.size
    overflow, pair = overflow_of(event, steps=removed), _inside(event.event, neighbors.single.replaced.one_by_one)
    with_unit = (
        exchanged(overflow.chance, pair, pair.bound) if neighbors.is_replacement else sampled(overflow.chance, pair)
    )
    return grouped_bound(truncated_bound(overflow, poisson, with_unit), neighbors.size)


def _without_replacement(event: SampledWithoutReplacementEvent, neighbors: NeighborGroup) -> RenyiBound:
    """One of a group of c is in the sample with a probability of at most c·γ; then up to all of them are."""
    probability = min(event.sampling_probability * neighbors.size, Fraction(1))
    inside = _inside(event.event, neighbors.replaced)
    if neighbors.is_replacement:
        return exchanged(probability, inside, inside.bound)
    return sampled(probability, inside)


def _inside(event: Event, neighbors: NeighborGroup) -> SampleContents:
    tally = flattened(event, neighbors)
    return SampleContents(tally, bound_of_tally(tally, neighbors))


def _partition(event: PartitionEvent, neighbors: NeighborGroup) -> RenyiBound:
    """The unit's parts are the costliest ones, at each order and for each of ε and δ."""
    touched = neighbors.touched(event.max_parts_per_unit)
    parts = Counter(event.events)
    bounds = [(_in_a_part(part, neighbors), min(many, touched)) for part, many in parts.items()]
    return costliest(bounds, touched)


def _in_a_part(event: Event, neighbors: NeighborGroup) -> RenyiBound:
    """A replaced unit is removed from one part, added to another, or replaced in one."""
    bound = _of(event, neighbors)
    return worst(bound, _of(event, neighbors.present)) if neighbors.is_replacement else bound


_RULES: Final[dict[type, Rule]] = {
    NonPrivateEvent: lambda *_: EVERYTHING,
    PureEvent: lambda event, _: _with_epsilon(curves.randomized_response, event.epsilon),
    ApproxEvent: lambda event, _: replace(
        _with_epsilon(curves.randomized_response, event.epsilon), failure=event.delta
    ),
    ZCDPEvent: lambda event, _: RenyiBound(divergence=partial(curves.concentrated, rho=event.rho)),
    GaussianEvent: _gaussian,
    DiscreteGaussianEvent: _discrete_gaussian,
    LaplaceEvent: lambda event, _: _with_epsilon(curves.laplace, 1 / event.noise_multiplier),
    DiscreteLaplaceEvent: _discrete_laplace,
    RandomizedResponseEvent: _randomized_response,
    ExponentialEvent: lambda event, _: replace(_with_epsilon(curves.bounded_range, event.epsilon), is_symmetric=False),
    FiniteEvent: _finite,
    MixtureOfGaussiansEvent: _mixture,
    PoissonSampledEvent: _poisson,
    TruncatedPoissonSampledEvent: _truncated_poisson,
    SampledWithoutReplacementEvent: _without_replacement,
    RepeatAndSelectEvent: lambda event, neighbors: selected_bound(
        _of(event.event, neighbors), mean=event.mean, shape=event.shape
    ),
    PartitionEvent: _partition,
}
