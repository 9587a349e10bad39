"""Gaussian noise on samples, and on numbers that a unit changes by a random amount: integrated at every real order.

The distributions are mixtures of equally wide Gaussians. The integrand P^α Q^(1−α) is analytic in a strip around the
real line, where the trapezoidal rule converges like e^(−2πa/h) for steps of h and a strip of half-width a [TW14]: a few
nodes for each standard deviation give all digits, at every real order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

import numpy as np

from sfumato.accounting.renyi.bound import NOTHING, RenyiBound
from sfumato.accounting.renyi.curves import Array, from_log_excess, log_excess, log_sum
from sfumato.accounting.renyi.sampling import SMALLEST_CHANCE, by_convexity, by_minkowski
from sfumato.numeric.rounding import dyadic_up, float_up, inflated, log_near

_ULP: Final = 2.0**-52
_ACCURACY: Final = 80.0  # of a strip, in nats
_LOG_ERROR: Final = -78.0  # of all that the rule and the cut tails leave out, relative to 1 + moment + 2α
_REACH: Final = 13.0  # standard deviations beyond the outermost mode; e^(−13²/2) < e^−84
_WIDEST_STRIP: Final = 8.0
_NEAR: Final = 0.5
_FARTHEST: Final = 1e6
_MOST_NODES: Final = 2**17
_TABLE: Final = 2**18  # nodes times orders that are held at once


@dataclass(frozen=True, slots=True)
class Mixture:
    """Of Gaussians of standard deviation 1 around `shifts`, with these probabilities."""

    shifts: tuple[float, ...]
    probabilities: tuple[float, ...]

    @property
    def span(self) -> float:
        """From the lowest to the highest shift."""
        return max(self.shifts) - min(self.shifts)

    @property
    def reach(self) -> float:
        """The largest shift in either direction."""
        return max(map(abs, self.shifts))


POINT: Final = Mixture((0.0,), (1.0,))


def mixture_divergence(p: Mixture, q: Mixture, orders: Array) -> Array:
    """D_α(P‖Q) at each order, rounded up; infinite where it would take too many nodes.

    The orders must grow, so that neighbors can share their nodes.
    """
    result = np.full_like(orders, np.inf)
    start = 0 if max(p.reach, q.reach) < _FARTHEST else len(orders)
    while start < len(orders) and _grid(p, q, orders[start]).nodes <= _MOST_NODES:
        stop = start + 1
        while stop < len(orders) and (stop + 1 - start) * _grid(p, q, orders[stop]).nodes <= _TABLE:
            stop += 1
        result[start:stop] = _on_grid(p, q, orders[start:stop])
        start = stop
    return result


@dataclass(frozen=True, slots=True)
class _Grid:
    low: float
    high: float
    step: float

    @property
    def nodes(self) -> float:
        return (self.high - self.low) / self.step


def _grid(p: Mixture, q: Mixture, order: float) -> _Grid:
    """From before the lowest to behind the highest mode of all that is integrated, in steps that divide exactly."""
    low = min(order * min(p.shifts) - (order - 1) * max(q.shifts), *p.shifts, *q.shifts)
    high = max(order * max(p.shifts) - (order - 1) * min(q.shifts), *p.shifts, *q.shifts)
    mantissa, exponent = math.frexp(_step(p.span, q.span, order))
    return _Grid(low - _REACH, high + _REACH, math.ldexp(math.floor(mantissa * 1024) / 1024, exponent))


def _step(span_p: float, span_q: float, order: float) -> float:
    """A step of h = 2πa/(80 + K), where the integrand grows by at most e^K in a strip of half-width a.

    P has no zero where a·span_p < π, and |Q| falls by at most cos(a·span_q/2): K = a²/2 − (α−1) ln cos(a·span_q/2).
    """
    half_width = min(
        _WIDEST_STRIP,
        math.pi / span_p if span_p else math.inf,
        math.pi / 2 / span_q if span_q else math.inf,
        math.sqrt(_ACCURACY / (0.5 + 0.1405 * (order - 1) * span_q**2)),
    )
    growth = half_width**2 / 2 - (order - 1) * math.log(math.cos(half_width * span_q / 2))
    return 2 * math.pi * half_width / (_ACCURACY + growth)


def _on_grid(p: Mixture, q: Mixture, orders: Array) -> Array:
    """With the nodes of the largest order, which are enough for all."""
    grid = _grid(p, q, orders[-1])
    z = np.arange(math.floor(grid.low / grid.step), math.ceil(grid.high / grid.step) + 1.0) * grid.step
    log_q = _log_ratio(q, z)
    losses = _log_ratio(p, z) - log_q
    log_mass = log_q - z * z / 2 + math.log(grid.step / math.sqrt(2 * math.pi))
    largest = max(p.reach, q.reach)
    alpha = orders[:, None]
    error = 8 * _ULP * (1 + z * z + (alpha + 1) * (np.abs(losses) + largest * np.abs(z) + largest**2))
    excess = log_sum(log_mass + log_excess(losses, alpha) + error)
    left_out = _LOG_ERROR + np.log(2 * orders + 2)
    return from_log_excess(np.logaddexp(np.logaddexp(excess, excess + _LOG_ERROR), left_out), orders)


def _log_ratio(mixture: Mixture, z: Array) -> Array:
    """The logarithm of the mixture's density over that of one Gaussian around 0."""
    shifts, weights = np.array(mixture.shifts)[:, None], np.array(mixture.probabilities)[:, None]
    exponents = shifts * z - shifts**2 / 2
    change = (weights * np.expm1(np.minimum(exponents, 1.0))).sum(axis=0)  # near 1 without cancellation
    with np.errstate(divide="ignore"):
        far = log_sum((exponents + np.log(weights)).T)
        is_near = (exponents.max(axis=0) < 1) & (np.abs(change) < _NEAR)
        return np.where(is_near, np.log1p(np.maximum(change, -_NEAR)), far)


