"""Rényi divergences from privacy losses, in log space, so that neither tiny nor huge ones lose their digits.

With L = dP/dQ and E over Q, E[L] = 1, hence E[L^α] − 1 = E[L^α − 1 − α(L − 1)], an average of numbers that are never
negative: nothing cancels. That average is called the excess here, and D_α(P‖Q) = ln(1 + excess)/(α − 1).
"""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

_ULP: Final = 2.0**-52
_MARGIN: Final = 1e-12  # above the relative error of all steps that are not scaled by an exponent
_SMALLEST: Final = 1e-300  # added to every divergence, in place of what underflows
_NEAR: Final = 2.0**-5  # below it the series; above it a difference loses 2/_NEAR ulps
_SERIES: Final = tuple(float(n) for n in range(10, 2, -1))  # _NEAR^8/10! is far below an ulp


def divergence_up(log_mass: Array, losses: Array, orders: Array, *, loss_error: Array | float = 0.0) -> Array:
    """D_α(P‖Q) at each order, rounded up, from ln Q and ln(P/Q) of each outcome (the last axis).

    Args:
        log_mass: ln Q, the same for all orders, or a row for each.
        losses: ln(P/Q), −∞ where P has no mass; the same for all orders, or a row for each.
        orders: Finite, above 1.
        loss_error: By how much each loss may be off; a few ulps of the loss are always allowed for.
    """
    alpha = orders[:, None]
    rounding = 8 * _ULP * (1 + _size(log_mass) + alpha * _size(losses)) + alpha * loss_error
    return from_log_excess(log_sum(log_mass + log_excess(losses, alpha) + rounding), orders)


def from_log_excess(log_excesses: Array, orders: Array) -> Array:
    """ln(1 + excess)/(α − 1), rounded up; factors of 1/(α − 1) in the error come from L^α − L."""
    extra = orders - 1
    return np.logaddexp(0.0, log_excesses) / extra * (1 + _MARGIN * (1 + 1 / extra)) + _SMALLEST


def _size(logarithms: Array) -> Array:
    """Absolute values, 0 in place of ln 0."""
    return np.where(np.isneginf(logarithms), 0.0, np.abs(logarithms))


def log_excess(losses: Array, orders: Array) -> Array:
    """ln(L^α − 1 − α(L − 1)) of L = e^loss; −∞ for L = 1."""
    with np.errstate(all="ignore"):  # both branches are computed everywhere, and each is used where it is exact
        low = np.log(np.expm1(orders * losses) - orders * np.expm1(losses))
        whole = log_remainder(orders * losses)
        share = np.exp(np.log(orders) + log_remainder(losses) - whole)
        high = whole + np.log1p(-np.minimum(share, 1.0))
    return np.where(losses == 0, -np.inf, np.where(losses < -_NEAR, low, high))


def log_remainder(x: Array) -> Array:
    """ln(e^x − 1 − x), which is about 2 ln|x| − ln 2 near 0."""
    series = np.ones_like(x)
    near = np.clip(x, -_NEAR, _NEAR)
    for n in _SERIES:
        series = 1 + near / n * series
    with np.errstate(all="ignore"):  # both branches are computed everywhere, and each is used where it is exact
        small = 2 * np.log(np.abs(x)) - np.log(2.0) + np.log(series)
        large = np.where(x > 0, x + np.log1p(-(1 + x) * np.exp(-x)), np.log(np.expm1(x) - x))
    return np.where(np.abs(x) < _NEAR, small, np.where(np.isposinf(x), np.inf, large))


def log_sum(exponents: Array) -> Array:
    """The logarithm of Σ e^exponent over the last axis."""
    top = np.max(exponents, axis=-1)
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = np.exp(exponents - np.where(np.isfinite(top), top, 0.0)[..., None])
        total: Array = np.where(np.isfinite(top), top + np.log(np.maximum(shifted.sum(axis=-1), 1.0)), top)
    return total
