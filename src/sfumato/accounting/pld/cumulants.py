"""Exponential tilting: where the composed loss lies when large losses are weighted up, and how far it spreads."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.accounting.pld.law import Law
from sfumato.accounting.profiles.profile import Array

_MOST_AT_HIGHEST: Final = 0.7
_SMALLEST_TILT: Final = 2.0**-40
_TURNS: Final = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0)


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the composed loss with weights e^(tilt·loss): the logarithm of their sum, the mean, and the variance."""

    log_sum: float
    mean: float
    variance: float


class Cumulants:
    """The finite losses of some laws, composed so many times each, as functions of the tilt.

    They only say where to look; no bound rests on them but through `log_sum`, which counts masses that all are
    positive.
    """

    def __init__(self, laws: Sequence[Law], counts: Sequence[int]) -> None:
        masses = [law.masses for law in laws]
        losses = [law.losses for law in laws]
        kept = [np.flatnonzero(mass) for mass in masses]
        self._losses = np.concatenate([loss[index] for loss, index in zip(losses, kept, strict=True)])
        self._logs = np.log(np.concatenate([mass[index] for mass, index in zip(masses, kept, strict=True)]))
        self._starts = np.cumsum([0, *(len(index) for index in kept)])[:-1]
        self._sizes = np.array([len(index) for index in kept])
        self._counts = np.array([float(count) for count in counts])
        self._log_highest = float(self._counts @ self._logs[np.append(self._starts[1:], len(self._logs)) - 1])
        self._step = laws[0].step
        self._lowests = np.array([float(law.lowest) for law in laws])
        self._finest_variance = (self._step / 64) ** 2
        self.lowest = float(self._counts @ np.minimum.reduceat(self._losses, self._starts))
        self.highest = float(self._counts @ np.maximum.reduceat(self._losses, self._starts))

    def single_positions(self, tilt: float) -> list[float]:
        """The tilted mean of each law, as an index of its masses."""
        means = np.add.reduceat(self._tilted(tilt)[1] * self._losses, self._starts)
        return [float(place) for place in (means - self._lowests) / self._step]

    def moments(self, tilt: float) -> Moments:
        """Of the composition."""
        logs, weights = self._tilted(tilt)
        means = np.add.reduceat(weights * self._losses, self._starts)
        centered = self._losses - np.repeat(means, self._sizes)
        variances = np.add.reduceat(weights * centered**2, self._starts)
        return Moments(float(self._counts @ logs), float(self._counts @ means), float(self._counts @ variances))

    def log_sum(self, tilt: float) -> float:
        """The logarithm of the sum of all composed masses, weighted by e^(tilt·loss)."""
        return float(self._counts @ self._tilted(tilt)[0])

    def tilt_for_delta(self, delta: float) -> float:
        """The tilt whose Chernoff bound is about δ where the tilted losses lie: tilt·mean − log_sum = ln 1/δ.

        Where the highest loss of all is likelier than δ, a tilt at which it is about as likely as all others together.
        """

        def is_enough(tilt: float) -> bool:
            moments = self.moments(tilt)
            return tilt * moments.mean - moments.log_sum >= -math.log(delta) or self._is_at_end(tilt, moments)

        return self._smallest_tilt(is_enough)

    def tilt_for_loss(self, epsilon: float) -> float:
        """The tilt of 0 or more that brings the mean to about ε, or as above where ε lies near or beyond all losses."""
        if self.moments(0.0).mean >= epsilon:
            return 0.0

        def is_enough(tilt: float) -> bool:
            moments = self.moments(tilt)
            return moments.mean >= epsilon or self._is_at_end(tilt, moments)

        return self._smallest_tilt(is_enough)

    def _is_at_end(self, tilt: float, moments: Moments) -> bool:
        """Whether the highest loss has about half of the tilted probability."""
        return self._log_highest + tilt * self.highest - moments.log_sum > -_MOST_AT_HIGHEST

    def window(self, tilt: float, stray: float) -> tuple[float, float]:
        """Losses below the first, and above the second, have at most a tilted probability `stray` each (Chernoff)."""
        center = self.moments(tilt)
        wanted = -math.log(stray)
        typical = math.sqrt(2 * wanted / max(center.variance, self._finest_variance))
        bottom, top = self.lowest, self.highest
        for turn in (typical * factor for factor in _TURNS):
            above = (self.log_sum(tilt + turn) - center.log_sum + wanted) / turn
            below = (center.log_sum - self.log_sum(tilt - turn) - wanted) / turn
            bottom, top = max(bottom, below), min(top, above)
        return min(bottom, center.mean), max(top, center.mean)

    def _smallest_tilt(self, is_enough: Callable[[float], bool]) -> float:
        """About the smallest tilt that is enough; none sets neighbouring losses more than e^40 apart."""
        highest, tilt = 40 / self._step, 1.0
        while tilt < highest and not is_enough(tilt):
            tilt *= 2
        while tilt > _SMALLEST_TILT and is_enough(tilt / 2):
            tilt /= 2
        enough = tilt
        tilt *= 0.75
        for share in (enough / 8, enough / 16):
            tilt += -share if is_enough(tilt) else share
        return min(tilt, highest)

    def _tilted(self, tilt: float) -> tuple[Array, Array]:
        """The log-sum of each law, and the weights of its losses, which add up to 1."""
        exponents = self._logs + tilt * self._losses
        largest = np.maximum.reduceat(exponents, self._starts)
        weights = np.exp(exponents - np.repeat(largest, self._sizes))
        sums = np.add.reduceat(weights, self._starts)
        return largest + np.log(sums), weights / np.repeat(sums, self._sizes)
