"""Exact coins: probability a rational, or a number known by its bounds."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.acceptance import Booleans, below
from sfumato.noise.uniform.rejection import size_of

_BITS: Final = 16  # of U that decide all but one coin in 2^16


def bernoulli(probability: Fraction, size: int) -> Booleans:
    """`size` independent coins, each true with exactly `probability`.

    Args:
        probability: A rational between 0 and 1, both included.
        size: How many, 0 or more.

    Raises:
        ParameterError: The probability or the size lies outside.

    Example:
        >>> bernoulli(Fraction(1), 3).tolist(), bernoulli(Fraction(0), 2).tolist()
        ([True, True, True], [False, False])
    """
    if not 0 <= probability <= 1:
        raise ParameterError("probability", probability, "must lie between 0 and 1")
    scaled = probability * (1 << _BITS)
    threshold, rest = int(scaled), scaled - int(scaled)
    if rest == 0:
        return _leading(size) < threshold
    return _coins(threshold, size, lambda count: bernoulli(rest, count))


def bernoulli_within(bounds: Callable[[int], tuple[int, int]], size: int) -> Booleans:
    """`size` independent coins, each true with the one probability p that the bounds enclose, exactly.

    Args:
        bounds: Of a precision, integers around p·2^precision that draw together as the precision grows; p must not be
            a multiple of 2^−16, nor so near one that no precision in reach tells them apart (but 0).
        size: How many, 0 or more.

    Raises:
        ParameterError: The size is negative.

    Example:
        >>> from sfumato.numeric.enclosures import exp_bounds
        >>> len(bernoulli_within(lambda bits: exp_bounds(Fraction(1), bits), 5))
        5
    """
    precision = 2 * _BITS
    lower, upper = bounds(precision)
    while lower >> precision - _BITS != upper >> precision - _BITS:
        precision += _BITS
        lower, upper = bounds(precision)
    threshold = lower >> precision - _BITS
    return _coins(threshold, size, lambda count: [below(threshold, _BITS, bounds) for _ in range(count)])


def _leading(size: int) -> NDArray[np.uint16]:
    """The first bits of `size` uniform numbers."""
    return entropy.random_halfwords(size_of(size))


def _coins(threshold: int, size: int, decide: Callable[[int], Any]) -> Booleans:
    """Coins settled by the first bits of U, but for those that equal the threshold's: `decide` tosses these."""
    leading = _leading(size)
    coins: Booleans = leading < threshold
    ties = np.flatnonzero(leading == threshold)
    if len(ties):
        coins[ties] = decide(len(ties))
    return coins
