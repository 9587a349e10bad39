"""The error of weighted sums of independent noises, which have no closed law: variances and certain half-widths."""

from math import sqrt
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.distributions import discrete_laplace_variance, failure_probability
from sfumato.numeric.rationals import Number
from sfumato.numeric.rounding import RELATIVE_MARGIN, float_up, log_up

Floats: TypeAlias = NDArray[np.float64]
Noise: TypeAlias = Laplace | Gaussian

_TILTS: Final = np.linspace(0.02, 0.98, 49)  # every one gives a bound; the best of them is within 1% of the best of all


def variance(noise: Noise) -> float:
    """Of one noise: exact for Laplace, the parameter σ², which is at least the variance, for Gaussian."""
    if isinstance(noise, Gaussian):
        return float(noise.stddev) ** 2
    return discrete_laplace_variance(noise.scale) if noise.scale else 0.0


def half_widths(weights: Floats, noise: Noise, *, confidence: Number) -> Floats:
    """For each row w of weights a t with P(|Σ w_i·noise_i| ≤ t) ≥ confidence: never too small.

    Exact where a row has one weight; else Chernoff's bound, from a moment generating function above that of the
    discrete noise: exp(s²σ²/2) for Gaussian, 1/(1 − s²·scale²) for Laplace. At 95% confidence and more it is about
    twice too large at most. Proof: proofs/mechanisms/matrix/matrix.md.

    Args:
        weights: Queries × noises.
        noise: The mechanism that draws the noises; its ε is above 0.
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: The confidence lies outside.

    Example:
        >>> weights = np.array([[1.0, 0.0], [1.0, 1.0]])
        >>> half_widths(weights, Laplace(l1_sensitivity=1, epsilon="0.1"), confidence="0.95").round(1).tolist()
        [30.0, 71.2]
    """
    log_ratio = float_up(log_up(2 / failure_probability(confidence)))
    largest = np.abs(weights).max(axis=1)
    single = largest * float(noise.accuracy(confidence))
    several = (
        _gaussian(weights, noise, log_ratio) if isinstance(noise, Gaussian) else _laplace(weights, noise, log_ratio)
    )
    bounds: Floats = np.where(np.count_nonzero(weights, axis=1) <= 1, single, several) * (1 + RELATIVE_MARGIN)
    return bounds


def _gaussian(weights: Floats, noise: Gaussian, log_ratio: float) -> Floats:
    norms = np.sqrt((weights**2).sum(axis=1))
    bounds: Floats = norms * (float(noise.stddev) * sqrt(2 * log_ratio))
    return bounds


def _laplace(weights: Floats, noise: Laplace, log_ratio: float) -> Floats:
    """The least (ln(2/failure) − Σ ln(1 − (tilt·relative weight)²))/tilt, times the scale and the largest weight."""
    largest = np.abs(weights).max(axis=1)
    squares = (weights / np.where(largest > 0, largest, 1)[:, np.newaxis]) ** 2
    of_tilts = [(log_ratio - np.log1p(-squares * tilt**2).sum(axis=1)) / tilt for tilt in _TILTS]
    bounds: Floats = np.min(of_tilts, axis=0) * largest * float(noise.scale)
    return bounds
