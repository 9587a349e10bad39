"""Distances under planar Laplace noise: of the continuous distribution, and of the one on whole places."""

from fractions import Fraction
from math import exp, pi, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from sfumato.numeric.rationals import Number, open_probability
from sfumato.numeric.rounding import deflated, inflated

_LARGEST_SUMMED: Final = 24  # scales up to which the places are summed one by one
_FARTHEST: Final = 40  # scales, beyond which hardly any place lies
_HALF_DIAGONAL: Final = sqrt(0.5)


def planar_quantile(confidence: float) -> float:
    """The distance, in scales, within which the continuous noise stays with this probability.

    (1 + r)·e^(−r) = 1 − confidence, so r = −1 − W₋₁(−(1 − confidence)/e) [ABCP13].

    Example:
        >>> round(planar_quantile(0.5), 5), round(planar_quantile(0.95), 6)
        (1.67835, 4.743865)
    """
    return _quantile_of_tail(1 - confidence)


def planar_half_width(scale: Fraction, confidence: Number) -> float:
    """A distance in cells within which the noise on whole places stays with at least this probability, rounded up.

    Up to scale 24 the smallest one, found by summing over places. Above, squares around places compare the sum with the
    integral: P(|z| > R) ≤ e^(√½/scale)·(1 + ρ)·e^(−ρ), ρ = (R − √½)/scale.

    Args:
        scale: In cells.
        confidence: Above 0 and below 1.

    Raises:
        ParameterError: The confidence is out of range.

    Example:
        >>> round(planar_half_width(Fraction(1000), "0.95")), planar_half_width(Fraction(1, 100), "0.95")
        (4745, 0.0)

    References:
        [ABCP13]
    """
    missed = deflated(float(1 - open_probability(confidence, "confidence")))
    width = float(scale)
    if scale <= _LARGEST_SUMMED and missed > exp(-_FARTHEST / 2):
        distances, tails = grid_tails(width)
        return float(distances[int(np.argmax(tails <= missed))])
    reached = _quantile_of_tail(missed * exp(-_HALF_DIAGONAL / width))
    return inflated(reached * width + _HALF_DIAGONAL)


def grid_tails(scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances of whole places, ascending, and the probability to lie beyond each, rounded up.

    Args:
        scale: In cells; the number of places summed grows with its square.

    Example:
        >>> distances, tails = grid_tails(0.5)
        >>> distances[:3].round(3).tolist(), float(tails[0].round(3))
        ([0.0, 1.0, 1.414], 0.498)
    """
    reach = int(_FARTHEST * scale) + 2
    places = np.arange(reach + 1)
    squares = places[:, None] ** 2 + places[None, :] ** 2
    counts = np.where(places == 0, 1, 2)
    inside = squares <= reach**2  # a whole disk, so that what is missing lies beyond it
    found, where = np.unique(squares[inside], return_inverse=True)
    many = np.bincount(where, weights=(counts[:, None] * counts[None, :])[inside])
    distances = np.sqrt(found.astype(np.float64))
    masses = many * np.exp(-distances / scale)
    beyond = 2 * pi * (scale + reach + 1) * scale * exp((2 * _HALF_DIAGONAL - reach) / scale)
    total = float(masses.sum())
    tails = (np.cumsum(masses[::-1])[::-1] - masses + beyond) / total
    return distances, np.asarray(inflated(1.0) * tails + 1e-15)


def planar_mean(scale: float) -> float:
    """The mean distance in cells of the noise on whole places; 2 scales, in the limit of small cells.

    Example:
        >>> round(planar_mean(20.0) / 20, 4)
        2.0
    """
    distances, tails = grid_tails(scale)
    masses = -np.diff(np.concatenate([[1.0], tails]))
    return float((distances * masses).sum())


def _quantile_of_tail(missed: float) -> float:
    return float(-1 - lambertw(-missed / np.e, -1).real)
