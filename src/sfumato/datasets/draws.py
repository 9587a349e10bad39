"""Reproducible draws for made-up tables: the same on every platform and with every version of NumPy.

A seed decides them, so they hide nothing; noise that protects people comes from `sfumato.noise` alone.
"""

from collections.abc import Sequence
from hashlib import shake_256
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BELL: Final = (
    (0, 0.001, 0.023, 0.159, 0.309, 0.5, 0.691, 0.841, 0.977, 0.999, 1),
    (-3.7, -3.1, -2, -1, -0.5, 0, 0.5, 1, 2, 3.1, 3.7),
)


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


def bells(uniform: Floats) -> Floats:
    """About normal numbers of mean 0 and variance 1, none beyond 3.7: their quantile function in straight pieces.

    Example:
        >>> bells(np.array([0.159, 0.5, 0.841])).tolist()
        [-1.0, 0.0, 1.0]
    """
    found: Floats = np.interp(uniform, *_BELL)
    return found
