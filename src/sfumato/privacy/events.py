"""What was released, as frozen values: the one thing accountants read.

An event says how an answer was made, never what it cost; every accountant prices it in its own measure.
Additive noise is described relative to the sensitivity it hides, under the neighboring relation of the account.

Compatibility: what is stored of a class here never changes, because ledgers hold events for ever: its tag and the names
of its fields, which `codec` has, and what they mean. New fields get a default that keeps the old meaning.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import nonnegative, positive, positive_integer, probability, set_fields
from sfumato.privacy.promises import why_refused


@dataclass(frozen=True, slots=True)
class NonPrivateEvent:
    """An exact answer: no accountant gives it a finite cost."""


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
    """Continuous Gaussian noise on a number that the unit changes by one of some `sensitivities`, drawn in secret.

    With the unit the mean is `sensitivities[i]` with `probabilities[i]`, without it 0 [Gan24]; for two units that
    replace each other, these two distributions in either order.
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


@dataclass(frozen=True, slots=True)
class PoissonSampledEvent:
    """An event on a fresh sample that holds each unit independently with `sampling_probability`.

    The size of a sample is not public, so the event inside is stated for adding or removing one unit, whatever the
    relation of the account: a replaced unit is one removed and one added.
    """

    sampling_probability: Fraction
    event: "Event"

    def __post_init__(self) -> None:
        _check_events(self.event)
        set_fields(self, sampling_probability=probability(self.sampling_probability, "sampling_probability"))


@dataclass(frozen=True, slots=True)
class TruncatedPoissonSampledEvent:
    """As `PoissonSampledEvent`, but a sample larger than `max_sample_size` is cut down to it at random.

    `source_size` is the public number of units, including the unit concerned.
    """

    sampling_probability: Fraction
    source_size: int
    max_sample_size: int
    event: "Event"

    def __post_init__(self) -> None:
        _check_events(self.event)
        positive_integer(self.source_size, "source_size")
        positive_integer(self.max_sample_size, "max_sample_size")
        set_fields(self, sampling_probability=probability(self.sampling_probability, "sampling_probability"))


@dataclass(frozen=True, slots=True)
class SampledWithoutReplacementEvent:
    """An event on a fresh uniform subset of exactly `sample_size` of at least `source_size` units.

    Every sample has the same size, so the event inside is stated for replacing one unit, whatever the relation of the
    account.
    """

    sample_size: int
    source_size: int
    event: "Event"

    def __post_init__(self) -> None:
        _check_events(self.event)
        positive_integer(self.sample_size, "sample_size")
        if self.sample_size > positive_integer(self.source_size, "source_size"):
            raise ParameterError("sample_size", self.sample_size, f"must be at most source_size, {self.source_size}")

    @property
    def sampling_probability(self) -> Fraction:
        """With which a unit is in the sample."""
        return Fraction(self.sample_size, self.source_size)


@dataclass(frozen=True, slots=True)
class RepeatAndSelectEvent:
    """An event run a random number of times, of which only the best answer is released [LT19], [PS22].

    The number of runs is truncated negative binomial with this `mean` and `shape` (1: geometric, 0: logarithmic), or
    Poisson where `shape` is None.
    """

    event: "Event"
    mean: Fraction
    shape: Fraction | None

    def __post_init__(self) -> None:
        _check_events(self.event)
        shape = None if self.shape is None else nonnegative(self.shape, "shape")
        set_fields(self, mean=positive(self.mean, "mean"), shape=shape)
        if shape is not None and self.mean < 1:
            raise ParameterError("mean", self.mean, "must be at least 1")


@dataclass(frozen=True, slots=True)
class FullyAdaptiveEvent:
    """Any number of releases, each with parameters chosen after the answers before it, under a filter.

    `budget` is the measure and limit of the filter: an event with a theorem that a filter for it keeps its guarantee.
    """

    budget: "PureEvent | ApproxEvent | ZCDPEvent | GaussianEvent"

    def __post_init__(self) -> None:
        if not isinstance(self.budget, PureEvent | ApproxEvent | ZCDPEvent | GaussianEvent):
            raise ParameterError("budget", self.budget, "must be a PureEvent, ApproxEvent, ZCDPEvent or GaussianEvent")


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
        set_fields(self, events=listed(self.events, "events"))
        _check_events(*self.events)


@dataclass(frozen=True, slots=True)
class PartitionEvent:
    """One event on each part of a partition of people, of whom each lies in at most `max_parts_per_unit` parts."""

    events: "tuple[Event, ...]"
    max_parts_per_unit: int

    def __post_init__(self) -> None:
        positive_integer(self.max_parts_per_unit, "max_parts_per_unit")
        set_fields(self, events=listed(self.events, "events"))
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
    | FiniteEvent
    | MixtureOfGaussiansEvent
    | PoissonSampledEvent
    | TruncatedPoissonSampledEvent
    | SampledWithoutReplacementEvent
    | RepeatAndSelectEvent
    | FullyAdaptiveEvent
    | SelfComposedEvent
    | ComposedEvent
    | PartitionEvent
    | GroupEvent
)


MAX_NESTING: Final = 100
"""How many events may be nested in one another: accountants, codecs and `repr` go through them by calls in calls."""


def _check_events(*nested: object) -> None:
    """Refuse what is no event, and what would be nested too deeply with one more event around it."""
    level: dict[int, Event] = {}
    for event in nested:
        if not isinstance(event, Event):
            raise ParameterError("event", event, why_refused(event) or "must be an event of sfumato.privacy.events")
        level[id(event)] = event  # one that stands there twice is looked at once
    for _ in range(MAX_NESTING):
        level = {id(inner): inner for event in level.values() for inner in _inside(event)}
        if not level:
            return
    requirement = f"is nested too deeply: at most {MAX_NESTING} events may be nested in one another"
    raise ParameterError("event", "an event", requirement)


def _inside(event: Event) -> "tuple[Event, ...]":
    match event:
        case ComposedEvent(events) | PartitionEvent(events):
            return events
        case (
            PoissonSampledEvent(event=inner) | TruncatedPoissonSampledEvent(event=inner)
            | SampledWithoutReplacementEvent(event=inner) | RepeatAndSelectEvent(event=inner)
            | SelfComposedEvent(event=inner) | GroupEvent(event=inner)
        ):  # fmt: skip
            return (inner,)
        case _:
            return ()


def moved_coordinates(l2_sensitivity: Fraction, l0_sensitivity: int | None) -> int:
    """The most coordinates of an integer vector that one unit changes: as stated, or as its L2 length allows.

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
