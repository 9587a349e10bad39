"""Basic composition: ε and δ add up. Simple, exact, and sound for adaptive analysts."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.composition.pricing import Cost, Terms, is_priced, price_all
from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.events import Event, PureEvent

_FIRST_GUESS: Final = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAccountant(TalliedAccountant):
    """Sequential composition of (ε, δ): k releases cost Σ εᵢ and Σ δᵢ.

    Events with a fixed ε and δ are added exactly. What they leave of the δ asked for is split equally among the
    Gaussian curves, each of which gives its exact ε at its share. Samples are amplified [BBG18].

    **Guarantee**: never below the truth, for its neighbouring relation and for adaptively chosen events.

    Edge cases: sums are exact up to 9000 bits, and above rounded up by at most 2^-4096. Nothing composed costs ε = 0;
    a `NonPrivateEvent` costs an infinite ε, unless it is sampled, when it is (0, q). zCDP events are refused, wherever
    they are nested, and so is selection among answers that are not pure. The lower end of `interval` is the exact sum
    for pure events at δ = 0, and 0 otherwise.

    Args:
        neighboring_relation: Between which databases the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> BasicAccountant().compose(PureEvent("0.1"), count=10).epsilon()
        Fraction(1, 1)

    References:
        [DKMMN06] Theorem 1.
    """

    def _supports(self, event: Event) -> bool:
        return is_priced(event, self.neighboring_relation)

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        """Infinite where δ is below what the events themselves need, or 0 with Gaussian noise."""
        upper = self._epsilon(delta, self._total(None))
        pure = [(event.epsilon, count) for event, count in self.tally if isinstance(event, PureEvent)]
        if delta or len(pure) < len(self.tally.counts):
            return EpsilonInterval(Fraction(0), upper)
        return EpsilonInterval(sum((epsilon * count for epsilon, count in pure), Fraction(0)), upper)

    def _delta(self, epsilon: Fraction) -> Fraction:
        """1, which promises nothing, where ε is below what the events themselves need."""
        fixed = self._total(None)
        if not fixed.curves:
            return fixed.guarantee.delta if fixed.guarantee.epsilon <= epsilon else Fraction(1)
        found = smallest_dyadic(lambda delta: delta >= 1 or self._epsilon(delta, fixed) <= epsilon, guess=_FIRST_GUESS)
        return Fraction(1) if found is None else min(found, Fraction(1))

    def _epsilon(self, delta: Fraction, fixed: Cost) -> Fraction | float:
        left = delta - fixed.guarantee.delta
        if left < 0 or (left == 0 and fixed.curves):
            return math.inf
        if not fixed.curves:
            return fixed.guarantee.epsilon
        # A curve without a finite ε promises nothing, and in a sample that is a δ of its own.
        found = self._total(left / fixed.curves).guarantee
        return found.epsilon if found.delta <= delta else math.inf

    def _total(self, delta_per_curve: Fraction | None) -> Cost:
        """Everything composed, at this δ for each Gaussian curve; None leaves out what the curves cost."""
        terms = Terms(neighboring_relation=self.neighboring_relation, delta_per_curve=delta_per_curve)
        return price_all(self.tally, terms)
