"""What was released, as frozen values: the one thing accountants read.

An event says how an answer was made, never what it cost; every accountant prices it in its own measure.
Additive noise is described relative to the sensitivity it hides, under the neighbouring relation of the account.

Compatibility: what is stored of a class here never changes, because ledgers hold events for ever: its tag and the names
of its fields, which `codec` has, and what they mean. New fields get a default that keeps the old meaning.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import nonnegative, positive, positive_integer, probability
from sfumato.privacy.single_events import (
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
    set_fields,
)

__all__ = [
    "ApproxEvent",
    "ComposedEvent",
    "DiscreteGaussianEvent",
    "DiscreteLaplaceEvent",
    "Event",
    "ExponentialEvent",
    "FiniteEvent",
    "FullyAdaptiveEvent",
    "GaussianEvent",
    "GroupEvent",
    "LaplaceEvent",
    "MixtureOfGaussiansEvent",
    "NonPrivateEvent",
    "PartitionEvent",
    "PoissonSampledEvent",
    "PureEvent",
    "RandomizedResponseEvent",
    "RepeatAndSelectEvent",
    "SampledWithoutReplacementEvent",
    "SelfComposedEvent",
    "TruncatedPoissonSampledEvent",
    "ZCDPEvent",
]


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

    `source_size` is the public number of units, the one in question among them.
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
            raise ParameterError("event", event, "must be an event of sfumato.privacy.events")
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
