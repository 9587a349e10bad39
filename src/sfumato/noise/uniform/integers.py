"""Whole numbers in arrays: int64 while every value fits, Python integers beyond, and never a wrapped one."""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[Any]
"""A one-dimensional array of int64, or of Python integers (dtype object) where those do not suffice."""

SAFE: Final = 1 << 62
"""int64 arithmetic is used while operands and results stay within ±2^62: one bit of room for one addition."""


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

    The type of the result is a function of the sums alone, so it tells of a noisy sum nothing that its value does not.

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


def _cannot_wrap(first: Integers, second: Integers) -> bool:
    """Whether sums of int64 are sure to fit: four passes that write nothing."""
    return largest(first) + largest(second) < 1 << 63


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
