"""How a vector of integers can move: the worst moves of a given length."""

from collections.abc import Iterator
from functools import lru_cache
from math import isqrt
from typing import Final

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
