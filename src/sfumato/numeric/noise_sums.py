"""Weighted sums of independent integer noises: bounds by exact convolution, and public points of their distribution.

For noises Zᵢ and weights w, q(w) is a number that |Σ wᵢ·Zᵢ| passes with at most a stated probability. It is the lesser
of two, both known before anything is measured:

* Σ |wᵢ|·aᵢ, where each |Zᵢ| exceeds aᵢ with an equal part of the probability: a union bound over the lattice;
* the quantile of Σ |wᵢ|·Xᵢ for continuous distributions in closed form, and half a step of each noise: Σ |wᵢ|/2. Each
  Xᵢ is so much wider than Zᵢ that it covers Zᵢ and a uniform number within half a step; that this is enough is proved
  in proofs/numeric/moments.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfcx, ndtri

from sfumato.numeric.distributions import discrete_gaussian_half_width, discrete_laplace_half_width

Floats: TypeAlias = NDArray[np.float64]
Truths: TypeAlias = NDArray[np.bool_]

POINTS: Final = 1 << 13
"""How many public points stand for a joint distribution; quantiles of 95% are then off by about a hundredth."""
HALVINGS: Final = 40
"""From a reach that is too long to one that is longer than needed by 10^-12 of it at most."""

_APART: Final = 1.005  # scales nearer to each other are moved apart, upward, so that 1/(1 − (b/c)²) stays small
_MOST_EXACT: Final = 6  # so many Laplace laws are convolved exactly; of more, Chernoff's bound is taken
_LEAST_FAILURE: Final = Fraction(1, 10**6)  # below, doubles may not tell such sums of fractions from 0
_NARROWEST_GAUSSIAN: Final = Fraction(1, 2)
_SQRT_2: Final = math.sqrt(2)


@dataclass(frozen=True, slots=True)
class IntegerNoise:
    """Discrete Laplace noise of a scale, or discrete Gaussian noise of a stddev, in whole steps; of 0 it is none."""

    law: Literal["laplace", "gaussian"]
    scale: Fraction

    def half_width(self, failure: Fraction) -> int:
        """The least t with P(|noise| > t) ≤ failure, or for a Gaussian one more."""
        if self.scale == 0:
            return 0
        half_width = discrete_laplace_half_width if self.law == "laplace" else discrete_gaussian_half_width
        return half_width(self.scale, 1 - failure)

    @property
    def covering_scale(self) -> float:
        """The scale of the continuous distribution that covers the noise and a uniform number within half a step.

        Of Laplace noise of scale b it is 1/(2·tanh(1/(2b))), of Gaussian noise √(stddev² + 1/4).

        Example:
            >>> round(IntegerNoise("laplace", Fraction(6)).covering_scale, 4)
            6.0139
        """
        scale = float(self.scale)
        if scale == 0:
            return 0.0
        return 0.5 / math.tanh(0.5 / scale) if self.law == "laplace" else math.sqrt(scale * scale + 0.25)


@dataclass(frozen=True, slots=True)
class NoiseSums:
    """Sums Σ wᵢ·Zᵢ of independent noises, which pass q(w) with at most the probability `failure`.

    q is a norm but for rounding: it grows with each |wᵢ|, and along a line of weights it is convex.

    Args:
        noises: The distribution of each Zᵢ.
        failure: Between 0 and 1.

    Example:
        >>> counts = NoiseSums((IntegerNoise("laplace", Fraction(100)),) * 2, Fraction(1, 20))
        >>> counts.half_widths(np.array([[1.0, 0.0], [1.0, 1.0]])).round().tolist()  # not 2 · 300
        [300.0, 413.0]

    References:
        Proof: proofs/numeric/moments.md. [Bir48] for the distributions that cover others.
    """

    noises: tuple[IntegerNoise, ...]
    failure: Fraction

    def holds(self, weights: Floats, deviations: Floats) -> Truths:
        """Whether deviations are at most q(w), row by row.

        Args:
            weights: One row a deviation, one column a noise.
            deviations: Of any sign below, or at least 0.
        """
        sizes = np.abs(weights)
        found: Truths = deviations <= self._united(sizes)
        return found & self._law(sizes)(deviations) if self._has_law else found

    def half_widths(self, weights: Floats) -> Floats:
        """q(w), row by row.

        Args:
            weights: One column a noise.
        """
        sizes = np.abs(weights)
        far = self._united(sizes)
        if not self._has_law:
            return far
        near, holds = np.zeros_like(far), self._law(sizes)
        for _ in range(HALVINGS):
            middle = (near + far) / 2  # never beyond the union bound
            within = holds(middle)
            near, far = np.where(within, middle, near), np.where(within, far, middle)
        return far

    @property
    def _has_law(self) -> bool:
        narrow = any(one.law == "gaussian" and 0 < one.scale < _NARROWEST_GAUSSIAN for one in self.noises)
        return self.failure >= _LEAST_FAILURE and len(self.noises) > 1 and not narrow

    def _united(self, sizes: Floats) -> Floats:
        part = self.failure / len(self.noises)
        widths = {one: float(one.half_width(part)) for one in dict.fromkeys(self.noises)}
        united: Floats = sizes @ np.array([widths[one] for one in self.noises])
        return united

    def _law(self, sizes: Floats) -> Callable[[Floats], Truths]:
        """Whether deviations are at most the quantile of the continuous distribution, row by row."""
        covering = {one: one.covering_scale for one in dict.fromkeys(self.noises)}
        scales = np.array([covering[one] for one in self.noises])
        is_laplace = np.array([one.law == "laplace" for one in self.noises])
        steps = sizes[:, scales > 0].sum(axis=1) / 2
        widths = sizes * scales
        stddevs = np.sqrt((widths[:, ~is_laplace] ** 2).sum(axis=1))
        laplace = widths[:, is_laplace & (scales > 0)]

        def holds(deviations: Floats) -> Truths:
            beyond = np.maximum(deviations - steps, 0)
            return np.asarray(_tail(beyond, laplace, stddevs) >= float(self.failure))

        return holds


def _tail(deviations: Floats, scales: Floats, stddevs: Floats) -> Floats:
    """P(|Σ Xᵢ + Y| > t) for continuous Laplace Xᵢ and normal Y, exactly; a bound if there are many Xᵢ.

    Of different scales it is Σ Aᵢ·P(|Xᵢ + Y| > t) with Aᵢ = Π 1/(1 − (bⱼ/bᵢ)²) over j ≠ i, by partial fractions of the
    characteristic function Π 1/(1 + bᵢ²u²).
    """
    if scales.shape[1] > _MOST_EXACT:
        return _chernoff(deviations, scales, stddevs)
    tail = _normal_tail(deviations, stddevs)
    if scales.shape[1] == 0:
        return tail
    apart = _moved_apart(scales, stddevs)
    for own in range(apart.shape[1]):
        others = np.delete(apart, own, axis=1) / apart[:, own : own + 1]
        factor = np.prod(1 / (1 - others**2), axis=1)
        tail = tail + factor * _laplace_excess(deviations, apart[:, own], stddevs)
    return tail


def _moved_apart(scales: Floats, stddevs: Floats) -> Floats:
    """Scales in order, none 0 and none near another; none becomes smaller."""
    apart = np.sort(scales, axis=1)
    floor = np.maximum(np.maximum(apart[:, -1], stddevs) * 1e-6, np.finfo(np.float64).tiny * 1e20)
    apart = np.maximum(apart, floor[:, None])
    for place in range(1, apart.shape[1]):
        apart[:, place] = np.maximum(apart[:, place], apart[:, place - 1] * _APART)
    return apart


def _normal_tail(deviations: Floats, stddevs: Floats) -> Floats:
    """P(|Y| > t); of a stddev of 0 that is 0, also for t = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(stddevs > 0, erfc(deviations / (stddevs * _SQRT_2)), 0.0)


