"""Exact discrete Gaussian noise without set-up, by rejection from a discrete Laplace law [CKS20]."""

from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Final

import numpy as np

from sfumato.noise.domain import LARGEST_SCALE, drawable_variance
from sfumato.noise.laws.universal_laplace import laplace_attempts, universal_laplace_one
from sfumato.noise.uniform.acceptance import exp_coin, exp_coins
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.rejection import accepted

_LARGEST: Final = 1000.0  # larger exponents are all alike to floats


def universal_gaussian(variance: Fraction, size: int) -> Integers:
    """As `discrete_gaussian`: `size` independent integers k with P(k) ∝ exp(−k²/(2·variance)), exactly.

    **Guarantee**: no table is built for the variance and none is looked up.
    Proof: proofs/noise/laws/discrete_gaussian.md.

    Example:
        >>> len(universal_gaussian(Fraction(100), 5))
        5
    """
    drawable_variance(variance)
    return accepted(lambda count: _attempts(variance, _proposal_scale(variance), count), size)


def universal_gaussian_one(variance: Fraction) -> int:
    """One draw of `universal_gaussian`, of a variance that is known to be drawable."""
    scale = Fraction(_proposal_scale(variance))
    center, factor = float(variance / scale), 0.5 / float(variance)
    while True:
        proposal = universal_laplace_one(scale)
        exponent = min((abs(proposal) - center) ** 2 * factor, _LARGEST)
        if exp_coin(exponent, partial(_exponent, proposal, variance, scale)):
            return proposal


def _proposal_scale(variance: Fraction) -> int:
    """Any whole scale is right, and about σ accepts most; above the largest one there is no discrete Laplace draw."""
    return min(isqrt(int(variance)) + 1, int(LARGEST_SCALE))


def _attempts(variance: Fraction, scale: int, count: int) -> Integers:
    """Discrete Laplace draws y, kept with probability exp(−(|y| − σ²/scale)² / (2σ²))."""
    proposals = laplace_attempts(Fraction(scale), count)
    distances = np.abs(proposals).astype(np.float64) - float(variance / scale)
    exponents = np.minimum(distances * distances * (0.5 / float(variance)), _LARGEST)
    kept: Integers = proposals[exp_coins(exponents, lambda i: _exponent(int(proposals[i]), variance, scale))]
    return kept


def _exponent(proposal: int, variance: Fraction, scale: int | Fraction) -> Fraction:
    return (abs(proposal) - variance / scale) ** 2 / (2 * variance)
