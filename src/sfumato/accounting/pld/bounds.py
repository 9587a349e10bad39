"""δ at ε, and ε at δ, of a composed law, with every error of the composition counted to the safe side."""

import math
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from sfumato.accounting.pld.convolve import Composition
from sfumato.accounting.pld.law import UNIT
from sfumato.accounting.profiles.profile import Array

_REFINEMENTS: Final = 18
_INTERPOLATED: Final = 2  # of three turns; the third halves
_PRECISE: Final = Fraction(1, 10**9)
_LARGEST_EXPONENT: Final = 700.0
_SLACK: Final = 1e-9


class CertifiedCurve:
    """The profile of a composition, at or above the true one for an upper bound, else at or below it.

    δ(ε) = infinite_mass + e^(log_scale − tilt·(ε − center)) Σ masses·e^(−tilt·x)(1 − e^−x), over x = loss − ε > 0.
    """

    def __init__(self, law: Composition, *, is_upper: bool) -> None:
        self.law = law
        self._is_upper = is_upper

    def delta(self, epsilon: Fraction) -> float:
        """The bound of δ at ε."""
        if self._is_upper:
            if epsilon >= self._lowest or self.law.is_complete_below:
                return self._at(epsilon)
            # Only untilted is it known how little lies below the window.
            return 1.0 if self.law.tilt else min(1.0, self._at(epsilon) + self.law.stray * (1 + 4 * UNIT))
        # Far below the mean of the tilted law rounding errors hide the curve, which is higher there than at the mean.
        known = max((value for at, value in self._known if at >= epsilon), default=0.0)
        return max(self._at(max(epsilon, self._lowest)), known)

    def epsilon(self, delta: Fraction) -> float:
        """The bound of the smallest ε at which δ is enough; an upper bound may be infinite."""
        if self.delta(Fraction(0)) <= delta:
            return 0.0
        fails = max(-1, math.floor(-self._lowest / Fraction(self.law.step)))
        index = self._first_enough(delta, fails, len(self.law.masses))
        if index == len(self.law.masses):
            return math.inf if self._is_upper else self._rounded(self._loss(index - 1))
        return self._rounded(self._refined(delta, max(Fraction(0), self._loss(index - 1)), self._loss(index)))

    def _at(self, epsilon: Fraction) -> float:
        """The bound at an ε of the window, or above it, or below a window that nothing lies below."""
        law = self.law
        first_above = max(0, math.floor((epsilon - self._lowest) / Fraction(law.step)) + 1)
        distance = float(self._lowest - epsilon + first_above * Fraction(law.step))
        place = law.tilt * law.step * (law.first + first_above)
        exponent, size = law.log_scale - place, len(law.masses) - first_above
        slack = law.relative_error + UNIT * 8 * (abs(law.log_scale) + abs(place) + len(law.masses) + 16)
        value, doubt = (self._sum(first_above, distance), self._doubt(distance)) if size > 0 else (0.0, 0.0)
        if self._is_upper:
            beyond = law.stray * math.exp(-law.tilt * law.step * max(size, 0))
            return self._up(value + doubt + beyond, exponent, slack)
        return self._down(value - doubt, exponent, slack)

    @cached_property
    def _known(self) -> tuple[tuple[Fraction, float], ...]:
        """The bound at some losses where most of the tilted law lies, or a little below."""
        places, masses = np.arange(len(self.law.masses)), self.law.masses / max(float(self.law.masses.sum()), _SLACK)
        mean = float((masses * places).sum())
        spread = max(1.0, math.sqrt(float((masses * (places - mean) ** 2).sum())))
        chosen = (self._loss(round(mean - share * spread)) for share in (0.25, 0.5, 1, 1.5, 2, 3, 4))
        return tuple((place, self._at(place)) for place in chosen if place >= self._lowest)

    @property
    def _lowest(self) -> Fraction:
        return self._loss(0)

    def _loss(self, index: int) -> Fraction:
        return self.law.center + (self.law.first + index) * Fraction(self.law.step)

    def _first_enough(self, delta: Fraction, fails: int, holds: int) -> int:
        """The first place in the window where δ is enough; the number of places if it is nowhere."""
        while holds - fails > 1:
            middle = (fails + holds) // 2
            if self.delta(self._loss(middle)) <= delta:
                holds = middle
            else:
                fails = middle
        return holds

    def _refined(self, delta: Fraction, low: Fraction, high: Fraction) -> Fraction:
        """Between two losses, where δ is not enough at `low` and enough at `high`, and nearly linear."""
        at_low, at_high = self.delta(low), self.delta(high)
        if at_low <= delta:
            return low
        for turn in range(_REFINEMENTS):
            if high - low <= _PRECISE * high:
                break
            share = (at_low - float(delta)) / (at_low - at_high) if turn % 3 < _INTERPOLATED else 0.5
            share += 1e-7 if self._is_upper else -1e-7
            middle = low + Fraction(min(max(share, 0.001), 0.999)) * (high - low)
            at_middle = self.delta(middle)
            if at_middle <= delta:
                high, at_high = middle, at_middle
            else:
                low, at_low = middle, at_middle
        return high if self._is_upper else low

    def _rounded(self, epsilon: Fraction) -> float:
        nearest = float(epsilon)
        return math.nextafter(nearest, math.inf) if self._is_upper else max(0.0, math.nextafter(nearest, 0.0))

    def _sum(self, first: int, distance: float) -> float:
        """Σ masses·e^(−tilt·(x − distance))(1 − e^−x) from a place on, which is `distance` above ε."""
        masses = self.law.masses[first:]
        decaying = float((masses * self._decay[: len(masses)]).sum())
        rising = float((masses * self._kernel[: len(masses)]).sum())
        return -math.expm1(-distance) * decaying + math.exp(-distance) * rising

    def _doubt(self, distance: float) -> float:
        """How far the errors of the masses can move that sum."""
        law = self.law
        shift = math.exp(min(law.tilt * distance, _LARGEST_EXPONENT))
        norm = min(shift * self._kernel_norm, self._decay_norm)
        return law.error * norm + (0 if self._is_upper else 2 * law.stray * min(shift * self._highest_kernel, 1.0))

    def _up(self, value: float, exponent: float, slack: float) -> float:
        if exponent > _LARGEST_EXPONENT:
            return 1.0
        return min(1.0, (math.exp(exponent) * value * (1 + slack) + self.law.infinite_mass) * (1 + 4 * UNIT))

    def _down(self, value: float, exponent: float, slack: float) -> float:
        finite = math.exp(min(exponent, _LARGEST_EXPONENT)) * max(value, 0.0) * max(1 - slack, 0.0)
        return min(1.0, (finite + self.law.infinite_mass) * (1 - 4 * UNIT))

    @cached_property
    def _decay(self) -> Array:
        """e^(−tilt·x) at x = j·step."""
        return np.asarray(np.exp(-self.law.tilt * self.law.step * np.arange(len(self.law.masses))))

    @cached_property
    def _kernel(self) -> Array:
        """e^(−tilt·x)·(1 − e^−x) at x = j·step."""
        return np.asarray(-np.expm1(-self.law.step * np.arange(len(self.law.masses))) * self._decay)

    @cached_property
    def _highest_kernel(self) -> float:
        """The maximum over x of e^(−tilt·x)·(1 − e^−x)."""
        tilt = self.law.tilt
        return math.exp(tilt * math.log(tilt / (1 + tilt))) / (1 + tilt) if tilt else 1.0

    @cached_property
    def _kernel_norm(self) -> float:
        """The L2 norm of that hump of height m on any grid of this step: Σ ≤ m² + ∫/step."""
        tilt, highest = self.law.tilt, self._highest_kernel**2
        integral = 1 / (2 * tilt * (tilt + 1) * (2 * tilt + 1)) if tilt else math.inf
        return math.sqrt(min(len(self.law.masses) * highest, highest + integral / self.law.step)) * (1 + _SLACK)

    @cached_property
    def _decay_norm(self) -> float:
        """The L2 norm of e^(−tilt·j·step)."""
        rate = 2 * self.law.tilt * self.law.step
        count = len(self.law.masses)
        return math.sqrt(min(count, -1 / math.expm1(-rate)) if rate else count) * (1 + _SLACK)
