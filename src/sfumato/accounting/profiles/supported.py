"""Which events have profiles: a look at their structure, before anything is computed."""

from typing import Final

from sfumato.accounting.core.tally import flattened
from sfumato.accounting.profiles.leaves import SYMMETRIC
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
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

_LEAVES: Final = (*SYMMETRIC, DiscreteGaussianEvent, FiniteEvent, MixtureOfGaussiansEvent)


def supports_pair(event: Event, neighboring_relation: NeighboringRelation) -> bool:
    """Whether `pair_of` knows the event and everything in it.

    Args:
        event: An event of a tally: not composed.
        neighboring_relation: Under which it is looked at; a sample has its own for what is in it.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.privacy.events import GaussianEvent, RepeatAndSelectEvent
        >>> noise = GaussianEvent(Fraction(1))
        >>> supports_pair(PoissonSampledEvent(Fraction(1, 100), noise), ADD_OR_REMOVE_ONE)
        True
        >>> supports_pair(RepeatAndSelectEvent(noise, Fraction(3), Fraction(1)), ADD_OR_REMOVE_ONE)
        False
    """
    match event:
        case GroupEvent():
            return supports_pair(event.event, neighboring_relation)
        case PartitionEvent():
            return all(_supports_inside(part, neighboring_relation) for part in event.events)
        case PoissonSampledEvent() | TruncatedPoissonSampledEvent():
            return _supports_inside(event.event, ADD_OR_REMOVE_ONE)
        case SampledWithoutReplacementEvent():
            return _supports_inside(event.event, REPLACE_ONE)
        case _:
            return isinstance(event, _LEAVES)


def _supports_inside(event: Event, neighboring_relation: NeighboringRelation) -> bool:
    """Whether it knows all that an event is composed of."""
    return all(
        supports_pair(single, neighboring_relation) for single, _ in flattened(event, neighboring_relation).counts
    )
