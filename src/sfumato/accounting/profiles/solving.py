"""Roots of many equations at once."""

from collections.abc import Callable
from typing import Final

import numpy as np

from sfumato.accounting.profiles.profile import Array

_STEPS: Final = 40
_NEAR: Final = 2e-15


def below_roots(curve: Callable[[Array], tuple[Array, Array]], targets: Array, *, grid: Array) -> Array:
    """For each target an x, as near below the root as found, at which a growing function is not above the target.

    The grid brackets each root; Newton's method goes on from there, halving where it leaves the bracket. What is
    returned was itself tested; where even the first point of the grid lies above the target, that point is returned.

    Args:
        curve: The function and its slope.
        targets: What the function shall be.
        grid: Growing points.
    """
    values = np.maximum.accumulate(curve(grid)[0])
    place = np.searchsorted(values, targets, side="right")
    lows, highs = grid[np.maximum(place - 1, 0)], grid[np.minimum(place, grid.size - 1)]
    x, active = np.interp(targets, values, grid), np.arange(targets.size)
    for _ in range(_STEPS):
        value, slope = curve(x[active])
        target, tried = targets[active], x[active]
        is_below = value <= target
        low, high = np.where(is_below, tried, lows[active]), np.where(is_below, highs[active], tried)
        lows[active], highs[active] = low, high
        slack = _NEAR * (1 + np.abs(tried))
        with np.errstate(over="ignore"):
            step = (target - value) / np.maximum(slope, 1e-300)
        newton = tried + np.clip(step, low - high, high - low) - slack  # so that it ends on the side below
        x[active] = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        active = active[(high - low > 4 * slack) & ~(is_below & (step <= 4 * slack))]
        if not active.size:
            break
    return lows
