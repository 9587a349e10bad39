"""Exact uniform integers, and the loop of rejection behind every sampler.

Random bits are multiplied or masked, and what would favor some values is discarded.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.integers import SAFE, Integers, narrow, python_integers

BATCH: Final = 1 << 15
"""How many draws are made at a time: arrays of this size stay in the processor's cache."""

_SMALL: Final = 1 << 12  # up to here 16 random bits do, and at most one draw in 16 is discarded
_SPARE: Final = 32  # bits beyond those of n: one draw in 2^25 or less is discarded


def uniform_below(n: int, size: int) -> Integers:
    """`size` independent uniform integers in [0, n): P(k) = 1/n, exactly.

    Args:
        n: Above 0, of any size.
        size: How many, 0 or more.

    Returns:
        int64 for n ≤ 2^62, Python integers (dtype object) if some value needs them.

    Raises:
        ParameterError: n or size is out of range.

    Example:
        >>> bool((uniform_below(6, 100) < 6).all())
        True
    """
    if n < 1:
        raise ParameterError("n", n, "must be at least 1")
    return accepted(lambda count: _below(n, count), size)


def uniform_one_below(n: int) -> int:
    """One draw of `uniform_below`."""
    size = (n.bit_length() + _SPARE) // 8
    bits = 8 * size
    while True:
        product = n * int.from_bytes(entropy.random_bytes(size))
        low = product & (1 << bits) - 1
        if low >= n or low >= (1 << bits) % n:
            return product >> bits


def uniform_below_each(bounds: Integers) -> Integers:
    """Independent integers, the i-th uniform in [0, bounds[i]), exactly: masked rejection, element by element.

    Args:
        bounds: Above 0; int64, or Python integers of any size, which are slower.

    Raises:
        ParameterError: A bound is below 1.

    Example:
        >>> uniform_below_each(np.array([1, 1, 1])).tolist()
        [0, 0, 0]
    """
    if (bounds < 1).any():
        raise ParameterError("bounds", "an array", "must hold numbers of at least 1")
    if bounds.dtype == object:
        return narrow(python_integers(uniform_one_below(int(bound)) for bound in bounds))
    masks = bounds - 1
    for shift in (1, 2, 4, 8, 16, 32):  # as many ones as bound − 1 has bits
        masks |= masks >> shift
    draws = np.zeros(len(bounds), dtype=np.int64)
    missing = np.arange(len(bounds))
    while len(missing):
        words = entropy.random_words(len(missing)).view(np.int64) & masks[missing]
        fits = words < bounds[missing]
        draws[missing[fits]] = words[fits]
        missing = missing[~fits]
    return draws


def scaled(words: NDArray[np.unsignedinteger], n: int, bits: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """⌊n·x/2^bits⌋ of random x below 2^bits, and which to keep: then each value has equally many x [Lem19].

    The words must have room for n·2^bits.
    """
    products = words * words.dtype.type(n)
    low = products & words.dtype.type((1 << bits) - 1)
    return products >> words.dtype.type(bits), low >= (1 << bits) % n


def accepted(attempt: Callable[[int], Integers], size: int) -> Integers:
    """The first `size` accepted values.

    Attempts are independent and alike, so the first `size` that succeed are independent draws of the accepted
    distribution; how many attempts are made at once depends on earlier successes and does not change that.

    Args:
        attempt: Makes the given number of independent attempts and returns the accepted values, in order.
        size: How many to return, 0 or more.

    Raises:
        ParameterError: `size` is negative.
    """
    if size_of(size) == 0:
        return attempt(0)
    batches, found, tried, batch = [], 0, 0, min(size, BATCH)
    while found < size:
        batches.append(attempt(batch)[: size - found])
        found += len(batches[-1])
        tried += batch
        batch = min((size - found) * tried // max(found, 1) + 8, BATCH)
    return narrow(np.concatenate(batches))


def size_of(size: int) -> int:
    """How many draws are asked for.

    Raises:
        ParameterError: It is negative.
    """
    if size < 0:
        raise ParameterError("size", size, "must be 0 or more")
    return size


def _below(n: int, count: int) -> Integers:
    """What is left of `count` random numbers: few are discarded where n is small, up to half where it is not."""
    if n <= _SMALL:
        values, kept = scaled(entropy.random_halfwords(count).astype(np.uint32), n, 16)
        return values[kept].astype(np.int64)
    mask = (1 << (n - 1).bit_length()) - 1
    if n <= SAFE:
        words = (entropy.random_words(count) & np.uint64(mask)).view(np.int64)
        return words[words < n]
    width = (mask.bit_length() + 7) // 8
    data = entropy.random_bytes(width * count)
    candidates = (int.from_bytes(data[start : start + width]) & mask for start in range(0, len(data), width))
    return python_integers(candidate for candidate in candidates if candidate < n)
