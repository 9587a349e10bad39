"""Does a sample of integers follow a law? A chi-square test with a stated chance of refusing the right one."""

import os
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

ALPHA: Final = 1e-6
"""The chance that a right sampler fails one test."""

SAMPLES: Final = 1_000_000 if os.environ.get("SFUMATO_FULL_SIZE") else 100_000
"""Enough to refuse a scale that is 10% off with a chance above 1 − 1e-6."""

_CELLS: Final = 40
_MINIMUM_EXPECTED: Final = 50  # per cell, so that the chi-square approximation holds at ALPHA

Cdf = Callable[[int], float]


def p_value(samples: NDArray, cdf: Cdf) -> float:
    """The chance that a sample of the law looks as unlike it as this one, or more.

    Args:
        samples: Integers, int64 or Python integers.
        cdf: P(X ≤ k) of the law, for integers k. Cells are cut from it alone, never from the sample.
    """
    ends = _cell_ends(cdf, len(samples))
    expected = np.diff([0.0, *(cdf(end) for end in ends), 1.0]) * len(samples)
    observed = np.bincount(np.searchsorted(np.array(ends, dtype=samples.dtype), samples), minlength=len(expected))
    if len(expected) == 1:
        raise ValueError("the law has a single cell, so every sample would pass; test its values directly")
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(expected) - 1))


def assert_law(samples: NDArray, cdf: Cdf, *, hypothesis: str = "the samples follow the law") -> None:
    """Fails on a right sampler with a chance of ALPHA."""
    p = p_value(samples, cdf)
    assert p >= ALPHA, f"{hypothesis}: refused, p = {p:.2e} < {ALPHA} (type-I error) with {len(samples)} samples"


def assert_not_law(samples: NDArray, cdf: Cdf, *, hypothesis: str = "the samples follow the wrong law") -> None:
    """Fails if the test cannot tell the samples from a law that is not theirs."""
    p = p_value(samples, cdf)
    assert p < ALPHA, f"{hypothesis}: not refused, p = {p:.2e} ≥ {ALPHA} with {len(samples)} samples: no power"


def cdf_of(probabilities: NDArray) -> Cdf:
    """The distribution function of the law on 0, 1, …, n − 1 with these probabilities."""
    cumulative = np.concatenate([[0.0], np.cumsum(probabilities)])
    return lambda k: float(cumulative[min(max(k + 1, 0), len(cumulative) - 1)])


def _cell_ends(cdf: Cdf, count: int) -> list[int]:
    """Last integers of all cells but the last; every cell expects `_MINIMUM_EXPECTED` samples or more."""
    ends: list[int] = []
    reached, smallest = 0.0, _MINIMUM_EXPECTED / count
    for cell in range(1, _CELLS):
        end = _quantile(cdf, max(cell / _CELLS, reached + smallest))
        mass = cdf(end)
        if mass - reached >= smallest and 1 - mass >= smallest:
            ends.append(end)
            reached = mass
    return ends


def _quantile(cdf: Cdf, level: float) -> int:
    """The smallest integer k with cdf(k) ≥ level."""
    low, high = -1, 1
    while cdf(low) >= level:
        low *= 2
    while cdf(high) < level and high < 1 << 400:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cdf(middle) >= level else (middle, high)
    return high
