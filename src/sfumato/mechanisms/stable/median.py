"""The median, and how far k units can move it: exact functions of secret data, for mechanisms alone.

A window is a pair of places (i, j); its gap x_j − x_i is how far the median moves when the k = j − i − 1 units between
them have been changed and one more is. Which windows count depends on the neighboring relation:

* replace one: those around the median's place m, i ≤ m ≤ j [NRS07];
* add or remove one: the one around the middle, i = ⌊(n − k)/2⌋, for removing what is between them leaves nothing there.

Of the largest gap A_k of these windows both uses here need two facts alone: A_0 bounds the local sensitivity, and
A_k(x) ≤ A_(k+1)(x′) for neighbors x, x′. Proof: proofs/mechanisms/stable/median.md.
"""

from fractions import Fraction
from math import floor
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.quantiles.grid import ValueGrid
from sfumato.numeric.rounding import log_near
from sfumato.privacy.neighbors import REPLACE_ONE, NeighboringRelation

Ordered: TypeAlias = NDArray[np.int64]
"""The lowest step of a grid, the n values clamped to it in order, its highest step: x_0 ≤ x_1 ≤ … ≤ x_(n+1)."""

_WIDEST: Final = 1 << 50  # steps: differences are exact in floats
_MARGIN: Final = Fraction(1, 1 << 30)  # above the relative error of the floats below, which is under 2^−35
_ROUGHEST: Final = Fraction(64)  # e^(−64)·2^50 < 1, so that from k = 1 on nothing counts
_RESERVE: Final = Fraction(1, 1 << 28)  # taken off β for what the margin may add: (1 + 2^−30)² < e^(2^−28)


def width_of(grid: ValueGrid) -> int:
    """How many steps wide a grid is, if it is neither a point nor too wide.

    Raises:
        ParameterError: The grid is a single point, or too wide.
    """
    width = grid.last - grid.first
    if not 1 <= width <= _WIDEST:
        raise ParameterError("upper", grid.upper, "must lie at least 1 and at most 2^50 steps above lower")
    return width


def ordered(grid: ValueGrid, values: Any) -> Ordered:
    """The values on the grid and in order, between its ends.

    Raises:
        ParameterError: It is no sequence, or holds something that is no number.

    Example:
        >>> ordered(ValueGrid(Fraction(0), Fraction(10), Fraction(1, 2)), [99.9, 3.1, None]).tolist()
        [0, 0, 6, 20, 20]
    """
    exact = opened(values)
    return np.concatenate([[grid.first], np.sort(grid.steps(exact).astype(np.int64)), [grid.last]])


def median(values: Ordered) -> int:
    """The value in place ⌈n/2⌉ of n: the middle one, or the lower of the two; the lowest possible of none.

    Example:
        >>> median(np.array([0, 3, 4, 9]))
        3
    """
    return int(values[_place(values)])


def smooth_sensitivity_up(
    values: Ordered, *, smoothness: Fraction, neighboring_relation: NeighboringRelation
) -> Fraction:
    """A smooth upper bound of the median's local sensitivity: S = max(1, max over k of e^(−βk)·A_k), rounded up.

    **Guarantee**: 1 ≤ S ≤ x_(n+1) − x_0; the median of a neighbor lies at most S away; S(x) ≤ e^β·S(x′) for
    neighbors x, x′, for the rational number that is returned: rounding is paid for by a slightly smaller β inside.
    Proof: proofs/mechanisms/stable/median.md.

    It takes time O(n) under add or remove, O(n log n) under replacement.

    Args:
        values: The data between the ends of a grid.
        smoothness: β, at least 2^−20.
        neighboring_relation: How a database may differ from its neighbor.

    Example:
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> ages = np.array([0, 21, 30, 35, 60, 100])
        >>> bound = smooth_sensitivity_up(ages, smoothness=Fraction(1), neighboring_relation=ADD_OR_REMOVE_ONE)
        >>> round(float(bound), 3)  # e^(−2)·(60 − 21): without 30 and 35, one more person may turn 21 into 60
        5.278

    References:
        [NRS07] Section 3.1.
    """
    width = int(values[-1] - values[0])
    beta = min(smoothness, _ROUGHEST) - _RESERVE
    reach = floor(log_near(Fraction(width)) / beta) + 2  # from there on e^(−βk)·width < 1
    weights = np.exp(-float(beta) * np.arange(min(reach, len(values) - 1) + 1))
    largest = _largest_around_median if neighboring_relation is REPLACE_ONE else _largest_in_middle
    bound = Fraction(largest(values, weights)) * (1 + _MARGIN)
    return min(max(bound, Fraction(1)), Fraction(width))


def distance_to_instability(values: Ordered, *, sensitivity: int, neighboring_relation: NeighboringRelation) -> int:
    """The smallest k with A_k > sensitivity: so many units must change before one more may move the median further.

    **Guarantee**: neighbors differ by at most 1; where it is above 0, the median of a neighbor is at most
    `sensitivity` away.

    Args:
        values: The data between the ends of a grid.
        sensitivity: In steps, 0 or more and less than the width of the grid, so that the distance is at most n.
        neighboring_relation: How a database may differ from its neighbor.

    Example:
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> ages = np.array([0, 21, 30, 35, 60, 100])
        >>> distance_to_instability(ages, sensitivity=10, neighboring_relation=ADD_OR_REMOVE_ONE)
        1
    """
    if neighboring_relation is REPLACE_ONE:
        place = _place(values)
        last = np.searchsorted(values, values[: place + 1] + sensitivity, side="right")
        inside = last < len(values)
        return int((np.maximum(last, place) - np.arange(place + 1))[inside].min()) - 1
    return int(np.flatnonzero(_middle_gaps(values) > sensitivity)[0])


def _place(values: Ordered) -> int:
    return (len(values) - 1) // 2


def _middle_gaps(values: Ordered) -> NDArray[np.int64]:
    """A_0, …, A_n under add or remove."""
    n = len(values) - 2
    removed = np.arange(n + 1)
    first = (n - removed) // 2
    gaps: NDArray[np.int64] = values[first + removed + 1] - values[first]
    return gaps


def _largest_in_middle(values: Ordered, weights: NDArray[np.float64]) -> float:
    gaps = _middle_gaps(values)[: len(weights)]
    return float((weights[: len(gaps)] * gaps).max())


def _largest_around_median(values: Ordered, weights: NDArray[np.float64]) -> float:
    """The largest e^(−β(s+t−1))·(x_(m+t) − x_(m−s)), by divide and conquer: the best t falls as s grows."""
    place = _place(values)
    below = values[place] - values[place::-1][: len(weights)]
    above = values[place:][: len(weights)] - values[place]
    largest = 0.0
    # Beyond the s with the largest e^(−βs)·below both terms of the product are smaller; likewise for t.
    spans = [(0, _heaviest(below, weights), 0, _heaviest(above, weights))]
    while spans:
        first, last, low, high = spans.pop()
        if first <= last:
            s = (first + last) // 2
            weighted = weights[s] * weights[low : high + 1] * (below[s] + above[low : high + 1])
            t = low + int(weighted.argmax())
            largest = max(largest, float(weighted[t - low]))
            spans += [(first, s - 1, t, high), (s + 1, last, low, t)]
    return largest / float(weights[1])


def _heaviest(gaps: NDArray[np.int64], weights: NDArray[np.float64]) -> int:
    return int((weights[: len(gaps)] * gaps).argmax())
