"""The normal form of events, which every accountant reads: nothing is composed, and a group stands only outermost.

`flattened` undoes compositions, groups and samples of everybody, once and for all accountants. What is left are single
events and how often each was released, in one order, whatever the order they came in. A `NormalEvent` is one of them
and the two databases between which it is priced. An accountant is one table of rules, by the type of the event.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

from sfumato.accounting.core.conversions import group, touched_parts
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer, sqrt_up
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FullyAdaptiveEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.guarantees import ApproxDP, NoGuarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation
from sfumato.privacy.promises import why_refused

LARGEST_COUNT: Final = 10**15
"""Of one event in a tally, and of a group: beyond it floats no longer tell counts apart."""

_MANY_MORE: Final = 8
_Sample: TypeAlias = PoissonSampledEvent | TruncatedPoissonSampledEvent | SampledWithoutReplacementEvent
_PLAIN: Final = (
    NonPrivateEvent,
    PureEvent,
    ApproxEvent,
    ZCDPEvent,
    LaplaceEvent,
    GaussianEvent,
    DiscreteLaplaceEvent,
    DiscreteGaussianEvent,
    RandomizedResponseEvent,
    ExponentialEvent,
)


@dataclass(frozen=True, slots=True)
class EventCounts:
    """Events in normal form and their counts, sorted, each event once: equal for equal releases in any order.

    None of its events is a `ComposedEvent`, `SelfComposedEvent` or `FullyAdaptiveEvent`. A `GroupEvent` stays only
    around what has no simpler name: samples, partitions, finite pairs, mixtures and selections.
    """

    counts: tuple[tuple[Event, int], ...] = ()
    is_tight: bool = True
    """Whether some mechanism with the composed events reveals as much; else the tally only bounds what they reveal."""

    def plus(self, other: "EventCounts") -> "EventCounts":
        """The events of both; a few are put in their places among many."""
        if _MANY_MORE * len(other.counts) > len(self.counts):
            return _tally((self, other))
        counts = list(self.counts)
        for event, count in other.counts:
            place = bisect_left(counts, repr(event), key=_rank)
            if place < len(counts) and counts[place][0] == event:
                counts[place] = event, _within_limit(counts[place][1] + count)
            else:
                counts.insert(place, (event, count))
        return EventCounts(tuple(counts), self.is_tight and other.is_tight)

    def times(self, count: int) -> "EventCounts":
        """The same events, each `count` times as often."""
        times = positive_integer(count, "count")
        return EventCounts(tuple((event, _within_limit(many * times)) for event, many in self.counts), self.is_tight)

    def __iter__(self) -> Iterator[tuple[Event, int]]:
        return iter(self.counts)


@dataclass(frozen=True, slots=True)
class NeighborGroup:
    """Between which two databases an event is priced: they differ in a group of units that act as one.

    Args:
        relation: How they differ.
        size: In how many units.
        is_swap: Whether units are replaced though the event is stated for adding or removing one.
    """

    relation: NeighboringRelation
    size: int = 1
    is_swap: bool = False

    @property
    def steps(self) -> int:
        """How many changes of one unit, as the event is stated, lead from one database to the other."""
        return self.size * (2 if self.is_swap else 1)

    @property
    def is_replacement(self) -> bool:
        """Whether units are replaced."""
        return self.relation is REPLACE_ONE

    @property
    def single(self) -> "NeighborGroup":
        """The same event for one unit instead of a group."""
        return replace(self, size=1)

    @property
    def present(self) -> "NeighborGroup":
        """The units there, against not there."""
        return NeighborGroup(ADD_OR_REMOVE_ONE, self.size)

    @property
    def replaced(self) -> "NeighborGroup":
        """The units exchanged, of an event stated for that."""
        return NeighborGroup(REPLACE_ONE, self.size)

    @property
    def swapped(self) -> "NeighborGroup":
        """The units exchanged, of an event stated for adding or removing one."""
        return NeighborGroup(REPLACE_ONE, self.size, is_swap=True)

    @property
    def one_by_one(self) -> "NeighborGroup":
        """The units added or removed one after the other: a replaced unit is one removed and one added."""
        return NeighborGroup(ADD_OR_REMOVE_ONE, self.size * (2 if self.is_replacement else 1))

    def touched(self, max_parts_per_unit: int) -> int:
        """How many parts of a partition may differ."""
        return touched_parts(max_parts_per_unit * self.size, self.relation)


@dataclass(frozen=True, slots=True)
class NormalEvent:
    """A single event in normal form, which is no group, and between which two databases it is priced.

    Where the event has a rule of its own for groups, it is already the event that the group sees, and `size` is 1.
    """

    event: Event
    neighbors: NeighborGroup

    @classmethod
    def of(cls, event: Event, neighbors: NeighborGroup) -> "NormalEvent":
        """An event of a tally that was flattened for these neighbors; the group is the event's own."""
        alone, size = (event.event, event.size) if isinstance(event, GroupEvent) else (event, 1)
        is_nested = isinstance(alone, _Sample | PartitionEvent | RepeatAndSelectEvent)
        return cls(alone, NeighborGroup(neighbors.relation, size, neighbors.is_swap and is_nested))


