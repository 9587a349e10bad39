"""Measures that add up under composition: (ρ, δ) of concentrated, (μ², ln F) of Gaussian differential privacy.

Over a partition, a unit pays for the largest parts it can touch. A group of c units that touches k parts each pays for
the k parts that cost a group of c the most, not for ck of them: whoever spreads a group over more parts moves each one
less, and the cost of a part, as a function of the number of units that it sees, lies below a line through 0 and the
price at c (proof: proofs/accounting/gaussian/zcdp.md).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from typing import TypeAlias

from sfumato.accounting.core.normal_form import EventCounts, NeighborGroup, NormalEvent, flattened
from sfumato.privacy.events import Event, PartitionEvent
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True)
class AdditivePrice:
    """What releases cost, in a measure that composes by addition, and in a second one beside it."""

    measure: Fraction | float = Fraction(0)
    slack: Fraction | float = Fraction(0)

    def times(self, count: int) -> "AdditivePrice":
        """The cost of `count` such releases."""
        return AdditivePrice(self.measure * count, self.slack * count)


Rule: TypeAlias = Callable[[NormalEvent], AdditivePrice | None]
"""The cost of a release that is no partition; None where it has none."""

EXACT_ANSWER = AdditivePrice(math.inf)


def is_priced(event: Event, relation: NeighboringRelation, rule: Rule) -> bool:
    """Whether an event of a tally, and everything nested in it, has a cost."""
    single = NormalEvent.of(event, NeighborGroup(relation))
    if not isinstance(single.event, PartitionEvent):
        return rule(single) is not None
    parts = (flattened(part, single.neighbors) for part in single.event.events)
    return all(is_priced(inner, relation, rule) for part in parts for inner, _ in part)


def total_price(tally: EventCounts, relation: NeighboringRelation, rule: Rule) -> AdditivePrice:
    """The cost of a tally; what has none is left out."""
    return _sum(_price(NormalEvent.of(event, NeighborGroup(relation)), rule).times(count) for event, count in tally)


def _price(single: NormalEvent, rule: Rule) -> AdditivePrice:
    partition, neighbors = single.event, single.neighbors
    if not isinstance(partition, PartitionEvent):
        return rule(single) or AdditivePrice()
    parts = [total_price(flattened(part, neighbors), neighbors.relation, rule) for part in partition.events]
    touched = neighbors.single.touched(partition.max_parts_per_unit)
    return AdditivePrice(
        sum(nlargest(touched, (part.measure for part in parts)), start=Fraction(0)),
        sum(nlargest(touched, (part.slack for part in parts)), start=Fraction(0)),
    )


def _sum(prices: Iterable[AdditivePrice]) -> AdditivePrice:
    total = AdditivePrice()
    for price in prices:
        total = AdditivePrice(total.measure + price.measure, total.slack + price.slack)
    return total
