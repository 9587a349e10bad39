"""The role of an accountant, which reads events and answers with a guarantee, and what all accountants share."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Protocol, Self

from sfumato.accounting.core.normal_form import EventCounts, NeighborGroup, flattened
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, nonnegative, set_fields
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation


@dataclass(frozen=True, slots=True)
class EpsilonInterval:
    """Bounds on the true ε: no ε below `lower` holds, and `upper` holds."""

    lower: Fraction | float
    """0 where the method knows no mechanism with these events that attains more."""
    upper: Fraction | float


class Accountant(Protocol):
    """The total cost of a sequence of releases; a frozen value, to which `compose` adds events.

    **Guarantee**: `epsilon` and `delta` are never below the truth, for the accountant's neighboring relation.
    Composing an event k times is the same as composing it once with `count=k`, and order does not matter.
    """

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """The neighboring relation for which the guarantee holds."""

    def supports(self, event: Event) -> bool:
        """Whether there is a sound cost for the event and everything nested in it."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """A new accountant that has also seen the event, `count` times.

        Raises:
            UnsupportedEventError: There is no sound cost for the event.
        """

    def epsilon(self, delta: Number = 0) -> Fraction | float:
        """The smallest ε it can prove at δ; infinite where it can prove none. The upper end of `interval`."""

    def interval(self, delta: Number = 0) -> EpsilonInterval:
        """The smallest ε it can prove at δ, and below it one that the worst mechanisms with these events exceed."""

    def delta(self, epsilon: Number) -> Fraction | float:
        """The smallest δ it can prove at ε; 1 where it can prove none."""


_NOTHING: Final = EventCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class TalliedAccountant(ABC):
    """An accountant by its tally; a subclass says what it supports, and what a tally costs at a δ or an ε.

    Because the tally is sorted and holds each event once, composing k times equals `count=k`, and order cannot matter.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.
    """

    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    tally: EventCounts = _NOTHING

    def __post_init__(self) -> None:
        given: object = self.neighboring_relation
        if not isinstance(given, NeighboringRelation):
            set_fields(self, neighboring_relation=as_relation(given))

    def supports(self, event: Event) -> bool:
        """Whether there is a sound cost for the event and everything nested in it."""
        return all(self._supports(single) for single, _ in self._flattened(event))

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """A new accountant that has also seen the event, `count` times.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no sound cost here.
            ParameterError: The count is not between 1 and 10^15, or the event is nested too deeply to be read.
        """
        seen = self._flattened(event).times(count)
        for single, _ in seen:
            if not self._supports(single):
                raise UnsupportedEventError(single, type(self).__name__)
        return replace(self, tally=self.tally.plus(seen))

    def epsilon(self, delta: Number = 0) -> Fraction | float:
        """The smallest ε it can prove at δ: the upper end of `interval`.

        Raises:
            ParameterError: δ is negative, or 1 or more.
        """
        return self.interval(delta).upper

    def interval(self, delta: Number = 0) -> EpsilonInterval:
        """The smallest ε it can prove at δ, and one that the worst mechanisms with these events reach.

        Edge cases: nothing composed costs ε = 0. The lower end is 0 where a group is only bounded.

        Raises:
            ParameterError: δ is negative, or 1 or more.
        """
        allowed = nonnegative(delta, "delta")
        if allowed >= 1:
            raise ParameterError("delta", delta, "must be at least 0 and below 1")
        found = self._interval(allowed) if self.tally.counts else EpsilonInterval(Fraction(0), Fraction(0))
        return found if self.tally.is_tight else EpsilonInterval(Fraction(0), found.upper)

    def epsilons(self, deltas: Iterable[Number]) -> tuple[Fraction | float, ...]:
        """`epsilon` at each of several δ: points of the privacy profile, all of which hold at once.

        Raises:
            ParameterError: A δ is negative, or 1 or more.
        """
        return tuple(self.epsilon(delta) for delta in listed(deltas, "deltas"))

    def delta(self, epsilon: Number) -> Fraction | float:
        """The smallest δ it can prove at ε; 1 where it can prove none.

        Raises:
            ParameterError: ε is negative.
        """
        allowed = nonnegative(epsilon, "epsilon")
        return self._delta(allowed) if self.tally.counts else Fraction(0)

    def _flattened(self, event: Event) -> EventCounts:
        return flattened(event, NeighborGroup(self.neighboring_relation))

    @abstractmethod
    def _supports(self, event: Event) -> bool:
        """Whether one event of a tally, and everything nested in it, has a sound cost."""

    @abstractmethod
    def _interval(self, delta: Fraction) -> EpsilonInterval:
        """`interval` of a tally that is not empty."""

    @abstractmethod
    def _delta(self, epsilon: Fraction) -> Fraction | float:
        """`delta` of a tally that is not empty."""
