"""Tails of the discrete Gaussian, in arrays, rounded outward."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from scipy.special import erfcx

from sfumato.accounting.profiles.outward import MARGIN, TINY, ULP
from sfumato.accounting.profiles.profile import Array

_DIRECT_LIMIT: Final = 1024  # beyond this σ the expansion is right to 1e-13 in the bulk
_FAR: Final = 37  # standard deviations; e^(−37²/2) is 5e-298


class LatticeTails(Protocol):
    """Bounds of Pr[X ≥ m] for arrays of integers m."""

    @property
    def peak_up(self) -> float:
        """At or above Pr[X = 0]."""

    def up(self, first: Array) -> Array:
        """At or above Pr[X ≥ m]."""

    def down(self, first: Array) -> Array:
        """At or below Pr[X ≥ m]."""

    def log_down(self, first: Array) -> tuple[Array, Array | float]:
        """About ln Pr[X ≥ m], and an error by which it may be too large; far out a lower bound."""


@lru_cache(maxsize=128)
def lattice_tails(stddev: Fraction) -> LatticeTails:
    """The tails of the law ∝ e^(−k²/2σ²)."""
    return _table(stddev) if stddev <= _DIRECT_LIMIT else _expansion(stddev)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Sums from the far end, for m from −reach to reach."""

    stddev: float
    reach: int
    tails: Array
    log_tails: Array
    error: float
    """Relative, of a sum, apart from what the exponents add."""
    total: float

    @property
    def peak_up(self) -> float:
        return (1 + self.error) / self.total

    def up(self, first: Array) -> Array:
        index = np.clip(first, -self.reach, self.reach)
        return np.minimum(self.tails[self._places(index)] * (1 + self._error(index)) + TINY, 1.0)

    def down(self, first: Array) -> Array:
        index = np.clip(first, -self.reach, self.reach)
        return np.where(first > self.reach, 0.0, self.tails[self._places(index)] * (1 - self._error(index)))

    def log_down(self, first: Array) -> tuple[Array, Array | float]:
        index = np.clip(first, -self.reach, self.reach)
        first_term = -((first / self.stddev) ** 2) / 2 - math.log(self.total)
        logs = np.where(first > self.reach, first_term, self.log_tails[self._places(index)])
        return logs, self._error(first)

    def _places(self, index: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        return (index + self.reach).astype(np.intp)

    def _error(self, first: Array) -> Array:
        return self.error + 4 * ULP * (np.maximum(first, 0.0) / self.stddev) ** 2


def _table(stddev: Fraction) -> _Table:
    """Summed in rows of about √n, so that no sum has more than 2√n roundings of half an ULP."""
    reach = math.ceil(_FAR * stddev) + 1
    width = math.isqrt(2 * reach) + 1
    descending = np.arange(reach, reach - width * width, -1, dtype=np.float64)
    with np.errstate(under="ignore"):
        masses = np.exp(-((descending / float(stddev)) ** 2) / 2).reshape(width, width)
    rows = np.cumsum(masses, axis=1)
    before = np.concatenate([[0.0], np.cumsum(rows[:, -1])[:-1]])
    sums = (rows + before[:, None]).ravel()[: 2 * reach + 1]
    total = float(sums[-1])
    tails = sums[::-1] / total
    first_terms = -((descending[: 2 * reach + 1][::-1] / float(stddev)) ** 2) / 2 - math.log(total)
    logs = np.where(tails > TINY, np.log(np.maximum(tails, TINY)), first_terms)
    return _Table(float(stddev), reach, tails, logs, width * ULP + MARGIN, total)


@dataclass(frozen=True, slots=True)
class _Expansion:
    """Euler-Maclaurin of order 4, as in `numeric.gaussian_sums`, for m on the right of 0; mirrored on the left."""

    stddev: float
    total: float

    @property
    def peak_up(self) -> float:
        return (1 + MARGIN) / self.total

    def up(self, first: Array) -> Array:
        ratio, error = self._ratio(np.abs(first - 0.5) + 0.5)
        return self._tail(first, ratio * (1 + np.where(first > 0, error, -error)), sign=1)

    def down(self, first: Array) -> Array:
        ratio, error = self._ratio(np.abs(first - 0.5) + 0.5)
        return np.maximum(self._tail(first, ratio * (1 - np.where(first > 0, error, -error)), sign=-1), 0.0)

    def log_down(self, first: Array) -> tuple[Array, Array | float]:
        ratio, error = self._ratio(np.abs(first - 0.5) + 0.5)
        z = first / self.stddev
        outer = -(z**2) / 2 + np.log(ratio / self.total)
        inner = np.log(np.maximum(self._tail(np.minimum(first, 0.0), ratio, sign=0), 0.5))
        return np.where(first > 0, outer, inner), 2 * error + 4 * ULP * z**2

    def _tail(self, first: Array, ratio: Array, *, sign: int) -> Array:
        """Pr[X ≥ m] = e^(−m²/2σ²) R(m)/Z, and 1 − Pr[X ≥ 1 − m] for m ≤ 0; moved outward by the sign."""
        place = np.minimum(np.abs(first - 0.5) + 0.5, 2.0 * _FAR * self.stddev)
        exponent = -((place / self.stddev) ** 2) / 2
        right = np.exp(exponent) * ratio / self.total
        error = MARGIN + 4 * ULP * np.abs(exponent)
        outer = right * (1 + sign * error) + (sign > 0) * TINY
        return np.where(first > 0, outer, 1 - right * (1 - sign * error) + sign * MARGIN)

    def _ratio(self, place: Array) -> tuple[Array, Array]:
        """The sum from `place` on divided by its first term, and a relative error."""
        z, step = np.minimum(place / self.stddev, 1e9), 1 / self.stddev
        integral = math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2))
        ratio = integral / step + 0.5 + z * step / 12 - ((z * step) ** 3 - 3 * z * step**3) / 720
        remainder = ((z * step) ** 3 + (9 * z + 12 * integral) * step**3) / 720
        near = z * step < 1
        return np.where(near, ratio, 1.0), np.where(near, remainder / ratio + MARGIN, 0.0)


def _expansion(stddev: Fraction) -> _Expansion:
    """By Poisson summation Z = σ√(2π)(1 + 2e^(−2π²σ²) + …), where the dots and what is before them are below 1e-300."""
    return _Expansion(float(stddev), float(stddev) * math.sqrt(2 * math.pi))
