"""The oracle of all accountants: for events on finite mechanisms, the laws of all answers together, in rationals.

A pair of laws is a mapping from outcomes that look alike to their probabilities on two neighbors: outcomes with the
same ratio are one. From it ε and δ follow by the definition alone.
"""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from sfumato.accounting.core.finite import smallest_delta, smallest_epsilon
from sfumato.privacy.events import (
    ComposedEvent,
    Event,
    FiniteEvent,
    PartitionEvent,
    PoissonSampledEvent,
    RandomizedResponseEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

Law = tuple[Fraction, ...]
Pair = tuple[Law, Law]


def merged(outcomes: Iterable[tuple[Fraction, Fraction]]) -> Pair:
    """One outcome for each ratio."""
    sums: dict[object, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for p, q in outcomes:
        if p or q:
            ratio = p / q if q else "infinite"
            sums[ratio][0] += p
            sums[ratio][1] += q
    return tuple(p for p, _ in sums.values()), tuple(q for _, q in sums.values())


def composed(pairs: Iterable[Pair]) -> Pair:
    """Independent answers together."""
    result: Pair = (Fraction(1),), (Fraction(1),)
    for pair in pairs:
        both = product(zip(*result, strict=True), zip(*pair, strict=True))
        result = merged((p * a, q * b) for (p, q), (a, b) in both)
    return result


def pairs_of(event: Event, relation: NeighboringRelation) -> list[Pair]:
    """Pairs of laws, from D to D', that neighbors can show; every one of them is a case of its own."""
    match event:
        case RandomizedResponseEvent():
            truth, other = response(event, 0), response(event, 1)
            return [merged(zip(truth, other, strict=True))]
        case FiniteEvent():
            both = [(event.p, event.q), (event.q, event.p)]
            return both if relation is REPLACE_ONE else both[:1]
        case ComposedEvent():
            return [composed(case) for case in product(*(pairs_of(part, relation) for part in event.events))]
        case SelfComposedEvent():
            return pairs_of(ComposedEvent((event.event,) * event.count), relation)
        case PartitionEvent() if relation is ADD_OR_REMOVE_ONE and event.max_parts_per_unit == 1:
            return [pair for part in event.events for pair in pairs_of(part, relation)]
        case PoissonSampledEvent() if relation is ADD_OR_REMOVE_ONE:
            return [sampled(event.sampling_probability, *pair) for pair in pairs_of(event.event, ADD_OR_REMOVE_ONE)]
        case SampledWithoutReplacementEvent() if relation is ADD_OR_REMOVE_ONE:
            return [sampled(event.sampling_probability, *pair) for pair in pairs_of(event.event, REPLACE_ONE)]
        case PoissonSampledEvent() | SampledWithoutReplacementEvent():
            return replaced_in_sample(event)
        case _:
            raise NotImplementedError(event)


def response(event: RandomizedResponseEvent, truth: int) -> Law:
    """The answers of somebody whose category is `truth`."""
    lie = (1 - event.probability) / event.categories
    return tuple(lie + (event.probability if answer == truth else 0) for answer in range(event.categories))


def sampled(probability: Fraction, p: Law, q: Law) -> Pair:
    """With the unit it is in the sample with this probability."""
    mixed = [(1 - probability) * b + probability * a for a, b in zip(p, q, strict=True)]
    return merged(zip(mixed, q, strict=True))


def replaced_in_sample(event: PoissonSampledEvent | SampledWithoutReplacementEvent) -> list[Pair]:
    """Three categories: of the others, of the unit, and of the one in its place."""
    inner = event.event
    if not isinstance(inner, RandomizedResponseEvent):
        raise NotImplementedError(event)
    share, (others, unit, new) = event.sampling_probability, (response(inner, i) for i in (0, 1, inner.categories - 1))
    mix = [[(1 - share) * a + share * b for a, b in zip(others, law, strict=True)] for law in (unit, new)]
    return [merged(zip(*mix, strict=True)), merged(zip(*mix[::-1], strict=True))]


def exact_epsilon(event: Event, relation: NeighboringRelation, delta: Fraction) -> float:
    """The smallest ε that holds for these laws, in both orders."""
    return max(float(smallest_epsilon(p, q, delta=delta)) for p, q in pairs_of(event, relation))


def exact_delta(event: Event, relation: NeighboringRelation, epsilon: Fraction) -> Fraction:
    """The smallest δ that holds for these laws, in both orders."""
    return max(smallest_delta(p, q, epsilon=epsilon) for p, q in pairs_of(event, relation))
