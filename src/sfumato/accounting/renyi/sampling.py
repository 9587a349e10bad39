"""Samples: how little a unit shows that is in the sample with a small probability only.

Integer orders have binomial expansions with positive terms; between them (α − 1)D_α is convex in α, so that a chord of
bounds is a bound. Beyond the orders that are expanded, simpler bounds at every real order take over. Of samples that
are cut down to a largest size it is made public whether they are, which only helps the adversary.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from scipy.special import betainc, gammaln

from sfumato.accounting.renyi.bound import Epsilon, RenyiBound, as_float_up
from sfumato.accounting.renyi.curves import Array, from_log_excess, log_expm1, log_sum, randomized_response
from sfumato.numeric.rounding import float_up, inflated, log_near
from sfumato.privacy.events import TruncatedPoissonSampledEvent

SMALLEST_CHANCE: Final = Fraction(1, 10**300)
"""A smaller chance of being in a sample is read as this one, with which the sample shows more."""
_SMALLEST: Final = 1e-300  # in place of what underflows
_MOST_TERMS: Final = 8192.0
_MOST_SLOW_TERMS: Final = 64.0
_MARGIN: Final = 1e-10  # above the error of ln C(n, j), up to 1e5 in size, and for each unit of −ln(1 − q) once more
_SQUARE: Final = 2.0
_LARGE: Final = 500.0  # an ε that says nothing
_NEAR: Final = 0.5
_FARTHER: Final = (2.0, 4.0, 16.0)
_LOG_LARGEST: Final = 1e300
_LN2: Final = math.log(2)


def sampled_bound(probability: Fraction, inner: RenyiBound) -> RenyiBound:
    """Of a unit that is in the sample with this probability, or not at all: ((1 − q)μ₀ + qμ₁, μ₀), in both orders."""
    if probability == 1:
        return inner
    chance = max(probability, SMALLEST_CHANCE)
    return RenyiBound(
        divergence=partial(_sampled, chance, inner),
        epsilon=sampled_epsilon(chance, inner.epsilon),
        failure=probability * inner.failure,
        is_slow=inner.is_slow,
    )


def exchanged_bound(probability: Fraction, near: RenyiBound, far: RenyiBound) -> RenyiBound:
    """Of a unit that shows one of two values if it is in the sample: ((1 − q)μ₀ + qμ₁, (1 − q)μ₀ + qμ₁').

    Args:
        probability: q.
        near: Of μ₁ and μ₁' against μ₀.
        far: Of μ₁ against μ₁'.
    """
    if probability == 1:
        return far
    chance = max(probability, SMALLEST_CHANCE)
    return RenyiBound(
        divergence=partial(_exchanged, chance, near, far),
        epsilon=_exchanged_limit(chance, near, far),
        failure=probability * far.failure,
        is_slow=near.is_slow or far.is_slow,
    )


def _sampled(probability: Fraction, inner: RenyiBound, orders: Array) -> Array:
    """For a symmetric pair the order with the sample first is the worse at every α."""
    most = _most_terms(inner)
    removed = chords(orders, most, partial(_removed, probability, inner))
    worst = np.minimum(removed, by_minkowski(probability, inner, orders))
    if not inner.is_symmetric:
        added = chords(orders, most, partial(_added, probability, inner))
        at_most = np.minimum(by_convexity(probability, inner, orders), -inflated(log_near(1 - probability)))
        worst = np.maximum(worst, np.minimum(added, at_most))
    return _capped(worst, sampled_epsilon(probability, inner.epsilon), orders)


def _exchanged(probability: Fraction, near: RenyiBound, far: RenyiBound, orders: Array) -> Array:
    """By convexity, or where nothing fails also by expansion."""
    bound = by_convexity(probability, far, orders)
    if not _may_fail(near, far):
        most = min(_most_terms(near), _most_terms(far))
        bound = np.minimum(bound, chords(orders, most, partial(_between, probability, near, far)))
    return _capped(bound, _exchanged_limit(probability, near, far), orders)


def _exchanged_limit(probability: Fraction, near: RenyiBound, far: RenyiBound) -> Epsilon:
    """Where something may fail, it may at other times for `near` than for `far`, and `near` then says nothing."""
    return far.epsilon if _may_fail(near, far) else exchanged_epsilon(probability, near.epsilon, far.epsilon)


def _may_fail(near: RenyiBound, far: RenyiBound) -> bool:
    return bool(near.failure or far.failure)


def by_minkowski(probability: Fraction, inner: RenyiBound, orders: Array) -> Array:
    """D_α((1 − q)μ₀ + qμ₁ ‖ μ₀): the norm (E[(1 − q + qL)^α])^(1/α) is at most 1 − q + q (E[L^α])^(1/α)."""
    power = (orders - 1) / orders
    return inflated(1.0) * _log_mean(probability, power * inner.divergence(orders)) / power + _SMALLEST


def by_convexity(probability: Fraction, far: RenyiBound, orders: Array) -> Array:
    """D_α of mixtures that differ in a component of probability q: e^((α−1)D_α) is jointly convex."""
    extra = orders - 1
    return inflated(1.0) * _log_mean(probability, extra * far.divergence(orders)) / extra + _SMALLEST


def _removed(probability: Fraction, inner: RenyiBound, whole: Array, j: Array) -> Array:
    """E[(1 − q + qL)^n] − 1 = Σ_{j≥2} C(n, j) (1−q)^(n−j) q^j (E[L^j] − 1)."""
    log_absent = log_near(1 - probability)
    terms = j * (log_near(probability) - log_absent) + log_expm1((j - 1) * inner.divergence(j))
    return whole * log_absent + _log_binomial_sum(whole, terms) - _MARGIN * log_absent


def _added(probability: Fraction, inner: RenyiBound, whole: Array, j: Array) -> Array:
    """As `_between`, where one of the two values is that of an absent unit."""
    return _log_binomial_sum(whole, j * log_near(probability) + _log_distance(inner, j))


def _between(probability: Fraction, near: RenyiBound, far: RenyiBound, whole: Array, j: Array) -> Array:
    """The excess is at most Σ_{j≥2} C(n, j) q^j ∫|μ₁ − μ₁'|^j ((1 − q)μ₀ + qμ₁')^(1−j), and x^(1−j) is convex [WBK19].

    ∫|μ₁ − μ₁'|^j μ₀^(1−j) is at most 2E[L^j] or (e^ε − 1)^j E[L^j], L of μ₁ or μ₁' over μ₀, and for j = 2 4(E[L²] − 1).
    """
    second = 2 * _LN2 + log_expm1(near.divergence(j[:1]))
    absent = _log_power(j, second, lambda m: _LN2 + (m - 1) * near.divergence(m))
    absent = np.minimum(absent, j * _log_gain(far) + (j - 1) * near.divergence(j))
    mean = np.logaddexp(log_near(1 - probability) + absent, log_near(probability) + _log_distance(far, j))
    return _log_binomial_sum(whole, j * log_near(probability) + mean)


def _log_distance(bound: RenyiBound, j: Array) -> Array:
    """The log of ∫|P − Q|^j Q^(1−j): at most ln(1 + E[L^j]) and j ln(e^ε − 1), and for j = 2 it is ln(E[L²] − 1)."""
    second = log_expm1(bound.divergence(j[:1]))
    power = _log_power(j, second, lambda m: np.logaddexp(0.0, (m - 1) * bound.divergence(m)))
    return np.minimum(power, j * _log_gain(bound))


def _log_power(j: Array, second: Array, log_power: Callable[[Array], Array]) -> Array:
    """The log of E|X|^j from E|X|² and a bound of all E|X|^m: ln E|X|^s is convex in s, so that m > j will do."""
    least = log_power(j)
    second = np.minimum(second, least[:1])
    for factor in _FARTHER:
        share = (j - 2) / (factor * j - 2)
        least = np.minimum(least, (1 - share) * second + share * np.minimum(log_power(factor * j), _LOG_LARGEST))
    return np.where(j == _SQUARE, second, least)


def _log_gain(bound: RenyiBound) -> float:
    """The logarithm of e^ε − 1."""
    return float(log_expm1(np.array(as_float_up(bound.epsilon))))


def chords(orders: Array, most: float, log_excesses: Callable[[Array, Array], Array]) -> Array:
    """D_α at each order from excesses at whole ones: (α − 1)D_α on the chord between the two whole orders around it.

    Args:
        orders: Above 1.
        most: Above it no order is expanded, and the result is infinite.
        log_excesses: ln of the excesses at whole orders of at least 2, from these orders and all j from 2 to the last.
    """
    result = np.full_like(orders, np.inf)
    within = orders <= most
    if not within.any():
        return result
    below, above = np.floor(orders[within]), np.ceil(orders[within])
    whole = np.unique(np.concatenate([[_SQUARE], below[below > 1], above]))
    moments = np.logaddexp(0.0, log_excesses(whole, np.arange(_SQUARE, whole[-1] + 1)) + _MARGIN)
    known, values = np.concatenate([[1.0], whole]), np.concatenate([[0.0], moments])
    low, high = values[np.searchsorted(known, below)], values[np.searchsorted(known, above)]
    with np.errstate(invalid="ignore"):  # at whole orders, where both ends are the same
        mean = np.where(below == above, low, low + (orders[within] - below) * (high - low))
    result[within] = np.where(np.isnan(mean), np.inf, mean) / (orders[within] - 1) + _SMALLEST
    return result


def _log_binomial_sum(whole: Array, terms: Array) -> Array:
    """The logarithm of Σ_j C(n, j) e^term_j over j from 2 to n, for each whole order n."""
    factorials = gammaln(np.arange(1.0, whole[-1] + 2))
    j = np.arange(2, len(terms) + 2)
    result = []
    for n in whole.astype(int):
        upto = j[: n - 1]
        result.append(factorials[n] + log_sum(terms[: n - 1] - factorials[upto] - factorials[n - upto]))
    return np.array(result)


def sampled_epsilon(probability: Fraction, epsilon: Epsilon) -> Epsilon:
    """ε of the sampled pair, ln(1 + q(e^ε − 1)), rounded up; beyond the range of floats, ε itself."""
    if epsilon == 0:
        return epsilon
    amplified = inflated(float(_log_mean(probability, np.array(as_float_up(epsilon))))) + _SMALLEST
    return min(amplified, epsilon)


def exchanged_epsilon(probability: Fraction, near: Epsilon, far: Epsilon) -> Epsilon:
    """The logarithm of the largest (1 − q + qu)/(1 − q + qv) where u, v ≤ e^near, u/v ≤ e^far.

    Rounded up, with u and v of at least e^−near.
    """
    highest, apart = as_float_up(near), as_float_up(far)
    if highest == math.inf:
        return far
    numerator, denominator = _log_mean(probability, np.array([highest, max(-highest, highest - apart)]))
    return min(inflated(float(numerator - denominator)) + _SMALLEST, far)


def _log_mean(probability: Fraction, exponents: Array) -> Array:
    """The logarithm of 1 − q + q e^x, without cancellation near 0."""
    far = np.logaddexp(log_near(1 - probability), log_near(probability) + exponents)
    chance = max(float(probability), float(SMALLEST_CHANCE))
    near = np.log1p(chance * np.expm1(np.clip(exponents, -_NEAR, _LARGE)))
    return np.where((exponents > -_NEAR) & (exponents < _LARGE), near, far)


def _capped(divergence: Array, epsilon: Epsilon, orders: Array) -> Array:
    """No more than the worst distribution of this ε."""
    if epsilon > _LARGE:
        return divergence
    return np.minimum(divergence, randomized_response(orders, epsilon=inflated(as_float_up(epsilon))))


def _most_terms(bound: RenyiBound) -> float:
    return _MOST_SLOW_TERMS if bound.is_slow else _MOST_TERMS


_TAIL_MARGIN: Final = 1e-9  # above the relative error of the incomplete beta function, and of 1 minus it
_MOST_UNITS: Final = 10**9  # the function is trusted that far; beyond it either case is taken for certain


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """Of a sample: how likely the other units alone do and do not fill it, and a unit's chance then; all rounded up."""

    probability: float
    not_probability: float
    chance: Fraction


