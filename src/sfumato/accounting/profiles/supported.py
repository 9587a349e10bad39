"""Which events have profiles: a look at their structure, before anything is computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sfumato.accounting.profiles.leaves import SYMMETRIC, is_known_gaussian
from sfumato.accounting.profiles.neighbors import Neighbors
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    Event,
    FiniteEvent,
    GroupEvent,
    MixtureOfGaussiansEvent,
    PartitionEvent,
    PoissonSampledEvent,
    SampledWithoutReplacementEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation


def supports_pair(event: Event, neighboring_relation: NeighboringRelation) -> bool:
    """Whether `pair_of` knows the event and everything in it.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.privacy.events import GaussianEvent, RepeatAndSelectEvent
        >>> noise = GaussianEvent(Fraction(1))
        >>> supports_pair(PoissonSampledEvent(Fraction(1, 100), noise), ADD_OR_REMOVE_ONE)
        True
        >>> supports_pair(RepeatAndSelectEvent(noise, Fraction(3)), ADD_OR_REMOVE_ONE)
        False
    """
    return _is_known(event, Neighbors(neighboring_relation))


def _is_known(event: Event, neighbors: Neighbors) -> bool:
    if isinstance(event, GroupEvent):
        return _is_known(event.event, replace(neighbors, size=neighbors.size * event.size))
    leaf = neighbors.leaf(event)
    if isinstance(leaf, DiscreteGaussianEvent):
        return is_known_gaussian(leaf)
    if type(event) not in _VIEWS:
        return type(leaf) in SYMMETRIC
    return all(_is_known_inside(part, view) for part in _nested(event) for view in _VIEWS[type(event)](neighbors))


def _nested(event: Event) -> tuple[Event, ...]:
    match event:
        case PartitionEvent():
            return event.events
        case PoissonSampledEvent() | TruncatedPoissonSampledEvent() | SampledWithoutReplacementEvent():
            return (event.event,)
        case _:
            return ()


def _is_known_inside(event: Event, neighbors: Neighbors) -> bool:
    one = replace(neighbors, size=1)
    return all(_is_known(single, one) for single, _ in neighbors.singles(event))


def _no_views(_neighbors: Neighbors) -> tuple[Neighbors, ...]:
    return ()


def _views_of_sample(neighbors: Neighbors) -> tuple[Neighbors, ...]:
    is_present_enough = neighbors.relation is ADD_OR_REMOVE_ONE
    return (neighbors.present,) if is_present_enough else (neighbors.present, neighbors.swapped)


_VIEWS: Final[dict[type, Callable[[Neighbors], tuple[Neighbors, ...]]]] = {
    FiniteEvent: _no_views,
    MixtureOfGaussiansEvent: _no_views,
    PoissonSampledEvent: _views_of_sample,
    TruncatedPoissonSampledEvent: lambda neighbors: (neighbors.present, neighbors.swapped),
    SampledWithoutReplacementEvent: lambda neighbors: (neighbors.replaced,),
    PartitionEvent: lambda neighbors: (neighbors,),
}
"""As which neighbors the events inside are looked at."""
