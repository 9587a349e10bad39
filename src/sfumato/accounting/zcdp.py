"""From zero-concentrated differential privacy to (ε, δ), by the tightest known conversion."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sfumato.accounting.parameters import in_range_or_zero
from sfumato.numeric.rationals import Number, probability
from sfumato.numeric.rounding import RELATIVE_MARGIN, exp_up
from sfumato.numeric.search import smallest_dyadic

_STEPS: Final = 80  # halvings of a range of exponents: the best order to about 1e-16
_LARGEST_LOG: Final = 700.0


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
