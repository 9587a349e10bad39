"""Tiny streams, and what moves the measurements of a strategy: worked out by trying everything."""

from collections.abc import Iterator
from itertools import combinations, pairwise, product

import numpy as np


def placements(horizon: int, most: int, separation: int) -> Iterator[tuple[int, ...]]:
    """All sets of at most so many ticks that are so far apart."""
    for times in range(1, most + 1):
        for ticks in combinations(range(horizon), times):
            if all(later - earlier >= separation for earlier, later in pairwise(ticks)):
                yield ticks


def largest_move(strategy: np.ndarray, most: int, separation: int, changes: tuple[int, ...], power: int) -> float:
    """The largest Σ|C·d|^power over all d that are one of the changes at the ticks of a placement, and else 0."""
    found = 0.0
    for ticks in placements(strategy.shape[1], most, separation):
        for added in product(changes, repeat=len(ticks)):
            moved = strategy[:, list(ticks)] @ np.array(added)
            found = max(found, float((np.abs(moved) ** power).sum()))
    return found


def nodes_of_a_tree(horizon: int) -> np.ndarray:
    """One row a node: the ticks below it."""
    rows = [
        [float(start <= tick < start + (1 << level)) for tick in range(horizon)]
        for level in range(horizon.bit_length())
        for start in range(0, horizon - (1 << level) + 1, 1 << level)
    ]
    return np.array(rows)
