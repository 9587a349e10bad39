"""What is known of one account after a number of entries: its facts, and what it has spent, in all and of late.

spent = Σ prices outside partitions + Σ over partitions of the k largest parts' sums, in each number of the measure
"""

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import nlargest
from typing import NamedTuple

from sfumato.accounting.adaptive.amounts import NOTHING, Amounts
from sfumato.accounting.core.conversions import touched_parts
from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Opened, PartitionPart
from sfumato.ledger.core.prices import left_of, limits
from sfumato.privacy.budgets import Budget
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(slots=True)
class PartitionSpending:
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
class PartitionedSpending:
    """Sums of costs in one measure; it changes in place, because a copy per entry would be quadratic."""

    relation: NeighboringRelation
    outside: Amounts = NOTHING
    partitions: dict[str, PartitionSpending] = field(default_factory=dict)
    _parted: Amounts = field(default=NOTHING, init=False)  # kept, because each session makes partitions of its own
    _added: tuple[Amounts, Amounts, Amounts] | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for partition in self.partitions.values():
            self._parted = self._parted.plus(partition.total(self.relation))

    def total(self) -> Amounts:
        """All of it."""
        return self.outside.plus(self._parted)

    def total_with(self, price: Amounts, part: PartitionPart | None) -> Amounts:
        """All of it, and what a cost would add."""
        if part is None and not self._parted.numbers:
            return self._outside_with(price)
        return self.total().plus(self.increase(price, part))

    def increase(self, price: Amounts, part: PartitionPart | None) -> Amounts:
        """What a cost would add to the total: itself, or less in a part that another part outweighs."""
        if part is None:
            return price
        partition = self._partition(part)
        return partition.total(self.relation).left_of(partition.total(self.relation, (part.value, price)))

    def add(self, price: Amounts, part: PartitionPart | None) -> None:
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

    def take(self, price: Amounts, part: PartitionPart | None) -> None:
        """Forget a cost that was added and has left a window."""
        less = price.times(-1)
        if part is None:
            self.outside = self.outside.plus(less)
            return
        partition = self.partitions[part.partition]
        before = partition.total(self.relation)
        partition.sums[part.value] = partition.sums[part.value].plus(less)
        self._parted = self._parted.plus(before.left_of(partition.total(self.relation)))

    def _outside_with(self, price: Amounts) -> Amounts:
        """`outside` and a cost; the last such sum is kept, as what is asked whether it fits is charged next."""
        if self._added is not None and self._added[0] is self.outside and self._added[1].numbers == price.numbers:
            return self._added[2]
        both = self.outside.plus(price)
        self._added = self.outside, price, both
        return both

    def _partition(self, part: PartitionPart) -> PartitionSpending:
        known = self.partitions.get(part.partition) or PartitionSpending(part.max_parts_per_unit)
        if known.max_parts_per_unit != part.max_parts_per_unit:
            requirement = (
                f"partition {part.partition!r} was declared with {known.max_parts_per_unit}; use the same number"
            )
            raise ParameterError("max_parts_per_unit", part.max_parts_per_unit, requirement)
        return known


class Charged(NamedTuple):
    """What was charged, and when."""

    at: int
    price: Amounts
    part: PartitionPart | None


@dataclass(slots=True)
class AccountState:
    """One account; it changes in place and belongs to one `Replay`.

    Attributes:
        opened: The facts with which it was opened.
        budget: What it may spend now.
        path: Its own name and those of all accounts above, each once.
        is_closed: Whether it grants nothing more.
        is_suspended: Whether it grants nothing until its owner has acknowledged a failure.
        acknowledged: How many failures the owner acknowledged.
        lifetime: All that it ever spent.
        tables: Whose the rows of each table are, by its name in lower case.
        beside: Accounts that protect other units in the same data.
        recent: With a window, what was charged within it; and `within` that, added up.
    """

    opened: Opened
    budget: Budget
    path: tuple[str, ...]
    lifetime: PartitionedSpending
    within: PartitionedSpending
    is_closed: bool = False
    is_suspended: bool = False
    acknowledged: int = 0
    tables: dict[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    recent: deque[Charged] = field(default_factory=deque)
    _limits: tuple[Budget, Amounts | None] | None = field(default=None, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, opened: Opened, path: tuple[str, ...]) -> "AccountState":
        """An account that was just opened."""
        relation = opened.neighboring_relation
        return cls(opened, opened.budget, path, PartitionedSpending(relation), PartitionedSpending(relation))

    def charge(self, price: Amounts, part: PartitionPart | None, at: int) -> None:
        """Take one more price into account."""
        self.lifetime.add(price, part)
        if self.opened.window is not None:
            self.within.add(price, part)
            self.recent.append(Charged(at, price, part))

    def spent(self, at: int) -> Amounts:
        """What counts against the budget at a time: all, or what was charged within the window."""
        return self._counted(at).total()

    def increase(self, price: Amounts, part: PartitionPart | None, at: int) -> Amounts:
        """What a cost would add to `spent`."""
        return self._counted(at).increase(price, part)

    def fits(self, price: Amounts, part: PartitionPart | None, at: int) -> bool:
        """Whether a cost is within what is left: spent + increase ≤ budget in every number, to the last digit."""
        allowed = self._allowed()
        return allowed is None or self._counted(at).total_with(price, part).is_within(allowed)

    def left(self, at: int) -> Budget:
        """What may still be spent, in the budget's own words."""
        return left_of(self.budget, self.spent(at))

    def size(self) -> int:
        """About how much there is to write down."""
        return 1 + len(self.recent) + sum(len(partition.sums) for partition in self.lifetime.partitions.values())

    def _allowed(self) -> Amounts | None:
        """The limits of the budget; those of the last budget are kept."""
        if self._limits is None or self._limits[0] is not self.budget:
            self._limits = self.budget, limits(self.budget)
        return self._limits[1]

    def _counted(self, at: int) -> PartitionedSpending:
        window = self.opened.window
        if window is None:
            return self.lifetime
        begins = window.begins(at)
        while self.recent and self.recent[0].at < begins:
            _, price, part = self.recent.popleft()
            self.within.take(price, part)
        return self.within
