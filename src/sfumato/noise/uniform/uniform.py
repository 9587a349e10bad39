"""Exact uniform integers: multiply or mask random bits, and discard what would favour some values."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.integers import SAFE, Integers, python_integers
from sfumato.noise.uniform.rejection import accepted

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
        ParameterError: n or size lies outside.

    Example:
        >>> bool((uniform_below(6, 100) < 6).all())
        True
    """
    if n < 1:
        raise ParameterError("n", n, "must be at least 1")
    return accepted(lambda count: _below(n, count), size)


def scaled(words: NDArray[np.unsignedinteger], n: int, bits: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """⌊n·x/2^bits⌋ of random x below 2^bits, and which to keep: then each value has equally many x [Lem19].

    The words must have room for n·2^bits.
    """
    products = words * words.dtype.type(n)
    low = products & words.dtype.type((1 << bits) - 1)
    return products >> words.dtype.type(bits), low >= (1 << bits) % n


def _below(n: int, count: int) -> Integers:
    """What is left of `count` random numbers: few are discarded where n is small, up to half where it is not."""
    if n <= _SMALL:
        values, kept = scaled(entropy.random_halfwords(count).astype(np.uint32), n, 16)
        return values[kept].astype(np.int64)
    if n <= SAFE:
        mask = (1 << (n - 1).bit_length()) - 1
        words = (entropy.random_words(count) & np.uint64(mask)).view(np.int64)
        return words[words < n]
    return _large_below(n, count)


def _large_below(n: int, count: int) -> Integers:
    mask = (1 << (n - 1).bit_length()) - 1
    width = (mask.bit_length() + 7) // 8
    data = entropy.random_bytes(width * count)
    candidates = (int.from_bytes(data[start : start + width]) & mask for start in range(0, len(data), width))
    return python_integers(candidate for candidate in candidates if candidate < n)


def uniform_one_below(n: int) -> int:
    """One draw of `uniform_below`."""
    size = (n.bit_length() + _SPARE) // 8
    bits = 8 * size
    while True:
        product = n * int.from_bytes(entropy.random_bytes(size))
        low = product & (1 << bits) - 1
        if low >= n or low >= (1 << bits) % n:
            return product >> bits
