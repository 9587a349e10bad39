"""`PrivatePlan`: a question with a price, its sections, and the bounds that are chosen first."""

from dataclasses import dataclass

from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.planning.questions import Aggregate
from sfumato.query.statistics.measurements import Law, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlan:
    """A question with a price: nothing about it depends on the data.

    Attributes:
        question: What it answers.
        sections: One, or one a grouping set. Where bounds are chosen first, what is released if the widest are chosen.
        charge: What the account pays.
        bounds: What is released first, to choose bounds; None where all of them are stated.
    """

    question: Aggregate
    sections: tuple[Section, ...]
    charge: PureDP | ApproxDP
    bounds: "BoundsFirst | None" = None

    @property
    def event(self) -> ComposedEvent:
        """All that is released, for the accountants; after bounds were chosen, no more than what was kept for it."""
        if self.bounds is not None:
            return ComposedEvent((*self.bounds.section.events, _within(self.bounds.rest)))
        return ComposedEvent(tuple(event for section in self.sections for event in section.events))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsFirst:
    """The choice of bounds that comes before a question.

    Attributes:
        section: What is released to choose them.
        rest: What the question itself may then cost.
        law: The law of additive noise that was asked for.
    """

    section: Section
    rest: PureDP | ApproxDP
    law: Law | None


def _within(rest: PureDP | ApproxDP) -> Event:
    return PureEvent(rest.epsilon) if rest.delta == 0 else ApproxEvent(rest.epsilon, rest.delta)
