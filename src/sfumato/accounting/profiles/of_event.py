"""Which profiles an event has: one rule for each kind of event, and who its two databases are."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.accounting.core.integer_moves import largest_shapes, longest_move
from sfumato.accounting.core.normal_form import NeighborGroup, NormalEvent, flattened, single_events
from sfumato.accounting.gaussian.discrete_gaussian import SMALLEST_STDDEV
from sfumato.accounting.profiles.combined import (
    BracketedProfile,
    GroupProfile,
    LeastProfile,
    MixedProfile,
    worst_of,
)
from sfumato.accounting.profiles.discrete import DiscreteGaussianProfile, DiscreteLaplaceProfile, RoundedGaussianProfile
from sfumato.accounting.profiles.finite import (
    EVERYTHING,
    NOTHING,
    BoundedRange,
    FinitePair,
    WorstPair,
    randomized_response,
)
from sfumato.accounting.profiles.mixtures import group_presence, mirrored, presence, replacement
from sfumato.accounting.profiles.profile import (
    MARGIN,
    ConcentratedProfile,
    DominatingPair,
    GaussianProfile,
    LaplaceProfile,
    Profile,
    symmetric,
)
from sfumato.accounting.profiles.sampled import SampledBackward, SampledForward, SampledReplacement, truncation
from sfumato.accounting.profiles.sampled_groups import (
    Drawn,
    DrawnBackward,
    DrawnExchange,
    DrawnForward,
    binomial,
    gaussian_noise,
    hypergeometric,
    lines_for,
)
from sfumato.errors import UnsupportedEventError
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
    SampledWithoutReplacementEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation

Compose: TypeAlias = Callable[[tuple[tuple[DominatingPair, int], ...]], DominatingPair]
"""The pair of several pairs, each so many times, one after the other."""

LEAST: Final = Fraction(1, 10**100)
MOST: Final = Fraction(10**100)
"""Floats hold the squares of what lies between these; parameters beyond are taken to the safe side."""

_LARGEST_GROUP: Final = 32  # beyond it a binomial mixture costs more than it saves
_SMOOTH: Final = 32  # from this σ the continuous law costs less than 0.04% of the shift


def dominating_pair(event: Event, neighboring_relation: NeighboringRelation, compose: Compose) -> DominatingPair:
    """The dominating pair of a single event in normal form.

    **Guarantee**: as of `DominatingPair`, for the relation: forward is with the unit against without it. Under
    `REPLACE_ONE` both orders have the same bound.

    Args:
        event: One of a tally's events.
        neighboring_relation: Between which databases.
        compose: What composes pairs; used for events that are made of several.

    Raises:
        UnsupportedEventError: No profile is known for it.

    Example:
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> pair = dominating_pair(GaussianEvent(Fraction(1)), ADD_OR_REMOVE_ONE, lambda pairs: pairs[0][0])
        >>> pair.forward.delta_up(np.array([0.0, 1.0])).round(6).tolist()
        [0.382925, 0.126937]
    """
    if not has_dominating_pair(event, neighboring_relation):
        raise UnsupportedEventError(event, "the table of privacy profiles")
    return _pair(NormalEvent.of(event, NeighborGroup(neighboring_relation)), compose)


def has_dominating_pair(event: Event, neighboring_relation: NeighboringRelation) -> bool:
    """Whether `dominating_pair` knows the event and everything in it; nothing is computed for that.

    Example:
        >>> from sfumato.privacy.events import RepeatAndSelectEvent
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> noise = GaussianEvent(Fraction(1))
        >>> has_dominating_pair(PoissonSampledEvent(Fraction(1, 100), noise), ADD_OR_REMOVE_ONE)
        True
        >>> has_dominating_pair(RepeatAndSelectEvent(noise, Fraction(3), Fraction(1)), ADD_OR_REMOVE_ONE)
        False
    """
    return all(type(single) in _RULES for single in single_events(event, neighboring_relation))


def _pair(single: NormalEvent, compose: Compose) -> DominatingPair:
    return _RULES[type(single.event)](single.event, single.neighbors, compose)


def _inside(event: Event, neighbors: NeighborGroup, compose: Compose) -> DominatingPair:
    """Of an event inside another, composed or not."""
    singles = flattened(event, neighbors)
    pairs = tuple((_pair(NormalEvent.of(single, neighbors), compose), count) for single, count in singles)
    if not pairs:
        return symmetric(NOTHING)
    return pairs[0][0] if len(pairs) == 1 and pairs[0][1] == 1 else compose(pairs)


def _additive(noise_multiplier: Fraction, make: Callable[[Fraction], Profile]) -> Profile:
    """Noise so small that it hides nothing, so large that less of it does as well, or in between."""
    if noise_multiplier < LEAST:
        return BracketedProfile(EVERYTHING)
    return make(noise_multiplier) if noise_multiplier <= MOST else BracketedProfile(make(MOST))


def _loss(size: Fraction, make: Callable[[Fraction], Profile]) -> Profile:
    """The same of an ε or a ρ."""
    if size > MOST:
        return BracketedProfile(EVERYTHING)
    return make(size) if size >= LEAST else BracketedProfile(make(LEAST))


def _discrete_laplace(event: DiscreteLaplaceEvent) -> Profile:
    shift = floor(event.l1_sensitivity)
    return _additive(event.scale / shift, lambda noise: DiscreteLaplaceProfile(noise * shift, shift))


def _discrete_gaussian(event: DiscreteGaussianEvent, _neighbors: NeighborGroup, compose: Compose) -> DominatingPair:
    """By the largest change of one coordinate, the worst changes of several, the continuous noise, or zCDP."""
    shift = floor(event.l2_sensitivity)
    if not LEAST <= event.stddev <= MOST or event.stddev < shift * LEAST:
        return symmetric(BracketedProfile(EVERYTHING))
    if event.l0_sensitivity == 1 or floor(event.l2_sensitivity**2) == 1:
        return symmetric(DiscreteGaussianProfile(event.stddev, shift))
    if shapes := _worst_moves(event):
        pairs = [_moved(event.stddev, shape, compose) for shape in shapes]
        return DominatingPair(worst_of(pair.forward for pair in pairs), worst_of(pair.backward for pair in pairs))
    if event.stddev >= SMALLEST_STDDEV:
        return symmetric(RoundedGaussianProfile(event.stddev, event.l2_sensitivity, event.l0_sensitivity))
    square, _ = longest_move(event.l2_sensitivity, event.l0_sensitivity)
    single = DiscreteGaussianProfile(event.stddev, shift)
    return symmetric(
        _loss(square / (2 * event.stddev**2), lambda rho: BracketedProfile(ConcentratedProfile(rho), single))
    )


def _worst_moves(event: DiscreteGaussianEvent) -> tuple[tuple[int, ...], ...]:
    """The changes to compose; none where they are too many, or the noise is large and nearly continuous."""
    if event.stddev >= _SMOOTH:
        return ()
    return largest_shapes(floor(event.l2_sensitivity**2), event.l0_sensitivity)


def _moved(stddev: Fraction, shape: tuple[int, ...], compose: Compose) -> DominatingPair:
    pairs = tuple(
        (symmetric(DiscreteGaussianProfile(stddev, shift)), shape.count(shift)) for shift in sorted(set(shape))
    )
    return pairs[0][0] if len(shape) == 1 else compose(pairs)


def _oriented(pair: DominatingPair, neighbors: NeighborGroup) -> DominatingPair:
    """Of an event with its own two orders, and no rule for groups."""
    if not neighbors.is_replacement:
        return pair if neighbors.size == 1 else _in_steps(pair, neighbors.size)
    worst = worst_of((pair.forward, pair.backward))
    if neighbors.size > 1:
        return symmetric(GroupProfile(worst, neighbors.size))
    return DominatingPair(BracketedProfile(worst, pair.forward), BracketedProfile(worst, pair.backward))


def _in_steps(pair: DominatingPair, count: int) -> DominatingPair:
    return DominatingPair(GroupProfile(pair.forward, count), GroupProfile(pair.backward, count))


def _finite(event: FiniteEvent, neighbors: NeighborGroup, _compose: Compose) -> DominatingPair:
    """The two vectors, in both orders."""
    pair = FinitePair(event.p, event.q)
    return _oriented(DominatingPair(pair, pair.reversed()), neighbors)


def _mixture(event: MixtureOfGaussiansEvent, neighbors: NeighborGroup, _compose: Compose) -> DominatingPair:
    """Present against absent, in both orders."""
    if max(event.sensitivities) > MOST * event.stddev:
        return symmetric(BracketedProfile(EVERYTHING))
    pair = presence(event.stddev, event.sensitivities, event.probabilities)
    return _oriented(DominatingPair(pair, mirrored(pair)), neighbors)


def _poisson(event: PoissonSampledEvent, neighbors: NeighborGroup, compose: Compose) -> DominatingPair:
    """The unit is there with probability q; from the distributions of Gaussian noise, or from profiles."""
    q, size = event.sampling_probability, neighbors.size
    if 0 < q < LEAST:
        return _untested(_poisson(replace(event, sampling_probability=LEAST), neighbors, compose))
    noise = gaussian_noise(event.event)
    if noise is not None and size <= _LARGEST_GROUP:
        return _of_gaussian(noise, q, neighbors)
    present = _inside(event.event, neighbors.present, compose)
    if not neighbors.is_replacement and size == 1:
        return _amplified(present, q)
    if neighbors.is_replacement:
        swapped = _inside(event.event, neighbors.swapped, compose)
        known = symmetric(SampledReplacement(_any_of(q, size), present.forward, swapped.forward))
    else:
        known = _amplified(present, _any_of(q, size))
    bounds = [known] if size == 1 else [known, _in_steps(_poisson(event, neighbors.single, compose), size)]
    if 0 < q < 1 and size <= _LARGEST_GROUP:
        drawn = _drawn(binomial(q, size), event.event, neighbors.present, compose)
        bounds += _presences(drawn, event.event, is_exchange=neighbors.is_replacement)
    return _least(bounds)


def _of_gaussian(noise: Fraction, probability: Fraction, neighbors: NeighborGroup) -> DominatingPair:
    if neighbors.is_replacement:
        return symmetric(replacement(noise, binomial(probability, neighbors.size)))
    if neighbors.size == 1:
        return _amplified(symmetric(GaussianProfile(noise)), probability)
    several = group_presence(noise, binomial(probability, neighbors.size))
    return DominatingPair(several, mirrored(several))


def _presences(drawn: Drawn, event: Event, *, is_exchange: bool) -> list[DominatingPair]:
    """The bounds of a Poisson sample that holds so many of a group."""
    lines = lines_for(event, drawn[0][2])
    if is_exchange:
        return [symmetric(DrawnExchange(drawn, line)) for line in lines]
    return [DominatingPair(DrawnForward(drawn, line), DrawnBackward(drawn, line)) for line in lines]


def _drawn(weights: tuple[Fraction, ...], event: Event, neighbors: NeighborGroup, compose: Compose) -> Drawn:
    """The pairs of all numbers of units; where pairs are composed, a number shares that of the next power of two."""
    is_composed = sum(count for _, count in flattened(event, neighbors)) > 1
    sizes = {
        count: min(1 << (count - 1).bit_length(), len(weights) - 1) if is_composed else count
        for count in range(1, len(weights))
    }
    return tuple(
        (
            size,
            sum((weights[count] for count in sizes if sizes[count] == size), start=Fraction(0)),
            _inside(event, replace(neighbors, size=size), compose),
        )
        for size in sorted(set(sizes.values()))
    )


def _least(bounds: list[DominatingPair]) -> DominatingPair:
    """The least of several bounds of both orders."""
    if len(bounds) == 1:
        return bounds[0]
    forward = LeastProfile(tuple(bound.forward for bound in bounds))
    if all(bound.is_symmetric for bound in bounds):
        return symmetric(forward)
    return DominatingPair(forward, LeastProfile(tuple(bound.backward for bound in bounds)))


def _any_of(probability: Fraction, size: int) -> Fraction:
    """With which at least one of a group is in a Poisson sample: 1 − (1 − q)^c, rounded up."""
    if size <= _LARGEST_GROUP or probability == 1:
        return 1 - (1 - probability) ** size
    return min(Fraction(-math.expm1(size * math.log1p(-probability)) * (1 + MARGIN)), Fraction(1))


def _amplified(pair: DominatingPair, probability: Fraction) -> DominatingPair:
    return DominatingPair(SampledForward(probability, pair.forward), SampledBackward(probability, pair.backward))


def _without_replacement(
    event: SampledWithoutReplacementEvent, neighbors: NeighborGroup, compose: Compose
) -> DominatingPair:
    """The unit takes another's place with probability γ; who replaces it takes the same place."""
    size, is_exchange = neighbors.size, neighbors.is_replacement
    probability = min(max(size * event.sampling_probability, LEAST), Fraction(1))
    bounds = [_untested(_amplified(_inside(event.event, neighbors.replaced, compose), probability))]
    others = event.source_size - size
    if size > 1 and others >= event.sample_size:
        source = event.source_size if is_exchange else others + 1
        bounds.append(
            _in_steps(_without_replacement(replace(event, source_size=source), neighbors.single, compose), size)
        )
    if 1 < size <= _LARGEST_GROUP and others >= event.sample_size and event.sampling_probability >= LEAST:
        drawn = _drawn(
            hypergeometric(event.source_size, event.sample_size, size), event.event, neighbors.replaced, compose
        )
        for line in lines_for(event.event, drawn[0][2]):
            forward = DrawnForward(drawn, line, is_exchange=is_exchange)
            bounds.append(symmetric(forward) if is_exchange else DominatingPair(forward, DrawnBackward(drawn, line)))
    pair = _least(bounds)
    return symmetric(pair.forward) if is_exchange else pair


