"""What was released, as frozen values: the one thing accountants read.

An event says how an answer was made, never what it cost; every accountant prices it in its own measure.
Additive noise is described relative to the sensitivity it hides, under the neighbouring relation of the account.

Compatibility: a class here is never renamed or removed and a field never changes meaning, because ledgers hold events
for ever. New fields get a default that keeps the old meaning.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import nonnegative, positive, positive_integer, probability


@dataclass(frozen=True, slots=True)
class NonPrivateEvent:
    """An exact answer: no accountant gives it a finite price."""


@dataclass(frozen=True, slots=True)
class PureEvent:
    """Any ε-differentially private mechanism of which nothing more is known."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=nonnegative(self.epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class ApproxEvent:
    """Any (ε, δ)-differentially private mechanism of which nothing more is known."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=probability(self.delta, "delta"))


@dataclass(frozen=True, slots=True)
class ZCDPEvent:
    """Any ρ-zero-concentrated differentially private mechanism [BS16]."""

    rho: Fraction

    def __post_init__(self) -> None:
        _set(self, rho=nonnegative(self.rho, "rho"))


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """Continuous Laplace noise; `noise_multiplier` is scale over L1 sensitivity."""

    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        _set(self, noise_multiplier=positive(self.noise_multiplier, "noise_multiplier"))


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Continuous Gaussian noise; `noise_multiplier` is standard deviation over L2 sensitivity."""

    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        _set(self, noise_multiplier=positive(self.noise_multiplier, "noise_multiplier"))


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceEvent:
    """Noise k with probability ∝ exp(−|k|/scale) on integers whose L1 sensitivity is `l1_sensitivity`."""

    scale: Fraction
    l1_sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        _set(self, scale=positive(self.scale, "scale"), l1_sensitivity=positive(self.l1_sensitivity, "l1_sensitivity"))

    @property
    def noise_multiplier(self) -> Fraction:
        """Scale over L1 sensitivity."""
        return self.scale / self.l1_sensitivity


@dataclass(frozen=True, slots=True)
class DiscreteGaussianEvent:
    """Noise k with probability ∝ exp(−k²/2·stddev²) on each of a vector of integers.

    One unit moves the vector by at most `l2_sensitivity` in L2, and at most `l0_sensitivity` of its coordinates.
    """

    stddev: Fraction
    l2_sensitivity: Fraction = Fraction(1)
    l0_sensitivity: int = 1

    def __post_init__(self) -> None:
        positive_integer(self.l0_sensitivity, "l0_sensitivity")
        _set(
            self, stddev=positive(self.stddev, "stddev"), l2_sensitivity=positive(self.l2_sensitivity, "l2_sensitivity")
        )

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
        _set(self, probability=probability(self.probability, "probability"))


@dataclass(frozen=True, slots=True)
class ExponentialEvent:
    """A choice by the exponential mechanism with total parameter ε [MT07]."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _set(self, epsilon=nonnegative(self.epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class PoissonSampledEvent:
    """An event on a fresh sample that holds each unit independently with `sampling_probability`."""

    sampling_probability: Fraction
    event: "Event"

    def __post_init__(self) -> None:
        _check_events(self.event)
        _set(self, sampling_probability=probability(self.sampling_probability, "sampling_probability"))


@dataclass(frozen=True, slots=True)
class SelfComposedEvent:
    """The same event, `count` times, one after the other."""

    event: "Event"
    count: int

    def __post_init__(self) -> None:
        _check_events(self.event)
        positive_integer(self.count, "count")


@dataclass(frozen=True, slots=True)
class ComposedEvent:
    """Several events, one after the other, on the same people. Without any, nothing was released."""

    events: "tuple[Event, ...]"

    def __post_init__(self) -> None:
        _set(self, events=tuple(self.events))
        _check_events(*self.events)


@dataclass(frozen=True, slots=True)
class PartitionEvent:
    """One event on each part of a partition of people, of whom each lies in at most `max_parts_per_unit` parts."""

    events: "tuple[Event, ...]"
    max_parts_per_unit: int = 1

    def __post_init__(self) -> None:
        positive_integer(self.max_parts_per_unit, "max_parts_per_unit")
        _set(self, events=tuple(self.events))
        _check_events(*self.events)


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """An event as seen by a group of `size` units that act as one."""

    event: "Event"
    size: int

    def __post_init__(self) -> None:
        _check_events(self.event)
        positive_integer(self.size, "size")


Event: TypeAlias = (
    NonPrivateEvent
    | PureEvent
    | ApproxEvent
    | ZCDPEvent
    | LaplaceEvent
    | GaussianEvent
    | DiscreteLaplaceEvent
    | DiscreteGaussianEvent
    | RandomizedResponseEvent
    | ExponentialEvent
    | PoissonSampledEvent
    | SelfComposedEvent
    | ComposedEvent
    | PartitionEvent
    | GroupEvent
)


def _check_events(*nested: object) -> None:
    for event in nested:
        if not isinstance(event, Event):
            raise ParameterError("event", event, "must be an event of sfumato.privacy.events")


def _set(event: object, **fields: object) -> None:
    """Normalise fields of a frozen event while it is made."""
    for name, value in fields.items():
        object.__setattr__(event, name, value)
