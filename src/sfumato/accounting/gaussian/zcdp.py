"""Into zero-concentrated differential privacy, and from it to (ε, δ) by the tightest known conversion.

The prices of pure mechanisms, of Laplace noise on both domains, and of the exponential mechanism are the best there are
(proof: proofs/accounting/gaussian/zcdp.md).
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sfumato.accounting.core.parameters import in_range_or_zero, open_delta
from sfumato.numeric.rationals import Number, nonnegative, positive, positive_integer, probability, sqrt_up
from sfumato.numeric.rounding import RELATIVE_MARGIN, exp_up, inflated, log_up
from sfumato.numeric.search import smallest_dyadic

_STEPS: Final = 80  # halvings of a range of exponents: the best order to about 1e-16
_LARGEST_LOG: Final = 700.0
_SMALL: Final = Fraction(1, 2**20)  # below it the first term of a series is within 1e-12 of its sum
_FULL: Final = Fraction(100)  # from here on e^-ε is nothing beside 1
_ROUNDING: Final = 1e-15  # above the error of 1 - a/sinh(a), a quotient near 1


def zcdp_delta_up(*, rho: Number, epsilon: Number) -> float:
    """The smallest δ at ε that ρ-zCDP implies by its Rényi divergences D_α ≤ αρ, rounded up.

    ln δ = min over α > 1 of (α - 1)(αρ - ε) + α ln(1 - 1/α) - ln(α - 1); every α gives a valid δ.

    Args:
        rho: 0 or more.
        epsilon: 0 or more.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> round(zcdp_delta_up(rho="0.5", epsilon="5.221534"), 9)
        1e-06

    References:
        [CKS20] Proposition 12; [ALCKS20] Equation 20.
    """
    return _delta_up(in_range_or_zero(rho, "rho"), in_range_or_zero(epsilon, "epsilon"))


def zcdp_epsilon_up(*, rho: Number, delta: Number) -> Fraction | float:
    """The smallest ε at δ that ρ-zCDP implies, rounded up: the inverse of `zcdp_delta_up`.

    Edge cases: δ = 0 gives an infinite ε, except for ρ = 0, which gives 0.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> round(float(zcdp_epsilon_up(rho="0.5", delta="1e-6")), 6)
        5.221534
    """
    return _epsilon_up(in_range_or_zero(rho, "rho"), probability(delta, "delta"))


def bun_steinke_epsilon_up(*, rho: Number, delta: Number) -> Fraction:
    """The textbook ε of ρ-zCDP at δ, ρ + 2 √(ρ ln(1/δ)), rounded up: a comparator, above `zcdp_epsilon_up`.

    Raises:
        ParameterError: ρ is negative, or δ not between 0 and 1, both excluded.

    Example:
        >>> round(float(bun_steinke_epsilon_up(rho="0.5", delta="1e-6")), 5)
        5.75652

    References:
        [BS16] Proposition 1.3.
    """
    price = nonnegative(rho, "rho")
    return price + 2 * sqrt_up(price * log_up(1 / open_delta(delta)))


def pure_to_zcdp(epsilon: Number) -> Fraction:
    """The smallest ρ of all ε-differentially private mechanisms: ε tanh(ε/2), rounded up; at most ε²/2 and ε.

    **Guarantee**: every ε-differentially private mechanism is ρ-zCDP, for its neighbouring relation. It is attained by
    randomized response, and below ε²/2 [BS16].

    Raises:
        ParameterError: ε is negative.

    Example:
        >>> round(float(pure_to_zcdp(1)), 6)
        0.462117

    References:
        [Ste24]; [BS16] Proposition 1.4, for ε²/2.
    """
    loss = nonnegative(epsilon, "epsilon")
    if loss <= _SMALL:
        return loss**2 / 2
    return loss * min(Fraction(inflated(math.tanh(float(min(loss, _FULL)) / 2))), Fraction(1))


def laplace_to_zcdp(epsilon: Number) -> Fraction:
    """The smallest ρ of Laplace noise of scale Δ/ε on a vector of L1 sensitivity Δ: ε - 1 + e^-ε, rounded up.

    **Guarantee**: ρ-zCDP for the relation of the sensitivity; it is attained by a vector of which one coordinate moves.

    Raises:
        ParameterError: ε is negative.

    Example:
        >>> round(float(laplace_to_zcdp(1)), 6)
        0.367879
    """
    loss = nonnegative(epsilon, "epsilon")
    series = loss**2 / 2 - loss**3 / 6 + loss**4 / 24
    return min(series, loss - 1 + Fraction(exp_up(-loss)))


def discrete_laplace_to_zcdp(*, scale: Number, l1_sensitivity: int) -> Fraction:
    """The smallest ρ of noise ∝ exp(-|k|/scale) on integers that move by Δ: a(Δ - (1 - e^-aΔ)/sinh a), a = 1/scale.

    **Guarantee**: ρ-zCDP for the relation of the sensitivity, which is Δ in L1; rounded up. It is attained by a
    vector of which one coordinate moves. For Δ = 1 this is `pure_to_zcdp(a)`, for small a `laplace_to_zcdp(aΔ)`.

    Raises:
        ParameterError: The scale is not above 0, or the sensitivity not a whole number of at least 1.

    Example:
        >>> round(float(discrete_laplace_to_zcdp(scale=2, l1_sensitivity=2)), 6)
        0.393469
    """
    rate = 1 / positive(scale, "scale")
    loss = rate * positive_integer(l1_sensitivity, "l1_sensitivity")
    return min(pure_to_zcdp(loss), laplace_to_zcdp(loss) + _loss_up(loss) * _lattice_gap_up(rate))


def exponential_to_zcdp(epsilon: Number) -> Fraction:
    """ρ of an ε-bounded-range mechanism, such as the exponential mechanism: ε²/8, or that of ε where it is less.

    **Guarantee**: ρ-zCDP for the relation of the utility's sensitivity. Permute-and-flip has no bounded range.

    Raises:
        ParameterError: ε is negative.

    Example:
        >>> exponential_to_zcdp(1)
        Fraction(1, 8)

    References:
        [CR21], [DDR20]
    """
    loss = nonnegative(epsilon, "epsilon")
    return min(loss**2 / 8, pure_to_zcdp(loss))


def _loss_up(epsilon: Fraction) -> Fraction:
    """1 - e^-ε, rounded up; at most ε."""
    return epsilon if epsilon <= _SMALL else Fraction(inflated(-math.expm1(-float(min(epsilon, _FULL)))))


def _lattice_gap_up(rate: Fraction) -> Fraction:
    """1 - a/sinh(a), rounded up; at most a²/6 and 1."""
    gap = min(rate**2 / 6, Fraction(1))
    if _SMALL < rate < _LARGEST_LOG:
        return min(gap, Fraction(inflated(1 - float(rate) / math.sinh(float(rate)) + _ROUNDING)))
    return gap


@lru_cache(maxsize=4096)
def _epsilon_up(rho: Fraction, delta: Fraction) -> Fraction | float:
    if _delta_up(rho, Fraction(0)) <= delta:
        return Fraction(0)
    found = smallest_dyadic(lambda epsilon: _delta_up(rho, epsilon) <= delta, guess=rho, bits=40)
    return math.inf if found is None else found


def _delta_up(rho: Fraction, epsilon: Fraction) -> float:
    if rho == 0:
        return 0.0
    excess = _best_excess(float(rho), float(epsilon))
    logs = -excess * math.log1p(1 / excess) - math.log1p(excess)
    moment = Fraction(excess) * ((1 + Fraction(excess)) * rho - epsilon)
    margin = Fraction(RELATIVE_MARGIN * (1 - logs))
    return min(exp_up(moment + Fraction(logs) + margin), 1.0)


def _best_excess(rho: float, epsilon: float) -> float:
    """About the best α - 1: the root of (2α - 1)ρ + ln(1 - 1/α) = ε, whose left side grows with α."""
    low = -min(3 * rho + 1, _LARGEST_LOG)
    high = min(max(math.log(epsilon + 1) - math.log(rho), 0) + 1, _LARGEST_LOG)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        excess = math.exp(middle)
        if (2 * excess + 1) * rho - math.log1p(1 / excess) < epsilon:
            low = middle
        else:
            high = middle
    return math.exp(high)