def _laplace_excess(deviations: Floats, scales: Floats, stddevs: Floats) -> Floats:
    """P(|X + Y| > t) − P(|Y| > t) of a Laplace distribution and a normal one.

    Half of e^(σ²/2b² − t/b)·erfc((σ/b − t/σ)/√2) less half of e^(σ²/2b² + t/b)·erfc((σ/b + t/σ)/√2).
    """
    plain = np.exp(-deviations / scales)
    if not np.any(stddevs):
        return plain
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio, place = stddevs / scales, deviations / stddevs
        gauss = np.exp(-(place**2) / 2)
        before = np.exp(ratio**2 / 2 - deviations / scales) * erfc((ratio - place) / _SQRT_2)
        first = np.where(place > ratio, before, gauss * erfcx(np.maximum(ratio - place, 0) / _SQRT_2))
        both = (first - gauss * erfcx((ratio + place) / _SQRT_2)) / 2
    return np.where(stddevs > 0, both, plain)


def _chernoff(deviations: Floats, scales: Floats, stddevs: Floats) -> Floats:
    """2·e^(−λt)·e^(λ²σ²/2)·Π 1/(1 − λ²bᵢ²), for the best of some λ."""
    largest = np.maximum(scales.max(axis=1), np.finfo(np.float64).tiny * 1e20)
    best = np.ones_like(deviations)
    for part in np.linspace(0.02, 0.98, 49):
        rate = part / largest
        spread = np.log1p(-((rate[:, None] * scales) ** 2)).sum(axis=1)
        bound = math.log(2) - rate * deviations + (rate * stddevs) ** 2 / 2 - spread
        best = np.minimum(best, np.exp(np.minimum(bound, 0)))
    return best


