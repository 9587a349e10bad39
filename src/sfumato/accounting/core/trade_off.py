"""Trade-off functions: how seldom a test can miss one database, given how often it falsely reports it.

f(a) is the smallest type II error of all tests between two neighbors whose type I error is at most a. The larger f,
the better the privacy; 1 - a is perfect. All are decreasing and convex (proof: proofs/accounting/core/trade_off.md).
"""

from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats
from sfumato.numeric.divergences import Probabilities, distributions
from sfumato.numeric.rationals import Number, nonnegative, probability
from sfumato.numeric.rounding import RELATIVE_MARGIN, exp_up, float_up

Array: TypeAlias = NDArray[np.float64]

_ROUNDING: Final = 1e-13  # of the difference of 1, δ and e^ε a, each at most 1 where it matters


def gaussian_trade_off(type_one_errors: ArrayLike, *, mu: Number) -> Array:
    """The trade-off function of μ-Gaussian differential privacy, G_μ(a) = Φ(Φ⁻¹(1 - a) - μ), rounded down.

    **Guarantee**: at or below the exact curve, by at most 1e-9 of it where it is above 1e-300.

    Args:
        type_one_errors: Any shape, between 0 and 1.
        mu: 0 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> gaussian_trade_off([0.05, 0.5], mu=1).round(6).tolist()
        [0.740489, 0.158655]

    References:
        [DRS22] Definition 2.6.
    """
    errors, distance = _errors(type_one_errors), float_up(nonnegative(mu, "mu"))
    with np.errstate(invalid="ignore"):  # Φ⁻¹ is infinite at the ends, where the values are set below
        place = -ndtri(errors) - distance
        lower = ndtr(place - RELATIVE_MARGIN * (1 + np.abs(place) + distance)) * (1 - RELATIVE_MARGIN)
    return np.where(errors == 0, 1.0, np.where(errors == 1, 0.0, lower))


def approx_trade_off(type_one_errors: ArrayLike, *, epsilon: Number, delta: Number = 0) -> Array:
    """The trade-off function of (ε, δ), max(0, 1 - δ - e^ε a, e^-ε (1 - δ - a)), rounded down.

    **Guarantee**: at or below the exact curve, by at most about 1e-12.

    Args:
        type_one_errors: Any shape, between 0 and 1.
        epsilon: 0 or more.
        delta: Between 0 and 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> approx_trade_off([0.0, 0.25, 0.5, 1.0], epsilon=0, delta="0.25").round(6).tolist()
        [0.75, 0.5, 0.25, 0.0]

    References:
        [WZ10], [KOV15]
    """
    return profile_trade_off(
        type_one_errors,
        epsilons=[float_up(nonnegative(epsilon, "epsilon"))],
        deltas=[float_up(probability(delta, "delta"))],
    )


def profile_trade_off(type_one_errors: ArrayLike, *, epsilons: ArrayLike, deltas: ArrayLike) -> Array:
    """The trade-off function of a privacy profile, known at some points: the largest of those of all (εᵢ, δᵢ).

    **Guarantee**: if each (εᵢ, δᵢ) holds, as those certified by an accountant do, no test has a smaller type II error.
    Rounded down. With all points of the exact profile it is the exact trade-off function.

    Args:
        type_one_errors: Any shape, between 0 and 1.
        epsilons: 0 or more, in one dimension.
        deltas: Between 0 and 1, one for each ε.

    Raises:
        ParameterError: Lengths differ, there is no point, or a value is out of range.

    Example:
        >>> profile_trade_off([0.1], epsilons=[0, 1], deltas=[0.3, 0.1]).round(4).tolist()
        [0.6282]

    References:
        [DRS22] Proposition 2.12.
    """
    errors = _errors(type_one_errors)
    losses, misses = _points(epsilons, deltas)
    lower = np.zeros_like(errors)
    for epsilon, delta in zip(losses, misses, strict=True):
        weight = exp_up(Fraction(float(epsilon)))
        steep = 1 - delta - np.multiply(weight, errors, out=np.zeros_like(errors), where=errors > 0)
        flat = (1 - delta - errors) / weight
        lower = np.maximum(lower, np.maximum(steep, flat * (1 - RELATIVE_MARGIN)) - _ROUNDING)
    return lower


def finite_trade_off(type_one_errors: ArrayLike, p: Probabilities, q: Probabilities) -> Array:
    """The trade-off function T(p, q) of a finite pair of distributions, to the rounding of floats.

    Edge cases: p and q are not exchanged; of neighbors, T(q, p) may be smaller.

    Args:
        type_one_errors: Probabilities of rejecting p where it is true; any shape, between 0 and 1.
        p: The probability of each output on one database.
        q: The same on its neighbor.

    Raises:
        ParameterError: A value lies outside, or the vectors are not distributions over the same outcomes.

    Example:
        >>> finite_trade_off([0.25, 0.5], ["3/4", "1/4"], ["1/4", "3/4"]).round(6).tolist()
        [0.25, 0.166667]

    References:
        [NP33]
    """
    corners = trade_off_corners(p, q)
    places, values = (np.array([float(corner[side]) for corner in corners]) for side in (0, 1))
    curve: Array = np.interp(_errors(type_one_errors), places, values)
    return curve


def trade_off_corners(p: Probabilities, q: Probabilities) -> tuple[tuple[Fraction, Fraction], ...]:
    """The corners (type I, type II error) of T(p, q), exact, from the left; between them it is straight.

    The best tests reject the outcomes with the largest q/p first [NP33].

    Raises:
        ParameterError: The vectors are not distributions over the same outcomes.

    Example:
        >>> trade_off_corners(["3/4", "1/4"], ["1/4", "3/4"])
        ((Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 1), Fraction(0, 1)))
    """
    corners = [(Fraction(0), Fraction(1))]
    for a, b in sorted(distributions(p, q), key=lambda pair: pair[0] / (pair[0] + pair[1]) if any(pair) else 1):
        kept, missed = corners[-1]
        corners.append((kept + a, missed - b))
    return tuple(
        corner for number, corner in enumerate(corners) if number + 1 == len(corners) or corners[number + 1] != corner
    )


def _errors(type_one_errors: ArrayLike) -> Array:
    errors = floats(type_one_errors, "type_one_errors")
    if not ((errors >= 0) & (errors <= 1)).all():
        raise ParameterError("type_one_errors", "an array", "must lie between 0 and 1")
    return errors


def _points(epsilons: ArrayLike, deltas: ArrayLike) -> tuple[Array, Array]:
    losses, misses = floats(epsilons, "epsilons"), floats(deltas, "deltas")
    if losses.ndim != 1 or losses.shape != misses.shape or not losses.size:
        raise ParameterError("deltas", "an array", "must hold one δ for each ε, and at least one")
    if not ((losses >= 0) & np.isfinite(losses)).all():
        raise ParameterError("epsilons", "an array", "must be finite, and 0 or more")
    if not ((misses >= 0) & (misses <= 1)).all():
        raise ParameterError("deltas", "an array", "must lie between 0 and 1")
    return losses, misses