_ERROR: Final = 1e-14  # of the logarithm of a number near 1
_BITS: Final = 64  # of a probability whose powers are computed


def sampled_gaussian_bound(probability: Fraction, inner: RenyiBound, *, distance: Fraction) -> RenyiBound:
    """Of (1 − q)N(0, 1) + qN(distance, 1) and N(0, 1); removing the unit is the worse order [MTZ19]."""
    sample = _sample(probability, float_up(distance))

    def divergence(orders: Array) -> Array:
        return np.minimum(mixture_divergence(sample, POINT, orders), by_minkowski(probability, inner, orders))

    return RenyiBound(divergence=divergence, is_slow=True)


def exchanged_gaussian_bound(probability: Fraction, far: RenyiBound, *, distance: Fraction) -> RenyiBound:
    """Of (1 − q)N(0, 1) + qN(±distance, 1): of all values that lie so near to that of an absent unit, the worst."""
    shift = float_up(distance)
    with_one, with_other = _sample(probability, shift), _sample(probability, -shift)

    def divergence(orders: Array) -> Array:
        return np.minimum(mixture_divergence(with_one, with_other, orders), by_convexity(probability, far, orders))

    return RenyiBound(divergence=divergence, is_slow=True)


def sampled_group_bound(probability: Fraction, size: int, *, distance: Fraction) -> RenyiBound:
    """Of a group of units, each in the sample on its own: the worst shift all in one direction [Gan24]."""
    counts, q = range(size + 1), _short_up(probability)
    weights = [comb(size, k) * q**k * (1 - q) ** (size - k) for k in counts]
    return mixture_bound([k * distance for k in counts], weights)


def mixture_bound(shifts: Sequence[Fraction], probabilities: Sequence[Fraction]) -> RenyiBound:
    """Of a mixture of Gaussians of standard deviation 1 against N(0, 1), in the worse order of the two."""
    kept = sorted((shift, weight) for shift, weight in zip(shifts, probabilities, strict=True) if weight)
    if kept[-1][0] == 0:
        return NOTHING
    mixture = _in_floats(kept)
    log_weights = np.array([log_near(weight) for _, weight in kept])
    absent = sum((weight for shift, weight in kept if shift == 0), start=Fraction(0))
    log_absent = -log_near(absent) if absent else np.inf

    def divergence(orders: Array) -> Array:
        extra = orders - 1
        rho = np.array([float_up(shift * shift) for shift, _ in kept]) / 2
        with np.errstate(over="ignore"):
            removed = (log_sum(log_weights + np.outer(extra, rho)) + _ERROR) * orders / extra  # Minkowski's inequality
            added = (log_sum(log_weights + np.outer(orders * extra, rho)) + _ERROR) / extra  # convexity
        return np.maximum(
            np.minimum(mixture_divergence(mixture, POINT, orders), inflated(1.0) * removed),
            np.minimum(mixture_divergence(POINT, mixture, orders), inflated(1.0) * np.minimum(added, log_absent)),
        )

    return RenyiBound(divergence=divergence, is_slow=True)


def _sample(probability: Fraction, shift: float) -> Mixture:
    chance = max(probability, SMALLEST_CHANCE)
    return Mixture((0.0, shift), (float(1 - chance), float(chance)))


def _in_floats(components: Sequence[tuple[Fraction, Fraction]]) -> Mixture:
    """What is too unlikely for floats is moved to the largest shift, which is the worst."""
    *others, (largest, last) = components
    shown = [(shift, weight) for shift, weight in others if weight >= SMALLEST_CHANCE]
    rest = last + sum((weight for _, weight in others if weight < SMALLEST_CHANCE), start=Fraction(0))
    all_shown = (*shown, (largest, max(rest, SMALLEST_CHANCE)))
    return Mixture(tuple(float_up(shift) for shift, _ in all_shown), tuple(float(weight) for _, weight in all_shown))


def _short_up(probability: Fraction) -> Fraction:
    """A probability of few bits, rounded up where it has more."""
    if probability.denominator.bit_length() <= _BITS:
        return probability
    return min(max(dyadic_up(probability, _BITS), SMALLEST_CHANCE), Fraction(1))
