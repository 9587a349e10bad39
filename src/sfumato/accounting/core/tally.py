"""Which events were composed, and how often: nesting undone, in one order, whatever the order they came in."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from sfumato.accounting.core.conversions import group
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

LARGEST_COUNT: Final = 10**15
"""Of one event in a tally, and of a group: beyond it floats no longer tell counts apart."""

_MANY_MORE: Final = 8
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
class Tally:
    """Events and their counts, sorted, each event once: equal for equal releases in any order.

    None of its events is a `ComposedEvent`, `SelfComposedEvent` or `FullyAdaptiveEvent`. A `GroupEvent` stays only
    around what has no simpler name: samples, partitions, finite pairs, mixtures and selections.
    """

    counts: tuple[tuple[Event, int], ...] = ()
    is_tight: bool = True
    """Whether some mechanism with the composed events reveals as much; else the tally only bounds what they reveal."""

    def plus(self, other: "Tally") -> "Tally":
        """Both together; a few events are put in their places among many."""
        if _MANY_MORE * len(other.counts) > len(self.counts):
            return _tally((self, other))
        counts = list(self.counts)
        for event, count in other.counts:
            place = bisect_left(counts, repr(event), key=_rank)
            if place < len(counts) and counts[place][0] == event:
                counts[place] = event, _within_limit(counts[place][1] + count)
            else:
                counts.insert(place, (event, count))
        return Tally(tuple(counts), self.is_tight and other.is_tight)

    def times(self, count: int) -> "Tally":
        """All of it, so many times."""
        times = positive_integer(count, "count")
        return Tally(tuple((event, _within_limit(many * times)) for event, many in self.counts), self.is_tight)

    def __iter__(self) -> Iterator[tuple[Event, int]]:
        return iter(self.counts)


def flattened(event: Event, neighboring_relation: NeighboringRelation, *, group_size: int = 1) -> Tally:
    """The event as a tally of events that are not composed, as a group of `group_size` units sees them.

    **Guarantee**: the events of the tally, composed, reveal at least as much to the group as the event does.

    Edge cases: what releases nothing disappears. A sample of everybody is no sample where its event means the same
    outside it: under `REPLACE_ONE` noise stated for adding or removing one unit is then seen by a group of two.

    Raises:
        ParameterError: It is no event of `sfumato.privacy.events`, or counts multiply to more than 10^15.
    """
    match event:
        case ComposedEvent():
            return _tally(flattened(part, neighboring_relation, group_size=group_size) for part in event.events)
        case SelfComposedEvent():
            return flattened(event.event, neighboring_relation, group_size=group_size).times(event.count)
        case GroupEvent():
            return flattened(event.event, neighboring_relation, group_size=_within_limit(group_size * event.size))
        case FullyAdaptiveEvent():
            return flattened(event.budget, neighboring_relation, group_size=group_size)
        case PoissonSampledEvent() | TruncatedPoissonSampledEvent() | SampledWithoutReplacementEvent():
            return _sampled(event, neighboring_relation, group_size)
        case PartitionEvent():
            return _nested(event, event.events, neighboring_relation, group_size)
        case RepeatAndSelectEvent():
            return _nested(event, (event.event,), neighboring_relation, group_size)
        case _ if not isinstance(event, Event):
            raise ParameterError("event", event, "must be an event of sfumato.privacy.events")
        case _:
            single = grouped(event, group_size)
            return Tally() if _is_free(single) else Tally(((single, 1),), group_size == 1 or _is_attained(event))


def replacement_group(neighboring_relation: NeighboringRelation) -> int:
    """By how many units added or removed two neighbours differ."""
    return 2 if neighboring_relation is REPLACE_ONE else 1


def _sampled(
    event: PoissonSampledEvent | TruncatedPoissonSampledEvent | SampledWithoutReplacementEvent,
    relation: NeighboringRelation,
    group_size: int,
) -> Tally:
    inner = REPLACE_ONE if isinstance(event, SampledWithoutReplacementEvent) else ADD_OR_REMOVE_ONE
    steps = replacement_group(relation) if inner is ADD_OR_REMOVE_ONE else 1
    seen = flattened(event.event, inner, group_size=group_size * steps)
    if event.sampling_probability == 0 or not seen.counts:
        return Tally()
    is_everybody = event.sampling_probability == 1 and not isinstance(event, TruncatedPoissonSampledEvent)
    # Priced outside the sample, an event is read under the relation of the account, which plain ones ignore.
    if is_everybody and (inner is relation or all(isinstance(single, _PLAIN) for single, _ in seen)):
        return seen
    return Tally(((grouped(event, group_size), 1),), seen.is_tight)


def _nested(event: Event, inside: Iterable[Event], relation: NeighboringRelation, group_size: int) -> Tally:
    """An event that is kept whole, unless nothing inside it releases anything."""
    seen = _tally(flattened(part, relation, group_size=group_size) for part in inside)
    return Tally(((grouped(event, group_size), 1),), seen.is_tight) if seen.counts else Tally()


def grouped(event: Event, size: int) -> Event:
    """An uncomposed event as a group of `size` units sees it, by its own rule where it has one.

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


def _tally(parts: Iterable[Tally]) -> Tally:
    counts: dict[Event, int] = {}
    is_tight = True
    for part in parts:
        is_tight = is_tight and part.is_tight
        for event, count in part:
            counts[event] = _within_limit(counts.get(event, 0) + count)
    return Tally(tuple(sorted(counts.items(), key=_rank)), is_tight)


def _within_limit(count: int) -> int:
    if count > LARGEST_COUNT:
        raise ParameterError("count", count, "must be at most 10^15, all nested counts and group sizes multiplied")
    return count


def _rank(item: tuple[Event, int]) -> str:
    return repr(item[0])
