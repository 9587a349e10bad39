"""Does noise follow its declared law? Far fewer samples than a violation of privacy needs, and another verdict.

A wrong law is a calibration bug: noise may be 10% too small long before any event shows that ε is exceeded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom, chi2

from sfumato.audit.findings import LawFinding
from sfumato.errors import ParameterError

ALPHA: Final = 1e-6
"""The chance that a right sampler fails one test."""

_CELLS: Final = 40
_EXPECTED_AT_ALPHA: Final = 200
_TWO: Final = 2
_SHORTFALL: Final = 2  # by how much the approximations may fall short, with so many expected in each cell

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
    sees a wrong scale in a third of the samples; and twice that again, because both are approximations.

    **Guarantee**: for a law of two cells the test is exact: a right sampler fails with a chance of at most
    `significance`. For others it is an approximation, whose chance lay below `significance` in every law whose outcomes
    were summed; see proofs/audit/laws.md.

    Args:
        law: The noise and what it is said to follow.
        samples: How many to draw.
        significance: The chance that a right sampler fails; cells are cut for it.

    Raises:
        ParameterError: The noise is not as many numbers as were asked for, or its law is on a single value.

    Example:
        >>> from sfumato.noise.uniform import uniform_below
        >>> die = DeclaredLaw("a fair die", lambda n: uniform_below(6, n), lambda k: min(max(k + 1, 0), 6) / 6)
        >>> check_law(die, samples=5000).verdict
        <Verdict.NOTHING_FOUND: 'nothing found'>
    """
    noise = law.noise(samples)
    if np.shape(noise) != (samples,):
        raise ParameterError("noise", law.name, "must give as many integers as it is asked for")
    chi_square = p_value(noise, law.cdf, significance=significance)
    spread = spread_p_value(noise, law.cdf, significance=significance)
    both = min(1.0, 2 * min(chi_square, spread))
    return LawFinding(law=law.name, p_value=both, samples=samples, significance=significance)


def p_value(samples: NDArray[Any], cdf: Cdf, *, significance: float = ALPHA) -> float:
    """The chance that a sample of the law looks as unlike it as this one, or more: a chi-square test.

    With two cells it is the exact binomial test, which is never too small. With more it is an approximation, doubled,
    because at the level `significance` it may be too small by up to that factor; each cell expects 200 samples at a
    level of 1e-6, and more at smaller ones. See proofs/audit/laws.md.

    Args:
        samples: Integers, int64 or Python integers.
        cdf: P(X ≤ k) of the law, for integers k. Cells are cut from it alone, never from the sample.
        significance: The level at which the p-value will be judged.

    Raises:
        ParameterError: The law has a single cell, so every sample would pass.
    """
    observed, expected = _cells(samples, cdf, significance)
    if len(expected) == _TWO:
        return _binomial_p_value(int(observed[0]), len(samples), share=expected[0] / len(samples))
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return min(1.0, _SHORTFALL * float(chi2.sf(statistic, len(expected) - 1)))


def spread_p_value(samples: NDArray[Any], cdf: Cdf, *, significance: float = ALPHA) -> float:
    """The chance that a sample of the law is as much too wide or too narrow as this one, or more.

    Each cell scores −ln of the probability beyond it on its side of the median, as the distance of a Laplace variable
    from its center is; the mean score is normal under the law, with known mean and variance. An approximation as good
    as that of `p_value`, and doubled as there. Two cells have no spread: 1.

    Args:
        samples: As `p_value`.
        cdf: As `p_value`.
        significance: As `p_value`.

    Raises:
        ParameterError: As `p_value`.
    """
    observed, expected = _cells(samples, cdf, significance)
    if len(expected) == _TWO:
        return 1.0
    shares = expected / expected.sum()
    middle = shares.cumsum() - shares / 2
    score = -np.log(np.minimum(middle, 1 - middle))
    centered = score - score @ shares
    deviation = (observed @ centered) / np.sqrt(expected @ centered**2)
    return min(1.0, _SHORTFALL * float(2 * ndtr(-abs(deviation))))


def _binomial_p_value(observed: int, count: int, *, share: float) -> float:
    """Twice the chance of the smaller tail."""
    tails = binom.cdf(observed, count, share), binom.sf(observed - 1, count, share)
    return min(1.0, 2 * float(min(tails)))


def _cells(samples: NDArray[Any], cdf: Cdf, significance: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many samples lie in each cell, and how many the law expects there."""
    ends = _cell_ends(cdf, minimum=_minimum_expected(significance) / len(samples)) or _halves(cdf)
    expected = np.diff([0.0, *(cdf(end) for end in ends), 1.0]) * len(samples)
    if len(expected) == 1:
        raise ParameterError("cdf", "a law of a single cell", "must have two or more; test its values directly")
    cell = np.searchsorted(np.array(ends, dtype=samples.dtype), samples)
    return np.bincount(cell, minlength=len(expected)).astype(np.float64), expected


def _minimum_expected(significance: float) -> float:
    """The cube of −ln α keeps the error of the approximation where it is: tails at x deviations err by x³/√expected."""
    return _EXPECTED_AT_ALPHA * max(1.0, log(significance) / log(ALPHA)) ** 3


def _cell_ends(cdf: Cdf, *, minimum: float) -> list[int]:
    """Last integers of all cells but the last; every cell has at least the probability `minimum`."""
    ends: list[int] = []
    reached = 0.0
    for cell in range(1, _CELLS):
        end = _quantile(cdf, max(cell / _CELLS, reached + minimum))
        mass = cdf(end)
        if mass - reached >= minimum and 1 - mass >= minimum:
            ends.append(end)
            reached = mass
    return ends


def _halves(cdf: Cdf) -> list[int]:
    """The end of the first of two cells as equal as can be, for the exact test; none if all is one value."""
    median = _quantile(cdf, 0.5)
    cuts = [end for end in (median - 1, median) if 0 < cdf(end) < 1]
    return sorted(cuts, key=lambda end: abs(cdf(end) - 1 / 2))[:1]


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
