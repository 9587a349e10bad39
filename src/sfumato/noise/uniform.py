"""Exact uniform integers by masked rejection: take just enough random bits, discard what is too large."""

from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.integers import SAFE, Integers, python_integers
from sfumato.noise.rejection import accepted

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


def _below(n: int, count: int) -> Integers:
    """What is left of `count` words of as many bits as n − 1 has."""
    mask = (1 << (n - 1).bit_length()) - 1
    if n <= SAFE:
        words = (entropy.random_words(count) & np.uint64(mask)).view(np.int64)
        return words[words < n]
    width = (mask.bit_length() + 7) // 8
    data = entropy.random_bytes(width * count)
    candidates = (int.from_bytes(data[start : start + width]) & mask for start in range(0, len(data), width))
    return python_integers(candidate for candidate in candidates if candidate < n)


def uniform_one_below(n: int) -> int:
    """One draw of `uniform_below`, by multiplication instead of a mask: n·x/2^bits of a random x [Lem19].

    Every result has equally many x once those whose low part is below 2^bits mod n are discarded.
    """
    size = (n.bit_length() + _SPARE) // 8
    bits = 8 * size
    while True:
        product = n * int.from_bytes(entropy.random_bytes(size))
        low = product & (1 << bits) - 1
        if low >= n or low >= (1 << bits) % n:
            return product >> bits
