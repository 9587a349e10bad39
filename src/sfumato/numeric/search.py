"""Searches that end on the safe side: what they return was itself tested and found to hold."""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

_LARGEST: Final = Fraction(2**512)
_SMALLEST: Final = 1 / _LARGEST


def smallest_integer(holds: Callable[[int], bool], *, fails_at: int, holds_at: int) -> int:
    """The smallest integer above `fails_at` at which a monotone predicate holds.

    If the predicate is not monotone the result still holds, and its predecessor does not.

    Args:
        holds: False up to some integer, true after it; asked about log₂(holds_at − fails_at) times.
        fails_at: Where it is known to be false.
        holds_at: A larger integer, where it is known to be true.

    Example:
        >>> smallest_integer(lambda n: n * n >= 50, fails_at=0, holds_at=50)
        8
    """
    while holds_at - fails_at > 1:
        middle = (fails_at + holds_at) // 2
        if holds(middle):
            holds_at = middle
        else:
            fails_at = middle
    return holds_at


def smallest_dyadic(holds: Callable[[Fraction], bool], *, guess: Fraction, bits: int = 32) -> Fraction | None:
    """The smallest positive number of `bits` significant bits at which a monotone predicate holds.

    Short dyadic numbers keep exact arithmetic and exact sampling cheap. Numbers between 2^-512 and 2^512 are tried.

    Args:
        holds: False up to some number, true after it.
        guess: Where the search for the right octave starts.
        bits: The length of the result; its relative distance to the optimum is at most 2^(1-bits).

    Returns:
        A number at which the predicate was found to hold; None where it holds nowhere in the range.

    Example:
        >>> smallest_dyadic(lambda x: x * x >= 2, guess=Fraction(100), bits=8)
        Fraction(91, 64)
    """
    top = _octave_top(holds, guess)
    if top is None:
        return None
    unit = top / (1 << bits)
    mantissa = smallest_integer(lambda n: holds(n * unit), fails_at=1 << bits - 1, holds_at=1 << bits)
    return mantissa * unit


def _octave_top(holds: Callable[[Fraction], bool], guess: Fraction) -> Fraction | None:
    """The power of two at which the predicate holds, and at half of which it does not."""
    octave = guess.numerator.bit_length() - guess.denominator.bit_length()
    top = Fraction(2) ** octave
    while not holds(top):
        top *= 2
        if top > _LARGEST:
            return None
    while top > _SMALLEST and holds(top / 2):
        top /= 2
    return top
