"""What filters and odometers share: the sum of the prices of everything seen so far."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sfumato.accounting.adaptive.amounts import NOTHING, Amounts
from sfumato.accounting.core.tally import flattened
from sfumato.errors import UnsupportedEventError
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter(ABC):
    """A sum of prices; a subclass says what one event costs. Sums are exact, so that order cannot matter.

    Args:
        neighboring_relation: Between which databases the events' sensitivities and the guarantee hold.
        spent: The prices so far, added up.
    """

    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    spent: Amounts = NOTHING

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighboring_relation", as_relation(self.neighboring_relation))

    def supports(self, event: Event) -> bool:
        """Whether there is a price for the event and everything nested in it."""
        try:
            self.cost(event, 1)
        except UnsupportedEventError:
            return False
        return True

    def cost(self, event: Event, count: int = 1) -> Amounts:
        """The price of the event, `count` times, whatever is left.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no price here.
            ParameterError: The count is not at least 1.
        """
        times, total = positive_integer(count, "count"), NOTHING
        for single, many in flattened(event, self.neighboring_relation).counts:
            price = self._price(single)
            if price is None:
                raise UnsupportedEventError(single, type(self).__name__)
            total = total.plus(price.times(many * times))
        return total

    @abstractmethod
    def _price(self, event: Event) -> Amounts | None:
        """What one uncomposed event costs; None where that is not known."""
