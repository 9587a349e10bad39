"""What guesses about canaries in a single run say about ε, whatever the mechanism does with them.

Each of m canaries was included by a fair coin of its own; r guesses were made from the output, and v of them are right.
Under ε alone no mechanism does better than r coins of probability q = e^ε/(1 + e^ε); a δ adds a little.
"""

from fractions import Fraction
from typing import Final, Protocol

import numpy as np
from scipy.stats import binom

from sfumato.audit.canaries.guesses import Booleans, Floats, Guesses
from sfumato.numeric.rounding import RELATIVE_MARGIN, exp_up, float_up, inflated

_LARGEST: Final = 512.0  # of ε; no number of canaries shows more
_HALVINGS: Final = 30


class PValue(Protocol):
    """A p-value of a claimed ε."""

    def __call__(self, *, epsilon: Fraction) -> float:
        """Growing with ε."""
        ...


def exact_p_value(guesses: Guesses, *, epsilon: Fraction, delta: Fraction = Fraction(0)) -> float:
    """The largest chance that any (ε, δ) mechanism gives to so many right guesses or more.

    β + m·δ·β·(1 − β)/(v·π), with β = P(B ≥ v) and π = P(B = v) for B ~ Binomial(r, q), and at most 1. Some mechanism
    reaches it, so no test of the number of right guesses is stronger.

    **Guarantee**: if canaries were included by independent fair coins, the number of guesses was fixed before, and the
    mechanism has (ε, δ)-differential privacy for each canary, this is below α with a chance of at most α. Rounded up.
    Proof: proofs/audit/canaries/one_run.md.

    Args:
        guesses: How many were right.
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
        guesses: How many were right.
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
        p_value: Of an ε.
        significance: Below or at which it refutes.
        above: Where the search starts; the result if nothing more is refuted.

    Example:
        >>> round(refuted_epsilon(lambda *, epsilon: float(epsilon) / 100, significance=0.05), 6)
        5.0
    """
    if p_value(epsilon=Fraction(above)) > significance:
        return above
    low, high = above, above + 1
    while high < _LARGEST and p_value(epsilon=Fraction(high)) <= significance:
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
