"""The discrete staircase distribution by its public parameters: moments, tail, half-width, and the best stair.

All is exact in the ratio b = e^−ε, which is worked out to 60 digits. None of it bears on privacy: every width of the
top stair has the same guarantee.
"""

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number
from sfumato.numeric.search import smallest_integer

_CONTEXT: Final = Context(prec=60)
_SLACK: Final = 1 + Fraction(1, 10**35)  # above the error of 60 digits, of which 1 − b loses 16 at ε = 2^−50


@dataclass(frozen=True, slots=True)
class StaircaseLaw:
    """P(k) ∝ b^stair(k), stair(k) = ⌈(|k| + 1 − width)/sensitivity⌉ or 0, with b = e^−epsilon.

    Args:
        sensitivity: Δ, the integers of a sign on each stair but the top one; 1 or more.
        width: The magnitudes on the top stair, from 1 to Δ.
        epsilon: How much the log-probability falls from a stair to the next, above 0.

    Example:
        >>> law = StaircaseLaw(sensitivity=10, width=3, epsilon=Fraction(2))
        >>> round(law.mean_absolute(), 3), round(law.variance(), 2), law.half_width("0.95")
        (4.228, 43.02, 13)
    """

    sensitivity: int
    width: int
    epsilon: Fraction

    def mean_absolute(self) -> float:
        """E|k|."""
        return float(self.moment_sum(1) / self.mass())

    def variance(self) -> float:
        """E k²."""
        return float(self.moment_sum(2) / self.mass())

    def tail(self, t: int) -> Fraction:
        """P(|k| > t), within a relative 1e-35 from above; 1 for t < 0."""
        if t < 0:
            return Fraction(1)
        ratio = _ratio(self.epsilon)
        beyond = t + 1 - self.width  # magnitudes up to t below the top stair, if not negative
        stairs, places = divmod(max(0, beyond), self.sensitivity)
        next_stair = _ratio(self.epsilon * (stairs + 1))
        lower = next_stair * (self.sensitivity - places + self.sensitivity * ratio / (1 - ratio))
        return min(Fraction(1), 2 * (max(0, -beyond) + lower) / self.mass() * _SLACK)

    def half_width(self, confidence: Number) -> int:
        """The smallest integer t with P(|k| ≤ t) ≥ confidence, or one more; never less.

        Raises:
            ParameterError: The confidence does not lie between 0 and 1, both excluded.
        """
        failure = failure_probability(confidence)
        enough = 1
        while self.tail(enough) > failure:
            enough *= 2
        return smallest_integer(lambda t: self.tail(t) <= failure, fails_at=-1, holds_at=enough)

    def mass(self) -> Fraction:
        """Σ b^stair(k): 2·width − 1 integers on top, 2Δ on each other stair."""
        ratio = _ratio(self.epsilon)
        return 2 * self.width - 1 + 2 * self.sensitivity * ratio / (1 - ratio)

    def moment_sum(self, power: int) -> Fraction:
        """Σ |k|^power · b^stair(k), for power 1 or 2.

        On stair v ≥ 1 |k| is s + u with s = width + (v − 1)Δ and u = 0..Δ − 1; sums over u, then over v.
        """
        ratio, step = _ratio(self.epsilon), self.sensitivity
        zeroth = ratio / (1 - ratio)  # Σ b^v, and with v − 1 and (v − 1)² in front, over v ≥ 1
        first = zeroth * ratio / (1 - ratio)
        second = first * (1 + ratio) / (1 - ratio)
        starts = self.width * zeroth + step * first
        if power == 1:
            return self.width * (self.width - 1) + 2 * step * starts + step * (step - 1) * zeroth
        squares = self.width**2 * zeroth + 2 * self.width * step * first + step**2 * second
        return (
            Fraction((self.width - 1) * self.width * (2 * self.width - 1), 3)
            + 2 * step * squares
            + 2 * step * (step - 1) * starts
            + Fraction(step * (step - 1) * (2 * step - 1), 3) * zeroth
        )


@lru_cache(maxsize=1024)
def best_width(sensitivity: int, epsilon: Fraction, power: int) -> int:
    """The width of the top stair for which E|k| (power 1) or E k² (power 2) is smallest.

    The moment is a convex function of the width over a linear one, so it falls up to the best width and rises after it.

    Example:
        >>> best_width(1000, Fraction(1), 1), best_width(1000, Fraction(10), 1)
        (378, 7)
    """

    def rises_after(width: int) -> bool:
        here, there = (StaircaseLaw(sensitivity, wide, epsilon) for wide in (width, width + 1))
        return there.moment_sum(power) * here.mass() >= here.moment_sum(power) * there.mass()

    return smallest_integer(rises_after, fails_at=0, holds_at=sensitivity)


@lru_cache(maxsize=1024)
def _ratio(epsilon: Fraction) -> Fraction:
    """e^−epsilon to 60 digits."""
    with localcontext(_CONTEXT):
        return Fraction((-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())
