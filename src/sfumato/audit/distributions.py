"""Does noise follow its declared distribution? The test needs far fewer samples than a privacy violation does.

A wrong distribution is a calibration bug: noise may be 10% too small long before any event shows that ε is exceeded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import log
from numbers import Integral, Real
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom, chi2

from sfumato.audit.core.findings import LawFinding
from sfumato.audit.core.outputs import as_float, plain
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind, share, whole

ALPHA: Final = 1e-6
"""The probability that a correct sampler fails one test."""

_CELLS: Final = 40
_EXPECTED_AT_ALPHA: Final = 200
_TWO: Final = 2
_SHORTFALL: Final = 2  # by how much the approximations may fall short, with so many expected in each cell

MOST_DRAWN: Final = 10**9
"""The most integers in one sample, which are held in memory all at once."""

Cdf: TypeAlias = Callable[[int], float]
"""P(X ≤ k) of a distribution on the integers, for integers k."""

_CDF: Final = "a function of an integer k that gives P(X ≤ k), a number from 0 to 1"
_FARTHEST: Final = 1 << 400  # from 0, where quantiles are sought
_SLACK: Final = 1e-6  # for rounding errors of a distribution function
_WORD: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class DeclaredLaw:
    """Noise and its declared distribution.

    Args:
        name: The distribution in words, for the report.
        noise: Called with a count, it returns as many independent integers.
        cdf: P(X ≤ k) for integers k.

    Raises:
        ParameterError: The name is not text, or one of the others cannot be called.

    Example:
        >>> DeclaredLaw("always 0", lambda n: np.zeros(n, dtype=int), lambda k: float(k >= 0)).name
        'always 0'
    """

    name: str
    noise: Callable[[int], NDArray[Any]]
    cdf: Cdf

    def __post_init__(self) -> None:
        of_kind(self.name, "name", str, "text")
        called(self.noise, "noise", "a function of a count that returns as many independent integers")
        called(self.cdf, "cdf", _CDF)


def check_law(law: DeclaredLaw, *, samples: int, significance: float = ALPHA) -> LawFinding:
    """Test noise against its declared distribution.

    The p-value is twice the smaller of those of `p_value`, which sees every difference, and of `spread_p_value`, which
    sees a wrong scale in a third of the samples; and twice that again, because both are approximations.

    **Guarantee**: for a distribution of two cells the test is exact: a correct sampler fails with probability at most
    `significance`. For others it is an approximation. Its error rate was below `significance` for every distribution
    whose outcomes were summed; see proofs/audit/distributions.md.

    Args:
        law: The noise and its declared distribution.
        samples: How many to draw, at most `MOST_DRAWN`.
        significance: The probability that a correct sampler fails; cells are chosen for it.

    Raises:
        ParameterError: The noise is not as many integers as requested, its distribution has a single value or is not
            one, or a parameter is out of range.

    Example:
        >>> from sfumato.noise.uniform.uniform import uniform_below
        >>> die = DeclaredLaw("a fair die", lambda n: uniform_below(6, n), lambda k: min(max(k + 1, 0), 6) / 6)
        >>> check_law(die, samples=5000).verdict
        <Verdict.NOTHING_FOUND: 'nothing found'>
    """
    of_kind(law, "law", DeclaredLaw, "a DeclaredLaw")
    samples = whole(samples, "samples", least=1, most=MOST_DRAWN)
    noise = _integers(law.noise(samples))
    if noise is None or len(noise) != samples:
        raise ParameterError("noise", law.name, "must return as many integers as its argument says")
    chi_square = p_value(noise, law.cdf, significance=significance)
    spread = spread_p_value(noise, law.cdf, significance=significance)
    both = min(1.0, 2 * min(chi_square, spread))
    return LawFinding(law=law.name, p_value=both, samples=samples, significance=significance)


def p_value(samples: NDArray[Any], cdf: Cdf, *, significance: float = ALPHA) -> float:
    """The probability that a sample of the distribution fits it as badly as this one, or worse: a chi-square test.

    With two cells it is the exact binomial test, which is never too small. With more it is an approximation, doubled,
    because at the level `significance` it may be too small by up to that factor; each cell expects 200 samples at a
    level of 1e-6, and more at smaller ones. See proofs/audit/distributions.md.

    Args:
        samples: Integers, int64 or Python integers.
        cdf: P(X ≤ k) of the distribution, for integers k. Cells depend on it alone, never on the sample.
        significance: The level at which the p-value will be judged.

    Raises:
        ParameterError: The distribution has a single cell, so every sample would pass, or is not one; or a parameter is
            of another type.

    Example:
        >>> heads = np.array([0, 1, 1, 0, 1, 0])
        >>> p_value(heads, lambda k: 0.0 if k < 0 else 0.5 if k < 1 else 1.0)
        1.0
    """
    observed, expected = _cells(samples, cdf, significance)
    if len(expected) == _TWO:
        return _binomial_p_value(int(observed[0]), len(samples), probability=expected[0] / len(samples))
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return min(1.0, _SHORTFALL * float(chi2.sf(statistic, len(expected) - 1)))


def spread_p_value(samples: NDArray[Any], cdf: Cdf, *, significance: float = ALPHA) -> float:
    """The probability that a sample of the distribution is as much too wide or too narrow as this one, or more.

    Each cell scores −ln of the probability beyond it on its side of the median, as the distance of a Laplace variable
    from its center is; the mean score is nearly normal, with known mean and variance. An approximation as good
    as that of `p_value`, and doubled as there. Two cells have no spread: 1.

    Args:
        samples: Integers, int64 or Python integers.
        cdf: P(X ≤ k) of the distribution, for integers k.
        significance: The level at which the p-value will be judged.

    Raises:
        ParameterError: As `p_value`.

    Example:
        >>> spread_p_value(np.array([0, 1, 1, 0]), lambda k: 0.0 if k < 0 else 0.5 if k < 1 else 1.0)
        1.0
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


