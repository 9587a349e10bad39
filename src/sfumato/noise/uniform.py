"""Exact uniform integers by masked rejection: take just enough random bits, discard what is too large."""

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.integers import SAFE, Integers, python_integers
from sfumato.noise.rejection import accepted


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
