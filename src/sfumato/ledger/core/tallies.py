"""What was charged, added up: outside of partitions, and in the parts of partitions of people.

spent = Σ prices outside partitions + Σ over partitions of the k largest parts' sums, in each number of the measure
"""

from dataclasses import dataclass, field
from fractions import Fraction
from heapq import nlargest

from sfumato.accounting.adaptive.amounts import NOTHING, Amounts
from sfumato.accounting.core.conversions import touched_parts
from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Part
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(slots=True)
class PartitionTally:
    """What each part of one partition has spent."""

    max_parts_per_unit: int
    sums: dict[str, Amounts] = field(default_factory=dict)

    def total(self, relation: NeighboringRelation, extra: tuple[str, Amounts] | None = None) -> Amounts:
        """What all parts cost a person who lies in at most `max_parts_per_unit`; one part may have spent more."""
        sums = self.sums if extra is None else self.sums | {extra[0]: self.sums.get(extra[0], NOTHING).plus(extra[1])}
        most = touched_parts(self.max_parts_per_unit, relation)
        names = dict.fromkeys(name for amounts in sums.values() for name, _ in amounts.numbers)
        largest = {name: nlargest(most, (Fraction(amounts[name]) for amounts in sums.values())) for name in names}
        return Amounts(tuple((name, sum(found, start=Fraction(0))) for name, found in largest.items()))


@dataclass(slots=True)
class Tally:
    """Sums of prices in one measure; it changes in place, because a copy per entry would be quadratic."""

    relation: NeighboringRelation
    outside: Amounts = NOTHING
    partitions: dict[str, PartitionTally] = field(default_factory=dict)
    _parted: Amounts = field(default=NOTHING, init=False)  # kept, because each session makes partitions of its own
    _added: tuple[Amounts, Amounts, Amounts] | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for partition in self.partitions.values():
            self._parted = self._parted.plus(partition.total(self.relation))

    def total(self) -> Amounts:
        """All of it."""
        return self.outside.plus(self._parted)

    def total_with(self, price: Amounts, part: Part | None) -> Amounts:
        """All of it, and what a price would add."""
        if part is None and not self._parted.numbers:
            return self._outside_with(price)
        return self.total().plus(self.increase(price, part))

    def increase(self, price: Amounts, part: Part | None) -> Amounts:
        """What a price would add to the total: itself, or less in a part that another part outweighs."""
        if part is None:
            return price
        partition = self._partition(part)
        return partition.total(self.relation).left_of(partition.total(self.relation, (part.value, price)))

    def add(self, price: Amounts, part: Part | None) -> None:
        """Take one more price into account.

        Raises:
            ParameterError: The partition was declared with another number of parts.
        """
        if part is None:
            self.outside = self._outside_with(price)
            return
        increase = self.increase(price, part)
        partition = self.partitions.setdefault(part.partition, self._partition(part))
        self._parted = self._parted.plus(increase)
        partition.sums[part.value] = partition.sums.get(part.value, NOTHING).plus(price)

    def take(self, price: Amounts, part: Part | None) -> None:
        """Forget a price that was added and has left a window."""
        less = price.times(-1)
        if part is None:
            self.outside = self.outside.plus(less)
            return
        partition = self.partitions[part.partition]
        before = partition.total(self.relation)
        partition.sums[part.value] = partition.sums[part.value].plus(less)
        self._parted = self._parted.plus(before.left_of(partition.total(self.relation)))

    def _outside_with(self, price: Amounts) -> Amounts:
        """`outside` and a price; the last such sum is kept, as what is asked whether it fits is charged next."""
        if self._added is not None and self._added[0] is self.outside and self._added[1].numbers == price.numbers:
            return self._added[2]
        both = self.outside.plus(price)
        self._added = self.outside, price, both
        return both

    def _partition(self, part: Part) -> PartitionTally:
        known = self.partitions.get(part.partition) or PartitionTally(part.max_parts_per_unit)
        if known.max_parts_per_unit != part.max_parts_per_unit:
            requirement = f"partition {part.partition!r} was declared with {known.max_parts_per_unit}, which stays"
            raise ParameterError("max_parts_per_unit", part.max_parts_per_unit, requirement)
        return known
