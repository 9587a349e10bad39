"""Rényi divergences in closed form, as upper bounds: one short function for each kind of distribution, in log space.

Each takes an array of orders above 1 and bounds both D_α(P‖Q) and D_α(Q‖P), for every pair of neighbors. One whose
only parameter is ε also takes a column of many, and returns a row for each.

With L = dP/dQ and E over Q, E[L] = 1, hence E[L^α] − 1 = E[L^α − 1 − α(L − 1)], an average of numbers that are never
negative: nothing cancels. That average is called the excess here, and D_α(P‖Q) = ln(1 + excess)/(α − 1).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.numeric.rounding import float_up, inflated, log_near

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


def log_expm1(x: Array) -> Array:
    """The logarithm of e^x − 1; −∞ at 0."""
    with np.errstate(divide="ignore"):
        return np.where(x > 1, x + np.log1p(-np.exp(-np.maximum(x, 1.0))), np.log(np.expm1(np.minimum(x, 1.0))))


def log_sum(exponents: Array) -> Array:
    """The logarithm of Σ e^exponent over the last axis."""
    top = np.max(exponents, axis=-1)
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = np.exp(exponents - np.where(np.isfinite(top), top, 0.0)[..., None])
        total: Array = np.where(np.isfinite(top), top + np.log(np.maximum(shifted.sum(axis=-1), 1.0)), top)
    return total


_NEAR_MODE: Final = 0.25

Column: TypeAlias = float | Array


def concentrated(orders: Array, *, rho: Fraction) -> Array:
    """αρ: of Gaussian noise, where ρ = Δ²/2σ², and of every ρ-zCDP event [Mir17, BS16]."""
    with np.errstate(over="ignore"):
        return orders * inflated(float_up(rho))


def randomized_response(orders: Array, *, epsilon: Column) -> Array:
    """Of a bit that is true with probability e^ε/(1 + e^ε): the worst of all ε-DP distributions [KOV15]."""
    loss = np.stack([epsilon, np.negative(epsilon)], axis=-1)
    log_mass = np.minimum(-loss, 0.0) - np.logaddexp(0.0, -np.abs(loss))
    return np.minimum(divergence_up(log_mass, loss, orders), epsilon)


def laplace(orders: Array, *, epsilon: Column) -> Array:
    """Of continuous Laplace noise with ε = Δ/scale [Mir17, Table II].

    (α e^((α−1)ε) + (α−1) e^(−αε))/(2α − 1), of which constant and linear terms cancel exactly.
    """
    extra = orders - 1
    with np.errstate(over="ignore"):
        gain = np.log(orders) + log_remainder(extra * epsilon)
        loss = np.log(extra) + log_remainder(-orders * epsilon)
    rounding = 8 * _ULP * (1 + orders * np.minimum(epsilon, 1e300))
    excess = np.logaddexp(gain, loss) - np.log(orders + extra) + rounding
    return np.minimum(from_log_excess(excess, orders), epsilon)


def discrete_laplace(orders: Array, *, decay: float, shift: int) -> Array:
    """Of noise k with probability ∝ e^(−decay·|k|) on integers that move by `shift`, or a vector that does in L1.

    A e^((α−1)ε) + (1 − A) e^(−αε) with ε = decay·shift and A = (1 − r^2α)/((1 + r)(1 − r^(2α−1))), r = e^−decay.
    """
    epsilon, extra = inflated(decay * shift), orders - 1
    rest = -np.expm1(-(orders + extra) * decay) * (1 + np.exp(-decay))
    share = -np.expm1(-2 * orders * decay) / rest
    other = -np.expm1(-2 * extra * decay) * np.exp(-decay) / rest
    with np.errstate(all="ignore"):  # the closed form is minus infinity where its difference is lost in rounding
        gain = np.log(share) + log_expm1(extra * epsilon) + np.log1p(16 * _ULP * (1 + orders * epsilon))
        relative = np.log(other) + np.log(-np.expm1(-orders * epsilon)) - gain
        excess = gain + np.log(-np.expm1(np.minimum(relative, -_ULP)))
    return np.minimum(from_log_excess(excess, orders), randomized_response(orders, epsilon=epsilon))


def bounded_range(orders: Array, *, epsilon: Column) -> Array:
    """Of distributions whose losses span at most ε, as those of the exponential mechanism [DDR20, CR21].

    The worst are two outcomes with losses t and t − ε; the worst t at each order has a closed form.
    """
    extra = orders - 1
    with np.errstate(all="ignore"):
        share, gain, loss = np.log(extra / orders), _log_decay(orders * epsilon), _log_decay(extra * epsilon)
        top = np.clip(epsilon + share + gain - loss, 0.0, epsilon)
        log_range = _log_decay(np.asarray(epsilon))
        log_mass = np.stack([_log_decay(epsilon - top) - top, _log_decay(top)], axis=-1)
        off = 8 * _ULP * (1 + epsilon + np.abs(share) + np.abs(gain) + np.abs(loss))
    losses, loss_error = np.stack([top, top - epsilon], axis=-1), 4 * _ULP * np.asarray(epsilon)[..., None]
    at_top = divergence_up(log_mass - log_range[..., None], losses, orders, loss_error=loss_error)
    # So near to the worst t, D_α is less than there by at most α·off²; where α·off is no small number, by any amount.
    exact = at_top + np.where(orders * off < _NEAR_MODE, orders * off**2, np.inf)
    return np.fmin(np.minimum(exact, epsilon), orders * inflated(1.0) * np.square(epsilon) / 8 + _SMALLEST)


def _log_decay(x: Array) -> Array:
    return np.log(-np.expm1(-x))


def finite(orders: Array, *, p: Sequence[Fraction], q: Sequence[Fraction]) -> Array:
    """Of two distributions over the same outcomes, in the worse order of the two."""
    return np.maximum(_one_way(orders, p, q), _one_way(orders, q, p))


def _one_way(orders: Array, p: Sequence[Fraction], q: Sequence[Fraction]) -> Array:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return np.full_like(orders, np.inf)
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if b]
    losses = np.array([log_near(a / b) if a else -np.inf for a, b in pairs])
    return divergence_up(np.array([log_near(b) for _, b in pairs]), losses, orders)
