"""Skellam noise: its exact privacy curve, certified from above, and the mean for a wanted guarantee."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from sfumato.accounting.gaussian.gaussian import analytic_stddev, as_delta
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative, open_probability, positive, positive_integer, probability
from sfumato.numeric.rounding import exp_down
from sfumato.numeric.search import smallest_dyadic
from sfumato.numeric.skellam import LARGEST_MEAN, skellam_masses

_DEVIATIONS: Final = 16  # of masses beyond the shift: e^(−16²/2) is below every δ that is asked for in earnest
_LARGEST_DEVIATIONS: Final = 64
_NEGLIGIBLE: Final = 1e-9  # of a δ that the masses beyond the end may add
_BITS: Final = 16  # of a calibrated mean


def skellam_delta_up(*, mean: Number, linf_sensitivity: int, epsilon: Number) -> float:
    """The smallest δ at ε of Skellam noise X on an integer that one unit changes by so much at most, rounded up.

    δ(ε) = Σ_k max(0, P(X = k) − e^ε·P(X = k + linf_sensitivity)), with P(X = k) = e^(−2·mean)·I_|k|(2·mean).

    **Guarantee**: at or above the exact value for every shift of up to `linf_sensitivity`. Proof:
    proofs/accounting/gaussian/skellam.md.

    Args:
        mean: Of each of the two Poisson variables whose difference is X: above 0, at most 2^28.
        linf_sensitivity: 1 or more.
        epsilon: 0 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(skellam_delta_up(mean=1, linf_sensitivity=1, epsilon=1), 6)
        0.029254

    References:
        [AKL21] for the mechanism; the curve is summed here instead of bounded by Rényi divergences.
    """
    return _delta_up(
        positive(mean, "mean"), positive_integer(linf_sensitivity, "linf_sensitivity"), nonnegative(epsilon, "epsilon")
    )


def skellam_epsilon_up(*, mean: Number, linf_sensitivity: int, delta: Number) -> Fraction | float:
    """The smallest ε at δ, rounded up: the inverse of `skellam_delta_up`.

    Edge cases: infinite where no ε is certified, as at δ = 0; 0 where δ(0) ≤ δ.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(skellam_epsilon_up(mean=20, linf_sensitivity=1, delta="1e-6")), 3)
        0.619
    """
    noise, shift = positive(mean, "mean"), positive_integer(linf_sensitivity, "linf_sensitivity")
    allowed = probability(delta, "delta")
    if _delta_up(noise, shift, Fraction(0)) <= allowed:
        return Fraction(0)
    found = smallest_dyadic(lambda epsilon: _delta_up(noise, shift, epsilon) <= allowed, guess=Fraction(1), bits=32)
    return math.inf if found is None else found


def skellam_mean(*, linf_sensitivity: int, epsilon: Number, delta: Number) -> Fraction:
    """The smallest mean of Skellam noise for (ε, δ), rounded up to a dyadic of 16 bits.

    **Guarantee**: at the returned mean `skellam_delta_up` is at most δ, so the noise has (ε, δ).

    Args:
        linf_sensitivity: The most by which one unit changes the integer: 1 or more.
        epsilon: 0 or more.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter is out of range, or the mean would be above 2^28; a coarser unit of the integers
            helps.

    Example:
        >>> round(float(skellam_mean(linf_sensitivity=1, epsilon=1, delta="1e-6")), 2)
        7.12
    """
    moved = positive_integer(linf_sensitivity, "linf_sensitivity")
    return _mean(moved, nonnegative(epsilon, "epsilon"), open_probability(delta, "delta"))


@lru_cache(maxsize=256)
def _mean(linf_sensitivity: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    guess = analytic_stddev(l2_sensitivity=linf_sensitivity, epsilon=epsilon, delta=delta) ** 2 / 2

    def suffices(mean: Fraction) -> bool:
        return mean > LARGEST_MEAN or _delta_up(mean, linf_sensitivity, epsilon) <= delta

    found = smallest_dyadic(suffices, guess=guess, bits=_BITS)
    if found is None or found > LARGEST_MEAN:
        requirement = "needs noise of a mean above 2^28; count in a coarser unit, or raise ε or δ"
        raise ParameterError("linf_sensitivity", linf_sensitivity, requirement)
    return found


@lru_cache(maxsize=256)
def _delta_up(mean: Fraction, linf_sensitivity: int, epsilon: Fraction) -> float:
    deviations = _DEVIATIONS
    while True:
        delta, beyond = _enclosed(mean, linf_sensitivity, epsilon, deviations)
        if beyond <= _NEGLIGIBLE * delta or deviations >= _LARGEST_DEVIATIONS:
            return delta
        deviations *= 2


def _enclosed(mean: Fraction, linf_sensitivity: int, epsilon: Fraction, deviations: int) -> tuple[float, float]:
    """δ from above, term by term, and how much of it stands for masses beyond the last."""
    masses = skellam_masses(mean, deviations)
    last = len(masses.low) - 1
    # k and k + linf_sensitivity are equally likely half-way, and before it the sum has no term.
    first = -(linf_sensitivity // 2)
    if -first > last:
        return 1.0, 0.0
    steps = np.arange(first, last + 1)
    lost = np.zeros(len(steps))
    known = steps + linf_sensitivity <= last
    lost[known] = masses.low[steps[known] + linf_sensitivity]
    gains = np.maximum(0.0, masses.high[np.abs(steps)] - exp_down(epsilon) * (1 - 2.0**-50) * lost)
    total = masses.total()[0]
    bound = (float(gains.sum()) * (1 + len(gains) * 2.0**-50) + masses.remainder) / total
    return as_delta(bound, linf_sensitivity / total), masses.remainder / total