def held_ends(
    centers: Floats, lowest: Floats, highest: Floats, is_held: Callable[[Floats], Truths]
) -> tuple[Floats, Floats]:
    """The ends of all numbers within bounds that are held, if they are held in one piece around each center.

    Where a bound itself is held, everything up to it is shown.

    Args:
        centers: A number that is held, for each row; outside of the bounds, the bound near to it is taken.
        lowest: The least that each number can be.
        highest: The most that each number can be.
        is_held: Whether numbers, one for each row, are held.
    """
    inside = np.clip(centers, lowest, highest)
    ends = []
    for bound in (lowest, highest):
        near, far, is_all_held = inside, bound, is_held(bound)
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            within = is_held(middle)
            near, far = np.where(within, middle, near), np.where(within, far, middle)
        ends.append(np.where(is_all_held, bound, far))
    return ends[0], ends[1]


def public_points(noises: tuple[IntegerNoise, ...]) -> Floats:
    """Points that are spread like several independent noises, one row each: the same ones always, known to anybody.

    They only predict errors. They are no noise, hide nothing, and have nothing to do with the noise of an answer: a
    Kronecker sequence, each number moved by the inverse of the distribution function.

    Example:
        >>> points = public_points((IntegerNoise("laplace", Fraction(10)), IntegerNoise("gaussian", Fraction(10))))
        >>> points.shape, points.std(axis=0).round(1).tolist()
        ((8192, 2), [14.1, 10.0])

    References:
        [Nie92] Section 3.1 for such sequences.
    """
    parts = _even_points(len(noises))
    return np.stack([_quantiles(one, parts[:, place]) for place, one in enumerate(noises)], axis=1)


@lru_cache(maxsize=16)
def _even_points(dimensions: int) -> Floats:
    """Multiples of powers of the root of x^(d+1) = x + 1, without their whole parts."""
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    points: Floats = (0.5 + np.arange(1.0, POINTS + 1)[:, None] * steps) % 1
    return np.clip(points, 1e-12, 1 - 1e-12)


def _quantiles(noise: IntegerNoise, parts: Floats) -> Floats:
    """The whole numbers below which noise lies with these probabilities."""
    scale = float(noise.scale)
    if scale == 0:
        return np.zeros_like(parts)
    if noise.law == "gaussian":
        return np.asarray(np.rint(scale * ndtri(parts)))
    sides = np.sign(2 * parts - 1)
    beyond = 1 - np.abs(2 * parts - 1)
    steps = np.ceil(scale * np.log(2 / ((1 + math.exp(-1 / scale)) * beyond))) - 1
    points: Floats = sides * np.maximum(steps, 0)
    return points
