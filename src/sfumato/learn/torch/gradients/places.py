"""Which row takes which place of a batch's blocks, so that one row more changes two blocks at most.

Ghost clipping rounds the sum of a block, and rounding depends on all rows of the block. Were rows placed in the order
of the data, then a row that leaves would move all later ones up, into other blocks. In a random order it need not.

Proof: proofs/learn/torch/gradients/places.md.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.noise.entropy import random_words

Places: TypeAlias = npt.NDArray[np.int64]
"""Whole numbers: places of rows in the data."""


def shuffled(members: Places) -> Places:
    """The rows of a batch in an order drawn at random, all orders being equally likely.

    **Guarantee**: for a batch and the same batch with one row more, orders can be drawn together such that each has its
    distribution, the new row lies anywhere, and but for it only the row that had lain there lies elsewhere: at the end.
    So where an order is cut into blocks, at most two blocks differ. The order must stay secret.
    Proof: proofs/learn/torch/gradients/places.md.

    Args:
        members: The rows.

    Example:
        >>> sorted(shuffled(np.array([2, 3, 5])).tolist())
        [2, 3, 5]
    """
    keys = random_words(len(members))
    while len(np.unique(keys)) < len(keys):  # once in 2^64/n² times; all orders of different keys are equally likely
        keys = random_words(len(members))
    ordered: Places = members[np.argsort(keys)]
    return ordered


def blocks_of(members: Places, block: int) -> tuple[Places, npt.NDArray[np.bool_]]:
    """The rows of a batch in blocks, and which places of the blocks are used.

    Args:
        members: The rows, in the order of their places.
        block: How many places a block has.

    Returns:
        blocks × `block` rows, 0 where a place is not used; and whether it is. There is a block too many rather than
        none, so that an empty batch takes its time too.

    Example:
        >>> places, used = blocks_of(np.array([7, 8, 9]), 2)
        >>> places.tolist(), used.tolist()
        ([[7, 8], [9, 0]], [[True, True], [True, False]])
    """
    count = max(1, -(-len(members) // block))
    places = np.zeros(count * block, dtype=np.int64)
    places[: len(members)] = members
    used = np.arange(count * block) < len(members)
    return places.reshape(count, block), used.reshape(count, block)
