"""Whole numbers in arrays, and the scales whose noise they hold.

Arrays are int64 while every value fits, Python integers beyond, and never hold a wrapped number.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.rounding import dyadic_up

SMALLEST_SCALE: Final = Fraction(1, 1000)
LARGEST_SCALE: Final = Fraction(1 << 50)
Integers: TypeAlias = NDArray[Any]
"""A one-dimensional array of int64, or of Python integers (dtype object) where those do not suffice."""
SAFE: Final = 1 << 62
"""int64 arithmetic is used while operands and results stay within ±2^62: one bit of room for one addition."""

_LONGEST_TERM: Final = 1 << 50  # times the blocks of a geometric draw, and as a divisor, still machine integers
_DIGITS: Final = 24


def drawable(scale: Fraction, name: str) -> Fraction:
    """The scale itself, if it lies between 1/1000 and 2^50 lattice steps.

    Below, the noise is 0 except with probability e^−1000, and above, an answer no longer fits an int64.

    Raises:
        ParameterError: The scale is out of range.
    """
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        requirement = (
            "must lie between 1/1000 and 2^50 times the resolution; change ε, the sensitivity or the resolution"
        )
        raise ParameterError(name, scale, requirement)
    return scale


def drawable_variance(variance: Fraction) -> Fraction:
    """The variance itself, if its square root is `drawable`.

    Raises:
        ParameterError: The variance is out of range.
    """
    if not SMALLEST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        raise ParameterError(
            "variance", variance, "its square root must lie between 1/1000 and 2^50 times the resolution"
        )
    return variance


def short_scale(scale: Fraction) -> Fraction:
    """The scale itself if both of its terms are at most 2^50, otherwise the next larger one of 23 or 24 binary digits.

    Samplers calculate with the terms of a scale, in machine integers while those are short. More noise than was asked
    for only adds privacy, and this is less than 2^−22 of it.

    Example:
        >>> short_scale(Fraction(10, 3)), short_scale(1 / Fraction("0.03333333333333333"))
        (Fraction(10, 3), Fraction(7864321, 262144))
    """
    if max(scale.as_integer_ratio()) <= _LONGEST_TERM:
        return scale
    return dyadic_up(scale, bits=_DIGITS)


def python_integers(values: Iterable[int]) -> Integers:
    """Python integers of any size as an array; every operation on it is exact."""
    return np.array(list(values), dtype=object)


def narrow(values: Integers) -> Integers:
    """The same numbers as int64 if all of them fit, otherwise unchanged.

    Example:
        >>> narrow(python_integers([1, 2])).dtype, narrow(python_integers([1, 2**63])).dtype
        (dtype('int64'), dtype('O'))
    """
    if values.dtype != object:
        return values
    try:
        return values.astype(np.int64)
    except OverflowError:
        return values


def add(first: Integers, second: Integers) -> Integers:
    """The exact sums, as int64 if all sums fit, otherwise as Python integers.

    The type of the result is a function of the sums alone, so it reveals nothing about a noisy sum that its value does
    not.

    Example:
        >>> add(np.array([2**63 - 1]), np.array([1])).tolist() == [2**63]
        True
    """
    if object not in (first.dtype, second.dtype):
        total: Integers = first + second
        if _cannot_wrap(first, second):
            return total
        wrapped = ((first ^ total) & (second ^ total)) < 0  # both operands have the sign that the sum lost
        if not wrapped.any():
            return total
    return narrow(first.astype(object) + second.astype(object))


def add_noise(values: Integers, noise: Integers) -> Integers:
    """`add`, in the memory of the noise where the sums fit: fresh memory costs more than the sums.

    Args:
        values: Left as they are.
        noise: Drawn for this sum alone; lost.

    Example:
        >>> add_noise(np.array([5, 7]), np.array([-1, 1]))
        array([4, 8])
    """
    if object not in (values.dtype, noise.dtype) and _cannot_wrap(values, noise):
        return np.add(values, noise, out=noise)
    return add(values, noise)


def multiply_add(factor: int, values: Integers, offset: Integers) -> Integers:
    """The exact `factor · values + offset`, for a whole `factor` ≥ 0."""
    if factor * (largest(values) + 1) + largest(offset) > SAFE:
        values, offset = values.astype(object), offset.astype(object)
    return values * factor + offset


def floor_divide(values: Integers, divisor: int) -> Integers:
    """The exact floors of `values / divisor`, for a whole `divisor` ≥ 1 of any size."""
    return (values.astype(object) if divisor > SAFE else values) // divisor


def largest(values: Integers) -> int:
    """The largest absolute value; 0 of an empty array."""
    return max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0


def _cannot_wrap(first: Integers, second: Integers) -> bool:
    """Whether sums of int64 are sure to fit: four passes that write nothing."""
    return largest(first) + largest(second) < 1 << 63
