"""Guesses about canaries: the highest scores were included, the lowest left out; and the ε that right guesses refute.

How many guesses are made is fixed before anything is seen; only their order comes from the scores. Each of m canaries
was included by a fair coin of its own; r guesses were made from the output of a single run, and v of them are right.
Under ε alone no mechanism does better than r coins of probability q = e^ε/(1 + e^ε); a δ adds a little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import set_fields
from sfumato.numeric.rounding import RELATIVE_MARGIN, exp_up, float_up, inflated

Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]

SHARES: Final = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
"""Shares of canaries to guess about: each is tried with half from either end, and with all from the upper end."""

_LARGEST_EPSILON: Final = 512.0  # no number of canaries shows more
_HALVINGS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """How many guesses were right.

    Args:
        right: The number of right guesses.
        made: The number of guesses.
        canaries: The number of canaries.

    Raises:
        ParameterError: Not 0 ≤ right ≤ made ≤ canaries.
    """

    right: int
    made: int
    canaries: int

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.made <= self.canaries:
            raise ParameterError(
                "right",
                f"{self.right} of {self.made}, {self.canaries} canaries",
                "must be at most the number of guesses, and that at most the number of canaries",
            )

    def __str__(self) -> str:
        return f"{self.right:,} of {self.made:,} guesses about {self.canaries:,} canaries right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Canaries after training: a score each, higher where it looks included, and whether it was.

    Raises:
        ParameterError: Lengths differ, there are fewer than two canaries, or a score is no number.
    """

    scores: Floats
    included: Booleans

    def __post_init__(self) -> None:
        scores, included = np.asarray(self.scores, float), np.asarray(self.included)
        if scores.ndim != 1 or scores.shape != included.shape or len(scores) < 2:  # noqa: PLR2004 # two are some
            raise ParameterError("scores", scores.shape, "must be a list, with one for each of two or more canaries")
        if included.dtype != bool:
            raise ParameterError("included", included.dtype, "must be True or False for each canary")
        if np.isnan(scores).any():
            raise ParameterError("scores", "NaN", "must be numbers; use −inf for a canary without a score")
        set_fields(self, scores=scores, included=included)

    def __len__(self) -> int:
        return len(self.scores)

    def guesses(self, *, high: int, low: int) -> Guesses:
        """Guess that the `high` highest scores were included, and the `low` lowest left out.

        Ties go by the order of the canaries, which was there before the coins.

        Raises:
            ParameterError: More guesses than canaries.

        Example:
            >>> seen = Scored(scores=[0.1, 2.0, 0.3, 1.0], included=[False, True, True, False])
            >>> print(seen.guesses(high=1, low=2))
            2 of 3 guesses about 4 canaries right
        """
        if min(high, low) < 0 or high + low > len(self):
            raise ParameterError("high", (high, low), f"must be at most {len(self)} guesses, the number of canaries")
        order = np.argsort(self.scores, kind="stable")
        right = np.count_nonzero(~self.included[order[:low]])
        right += np.count_nonzero(self.included[order[len(self) - high :]])
        return Guesses(right=int(right), made=high + low, canaries=len(self))

    def tries(self, shares: Sequence[float] = SHARES) -> tuple[Guesses, ...]:
        """Guesses of each share from both ends, and from the upper end alone; those of the whole from both only."""
        whole = {round(share * len(self)) for share in shares}
        ends = {(made - made // 2, made // 2) for made in whole if made > 0}
        ends |= {(made, 0) for made in whole if 0 < made < len(self)}
        return tuple(self.guesses(high=high, low=low) for high, low in sorted(ends))


class PValue(Protocol):
    """A p-value of a claimed ε."""

    def __call__(self, *, epsilon: Fraction) -> float:
        """Growing with ε."""
        ...


def exact_p_value(guesses: Guesses, *, epsilon: Fraction, delta: Fraction = Fraction(0)) -> float:
    """The largest probability that any (ε, δ) mechanism gives to so many right guesses or more.

    β + m·δ·β·(1 − β)/(v·π), with β = P(B ≥ v) and π = P(B = v) for B ~ Binomial(r, q), and at most 1. Some mechanism
    reaches it, so no test of the number of right guesses is stronger.

    **Guarantee**: if canaries were included by independent fair coins, the number of guesses was fixed before, and the
    mechanism has (ε, δ)-differential privacy for each canary, this is below α with probability at most α. Rounded up.
    Proof: proofs/audit/canaries/guesses.md.

    Args:
        guesses: How many guesses were made, and how many were right.
        epsilon: 0 or more.
        delta: At least 0.

    Example:
        >>> found = Guesses(right=75, made=100, canaries=1000)
        >>> round(exact_p_value(found, epsilon=Fraction(673, 1000), delta=Fraction(1, 10_000)), 4)
        0.0408
    """
    wrong = np.array([1 / (1 + exp_up(epsilon))])
    return float(p_values(guesses, wrong=wrong, delta=np.array([float_up(delta)]))[0])


def steinke_p_value(guesses: Guesses, *, epsilon: Fraction, delta: Fraction = Fraction(0)) -> float:
    """The published bound β + 2·m·δ·max over i of P(v > B ≥ v − i)/i, to compare with the literature.

    Wherever β is at most ½ it was found above `exact_p_value`, so tests at such levels hold. Where v is so small that β
    is near 1 it can lie below what some mechanism reaches: with ε = 0, δ = 1/7 and three canaries, guesses that are
    never all wrong have v ≥ 1 with chance 1, and it says 0.982.

    Args:
        guesses: How many guesses were made, and how many were right.
        epsilon: 0 or more.
        delta: At least 0.

    Example:
        >>> found = Guesses(right=75, made=100, canaries=1000)
        >>> round(steinke_p_value(found, epsilon=Fraction(673, 1000), delta=Fraction(1, 10_000)), 4)
        0.05

    References:
        [SNJ23] Theorem 5.2 and Appendix D.
    """
    if guesses.right == 0:
        return 1.0
    wrong = 1 / (1 + exp_up(epsilon))
    tail = float(binom.cdf(guesses.made - guesses.right, guesses.made, wrong))
    if delta == 0:
        return min(1.0, inflated(tail))
    missed = np.arange(guesses.made - guesses.right + 1, guesses.made + 1)
    below = np.cumsum(binom.pmf(missed, guesses.made, wrong))
    worst = float(np.max(below / np.arange(1, guesses.right + 1)))
    return min(1.0, inflated(tail + 2 * guesses.canaries * float_up(delta) * worst))


def p_values(guesses: Guesses, *, wrong: Floats, delta: Floats) -> Floats:
    """`exact_p_value` for many pairs of a chance 1 − q of a wrong guess and a δ, without the rounding of either."""
    if guesses.right == 0:
        return np.ones_like(wrong)
    tail = binom.cdf(guesses.made - guesses.right, guesses.made, wrong)
    rest = binom.sf(guesses.made - guesses.right, guesses.made, wrong)
    odds = (1 - wrong) / wrong
    is_high = guesses.right >= guesses.made * (1 - wrong)
    # β/π where v lies above the mean, (1 − β)/π below: sums of falling terms, which neither over- nor underflow.
    ratio = np.where(is_high, rest * _above(guesses, odds, is_high), tail * _below(guesses, odds, ~is_high))
    found: Floats = (tail + guesses.canaries * delta / guesses.right * ratio) * (1 + RELATIVE_MARGIN)
    return np.minimum(found, 1.0)


def refuted_epsilon(p_value: PValue, *, significance: float, above: float = 0.0) -> float:
    """The largest ε that a p-value refutes, within a billionth, for p-values that grow with ε.

    Args:
        p_value: The p-value of a claimed ε.
        significance: The largest p-value that refutes.
        above: The ε where the search starts; the result if no larger ε is refuted.

    Example:
        >>> round(refuted_epsilon(lambda *, epsilon: float(epsilon) / 100, significance=0.05), 6)
        5.0
    """
    if p_value(epsilon=Fraction(above)) > significance:
        return above
    low, high = above, above + 1
    while high < _LARGEST_EPSILON and p_value(epsilon=Fraction(high)) <= significance:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(epsilon=Fraction(middle)) <= significance else (low, middle)
    return low


def _above(guesses: Guesses, odds: Floats, wanted: Booleans) -> Floats:
    """Σ P(B = j)/P(B = v) over j ≥ v, where it is wanted."""
    j = np.arange(guesses.right, guesses.made)
    return _series((guesses.made - j) / (j + 1), np.where(wanted, odds, 0.0), first=1.0)


def _below(guesses: Guesses, odds: Floats, wanted: Booleans) -> Floats:
    """Σ P(B = j)/P(B = v) over j < v, where it is wanted."""
    j = np.arange(guesses.right, 0, -1)
    return _series(j / (guesses.made - j + 1), np.where(wanted, 1 / odds, 0.0), first=0.0)


def _series(steps: Floats, factor: Floats, *, first: float) -> Floats:
    """First, and the running products of steps · factor, summed."""
    summed: Floats = np.cumprod(steps * factor[:, np.newaxis], axis=1).sum(axis=1)
    return first + summed
