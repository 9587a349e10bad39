"""Which profiles an event has: one rule for each kind of event, and who its two databases are."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.accounting.core.conversions import touched_parts
from sfumato.accounting.core.tally import flattened, grouped
from sfumato.accounting.profiles.combined import Bracketed, Mixed, Steps, worst_of
from sfumato.accounting.profiles.finite import NOTHING
from sfumato.accounting.profiles.leaves import (
    LEAST,
    MOST,
    SYMMETRIC,
    Compose,
    discrete_gaussian,
    finite,
    mixture,
    symmetric,
)
from sfumato.accounting.profiles.mixtures import group_presence, mirrored, replacement
from sfumato.accounting.profiles.profile import MARGIN, DominatingPair
from sfumato.accounting.profiles.sampled import SampledBackward, SampledForward, SampledReplacement, truncation
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    Event,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    MixtureOfGaussiansEvent,
    PartitionEvent,
    PoissonSampledEvent,
    SampledWithoutReplacementEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Who the two databases of an event are.

    Args:
        relation: How they differ.
        size: In how many units, that act as one.
        is_swap: Whether units are replaced though the event is stated for adding or removing one.
    """

    relation: NeighboringRelation
    size: int = 1
    is_swap: bool = False

    def singles(self, event: Event) -> tuple[tuple[Event, int], ...]:
        """The event, composed or not, as uncomposed ones and their counts."""
        return flattened(event, self.relation, group_size=self.size).counts

    def leaf(self, event: Event) -> Event:
        """The event as seen by who removes a unit and adds another, if that is what they do."""
        return grouped(event, 2) if self.is_swap else event

    @property
    def steps(self) -> int:
        """How many units are added and removed in all, of an event without a rule of its own."""
        return self.size * (2 if self.is_swap else 1)

    @property
    def present(self) -> "Neighbors":
        """The units there, against not there."""
        return replace(self, relation=ADD_OR_REMOVE_ONE, is_swap=False)

    @property
    def replaced(self) -> "Neighbors":
        """The units exchanged, of an event stated for that."""
        return replace(self, relation=REPLACE_ONE, is_swap=False)

    @property
    def swapped(self) -> "Neighbors":
        """The units exchanged, of an event stated for adding or removing one."""
        return replace(self, relation=REPLACE_ONE, is_swap=True)


_LARGEST_GROUP: Final = 32  # beyond it a binomial mixture costs more than it saves


def pair_of(event: Event, neighboring_relation: NeighboringRelation, compose: Compose) -> DominatingPair:
    """The dominating pair of an event that `flattened` has left uncomposed.

    **Guarantee**: as of `DominatingPair`, for the relation: forward is with the unit against without it. Under
    `REPLACE_ONE` both orders have the same bound.

    Args:
        event: One of a tally's events.
        neighboring_relation: Between which databases.
        compose: What composes pairs; used for events that are made of several.

    Raises:
        UnsupportedEventError: No profile is known for it.

    Example:
        >>> pair = pair_of(GaussianEvent(Fraction(1)), ADD_OR_REMOVE_ONE, lambda pairs: pairs[0][0])
        >>> pair.forward.delta_up(np.array([0.0, 1.0])).round(6).tolist()
        [0.382925, 0.126937]
    """
    if not supports_pair(event, neighboring_relation):
        raise UnsupportedEventError(event, "the table of privacy profiles")
    return _pair(event, Neighbors(neighboring_relation), compose)


