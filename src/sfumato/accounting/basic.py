"""Basic composition: ε and δ add up. Simple, exact, and sound for adaptive analysts."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Self

from sfumato.accounting.conversions import NOTHING_RELEASED
from sfumato.accounting.pricing import Cost, Terms, price, times, total
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.rationals import Number, nonnegative, positive_integer
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import Guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation

_FIRST_GUESS: Final = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAccountant:
    """Sequential composition of (ε, δ): k releases cost Σ εᵢ and Σ δᵢ.

    Events with a fixed ε and δ are added exactly. What they leave of the δ asked for is split equally among the
    Gaussian curves, each of which gives its exact ε at its share.

    **Guarantee**: never below the truth, for its neighbouring relation and for adaptively chosen events.

    Edge cases: nothing composed costs ε = 0; a `NonPrivateEvent` costs an infinite ε. zCDP and sampled events are
    refused, wherever they are nested.

    Args:
        neighboring_relation: Between which databases the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> BasicAccountant().compose(PureEvent("0.1"), count=10).epsilon()
        Fraction(1, 1)

    References:
        [DKMMN06] Theorem 1.
    """

    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    points: Guarantee = NOTHING_RELEASED
    """What the events without Gaussian noise cost."""
    curved: tuple[tuple[Event, int], ...] = ()
    """The events with Gaussian noise in them, and how often each was composed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighboring_relation", as_relation(self.neighboring_relation))

    def supports(self, event: Event) -> bool:
        """Whether the event and everything nested in it has a price by basic composition."""
        try:
            self._price(event)
        except UnsupportedEventError:
            return False
        return True

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """A new accountant that has also seen the event, `count` times.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no price by basic composition.
            ParameterError: The count is not at least 1.
        """
        cost = self._price(event)
        if not cost.curves:
            return replace(self, points=self.points + times(cost, count).guarantee)
        counts = dict(self.curved)
        counts[event] = counts.get(event, 0) + positive_integer(count, "count")
        return replace(self, curved=tuple(counts.items()))

    def epsilon(self, delta: Number = 0) -> Fraction | float:
        """The smallest ε at δ that basic composition proves: exact without Gaussian noise, else rounded up.

        Edge cases: infinite where δ is below what the events themselves need, or 0 with Gaussian noise.

        Raises:
            ParameterError: δ is negative, or 1 or more.
        """
        allowed = nonnegative(delta, "delta")
        if allowed >= 1:
            raise ParameterError("delta", delta, "must be at least 0 and below 1")
        fixed = self._total(None)
        left = allowed - fixed.guarantee.delta
        if left < 0 or (left == 0 and fixed.curves):
            return float("inf")
        return self._total(left / fixed.curves).guarantee.epsilon if fixed.curves else fixed.guarantee.epsilon

    def delta(self, epsilon: Number) -> Fraction:
        """The smallest δ at ε that basic composition proves: exact without Gaussian noise, else rounded up.

        Edge cases: 1, which promises nothing, where ε is below what the events themselves need.

        Raises:
            ParameterError: ε is negative.
        """
        allowed = nonnegative(epsilon, "epsilon")
        fixed = self._total(None)
        if fixed.guarantee.epsilon > allowed:
            return Fraction(1)
        if not fixed.curves:
            return fixed.guarantee.delta
        found = smallest_dyadic(lambda delta: delta >= 1 or self.epsilon(delta) <= allowed, guess=_FIRST_GUESS)
        return Fraction(1) if found is None else min(found, Fraction(1))

    def _price(self, event: Event, delta_per_curve: Fraction | None = None) -> Cost:
        return price(event, Terms(neighboring_relation=self.neighboring_relation, delta_per_curve=delta_per_curve))

    def _total(self, delta_per_curve: Fraction | None) -> Cost:
        """Everything composed, at this δ for each Gaussian curve; None leaves out what the curves cost."""
        curved = (times(self._price(event, delta_per_curve), count) for event, count in self.curved)
        return total((Cost(self.points), *curved))
