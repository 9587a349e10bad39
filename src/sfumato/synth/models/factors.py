"""Arrays over a few columns: products, sums, and conditional probabilities from logarithms.

An array over columns has one axis for each, in the order in which they are named. −∞ is the logarithm of 0.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.synth.models.shape import Columns

Floats: TypeAlias = NDArray[np.float64]


def aligned(values: Floats, columns: Columns, target: Columns) -> Floats:
    """A view of an array over columns that broadcasts against arrays over the target, which has all of them.

    Example:
        >>> aligned(np.zeros((2, 3)), ("sex", "smokes"), ("smokes", "age", "sex")).shape
        (3, 1, 2)
    """
    places = sorted(range(len(columns)), key=lambda place: target.index(columns[place]))
    lengths = dict(zip(columns, values.shape, strict=True))
    return values.transpose(places).reshape([lengths.get(column, 1) for column in target])


def summed(values: Floats, columns: Columns, target: Columns) -> Floats:
    """The sums of an array over columns for each value of the target, which are some of them, in the target's order.

    Example:
        >>> summed(np.ones((2, 3)), ("sex", "smokes"), ("sex",)).tolist()
        [3.0, 3.0]
    """
    rest = tuple(axis for axis, column in enumerate(columns) if column not in target)
    left = [column for column in columns if column in target]
    sums: Floats = values.sum(axis=rest) if rest else values
    turned: Floats = sums.transpose([left.index(column) for column in target])
    return turned


def log_sums(rows: Floats) -> Floats:
    """For each row of logarithms that of the sum, and in place of the row the share of each number in it.

    A row of −∞ alone has the sum −∞ and shares of 0.

    Example:
        >>> rows = np.log([[1.0, 3.0], [0.5, 1.5]])
        >>> np.exp(log_sums(rows)).round(9).tolist(), rows.round(9).tolist()
        ([4.0, 2.0], [[0.25, 0.75], [0.25, 0.75]])
    """
    peaks: Floats = rows.max(axis=1)
    peaks[np.isneginf(peaks)] = 0
    rows -= peaks[:, np.newaxis]
    np.exp(rows, out=rows)
    sums = rows.sum(axis=1)
    is_none = sums == 0
    rows /= (sums + is_none)[:, np.newaxis]
    sums[is_none] = 1
    peaks += np.log(sums)
    peaks[is_none] = -np.inf
    return peaks
