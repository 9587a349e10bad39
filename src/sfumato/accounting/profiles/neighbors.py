"""Who the two databases of an event are, where events stand inside each other."""

from dataclasses import dataclass, replace

from sfumato.accounting.core.tally import flattened, grouped
from sfumato.privacy.events import Event
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
