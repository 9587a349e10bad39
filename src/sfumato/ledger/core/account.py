"""What is known of one account after a number of entries: its facts, and what it has spent, in all and of late."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.ledger.core.entry import Opened, Part
from sfumato.ledger.core.measures import left_of, limits
from sfumato.ledger.core.tallies import Tally
from sfumato.privacy.budgets import Budget


class Charged(NamedTuple):
    """What was charged, and when."""

    at: int
    price: Amounts
    part: Part | None


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
    lifetime: Tally
    within: Tally
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
        return cls(opened, opened.budget, path, Tally(relation), Tally(relation))

    def charge(self, price: Amounts, part: Part | None, at: int) -> None:
        """Take one more price into account."""
        self.lifetime.add(price, part)
        if self.opened.window is not None:
            self.within.add(price, part)
            self.recent.append(Charged(at, price, part))

    def spent(self, at: int) -> Amounts:
        """What counts against the budget at a time: all, or what was charged within the window."""
        return self._counted(at).total()

    def increase(self, price: Amounts, part: Part | None, at: int) -> Amounts:
        """What a price would add to `spent`."""
        return self._counted(at).increase(price, part)

    def fits(self, price: Amounts, part: Part | None, at: int) -> bool:
        """Whether a price is within what is left: spent + increase ≤ budget in every number, to the last digit."""
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

    def _counted(self, at: int) -> Tally:
        window = self.opened.window
        if window is None:
            return self.lifetime
        begins = window.begins(at)
        while self.recent and self.recent[0].at < begins:
            _, price, part = self.recent.popleft()
            self.within.take(price, part)
        return self.within
