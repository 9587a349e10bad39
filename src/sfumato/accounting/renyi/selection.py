"""The best of a random number of runs: what it shows beyond one run [LT19], [PS22]."""

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final

import numpy as np

from sfumato.accounting.renyi.bound import UNBOUNDED, Epsilon, RenyiBound, as_float_up, times
from sfumato.accounting.renyi.conversion import ORDERS, least
from sfumato.accounting.renyi.curves import Array
from sfumato.numeric.rounding import float_up, inflated, log_near

_SMALLEST_SHAPE: Final = Fraction(1, 10**6)  # a smaller one has almost the γ of 0, which is no larger
_LARGEST_SHAPE: Final = 10**9
_STEPS: Final = 100
_ERROR: Final = 1e-14  # of the logarithm of a number near 1
_LOG_ERROR: Final = 1e-9  # of the logarithm of a δ
_LARGEST_LOG: Final = 700.0


def selected_bound(inner: RenyiBound, *, mean: Fraction, shape: Fraction | None) -> RenyiBound:
    """Of the best of K runs, K truncated negative binomial with this mean and shape, or Poisson if shape is None.

    A run fails with probability δ, and one of them with at most δ times the mean. That none fails leaves K in its
    family, with a smaller mean, for which all bounds are smaller.
    """
    failure = min(inner.failure * mean, Fraction(1))
    if shape is not None and shape > _LARGEST_SHAPE:
        return UNBOUNDED
    if shape is None:
        return RenyiBound(divergence=partial(_poisson, inner, mean), failure=failure, is_slow=inner.is_slow)
    return RenyiBound(
        divergence=partial(_negative_binomial, inner, mean, shape),
        epsilon=_pure(inner.epsilon, shape),
        failure=failure,
        is_slow=inner.is_slow,
    )


def _negative_binomial(inner: RenyiBound, mean: Fraction, shape: Fraction, orders: Array) -> Array:
    """D_α + (1 + η) min over β ≥ 1 of ((1 − 1/β) D_β + ln(1/γ)/β) + ln(E[K])/(α − 1) [PS22, Theorem 2]."""
    log_inverse = _log_inverse_gamma(mean, float(shape) if shape > _SMALLEST_SHAPE else 0.0)
    auxiliary = least(lambda beta, values: (1 - 1 / beta) * values + log_inverse / beta, inner.divergence)
    extra = (1 + float(shape)) * min(auxiliary, log_inverse, as_float_up(inner.epsilon))
    total = inner.divergence(orders) + extra + log_near(mean) / (orders - 1)
    return np.minimum(total * inflated(1.0), as_float_up(_pure(inner.epsilon, shape)))


def _poisson(inner: RenyiBound, mean: Fraction, orders: Array) -> Array:
    """ln(e^−μ + μ e^((α−1)(D_α + μδ̂)))/(α − 1), δ̂ at ε̂ = ln(1 + 1/(α − 1)) [PS22, Theorem 6].

    e^−μ is the probability of no run at all, which both distributions share.
    """
    average, extra = float_up(mean), orders - 1
    failing = average * _deltas(inner, np.log1p(1 / extra) * (1 - 1e-15))
    runs = log_near(mean) + extra * (inner.divergence(orders) + failing)
    return (np.logaddexp(-average, runs) * inflated(1.0) + _ERROR) / extra


def _deltas(inner: RenyiBound, epsilons: Array) -> Array:
    """δ at each ε: ln δ = min over β of (β − 1)(D_β − ε) + β ln(1 − 1/β) − ln(β − 1)."""
    extra = ORDERS - 1
    with np.errstate(over="ignore", invalid="ignore"):
        exponents = extra * (_at_first_orders(inner) - epsilons[:, None])
    logs = exponents - extra * np.log1p(1 / extra) - np.log(ORDERS)
    deltas: Array = np.exp(np.clip(np.min(logs, axis=1) + _LOG_ERROR, -_LARGEST_LOG, 0.0))
    return deltas


@lru_cache(maxsize=256)
def _at_first_orders(bound: RenyiBound) -> Array:
    return bound.divergence(ORDERS)


def _pure(epsilon: Epsilon, shape: Fraction) -> Epsilon:
    """(2 + η)ε [PS22, Corollary 3]."""
    return times(epsilon, 2 + shape)


def _log_inverse_gamma(mean: Fraction, shape: float) -> float:
    """ln(1/γ) of the truncated negative binomial distribution with this mean, rounded up; the mean grows with both."""
    target = log_near(mean)
    low, high = 0.0, 2 * target + 2  # (e^L − 1)/L, the least mean of all shapes, is above e^((L − 2)/2)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _log_mean_of(middle, shape) < target:
            low = middle
        else:
            high = middle
    return inflated(high) + _ERROR


def _log_mean_of(log_inverse: float, shape: float) -> float:
    """The logarithm of η (1 − γ)/(γ (1 − γ^η)), or for η = 0 of (1/γ − 1)/ln(1/γ)."""
    share = -math.expm1(-shape * log_inverse) / shape if shape else log_inverse
    return log_inverse + math.log(-math.expm1(-log_inverse)) - math.log(share)