def overflow_of(event: TruncatedPoissonSampledEvent, *, steps: int = 1) -> Overflow:
    """A unit is in a full sample with probability q E[B/(T + 1) | T ≥ B], T ~ Bin(n − 1, q) of the others sampled.

    It is (B/n) Pr[Bin(n, q) > B]/Pr[T ≥ B], and at most qB/(B + 1). With fewer units samples are full less often, and
    a unit's chance in them is larger.

    Args:
        event: For its q, n and B.
        steps: How many units are removed one after the other; what is found holds for each of them.
    """
    size, units, q = event.max_sample_size, event.source_size, event.sampling_probability
    most = q * Fraction(size, size + 1)
    if units > _MOST_UNITS:
        return Overflow(probability=1.0, not_probability=1.0, chance=most)
    up, fewest = float_up(q), max(units - steps + 1, 1)
    full, rarely_full = _at_least(units - 1, size, up), _at_least(fewest - 1, size, -float_up(-q))
    fuller = _at_least(fewest, size + 1, up)
    chance = Fraction(size, fewest) * Fraction(fuller) / Fraction(rarely_full) * Fraction(1 + _TAIL_MARGIN)
    return Overflow(
        probability=min(full * (1 + _TAIL_MARGIN), 1.0),
        not_probability=min((1 - rarely_full) * (1 + 4 * math.ulp(1)) + _TAIL_MARGIN * rarely_full, 1.0),
        chance=min(chance, most),
    )


def _at_least(trials: int, successes: int, probability: float) -> float:
    if successes > trials:
        return _SMALLEST
    return max(float(betainc(successes, trials - successes + 1, probability)), _SMALLEST)


def truncated_bound(overflow: Overflow, poisson: RenyiBound, full: RenyiBound) -> RenyiBound:
    """E[L^α] is the mean of those of the two cases."""

    def divergence(orders: Array) -> Array:
        extra = orders - 1
        moments = (log_expm1(extra * poisson.divergence(orders)), log_expm1(extra * full.divergence(orders)))
        return from_log_excess(
            np.logaddexp(np.log(overflow.not_probability) + moments[0], np.log(overflow.probability) + moments[1]),
            orders,
        )

    return RenyiBound(
        divergence=divergence,
        epsilon=max(poisson.epsilon, full.epsilon),
        failure=max(poisson.failure, full.failure),
        is_slow=poisson.is_slow or full.is_slow,
    )
