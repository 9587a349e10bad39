"""The role of an accountant: it reads events and answers with a guarantee."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self

from sfumato.numeric.rationals import Number
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True)
class EpsilonInterval:
    """Between which bounds the true ε lies: no smaller ε holds than `lower`, and `upper` holds."""

    lower: Fraction | float
    """0 where the method knows no mechanism with these events that attains more."""
    upper: Fraction | float


class Accountant(Protocol):
    """What a sequence of releases costs together; a frozen value, grown by `compose`.

    **Guarantee**: `epsilon` and `delta` are never below the truth, for the accountant's neighbouring relation.
    Composing an event k times is the same as composing it once with `count=k`, and order does not matter.
    """

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """Between which databases the guarantee holds."""

    def supports(self, event: Event) -> bool:
        """Whether there is a sound price for the event and everything nested in it."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """A new accountant that has also seen the event, `count` times.

        Raises:
            UnsupportedEventError: There is no sound price for the event.
        """

    def epsilon(self, delta: Number = 0) -> Fraction | float:
        """The smallest ε it can prove at δ; infinite where it can prove none. The upper end of `interval`."""

    def interval(self, delta: Number = 0) -> EpsilonInterval:
        """The smallest ε it can prove at δ, and below it one that the worst mechanisms with these events exceed."""

    def delta(self, epsilon: Number) -> Fraction | float:
        """The smallest δ it can prove at ε; 1 where it can prove none."""
