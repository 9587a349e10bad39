"""Projections of unbiased estimates onto fractions that can be: post-processing, which costs nothing."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sfumato.numeric.arguments import share

_HALVINGS: Final = 200
_FINEST: Final = 2.0**-53  # by which a float below 1 differs from it


def norm_sub(fractions: NDArray[np.float64], *, is_whole: bool = True) -> NDArray[np.float64]:
    """The nearest point, in Euclidean distance, whose entries are at least 0 and add up to 1 (or, of a part, at most).

    One number is taken from all entries, and what falls below 0 is 0.

    Example:
        >>> norm_sub(np.array([0.9, 0.4, -0.2])).round(6).tolist()
        [0.75, 0.25, 0.0]

    References:
        [WLLSL20]; [DSSC08] for the algorithm.
    """
    positive: NDArray[np.float64] = np.maximum(fractions, 0.0)
    if not is_whole and positive.sum() <= 1:
        return positive
    descending = np.sort(fractions)[::-1]
    shifts = (np.cumsum(descending) - 1) / np.arange(1, len(fractions) + 1)
    shift = shifts[np.flatnonzero(descending > shifts)[-1]]
    nearest: NDArray[np.float64] = np.maximum(fractions - shift, 0.0)
    return nearest


def base_cut(
    fractions: NDArray[np.float64], standard_errors: float | NDArray[np.float64], *, significance: float = 0.05
) -> NDArray[np.float64]:
    """The estimates that are significantly above 0, and 0 in place of all others.

    Args:
        fractions: The unbiased estimates.
        standard_errors: Those of values that nobody holds, or one for all.
        significance: The probability that any such value is kept, by a union bound over all entries.

    Raises:
        ParameterError: The significance is not between 0 and 1.

    Example:
        >>> base_cut(np.array([0.5, 0.02, -0.1]), 0.01).tolist()
        [0.5, 0.0, 0.0]
    """
    threshold = -ndtri(share(significance, "significance") / max(1, len(fractions))) * standard_errors
    return np.where(fractions > threshold, fractions, 0.0)


def most_likely(
    supports: NDArray[Any],
    reports: int,
    when_held: float,
    when_not: float,
    *,
    is_whole: bool = True,
    is_exclusive: bool = False,
) -> NDArray[np.float64]:
    """The fractions under which these supports are most likely: what expectation maximization converges to.

    If each report supports one value, Σ c·ln(q + f(p − q)) is the logarithm of the likelihood, and the solution has a
    closed form. Otherwise each support is taken as a binomial count of its own, Σ c·ln x + (n − c)·ln(1 − x) with
    x = q + f(p − q), and the one multiplier of the sum is found by bisection.

    Args:
        supports: For each value, how many reports support it.
        reports: How many there are.
        when_held: p, the probability that a report supports the value of its person.
        when_not: q, the probability that it supports another given value.
        is_whole: Whether the fractions add up to 1, rather than to at most 1.
        is_exclusive: Whether each report supports exactly one value.

    Example:
        >>> most_likely(np.array([6, 3, 1]), 10, 0.5, 0.25, is_exclusive=True).round(3).tolist()
        [1.0, 0.0, 0.0]

    References:
        [KBR16]; [AA01] for expectation maximization of randomized answers.
    """
    if is_exclusive and is_whole:
        return _water_filled(supports, when_not / (when_held - when_not))
    gap = when_held - when_not

    def fractions(multiplier: float) -> NDArray[np.float64]:
        """Where the derivative of each term, (c − n·x)/(x(1 − x)), is the multiplier; between 0 and 1."""
        middle = reports + multiplier
        if abs(multiplier) < reports * 1e-12:
            shares = supports / reports
        else:
            root = np.sqrt(np.maximum(middle**2 - 4 * multiplier * supports, 0.0))
            shares = 2 * supports / (middle + root) if middle > 0 else (middle - root) / (2 * multiplier)
        return np.clip((shares - when_not) / gap, 0.0, 1.0)

    if not is_whole and fractions(0.0).sum() <= 1:
        return fractions(0.0)
    reach = 4.0 * reports / max(min(when_not, 1 - when_held, gap), _FINEST)
    low, high = -reach, reach  # of a falling sum
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fractions(middle).sum() > 1 else (low, middle)
    found = fractions((low + high) / 2)
    likeliest: NDArray[np.float64] = found / found.sum()
    return likeliest


def _water_filled(supports: NDArray[Any], rest: float) -> NDArray[np.float64]:
    """max(0, c/λ − q/(p − q)), with the λ for which these add up to 1."""
    descending = np.sort(supports)[::-1].astype(np.float64)
    levels = np.cumsum(descending) / (1 + rest * np.arange(1, len(supports) + 1))
    level = levels[np.flatnonzero(descending > levels * rest)[-1]]
    filled: NDArray[np.float64] = np.maximum(supports / level - rest, 0.0)
    return filled
