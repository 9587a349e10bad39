"""Reproducible draws for made-up tables: the same on every platform and with every version of NumPy.

A seed decides them, so they hide nothing; noise that protects people comes from `sfumato.noise` alone.
"""

from collections.abc import Sequence
from hashlib import shake_256
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def uniforms(seed: int, column: str, n: int) -> Floats:
    """Numbers in [0, 1): the first 53 bits of each eight bytes of SHAKE-256(seed/column).

    Example:
        >>> uniforms(1, "age", 3).round(3).tolist() == uniforms(1, "age", 5)[:3].round(3).tolist()
        True
    """
    stream = shake_256(f"{seed}/{column}".encode()).digest(8 * n)
    return (np.frombuffer(stream, dtype="<u8") >> np.uint64(11)).astype(np.float64) * np.float64(2.0**-53)


def choose(weights: dict[str, int], uniform: Floats) -> NDArray[np.str_]:
    """For each uniform number a name, with probability in proportion to its weight.

    Example:
        >>> choose({"tea": 3, "coffee": 1}, np.array([0.0, 0.74, 0.75])).tolist()
        ['tea', 'tea', 'coffee']
    """
    names, ends = np.array(list(weights)), np.array(list(accumulate(weights.values())))
    chosen: NDArray[np.str_] = names[np.searchsorted(ends, uniform * ends[-1], side="right")]
    return chosen


def whole_quantiles(levels: Sequence[float], values: Sequence[float], uniform: Floats) -> NDArray[np.int64]:
    """Whole numbers whose quantile function runs straight between the given points."""
    return np.floor(np.interp(uniform, levels, values)).astype(np.int64)
