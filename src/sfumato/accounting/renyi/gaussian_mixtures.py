"""Rényi divergences between mixtures of equally wide Gaussians, by the trapezoidal rule with a proved error.

The integrand P^α Q^(1−α) is analytic in a strip around the real line, where the rule converges like e^(−2πa/h) for
steps of h and a strip of half-width a [TW14]: a few nodes for each standard deviation give all digits, at every real
order.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.accounting.renyi.losses import Array, from_log_excess, log_excess, log_sum

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

    The orders must grow, so that neighbours can share their nodes.
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
