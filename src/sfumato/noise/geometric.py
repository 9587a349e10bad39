"""Exact geometric integers with ratio 1/e: the number of blocks in a discrete Laplace draw."""

import numpy as np

from sfumato.noise.bernoulli import bernoulli_exp
from sfumato.noise.integers import Integers


def geometric(size: int) -> Integers:
    """`size` independent integers v ≥ 0 with P(v) = (1 − 1/e)·e^(−v): true coins of 1/e before the first false one.

    Example:
        >>> bool((geometric(100) >= 0).all())
        True
    """
    successes = np.zeros(size, dtype=np.int64)
    active = np.arange(size)
    while len(active):
        active = active[bernoulli_exp(np.ones(len(active), dtype=np.int64), 1)]
        successes[active] += 1
    return successes