def flattened(event: Event, neighbors: NeighborGroup) -> EventCounts:
    """The event as a tally of events in normal form, as these neighbors see them.

    **Guarantee**: the events of the tally, composed, reveal at least as much between the neighbors as the event does.

    Edge cases: what releases nothing disappears. A sample of everybody is no sample where its event means the same
    outside it: under `REPLACE_ONE` noise stated for adding or removing one unit is then seen by a group of two.

    Raises:
        ParameterError: It is no event of `sfumato.privacy.events`, or counts multiply to more than 10^15.
    """
    match event:
        case ComposedEvent():
            return _tally(flattened(part, neighbors) for part in event.events)
        case SelfComposedEvent():
            return flattened(event.event, neighbors).times(event.count)
        case GroupEvent():
            return flattened(event.event, replace(neighbors, size=_within_limit(neighbors.size * event.size)))
        case FullyAdaptiveEvent():
            return flattened(event.budget, neighbors)
        case PoissonSampledEvent() | TruncatedPoissonSampledEvent() | SampledWithoutReplacementEvent():
            return _sampled(event, neighbors)
        case PartitionEvent():
            return _nested(event, event.events, neighbors)
        case RepeatAndSelectEvent():
            return _nested(event, (event.event,), neighbors)
        case _ if not isinstance(event, Event):
            raise ParameterError("event", event, why_refused(event) or "must be an event of sfumato.privacy.events")
        case _:
            single = grouped(event, neighbors.steps)
            if _is_free(single):
                return EventCounts()
            return EventCounts(((single, 1),), neighbors.steps == 1 or _is_attained(event))


def single_events(event: Event, neighboring_relation: NeighboringRelation) -> Iterator[Event]:
    """All single events that an accountant of this relation would have to price: of the tally, and nested in them."""
    for single, _ in flattened(event, NeighborGroup(neighboring_relation)):
        alone = single.event if isinstance(single, GroupEvent) else single
        yield alone
        match alone:
            case PartitionEvent():
                inside, parts = neighboring_relation, alone.events
            case RepeatAndSelectEvent():
                inside, parts = neighboring_relation, (alone.event,)
            case PoissonSampledEvent() | TruncatedPoissonSampledEvent() | SampledWithoutReplacementEvent():
                inside, parts = _stated_for(alone), (alone.event,)
            case _:
                continue
        for part in parts:
            yield from single_events(part, inside)


def _stated_for(event: _Sample) -> NeighboringRelation:
    """For which relation the event inside a sample is stated."""
    return REPLACE_ONE if isinstance(event, SampledWithoutReplacementEvent) else ADD_OR_REMOVE_ONE


def _sampled(event: _Sample, neighbors: NeighborGroup) -> EventCounts:
    event, inner = _sampled_once(event), _stated_for(event)
    seen = flattened(event.event, neighbors.replaced if inner is REPLACE_ONE else neighbors.one_by_one)
    if event.sampling_probability == 0 or not seen.counts:
        return EventCounts()
    is_everybody = event.sampling_probability == 1 and not isinstance(event, TruncatedPoissonSampledEvent)
    # Priced outside the sample, an event is read under the relation of the account, which plain ones ignore.
    if is_everybody and (inner is neighbors.relation or all(isinstance(single, _PLAIN) for single, _ in seen)):
        return seen
    return EventCounts(((grouped(event, neighbors.size), 1),), seen.is_tight)


def _sampled_once(event: _Sample) -> _Sample:
    """A Poisson sample of a Poisson sample holds each unit independently with the product of the probabilities."""
    if not isinstance(event, PoissonSampledEvent):
        return event
    inside = event.event
    while True:
        match inside:
            case PoissonSampledEvent():
                event = PoissonSampledEvent(event.sampling_probability * inside.sampling_probability, inside.event)
                inside = inside.event
            case ComposedEvent(events=(inside,)) | SelfComposedEvent(event=inside, count=1):
                pass
            case _:
                return event


