"""How many baskets have each set of items: exact counts, for noise alone or of made-up baskets."""

from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.session.training.baskets import BasketCounts

Counts: TypeAlias = NDArray[np.int64]

MOST_SIZE: Final = 4
"""A set has at most so many items."""

MOST_SETS: Final = 1 << 19
"""So many sets are counted at most."""

_CHUNK: Final = 1 << 16  # different baskets that are counted at a time


@lru_cache(maxsize=2)
def candidates(items: int, size: int) -> tuple[tuple[int, ...], ...]:
    """All sets of 1 to `size` of some items, smaller ones first, then in the order of their items.

    Raises:
        ParameterError: They are too many.

    Example:
        >>> candidates(3, 2)
        ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    """
    number = sum(comb(items, members) for members in range(1, size + 1))
    if number > MOST_SETS:
        raise ParameterError("size", f"{number:,} sets", f"must leave at most {MOST_SETS:,} sets; take a smaller size")
    return tuple(one for members in range(1, size + 1) for one in combinations(range(items), members))


def itemset_counts(baskets: BasketCounts, items: int, size: int) -> Counts:
    """For each of `candidates` how many baskets have all of its items.

    Args:
        baskets: Different baskets, and how many there are of each.
        items: How many items there are.
        size: How many items a set has at most.
    """
    every = candidates(items, size)
    firsts = np.cumsum([0, *(comb(items, members) for members in range(1, size + 1))])
    found = np.zeros(len(every), dtype=np.int64)
    for start in range(0, len(baskets.counts), _CHUNK):
        part = BasketCounts(
            words=baskets.words[start : start + _CHUNK], counts=baskets.counts[start : start + _CHUNK]
        )  # fmt: skip
        has = np.stack([part.has(item) for item in range(items)], axis=1)
        for members in range(1, size + 1):
            found[firsts[members - 1] : firsts[members]] += _of_size(has, part.counts, members)
    return found


def _of_size(has: NDArray[np.bool_], counts: Counts, members: int) -> Counts:
    """How many have each set of so many items, in order: by the first item, then by sets of those behind it."""
    items = has.shape[1]
    if members == 1:
        return _added(has, counts)
    if items < members:
        return np.zeros(0, dtype=np.int64)
    behind = [_of_size(has[rows := has[:, item], item + 1 :], counts[rows], members - 1) for item in range(items)]
    return np.concatenate(behind)


def _added(has: NDArray[np.bool_], counts: Counts) -> Counts:
    """For each item how many have it: sums of whole numbers below 2^53, which doubles add up exactly."""
    total: Counts = np.rint(counts.astype(np.float64) @ has.astype(np.float64)).astype(np.int64)
    return total
