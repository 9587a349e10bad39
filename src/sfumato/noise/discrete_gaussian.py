"""Exact discrete Gaussian noise, by rejection from a discrete Laplace law [CKS20]."""

from fractions import Fraction
from math import isqrt

from sfumato.errors import ParameterError
from sfumato.noise.bernoulli import bernoulli_exp
from sfumato.noise.discrete_laplace import discrete_laplace
from sfumato.noise.domain import LARGEST_SCALE, SMALLEST_SCALE
from sfumato.noise.integers import SAFE, Integers, largest
from sfumato.noise.rejection import accepted


def discrete_gaussian(variance: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) ∝ exp(−k²/(2·variance)), exactly.

    Args:
        variance: A rational between 1/1000² and 2^100: the square of the parameter σ. The variance of the law itself
            is at most this, and very nearly equal from σ = 1 on.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit, which at σ = 2^50 has a chance below e^−10^7.

    Raises:
        ParameterError: The variance or the size lies outside.

    Example:
        >>> len(discrete_gaussian(Fraction(100), 5))
        5

    References:
        [CKS20] Algorithm 3.
    """
    if not SMALLEST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        raise ParameterError("variance", variance, "its square root must lie between 1/1000 and 2^50 lattice steps")
    # Any whole scale is right, and about σ accepts most; above the largest one there is no discrete Laplace draw.
    scale = min(isqrt(int(variance)) + 1, int(LARGEST_SCALE))
    return accepted(lambda count: _attempts(variance, scale, count), size)


def _attempts(variance: Fraction, scale: int, count: int) -> Integers:
    """Discrete Laplace draws y, kept with probability exp(−(|y| − σ²/scale)² / (2σ²))."""
    proposals = discrete_laplace(Fraction(scale), count)
    numerator, denominator = variance.as_integer_ratio()
    squares = _squared_distances(abs(proposals), denominator * scale, numerator)
    kept: Integers = proposals[bernoulli_exp(squares, 2 * numerator * denominator * scale * scale)]
    return kept


def _squared_distances(values: Integers, factor: int, center: int) -> Integers:
    """The exact (values·factor − center)²."""
    if (largest(values) * factor + center) ** 2 > SAFE or factor > SAFE:
        values = values.astype(object)
    distances: Integers = values * factor - center
    return distances**2