def _nested(event: Event, inside: Iterable[Event], neighbors: NeighborGroup) -> EventCounts:
    """An event that is kept whole, unless nothing inside it releases anything."""
    seen = _tally(flattened(part, neighbors) for part in inside)
    return EventCounts(((grouped(event, neighbors.size), 1),), seen.is_tight) if seen.counts else EventCounts()


def grouped(event: Event, size: int) -> Event:
    """A single event as a group of `size` units sees it, by its own rule where it has one.

    Additive noise hides a move that is `size` times as long. ε of a pure event and the range of an exponential
    mechanism grow `size`-fold, ρ of a concentrated one size²-fold [BS16].
    """
    if size == 1 or _is_free(event):
        return event
    match event:
        case NonPrivateEvent():
            return event
        case PureEvent():
            return PureEvent(event.epsilon * size)
        case ExponentialEvent():
            return ExponentialEvent(event.epsilon * size)
        case ZCDPEvent():
            return ZCDPEvent(event.rho * size**2)
        case ApproxEvent():
            return _grouped_approx(event, size)
        case LaplaceEvent():
            return LaplaceEvent(event.noise_multiplier / size)
        case GaussianEvent():
            return GaussianEvent(event.noise_multiplier / size)
        case DiscreteLaplaceEvent():
            return DiscreteLaplaceEvent(event.scale, Fraction(floor(event.l1_sensitivity) * size))
        case DiscreteGaussianEvent():
            return _grouped_discrete_gaussian(event, size)
        case RandomizedResponseEvent():
            return _grouped_response(event, size)
        case GroupEvent():
            return GroupEvent(event.event, event.size * size)
        case _:
            return GroupEvent(event, size)


def response_epsilon_up(event: RandomizedResponseEvent) -> Fraction | None:
    """ε of randomized response, ln(1 + kp/(1 − p)), rounded up; None where it is infinite."""
    if event.categories == 1:
        return Fraction(0)
    if event.probability == 1:
        return None
    return log_up(1 + event.categories * event.probability / (1 - event.probability))


def _grouped_approx(event: ApproxEvent, size: int) -> Event:
    if event.delta == 1:
        return NonPrivateEvent()
    promise = group(ApproxDP(event.epsilon, event.delta), size)
    return NonPrivateEvent() if isinstance(promise, NoGuarantee) else ApproxEvent(promise.epsilon, promise.delta)


def _grouped_discrete_gaussian(event: DiscreteGaussianEvent, size: int) -> Event:
    """The squared length of a move on the integers is an integer, or the square of one for a single coordinate."""
    longest = floor(event.l2_sensitivity) ** 2 if event.l0_sensitivity == 1 else floor(event.l2_sensitivity**2)
    return DiscreteGaussianEvent(event.stddev, sqrt_up(Fraction(longest * size**2)), event.l0_sensitivity * size)


def _grouped_response(event: RandomizedResponseEvent, size: int) -> Event:
    epsilon = response_epsilon_up(event)
    return NonPrivateEvent() if epsilon is None else PureEvent(epsilon * size)


def _is_free(event: Event) -> bool:
    match event:
        case PureEvent() | ExponentialEvent():
            return event.epsilon == 0
        case ApproxEvent():
            return event.epsilon == event.delta == 0
        case ZCDPEvent():
            return event.rho == 0
        case DiscreteLaplaceEvent():
            return event.l1_sensitivity < 1
        case DiscreteGaussianEvent():
            return event.l2_sensitivity < 1
        case RandomizedResponseEvent():
            return event.categories == 1 or event.probability == 0
        case _:
            return False


def _is_attained(event: Event) -> bool:
    """Whether a group can really be told apart as far as `grouped` says: a chain of small steps may not lead there."""
    match event:
        case PureEvent() | ApproxEvent() | RandomizedResponseEvent():
            return False
        case DiscreteGaussianEvent():
            return event.l0_sensitivity == 1
        case _:
            return True


def _tally(parts: Iterable[EventCounts]) -> EventCounts:
    counts: dict[Event, int] = {}
    is_tight = True
    for part in parts:
        is_tight = is_tight and part.is_tight
        for event, count in part:
            counts[event] = _within_limit(counts.get(event, 0) + count)
    return EventCounts(tuple(sorted(counts.items(), key=_rank)), is_tight)


def _within_limit(count: int) -> int:
    if count > LARGEST_COUNT:
        raise ParameterError("count", count, "must be at most 10^15, all nested counts and group sizes multiplied")
    return count


def _rank(item: tuple[Event, int]) -> str:
    return repr(item[0])
