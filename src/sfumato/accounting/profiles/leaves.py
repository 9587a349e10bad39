"""Profiles of the events that hold no other events, and the worst moves of a vector of integers."""

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any, Final, TypeAlias

from sfumato.accounting.core.integer_moves import largest_shapes, longest_move
from sfumato.accounting.gaussian.discrete_gaussian import SMALLEST_STDDEV
from sfumato.accounting.profiles.combined import Bracketed, worst_of
from sfumato.accounting.profiles.discrete import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from sfumato.accounting.profiles.finite import EVERYTHING, BoundedRange, FinitePair, WorstPair, randomized_response
from sfumato.accounting.profiles.mixtures import mirrored, presence
from sfumato.accounting.profiles.profile import Concentrated, DominatingPair, Gaussian, Laplace, Profile
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)

Compose: TypeAlias = Callable[[tuple[tuple[DominatingPair, int], ...]], DominatingPair]
"""The pair of several pairs, each so many times, one after the other."""

LEAST: Final = Fraction(1, 10**100)
MOST: Final = Fraction(10**100)
"""Floats hold the squares of what lies between these; parameters beyond are taken to the safe side."""

_SMOOTH: Final = 32  # from this σ the continuous law costs less than 0.04% of the shift


def _additive(noise_multiplier: Fraction, make: Callable[[Fraction], Profile]) -> Profile:
    """Noise so small that it hides nothing, so large that less of it does as well, or in between."""
    if noise_multiplier < LEAST:
        return Bracketed(EVERYTHING)
    return make(noise_multiplier) if noise_multiplier <= MOST else Bracketed(make(MOST))


def _loss(size: Fraction, make: Callable[[Fraction], Profile]) -> Profile:
    """The same of an ε or a ρ."""
    if size > MOST:
        return Bracketed(EVERYTHING)
    return make(size) if size >= LEAST else Bracketed(make(LEAST))


def _discrete_laplace(event: DiscreteLaplaceEvent) -> Profile:
    shift = floor(event.l1_sensitivity)
    return _additive(event.scale / shift, lambda noise: DiscreteLaplace(noise * shift, shift))


SYMMETRIC: Final[dict[type, Callable[[Any], Profile]]] = {
    NonPrivateEvent: lambda _: EVERYTHING,
    PureEvent: lambda event: _loss(event.epsilon, WorstPair),
    ApproxEvent: lambda event: _loss(event.epsilon, lambda epsilon: WorstPair(epsilon, event.delta)),
    ZCDPEvent: lambda event: _loss(event.rho, Concentrated),
    LaplaceEvent: lambda event: _additive(event.noise_multiplier, Laplace),
    GaussianEvent: lambda event: _additive(event.noise_multiplier, Gaussian),
    DiscreteLaplaceEvent: _discrete_laplace,
    RandomizedResponseEvent: lambda event: randomized_response(event.probability, event.categories),
    ExponentialEvent: lambda event: _loss(event.epsilon, BoundedRange),
}
"""Events with the same profile in both orders, and that profile."""


def discrete_gaussian(event: DiscreteGaussianEvent, compose: Compose) -> DominatingPair:
    """By the longest move of one coordinate, the worst moves of several, the continuous law, or what zCDP says."""
    shift = floor(event.l2_sensitivity)
    if not LEAST <= event.stddev <= MOST or event.stddev < shift * LEAST:
        return symmetric(Bracketed(EVERYTHING))
    if _is_scalar(event):
        return symmetric(DiscreteGaussian(event.stddev, shift))
    if shapes := _worst_moves(event):
        pairs = [_moved(event.stddev, shape, compose) for shape in shapes]
        return DominatingPair(worst_of(pair.forward for pair in pairs), worst_of(pair.backward for pair in pairs))
    if event.stddev >= SMALLEST_STDDEV:
        return symmetric(RoundedGaussian(event.stddev, event.l2_sensitivity, event.l0_sensitivity))
    square, _ = longest_move(event.l2_sensitivity, event.l0_sensitivity)
    single = DiscreteGaussian(event.stddev, shift)
    return symmetric(_loss(square / (2 * event.stddev**2), lambda rho: Bracketed(Concentrated(rho), single)))


def _is_scalar(event: DiscreteGaussianEvent) -> bool:
    return event.l0_sensitivity == 1 or floor(event.l2_sensitivity**2) == 1


def _worst_moves(event: DiscreteGaussianEvent) -> tuple[tuple[int, ...], ...]:
    """The moves to compose; none where they are too many, or the noise so large that the continuous law is near."""
    if event.stddev >= _SMOOTH:
        return ()
    return largest_shapes(floor(event.l2_sensitivity**2), event.l0_sensitivity)


def _moved(stddev: Fraction, shape: tuple[int, ...], compose: Compose) -> DominatingPair:
    pairs = tuple((symmetric(DiscreteGaussian(stddev, shift)), shape.count(shift)) for shift in sorted(set(shape)))
    return pairs[0][0] if len(shape) == 1 else compose(pairs)


def finite(event: FiniteEvent) -> DominatingPair:
    """The two vectors, in both orders."""
    pair = FinitePair(event.p, event.q)
    return DominatingPair(pair, pair.reversed())


def mixture(event: MixtureOfGaussiansEvent) -> DominatingPair:
    """Present against absent, in both orders."""
    if max(event.sensitivities) > MOST * event.stddev:
        return symmetric(Bracketed(EVERYTHING))
    pair = presence(event.stddev, event.sensitivities, event.probabilities)
    return DominatingPair(pair, mirrored(pair))


def symmetric(profile: Profile) -> DominatingPair:
    """The pair with one profile for both orders."""
    return DominatingPair(profile, profile)
