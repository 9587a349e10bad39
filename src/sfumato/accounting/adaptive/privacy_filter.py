"""The role of a filter: it says, before each release, whether the release may still be made."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Protocol, Self

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.meter import Meter
from sfumato.errors import BudgetExceededError, UnsupportedEventError
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import NeighboringRelation


class PrivacyFilter(Protocol):
    """A budget for releases whose mechanisms, parameters and number are chosen in the light of the answers so far.

    A frozen value: `spend` returns the filter after the release. Spend first, release afterwards.

    **Guarantee**: if every release was spent on the filter before it was made, everything released until the analyst
    stops, for whatever reason, keeps the filter's budget, for its neighbouring relation. Edge cases: a release that
    fills the budget exactly is granted; refusals depend on prices alone and reveal nothing.
    """

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """Between which databases the guarantee holds."""

    @property
    def budget(self) -> Amounts:
        """What may be spent in all."""

    @property
    def remaining(self) -> Amounts:
        """What is left of the budget, in the same measure."""

    @property
    def event(self) -> Event:
        """The whole run under this filter, however long, as accountants read it."""

    def supports(self, event: Event) -> bool:
        """Whether there is a price for the event and everything nested in it."""

    def can_spend(self, event: Event, *, count: int = 1) -> bool:
        """Whether the event may still be released `count` times: `spend` grants exactly this."""

    def spend(self, event: Event, *, count: int = 1) -> Self:
        """The filter after the event was released `count` times.

        Raises:
            BudgetExceededError: More was asked for than is left.
            UnsupportedEventError: The event, or one nested in it, has no price here.
            ParameterError: The count is not at least 1.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveFilter(Meter):
    """A filter by sums of prices; a subclass says which sums it allows. What allows a sum allows smaller ones."""

    def can_spend(self, event: Event, *, count: int = 1) -> bool:
        """Whether the event may still be released `count` times; an event without a price may not."""
        try:
            return self._allows(self.spent.plus(self.cost(event, count)))
        except UnsupportedEventError:
            return False

    def spend(self, event: Event, *, count: int = 1) -> Self:
        """The filter after the event was released `count` times.

        Raises:
            BudgetExceededError: More was asked for than is left.
            UnsupportedEventError: The event, or one nested in it, has no price here.
            ParameterError: The count is not at least 1.
        """
        requested = self.cost(event, count)
        total = self.spent.plus(requested)
        if not self._allows(total):
            raise BudgetExceededError(requested, self.remaining)
        return replace(self, spent=total)

    @property
    @abstractmethod
    def budget(self) -> Amounts:
        """What may be spent in all."""

    @property
    def remaining(self) -> Amounts:
        """What is left of the budget."""
        return self.spent.left_of(self.budget)

    def _allows(self, total: Amounts) -> bool:
        return total.is_within(self.budget)
