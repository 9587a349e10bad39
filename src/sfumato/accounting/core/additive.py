"""Measures that add up under composition: (ρ, δ) of concentrated, (μ², ln F) of Gaussian differential privacy.

Over a partition, a unit pays for the largest parts it can touch. A group of c units that touches k parts each pays for
the k parts that cost a group of c the most, not for ck of them: whoever spreads a group over more parts moves each one
less, and the price of a part, as a function of the number of units that it sees, lies below a line through 0 and the
price at c (proof: proofs/accounting/gaussian/zcdp.md).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from typing import TypeAlias

from sfumato.accounting.core.conversions import touched_parts
from sfumato.accounting.core.tally import Tally, flattened
from sfumato.privacy.events import Event, GroupEvent, PartitionEvent
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True)
class AdditivePrice:
    """What releases cost, in a measure that composes by addition, and in a second one beside it."""

    measure: Fraction | float = Fraction(0)
    slack: Fraction | float = Fraction(0)

    def times(self, count: int) -> "AdditivePrice":
        """The price of `count` such releases."""
        return AdditivePrice(self.measure * count, self.slack * count)


Leaf: TypeAlias = Callable[[Event], AdditivePrice | None]
"""The price of an event that is neither composed nor partitioned; None where it has none."""

EXACT_ANSWER = AdditivePrice(math.inf)


def is_priced(event: Event, relation: NeighboringRelation, leaf: Leaf) -> bool:
    """Whether an event of a tally, and everything nested in it, has a price."""
    partition, size = _partition(event)
    if partition is None:
        return leaf(event) is not None
    return all(
        is_priced(single, relation, leaf)
        for part in partition.events
        for single, _ in flattened(part, relation, group_size=size)
    )


def total_price(tally: Tally, relation: NeighboringRelation, leaf: Leaf) -> AdditivePrice:
    """The price of a tally; what has none is left out."""
    return _sum(_price(event, relation, leaf).times(count) for event, count in tally)


def _price(event: Event, relation: NeighboringRelation, leaf: Leaf) -> AdditivePrice:
    partition, size = _partition(event)
    if partition is None:
        return leaf(event) or AdditivePrice()
    parts = [total_price(flattened(part, relation, group_size=size), relation, leaf) for part in partition.events]
    touched = touched_parts(partition.max_parts_per_unit, relation)
    return AdditivePrice(
        sum(nlargest(touched, (part.measure for part in parts)), start=Fraction(0)),
        sum(nlargest(touched, (part.slack for part in parts)), start=Fraction(0)),
    )


def _partition(event: Event) -> tuple[PartitionEvent | None, int]:
    """The partition that an event is, and the size of the group that sees it."""
    match event:
        case PartitionEvent():
            return event, 1
        case GroupEvent(PartitionEvent() as partition, size):
            return partition, size
        case _:
            return None, 1


def _sum(prices: Iterable[AdditivePrice]) -> AdditivePrice:
    total = AdditivePrice()
    for price in prices:
        total = AdditivePrice(total.measure + price.measure, total.slack + price.slack)
    return total