def _truncated(event: TruncatedPoissonSampledEvent, neighbors: NeighborGroup, compose: Compose) -> DominatingPair:
    """Whether the others fill the sample is told; if so the unit takes another's place, with a smaller probability."""
    parts, one = truncation(event), NeighborGroup(neighbors.relation)
    fits = _poisson(PoissonSampledEvent(event.sampling_probability, event.event), one, compose)
    full = _amplified(_inside(event.event, one.swapped, compose), max(parts.kept_up, LEAST))
    forward = MixedProfile(((parts.fits_up, fits.forward), (parts.full_up, full.forward)))
    pair = DominatingPair(forward, MixedProfile(((parts.fits_up, fits.backward), (parts.full_up, full.backward))))
    pair = symmetric(forward) if neighbors.is_replacement else pair
    return pair if neighbors.size == 1 else _in_steps(pair, neighbors.size)


def _partition(event: PartitionEvent, neighbors: NeighborGroup, compose: Compose) -> DominatingPair:
    """The worst part, as often as parts can be touched; all parts, each once, if they are not more.

    Where units are replaced a part may also only lose or gain some; its profile for an exchange covers that.
    """
    pairs = [_inside(part, neighbors, compose) for part in event.events if flattened(part, neighbors).counts]
    if not pairs:
        return symmetric(NOTHING)
    touched = neighbors.touched(event.max_parts_per_unit)
    if len(pairs) == 1:
        return pairs[0]
    if len(pairs) <= event.max_parts_per_unit:
        return compose(tuple((pair, 1) for pair in pairs))
    pairs.sort(key=_separation, reverse=True)
    if len(pairs) <= touched:
        return _tested_by(pairs[0], compose(tuple((pair, 1) for pair in pairs)))
    worst = DominatingPair(worst_of(pair.forward for pair in pairs), worst_of(pair.backward for pair in pairs))
    if touched == 1:
        return worst
    return _tested_by(pairs[0], compose(((worst, touched),)))


