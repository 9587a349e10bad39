"""Every counter, small enough that all of its ticks can be looked at."""

import numpy as np

from sfumato.mechanisms import (
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
TWICE = Participation(most=2, separation=5)

COUNTERS = {
    "tree": BinaryTree(horizon=HORIZON, epsilon=1),
    "tree of Gaussians": BinaryTree(horizon=HORIZON, rho="0.5"),
    "online tree": BinaryTree(horizon=HORIZON, epsilon=1, online=True),
    "online tree of Gaussians": BinaryTree(horizon=HORIZON, rho="0.1", online=True, participation=TWICE),
    "windows of a tree": BinaryTree(horizon=HORIZON, rho="0.5", sums=SlidingWindow(5)),
    "windows of an online tree": BinaryTree(horizon=HORIZON, epsilon=2, sums=SlidingWindow(7), online=True),
    "tree of keys": BinaryTree(horizon=HORIZON, rho=1, contribution=Contribution.one_of(REPLACE_ONE)),
    "endless tree": HybridTree(epsilon=1),
    "endless tree of Gaussians": HybridTree(rho="0.5", online=True, participation=TWICE),
    "square root": SquareRoot(horizon=HORIZON, rho="0.5", participation=TWICE),
    "windows of a square root": SquareRoot(horizon=HORIZON, rho="0.5", sums=SlidingWindow(6), participation=TWICE),
    "decaying sum of a square root": SquareRoot(horizon=HORIZON, rho=2, sums=DecayingSum("0.9")),
    "square root of wide noise": SquareRoot(horizon=HORIZON, rho="1e-5"),
    "buffers": BufferedToeplitz(horizon=HORIZON, rho="0.5", participation=TWICE),
    "windows of buffers": BufferedToeplitz(horizon=HORIZON, rho="0.5", sums=SlidingWindow(6), buffers=2),
    "decaying sum of buffers": BufferedToeplitz(horizon=HORIZON, rho="0.1", sums=DecayingSum("0.8")),
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
