"""Advanced composition, as the textbooks state it: a comparator for teaching, not what the package spends by."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.composition.basic import own_guarantee
from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative, open_probability, positive_integer, probability, sqrt_up
from sfumato.numeric.rounding import exp_up, log_up
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, NoGuarantee

_LARGEST_EPSILON: Final = 700  # beyond it e^ε leaves the range of floats, and the bound its sense long before


def advanced_composition(*, epsilon: Number, delta: Number, count: int, delta_slack: Number) -> ApproxDP:
    """The guarantee of k releases of (ε, δ) each, by the advanced composition theorem, rounded up.

    ε' = √(2k ln(1/δ')) ε + kε(e^ε - 1), in total δ = kδ + δ'. For teaching: it grows like √k, which basic
    composition does not, but it is often above kε for few or large ε, and optimal composition beats it everywhere.

    **Guarantee**: holds for adaptively chosen releases and databases, k and ε fixed beforehand.

    Args:
        epsilon: Of each release, at most 700.
        delta: Of each release.
        count: k, the number of releases.
        delta_slack: δ', the additional probability of failure, above 0.

    Raises:
        ParameterError: A parameter is out of range, or the total δ reaches 1.

    Example:
        >>> bound = advanced_composition(epsilon="0.1", delta=0, count=100, delta_slack="1e-6")
        >>> round(float(bound.epsilon), 3), float(bound.delta)
        (6.308, 1e-06)

    References:
        [DRV10] Theorem III.3; [DR14] Theorem 3.20.
    """
    each, times = nonnegative(epsilon, "epsilon"), positive_integer(count, "count")
    slack = open_probability(delta_slack, "delta_slack")
    if each > _LARGEST_EPSILON:
        raise ParameterError("epsilon", epsilon, f"must be at most {_LARGEST_EPSILON} for advanced composition")
    sums = _Sums.of([(each, probability(delta, "delta"), times)])
    return ApproxDP(sums.epsilon(slack), sums.delta + slack)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvancedAccountant(TalliedAccountant):
    """The advanced composition theorem of the textbooks, for events with an ε and δ of their own.

    ε = √(2 ln(1/δ') Σ εᵢ²) + Σ εᵢ(e^εᵢ − 1), with the δ' that Σ δᵢ leaves of δ.

    **Guarantee**: never below the truth, for its neighboring relation, for events whose εᵢ and δᵢ are fixed
    beforehand. It is a comparator: never better than `OptimalAccountant`, and for few or large ε worse than adding up.

    Edge cases: infinite where the δᵢ leave nothing of δ, also at δ = 0, and where an ε is above 700. Events with
    Gaussian noise have no ε of their own and are refused.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> round(float(AdvancedAccountant().compose(PureEvent("0.1"), count=100).epsilon("1e-6")), 4)
        6.3082

    References:
        [DRV10] Theorem III.3; [DR14] Theorem 3.20.
    """

    def _supports(self, event: Event) -> bool:
        return own_guarantee(event, self.neighboring_relation) is not None

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        sums = self._sums()
        if sums is None or sums.delta >= delta:
            return EpsilonInterval(Fraction(0), math.inf)
        return EpsilonInterval(Fraction(0), sums.epsilon(delta - sums.delta))

    def _delta(self, epsilon: Fraction) -> Fraction:
        sums = self._sums()
        return Fraction(1) if sums is None else min(sums.delta + sums.slack(epsilon), Fraction(1))

    def _sums(self) -> "_Sums | None":
        """None where an event promises nothing, or too little for a float."""
        points = [(own_guarantee(event, self.neighboring_relation), count) for event, count in self.tally]
        known = [(p.epsilon, p.delta, count) for p, count in points if p is not None and not isinstance(p, NoGuarantee)]
        is_small = all(epsilon <= _LARGEST_EPSILON for epsilon, _, _ in known)
        return _Sums.of(known) if is_small and len(known) == len(points) else None


@dataclass(frozen=True, slots=True)
class _Sums:
    """Σ εᵢ², Σ εᵢ(e^εᵢ − 1) rounded up, and Σ δᵢ."""

    squares: Fraction
    drift: Fraction
    delta: Fraction

    @classmethod
    def of(cls, points: Iterable[tuple[Fraction, Fraction, int]]) -> "_Sums":
        zero = Fraction(0)
        squares, drift, total = zero, zero, zero
        for epsilon, delta, count in points:
            squares += count * epsilon**2
            drift += count * epsilon * (Fraction(exp_up(epsilon)) - 1)
            total += count * delta
        return cls(squares, drift, total)

    def epsilon(self, slack: Fraction) -> Fraction:
        """√(2 ln(1/δ') Σ εᵢ²) + Σ εᵢ(e^εᵢ − 1), rounded up."""
        return sqrt_up(2 * self.squares * log_up(1 / slack)) + self.drift

    def slack(self, epsilon: Fraction) -> Fraction:
        """The smallest δ' for an ε, rounded up; 1 where there is none, and 0 where every event has ε = 0."""
        if not self.squares:
            return Fraction(0)
        if epsilon <= self.drift:
            return Fraction(1)
        return Fraction(exp_up(-((epsilon - self.drift) ** 2) / (2 * self.squares)))