def supports_pair(event: Event, neighboring_relation: NeighboringRelation) -> bool:
    """Whether `pair_of` knows the event and everything in it: a look at its structure, before anything is computed.

    Example:
        >>> from sfumato.privacy.events import RepeatAndSelectEvent
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
            parts, inside = event.events, neighboring_relation
        case PoissonSampledEvent() | TruncatedPoissonSampledEvent():
            parts, inside = (event.event,), ADD_OR_REMOVE_ONE
        case SampledWithoutReplacementEvent():
            parts, inside = (event.event,), REPLACE_ONE
        case _:
            return type(event) in SYMMETRIC or isinstance(event, DiscreteGaussianEvent) or type(event) in _RULES
    return all(supports_pair(single, inside) for part in parts for single, _ in flattened(part, inside).counts)


def _pair(event: Event, neighbors: Neighbors, compose: Compose) -> DominatingPair:
    """Of an uncomposed event; a group is a property of the neighbors."""
    if isinstance(event, GroupEvent):
        return _pair(event.event, replace(neighbors, size=neighbors.size * event.size), compose)
    leaf = neighbors.leaf(event)
    if type(leaf) in SYMMETRIC:
        return symmetric(SYMMETRIC[type(leaf)](leaf))
    if isinstance(leaf, DiscreteGaussianEvent):
        return discrete_gaussian(leaf, compose)
    return _RULES[type(event)](event, neighbors, compose)


def _inside(event: Event, neighbors: Neighbors, compose: Compose) -> DominatingPair:
    """Of an event inside another, composed or not."""
    one = replace(neighbors, size=1)
    pairs = tuple((_pair(single, one, compose), count) for single, count in neighbors.singles(event))
    if not pairs:
        return symmetric(NOTHING)
    return pairs[0][0] if len(pairs) == 1 and pairs[0][1] == 1 else compose(pairs)


def _oriented(pair: DominatingPair, neighbors: Neighbors) -> DominatingPair:
    """Of an event with its own two orders, and no rule for groups."""
    if neighbors.relation is ADD_OR_REMOVE_ONE:
        return pair if neighbors.steps == 1 else _in_steps(pair, neighbors.steps)
    worst = worst_of((pair.forward, pair.backward))
    if neighbors.steps > 1:
        return symmetric(Steps(worst, neighbors.steps))
    return DominatingPair(Bracketed(worst, pair.forward), Bracketed(worst, pair.backward))


def _in_steps(pair: DominatingPair, count: int) -> DominatingPair:
    return DominatingPair(Steps(pair.forward, count), Steps(pair.backward, count))


def _finite(event: FiniteEvent, neighbors: Neighbors, _compose: Compose) -> DominatingPair:
    return _oriented(finite(event), neighbors)


def _mixture(event: MixtureOfGaussiansEvent, neighbors: Neighbors, _compose: Compose) -> DominatingPair:
    return _oriented(mixture(event), neighbors)


def _poisson(event: PoissonSampledEvent, neighbors: Neighbors, compose: Compose) -> DominatingPair:
    """The unit is there with probability q; of a bare Gaussian the laws are known, of others their profiles."""
    if 0 < event.sampling_probability < LEAST:
        return _untested(_poisson(replace(event, sampling_probability=LEAST), neighbors, compose))
    noise, size = _bare_noise(event.event), neighbors.size
    if neighbors.relation is ADD_OR_REMOVE_ONE:
        if noise is not None and 1 < size <= _LARGEST_GROUP:
            several = group_presence(noise, event.sampling_probability, size)
            return DominatingPair(several, mirrored(several))
        pair = _amplified(_inside(event.event, neighbors.present, compose), _any_of(event.sampling_probability, size))
        return pair if size == 1 else _untested(pair)
    if noise is not None and size == 1:
        return symmetric(replacement(noise, event.sampling_probability))
    present, swapped = (_inside(event.event, who, compose) for who in (neighbors.present, neighbors.swapped))
    return symmetric(SampledReplacement(_any_of(event.sampling_probability, size), present.forward, swapped.forward))


def _bare_noise(event: Event) -> Fraction | None:
    """The noise multiplier of an event that is one Gaussian, and nothing else."""
    match flattened(event, ADD_OR_REMOVE_ONE).counts:
        case ((GaussianEvent(noise_multiplier=noise), 1),) if LEAST <= noise <= MOST:
            return noise
        case _:
            return None


def _any_of(probability: Fraction, size: int) -> Fraction:
    """With which at least one of a group is in a Poisson sample: 1 − (1 − q)^c, rounded up."""
    if size <= _LARGEST_GROUP or probability == 1:
        return 1 - (1 - probability) ** size
    return min(Fraction(-math.expm1(size * math.log1p(-probability)) * (1 + MARGIN)), Fraction(1))


def _amplified(pair: DominatingPair, probability: Fraction) -> DominatingPair:
    return DominatingPair(SampledForward(probability, pair.forward), SampledBackward(probability, pair.backward))


def _without_replacement(
    event: SampledWithoutReplacementEvent, neighbors: Neighbors, compose: Compose
) -> DominatingPair:
    """The unit takes another's place with probability γ; who replaces it takes the same place."""
    probability = min(max(neighbors.size * event.sampling_probability, LEAST), Fraction(1))
    pair = _untested(_amplified(_inside(event.event, neighbors.replaced, compose), probability))
    return pair if neighbors.relation is ADD_OR_REMOVE_ONE else symmetric(pair.forward)


def _truncated(event: TruncatedPoissonSampledEvent, neighbors: Neighbors, compose: Compose) -> DominatingPair:
    """Whether the others fill the sample is told; if so the unit takes another's place, with a smaller probability."""
    parts, one = truncation(event), replace(neighbors, size=1, is_swap=False)
    fits = _poisson(PoissonSampledEvent(event.sampling_probability, event.event), one, compose)
    full = _amplified(_inside(event.event, one.swapped, compose), max(parts.kept_up, LEAST))
    forward = Mixed(((parts.fits_up, fits.forward), (parts.full_up, full.forward)))
    pair = DominatingPair(forward, Mixed(((parts.fits_up, fits.backward), (parts.full_up, full.backward))))
    pair = pair if neighbors.relation is ADD_OR_REMOVE_ONE else symmetric(forward)
    return pair if neighbors.size == 1 else _in_steps(pair, neighbors.size)


def _partition(event: PartitionEvent, neighbors: Neighbors, compose: Compose) -> DominatingPair:
    """The worst part, as often as parts can be touched; all parts, each once, if they are not more.

    Where units are replaced a part may also only lose or gain some; its profile for an exchange covers that.
    """
    pairs = [_inside(part, neighbors, compose) for part in event.events if neighbors.singles(part)]
    if not pairs:
        return symmetric(NOTHING)
    touched = touched_parts(event.max_parts_per_unit * neighbors.size, neighbors.relation)
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
    return DominatingPair(Bracketed(upper.forward, attained.forward), Bracketed(upper.backward, attained.backward))


def _separation(pair: DominatingPair) -> float:
    """The total variation distance that a pair is known to attain."""
    first, second = pair.forward.test_down(np.zeros(1))
    return float(first[0] - second[0])


def _untested(pair: DominatingPair) -> DominatingPair:
    return DominatingPair(Bracketed(pair.forward), Bracketed(pair.backward))


_Rule = Callable[[Any, Neighbors, Compose], DominatingPair]
_RULES: Final[dict[type, _Rule]] = {
    FiniteEvent: _finite,
    MixtureOfGaussiansEvent: _mixture,
    PoissonSampledEvent: _poisson,
    TruncatedPoissonSampledEvent: _truncated,
    SampledWithoutReplacementEvent: _without_replacement,
    PartitionEvent: _partition,
}
