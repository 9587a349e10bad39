"""Events that hold no other event: answers, choices, and mechanisms of which only a guarantee is known.

They are named and documented in `sfumato.privacy.events`, which adds those that are made of events.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import nonnegative, positive, positive_integer, probability


@dataclass(frozen=True, slots=True)
class NonPrivateEvent:
    """An exact answer: no accountant gives it a finite price."""


@dataclass(frozen=True, slots=True)
class PureEvent:
    """Any ε-differentially private mechanism of which nothing more is known."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        set_fields(self, epsilon=nonnegative(self.epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class ApproxEvent:
    """Any (ε, δ)-differentially private mechanism of which nothing more is known."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        set_fields(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=probability(self.delta, "delta"))


@dataclass(frozen=True, slots=True)
class ZCDPEvent:
    """Any ρ-zero-concentrated differentially private mechanism [BS16]."""

    rho: Fraction

    def __post_init__(self) -> None:
        set_fields(self, rho=nonnegative(self.rho, "rho"))


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """Continuous Laplace noise; `noise_multiplier` is scale over L1 sensitivity."""

    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        set_fields(self, noise_multiplier=positive(self.noise_multiplier, "noise_multiplier"))


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Continuous Gaussian noise; `noise_multiplier` is standard deviation over L2 sensitivity."""

    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        set_fields(self, noise_multiplier=positive(self.noise_multiplier, "noise_multiplier"))


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceEvent:
    """Noise k with probability ∝ exp(−|k|/scale) on integers whose L1 sensitivity is `l1_sensitivity`."""

    scale: Fraction
    l1_sensitivity: Fraction

    def __post_init__(self) -> None:
        set_fields(
            self, scale=positive(self.scale, "scale"), l1_sensitivity=positive(self.l1_sensitivity, "l1_sensitivity")
        )

    @property
    def noise_multiplier(self) -> Fraction:
        """Scale over L1 sensitivity."""
        return self.scale / self.l1_sensitivity


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussianEvent:
    """Noise k with probability ∝ exp(−k²/2·stddev²) on each of a vector of integers.

    One unit moves the vector by at most `l2_sensitivity` in L2, and at most `l0_sensitivity` of its coordinates. Where
    the latter is not stated it is ⌊l2_sensitivity²⌋, which holds for every vector of integers.

    Example:
        >>> DiscreteGaussianEvent(stddev=Fraction(5), l2_sensitivity=Fraction(2)).l0_sensitivity
        4
    """

    stddev: Fraction
    l2_sensitivity: Fraction
    l0_sensitivity: int

    def __init__(self, stddev: Fraction, l2_sensitivity: Fraction, l0_sensitivity: int | None = None) -> None:
        distance = positive(l2_sensitivity, "l2_sensitivity")
        moved = moved_coordinates(distance, l0_sensitivity)
        set_fields(self, stddev=positive(stddev, "stddev"), l2_sensitivity=distance, l0_sensitivity=moved)

    @property
    def noise_multiplier(self) -> Fraction:
        """Standard deviation over L2 sensitivity."""
        return self.stddev / self.l2_sensitivity


@dataclass(frozen=True, slots=True)
class RandomizedResponseEvent:
    """With `probability` the truth, otherwise a uniform one of `categories` answers (the truth among them)."""

    probability: Fraction
    categories: int

    def __post_init__(self) -> None:
        positive_integer(self.categories, "categories")
        set_fields(self, probability=probability(self.probability, "probability"))


@dataclass(frozen=True, slots=True)
class ExponentialEvent:
    """A choice by the exponential mechanism with total parameter ε [MT07]."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        set_fields(self, epsilon=nonnegative(self.epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class FiniteEvent:
    """Any mechanism no more revealing than one number drawn from `p` with the unit, and from `q` without it.

    `p` and `q` are probabilities of the same outcomes; for two units that replace each other, in either order.
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        set_fields(self, p=_distribution(self.p, "p"), q=_distribution(self.q, "q"))
        if len(self.p) != len(self.q):
            raise ParameterError("q", self.q, f"must have one probability for each of the {len(self.p)} outcomes of p")


@dataclass(frozen=True, slots=True)
class MixtureOfGaussiansEvent:
    """Continuous Gaussian noise on a number that the unit moves by one of some `sensitivities`, drawn in secret.

    With the unit the mean is `sensitivities[i]` with `probabilities[i]`, without it 0 [Gan24]; for two units that
    replace each other, these two laws in either order.
    """

    stddev: Fraction
    sensitivities: tuple[Fraction, ...]
    probabilities: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        shifts = tuple(nonnegative(value, "sensitivities") for value in listed(self.sensitivities, "sensitivities"))
        set_fields(self, stddev=positive(self.stddev, "stddev"), sensitivities=shifts)
        set_fields(self, probabilities=_distribution(self.probabilities, "probabilities"))
        if len(shifts) != len(self.probabilities):
            raise ParameterError("probabilities", self.probabilities, "must be one for each of the sensitivities")


def moved_coordinates(l2_sensitivity: Fraction, l0_sensitivity: int | None) -> int:
    """How many coordinates of a vector of integers one unit moves: what was stated, or the most that its length allows.

    Each coordinate that moves adds at least 1 to the squared length, so that at most ⌊l2_sensitivity²⌋ move.

    Raises:
        ParameterError: What was stated is no positive integer.
    """
    if l0_sensitivity is None:
        return max(1, floor(l2_sensitivity**2))
    return positive_integer(l0_sensitivity, "l0_sensitivity")


def _distribution(values: tuple[Fraction, ...], name: str) -> tuple[Fraction, ...]:
    exact = tuple(probability(value, name) for value in listed(values, name))
    if sum(exact) != 1:
        raise ParameterError(name, values, "must sum to exactly 1; give fractions or decimals")
    return exact


def set_fields(event: object, **fields: object) -> None:
    """Normalise fields of a frozen event while it is made."""
    for name, value in fields.items():
        object.__setattr__(event, name, value)
