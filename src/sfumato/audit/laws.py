"""Does noise follow its declared law? Far fewer samples than a violation of privacy needs, and another verdict.

A wrong law is a calibration bug: noise may be 10% too small long before any event shows that ε is exceeded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2

from sfumato.audit.findings import LawFinding
from sfumato.errors import ParameterError

ALPHA: Final = 1e-6
"""The chance that a right sampler fails one test."""

_CELLS: Final = 40
_MINIMUM_EXPECTED: Final = 50  # per cell, so that the chi-square approximation holds at ALPHA

Cdf: TypeAlias = Callable[[int], float]
"""P(X ≤ k) of a law on the integers, for integers k."""


@dataclass(frozen=True, slots=True)
class DeclaredLaw:
    """Noise, and the law it is said to follow.

    Args:
        name: In words, for the report.
        noise: Called with a count, it gives as many independent integers.
        cdf: P(X ≤ k) for integers k.
    """

    name: str
    noise: Callable[[int], NDArray[Any]]
    cdf: Cdf


def check_law(law: DeclaredLaw, *, samples: int, significance: float = ALPHA) -> LawFinding:
    """Test noise against its declared law.

    The p-value is twice the smaller of those of `p_value`, which sees every difference, and of `spread_p_value`, which
    sees a wrong scale in a third of the samples.

    Example:
        >>> from sfumato.noise.uniform import uniform_below
        >>> die = DeclaredLaw("a fair die", lambda n: uniform_below(6, n), lambda k: min(max(k + 1, 0), 6) / 6)
        >>> check_law(die, samples=5000).verdict
        <Verdict.NOTHING_FOUND: 'nothing found'>
    """
    noise = law.noise(samples)
    both = min(p_value(noise, law.cdf), spread_p_value(noise, law.cdf))
    return LawFinding(law=law.name, p_value=min(1.0, 2 * both), samples=samples, significance=significance)


def p_value(samples: NDArray[Any], cdf: Cdf) -> float:
    """The chance that a sample of the law looks as unlike it as this one, or more: a chi-square test.

    Args:
        samples: Integers, int64 or Python integers.
        cdf: P(X ≤ k) of the law, for integers k. Cells are cut from it alone, never from the sample.

    Raises:
        ParameterError: The law has a single cell, so every sample would pass.
    """
    observed, expected = _cells(samples, cdf)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(expected) - 1))


def spread_p_value(samples: NDArray[Any], cdf: Cdf) -> float:
    """The chance that a sample of the law is as much too wide or too narrow as this one, or more.

    Each cell scores −ln of the probability beyond it on its side of the median, as the distance of a Laplace variable
    from its center is; the mean score is normal under the law, with known mean and variance.

    Args:
        samples: As `p_value`.
        cdf: As `p_value`.

    Raises:
        ParameterError: As `p_value`.
    """
    observed, expected = _cells(samples, cdf)
    shares = expected / expected.sum()
    middle = shares.cumsum() - shares / 2
    score = -np.log(np.minimum(middle, 1 - middle))
    centered = score - score @ shares
    if np.allclose(centered, 0):
        return 1.0  # two equal cells have no spread
    deviation = (observed @ centered) / np.sqrt(expected @ centered**2)
    return float(2 * ndtr(-abs(deviation)))


def _cells(samples: NDArray[Any], cdf: Cdf) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many samples lie in each cell, and how many the law expects there."""
    ends = _cell_ends(cdf, len(samples))
    expected = np.diff([0.0, *(cdf(end) for end in ends), 1.0]) * len(samples)
    if len(expected) == 1:
        raise ParameterError("cdf", "a law of a single cell", "must have two or more; test its values directly")
    cell = np.searchsorted(np.array(ends, dtype=samples.dtype), samples)
    return np.bincount(cell, minlength=len(expected)).astype(np.float64), expected


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
