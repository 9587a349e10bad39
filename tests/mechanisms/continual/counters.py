"""Every counter, small enough that all of its ticks can be looked at."""

import numpy as np

from sfumato.mechanisms import (
    BandedToeplitz,
    BinaryTree,
    BufferedToeplitz,
    Contribution,
    DecayingSum,
    HybridTree,
    Participation,
    SlidingWindow,
    SquareRoot,
)
from sfumato.privacy.neighbors import REPLACE_ONE

HORIZON = 16
KEYS = Contribution.one_of()
"""Of many numbers side by side, where an event adds 1 to one of them."""
TWICE = Participation(most=2, separation=5)

COUNTERS = {
    "tree": BinaryTree(horizon=HORIZON, epsilon=1, contribution=KEYS),
    "tree of Gaussians": BinaryTree(horizon=HORIZON, rho="0.5", contribution=KEYS),
    "online tree": BinaryTree(horizon=HORIZON, epsilon=1, online=True, contribution=KEYS),
    "online tree of Gaussians": BinaryTree(
        horizon=HORIZON, rho="0.1", online=True, participation=TWICE, contribution=KEYS
    ),
    "windows of a tree": BinaryTree(horizon=HORIZON, rho="0.5", sums=SlidingWindow(5), contribution=KEYS),
    "windows of an online tree": BinaryTree(
        horizon=HORIZON, epsilon=2, sums=SlidingWindow(7), online=True, contribution=KEYS
    ),
    "tree of keys": BinaryTree(horizon=HORIZON, rho=1, contribution=Contribution.one_of(REPLACE_ONE)),
    "endless tree": HybridTree(epsilon=1, contribution=KEYS),
    "endless tree of Gaussians": HybridTree(rho="0.5", online=True, participation=TWICE, contribution=KEYS),
    "square root": SquareRoot(horizon=HORIZON, rho="0.5", participation=TWICE, contribution=KEYS),
    "windows of a square root": SquareRoot(
        horizon=HORIZON, rho="0.5", sums=SlidingWindow(6), participation=TWICE, contribution=KEYS
    ),
    "decaying sum of a square root": SquareRoot(horizon=HORIZON, rho=2, sums=DecayingSum("0.9"), contribution=KEYS),
    "square root of wide noise": SquareRoot(horizon=HORIZON, rho="1e-5", contribution=KEYS),
    "buffers": BufferedToeplitz(horizon=HORIZON, rho="0.5", participation=TWICE, contribution=KEYS),
    "windows of buffers": BufferedToeplitz(
        horizon=HORIZON, rho="0.5", sums=SlidingWindow(6), buffers=2, contribution=KEYS
    ),
    "decaying sum of buffers": BufferedToeplitz(horizon=HORIZON, rho="0.1", sums=DecayingSum("0.8"), contribution=KEYS),
    "bands": BandedToeplitz(horizon=HORIZON, rho="0.5", bands=5, participation=TWICE, contribution=KEYS),
    "bands that overlap": BandedToeplitz(horizon=HORIZON, rho="0.5", bands=9, participation=TWICE, contribution=KEYS),
    "windows of bands": BandedToeplitz(horizon=HORIZON, rho="0.5", bands=4, sums=SlidingWindow(6), contribution=KEYS),
    "decaying sum of one band": BandedToeplitz(
        horizon=HORIZON, rho="0.1", bands=1, sums=DecayingSum("0.8"), contribution=KEYS
    ),
    "buffers of wide noise": BufferedToeplitz(
        horizon=HORIZON, rho="1e-7", contribution=Contribution.vector(l2=1000), buffers=6
    ),
}
"""Each by what it is."""


def exact_sums(sums, increments):
    """What a counter would release without noise, in floats."""
    found, total = [], 0.0
    factor, width = getattr(sums, "factor", 1), getattr(sums, "width", None)
    for tick, added in enumerate(increments):
        total = float(factor) * total + float(added)
        if width and tick >= width:
            total -= float(increments[tick - width])
        found.append(total)
    return np.array(found)
