"""Upper bounds of D_α for laws whose divergence is known in closed form: one short function each.

Each takes an array of orders above 1 and bounds both D_α(P‖Q) and D_α(Q‖P), for every pair of neighbours. One whose
only parameter is ε also takes a column of many, and returns a row for each.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.renyi.losses import Array, divergence_up, from_log_excess, log_remainder
from sfumato.numeric.rounding import float_up, inflated, log_near

_ULP: Final = 2.0**-52
_SMALLEST: Final = 1e-300  # in place of what underflows
_NEAR_MODE: Final = 0.25

Column: TypeAlias = float | Array


def concentrated(orders: Array, *, rho: Fraction) -> Array:
    """αρ: of Gaussian noise, where ρ = Δ²/2σ², and of every ρ-zCDP event [Mir17, BS16]."""
    with np.errstate(over="ignore"):
        return orders * inflated(float_up(rho))


def randomized_response(orders: Array, *, epsilon: Column) -> Array:
    """Of a bit that is true with probability e^ε/(1 + e^ε): the worst of all ε-DP laws [KOV15]."""
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
        gain = np.log(share) + _log_expm1(extra * epsilon) + np.log1p(16 * _ULP * (1 + orders * epsilon))
        relative = np.log(other) + np.log(-np.expm1(-orders * epsilon)) - gain
        excess = gain + np.log(-np.expm1(np.minimum(relative, -_ULP)))
    return np.minimum(from_log_excess(excess, orders), randomized_response(orders, epsilon=epsilon))


def bounded_range(orders: Array, *, epsilon: Column) -> Array:
    """Of laws whose losses span at most ε, as those of the exponential mechanism [DDR20, CR21].

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
    exact = at_top + _missed(orders, off)
    return np.fmin(np.minimum(exact, epsilon), orders * inflated(1.0) * np.square(epsilon) / 8 + _SMALLEST)


def _log_decay(x: Array) -> Array:
    return np.log(-np.expm1(-x))


def _missed(orders: Array, off: Array) -> Array:
    """By how much D_α at the worst t exceeds that so near to it: α·off², and where α·off is no small number, ∞."""
    return np.where(orders * off < _NEAR_MODE, orders * off**2, np.inf)


def finite(orders: Array, *, p: Sequence[Fraction], q: Sequence[Fraction]) -> Array:
    """Of two distributions over the same outcomes, in the worse order of the two."""
    return np.maximum(_one_way(orders, p, q), _one_way(orders, q, p))


def _one_way(orders: Array, p: Sequence[Fraction], q: Sequence[Fraction]) -> Array:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return np.full_like(orders, np.inf)
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if b]
    losses = np.array([log_near(a / b) if a else -np.inf for a, b in pairs])
    return divergence_up(np.array([log_near(b) for _, b in pairs]), losses, orders)


def _log_expm1(x: Array) -> Array:
    return np.where(x > 1, x + np.log1p(-np.exp(-x)), np.log(np.expm1(np.minimum(x, 1.0))))
