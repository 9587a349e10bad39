"""How one unit can change a vector of integers of which L2 length and number of changed coordinates are known."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from typing import Final

_COORDINATES_OF_ANY_LENGTH: Final = 4  # every whole number is the sum of four squares

_PAIR: Final = 2

_LARGEST_SEARCHED: Final = 10**6  # squared; the next sum of two squares is at most about 90 lower

_NO_THREE_SQUARES: Final = 7  # modulo 8


def longest_move(l2_sensitivity: Fraction, l0_sensitivity: int) -> tuple[int, int]:
    """The squared length of a move of a vector of integers, and how many coordinates can change: both at most.

    The length is attained, but for moves of two coordinates longer than 1000.
    """
    square = floor(l2_sensitivity**2)
    return _largest_sum(square, l0_sensitivity), min(l0_sensitivity, square)


def attained_move(l2_sensitivity: Fraction, l0_sensitivity: int) -> tuple[int, int]:
    """The squared length of a move that exists, nearly the longest, and how many coordinates it changes at most."""
    square, coordinates = longest_move(l2_sensitivity, l0_sensitivity)
    if coordinates == _PAIR and square > _LARGEST_SEARCHED:
        side = isqrt(square) ** 2
        square = side + isqrt(square - side) ** 2
    return square, min(coordinates, _COORDINATES_OF_ANY_LENGTH)


@lru_cache(maxsize=4096)
def _largest_sum(most: int, count: int) -> int:
    """The largest sum of so many squares that is not above a limit; the limit itself where that is hard to say."""
    if count == 1:
        return isqrt(most) ** 2
    if count >= _COORDINATES_OF_ANY_LENGTH or (count == _PAIR and most > _LARGEST_SEARCHED):
        return most
    is_sum = _is_sum_of_two_squares if count == _PAIR else _is_sum_of_three_squares
    return next(square for square in range(most, -1, -1) if is_sum(square))


def _is_sum_of_two_squares(square: int) -> bool:
    return any(isqrt(square - side**2) ** 2 == square - side**2 for side in range(isqrt(square // 2) + 1))


def _is_sum_of_three_squares(square: int) -> bool:
    """All but 4^a (8b + 7), by Legendre's theorem."""
    while square and square % 4 == 0:
        square //= 4
    return square % 8 != _NO_THREE_SQUARES


MOST_SHAPES: Final = 16

_LONGEST: Final = 64  # squared; longer moves have more shapes than are worth composing


@lru_cache(maxsize=256)
def largest_shapes(squared_length: int, coordinates: int) -> tuple[tuple[int, ...], ...]:
    """Moves of at most that squared length and that many coordinates, such that none other is larger in every one.

    Up to order and sign: each is a falling sequence of positive integers. Without any where there are too many.

    Example:
        >>> largest_shapes(9, 2)
        ((3,), (2, 2))
    """
    if squared_length > _LONGEST:
        return ()
    found: list[tuple[int, ...]] = []
    for shape in _shapes(squared_length, coordinates, isqrt(squared_length)):
        if not any(_is_within(shape, other) for other in found):
            found.append(shape)
    kept = tuple(shape for shape in found if not any(_is_within(shape, other) for other in found if other != shape))
    return kept if len(kept) <= MOST_SHAPES else ()


def _shapes(squared_length: int, coordinates: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Falling sequences that cannot be made longer."""
    if coordinates == 0 or squared_length == 0:
        yield ()
        return
    for first in range(min(largest, isqrt(squared_length)), 0, -1):
        for rest in _shapes(squared_length - first**2, coordinates - 1, first):
            yield (first, *rest)


def _is_within(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    return len(small) <= len(large) and all(a <= b for a, b in zip(small, large, strict=False))
