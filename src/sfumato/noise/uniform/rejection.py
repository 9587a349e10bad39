"""Rejection sampling over arrays: the one loop behind every sampler here.

Attempts are independent and alike, so the first `size` that succeed are independent draws of the accepted law; how
many attempts are made at once depends on earlier successes and does not change that.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.uniform.integers import Integers, narrow

BATCH: Final = 1 << 15
"""How many draws are made at a time: arrays of this size stay in the processor's cache."""


def accepted(attempt: Callable[[int], Integers], size: int) -> Integers:
    """The first `size` accepted values.

    Args:
        attempt: Makes the given number of independent attempts and returns the accepted values, in order.
        size: How many to return, 0 or more.

    Raises:
        ParameterError: `size` is negative.
    """
    if size_of(size) == 0:
        return attempt(0)
    batches, found, tried, batch = [], 0, 0, min(size, BATCH)
    while found < size:
        batches.append(attempt(batch)[: size - found])
        found += len(batches[-1])
        tried += batch
        batch = min((size - found) * tried // max(found, 1) + 8, BATCH)
    return narrow(np.concatenate(batches))


def size_of(size: int) -> int:
    """How many draws are asked for.

    Raises:
        ParameterError: It is negative.
    """
    if size < 0:
        raise ParameterError("size", size, "must be 0 or more")
    return size
