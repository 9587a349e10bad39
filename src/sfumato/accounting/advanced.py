"""Advanced composition, as the textbooks state it: a comparator for teaching, not what the package spends by."""

from fractions import Fraction
from typing import Final

from sfumato.accounting.parameters import open_delta
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative, positive_integer, probability, sqrt_up
from sfumato.numeric.rounding import exp_up, log_up
from sfumato.privacy.guarantees import ApproxDP

_LARGEST_EPSILON: Final = 700  # beyond it e^ε leaves the range of floats, and the bound its sense long before


def advanced_composition(*, epsilon: Number, delta: Number, count: int, delta_slack: Number) -> ApproxDP:
    """The guarantee of k releases of (ε, δ) each, by the advanced composition theorem, rounded up.

    ε' = √(2k ln(1/δ')) ε + kε(e^ε - 1), in total δ = kδ + δ'. For teaching: it grows like √k, which basic
    composition does not, but it is often above kε for few or large ε, and optimal composition beats it everywhere.

    **Guarantee**: holds for adaptively chosen releases and databases, k and ε fixed beforehand.

    Args:
        epsilon: Of each release, at most 700.
        delta: Of each release.
        count: k, the number of releases.
        delta_slack: δ', the additional chance of failure, above 0.

    Raises:
        ParameterError: A parameter lies outside, or the total δ reaches 1.

    Example:
        >>> bound = advanced_composition(epsilon="0.1", delta=0, count=100, delta_slack="1e-6")
        >>> round(float(bound.epsilon), 3), float(bound.delta)
        (6.308, 1e-06)

    References:
        [DRV10] Theorem III.3; [DR14] Theorem 3.20.
    """
    each, times = nonnegative(epsilon, "epsilon"), positive_integer(count, "count")
    slack = open_delta(delta_slack, "delta_slack")
    if each > _LARGEST_EPSILON:
        raise ParameterError("epsilon", epsilon, f"must be at most {_LARGEST_EPSILON} for advanced composition")
    spread = sqrt_up(2 * times * log_up(1 / slack)) * each
    drift = times * each * (Fraction(exp_up(each)) - 1)
    return ApproxDP(spread + drift, times * probability(delta, "delta") + slack)