def _binomial_p_value(observed: int, count: int, *, probability: float) -> float:
    """Twice the probability of the smaller tail."""
    tails = binom.cdf(observed, count, probability), binom.sf(observed - 1, count, probability)
    return min(1.0, 2 * float(min(tails)))


def _cells(samples: NDArray[Any], cdf: Cdf, significance: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The samples in each cell, and their number expected under the distribution."""
    found = _integers(samples)
    if found is None or not len(found):
        raise ParameterError("samples", samples, "must be an array of integers, at least one")
    # The cube of −ln α keeps the error of the approximation where it is: tails at x deviations err by x³/√expected.
    expected_at_least = _EXPECTED_AT_ALPHA * max(1.0, log(share(significance, "significance")) / log(ALPHA)) ** 3
    checked = _checked(cdf)
    ends = _cell_ends(checked, minimum=expected_at_least / len(found)) or _halves(checked)
    expected = np.diff([0.0, *(checked(end) for end in ends), 1.0]) * len(found)
    if len(expected) == 1:
        raise ParameterError(
            "cdf", "a distribution of a single cell", "must have two or more; test its values directly"
        )
    is_far = any(abs(end) >= _WORD for end in ends)
    cell = np.searchsorted(np.array(ends, dtype=object if is_far else found.dtype), found)
    return np.bincount(cell, minlength=len(expected)).astype(np.float64), expected


def _integers(samples: Any) -> NDArray[Any] | None:
    """Integers as an array whose type holds the ends of cells too; None for what is something else."""
    try:
        found = np.asarray(samples)
    except ValueError:  # rows of different lengths
        return None
    kind = found.dtype.kind
    if found.ndim != 1 or kind not in "biufO" or (kind == "f" and np.isnan(found).any()):
        return None
    if kind == "O":
        return found if all(isinstance(value, Integral) for value in found) else None
    return found if kind == "f" else found.astype(object if found.dtype == np.uint64 else np.int64)


def _checked(cdf: Cdf) -> Cdf:
    """The same function, which must return probabilities; NaN stays, as SciPy gives it for huge numbers."""
    called(cdf, "cdf", _CDF)

    def probability(k: int) -> float:
        said = plain(cdf(k))
        chance = as_float(said)
        if not isinstance(said, Real | Decimal) or chance < -_SLACK or chance > 1 + _SLACK:
            raise ParameterError("cdf", said, f"must be {_CDF}")
        return chance

    return probability


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
    while cdf(low) >= level and low > -_FARTHEST:
        low *= 2
    while cdf(high) < level and high < _FARTHEST:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cdf(middle) >= level else (middle, high)
    return high
