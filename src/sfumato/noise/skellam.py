"""Exact Skellam integers: the difference of two Poisson ones, a discrete noise that adds up to itself."""

from fractions import Fraction

from sfumato.noise.integers import Integers
from sfumato.noise.poisson import poisson


def skellam(mean: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = e^(−2·mean)·I_|k|(2·mean), exactly; the variance is 2·mean.

    Args:
        mean: The mean of each of the two Poisson integers: a rational between 0 and 2^40.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> skellam(Fraction(0), 2).tolist(), len(skellam(Fraction(5, 2), 100))
        ([0, 0], 100)

    References:
        [AKL21].
    """
    return poisson(mean, size) - poisson(mean, size)