def _tested_by(attained: DominatingPair, upper: DominatingPair) -> DominatingPair:
    """What all touched parts tell at most, and one part for certain, as a group need not fit into all of them."""
    return DominatingPair(
        BracketedProfile(upper.forward, attained.forward), BracketedProfile(upper.backward, attained.backward)
    )


def _separation(pair: DominatingPair) -> float:
    """The total variation distance that a pair is known to attain."""
    first, second = pair.forward.test_down(np.zeros(1))
    return float(first[0] - second[0])


def _untested(pair: DominatingPair) -> DominatingPair:
    return DominatingPair(BracketedProfile(pair.forward), BracketedProfile(pair.backward))


_SYMMETRIC: Final[dict[type, Callable[[Any], Profile]]] = {
    NonPrivateEvent: lambda _: EVERYTHING,
    PureEvent: lambda event: _loss(event.epsilon, WorstPair),
    ApproxEvent: lambda event: _loss(event.epsilon, lambda epsilon: WorstPair(epsilon, event.delta)),
    ZCDPEvent: lambda event: _loss(event.rho, ConcentratedProfile),
    LaplaceEvent: lambda event: _additive(event.noise_multiplier, LaplaceProfile),
    GaussianEvent: lambda event: _additive(event.noise_multiplier, GaussianProfile),
    DiscreteLaplaceEvent: _discrete_laplace,
    RandomizedResponseEvent: lambda event: randomized_response(event.probability, event.categories),
    ExponentialEvent: lambda event: _loss(event.epsilon, BoundedRange),
}
"""Events with the same profile in both orders, and that profile."""

_Rule: TypeAlias = Callable[[Any, NeighborGroup, Compose], DominatingPair]


def _both_orders(profile_of: Callable[[Any], Profile]) -> _Rule:
    return lambda event, _neighbors, _compose: symmetric(profile_of(event))


_RULES: Final[dict[type, _Rule]] = {
    **{kind: _both_orders(profile_of) for kind, profile_of in _SYMMETRIC.items()},
    DiscreteGaussianEvent: _discrete_gaussian,
    FiniteEvent: _finite,
    MixtureOfGaussiansEvent: _mixture,
    PoissonSampledEvent: _poisson,
    TruncatedPoissonSampledEvent: _truncated,
    SampledWithoutReplacementEvent: _without_replacement,
    PartitionEvent: _partition,
}
