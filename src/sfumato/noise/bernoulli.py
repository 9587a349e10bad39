"""Exact coins: probability a rational, or exp(−x) for a rational x [CKS20]."""

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise.integers import Integers, floor_divide
from sfumato.noise.uniform import uniform_below

Booleans: TypeAlias = NDArray[np.bool_]


def bernoulli(probability: Fraction, size: int) -> Booleans:
    """`size` independent coins, each true with exactly `probability`.

    Args:
        probability: A rational between 0 and 1, both included.
        size: How many, 0 or more.

    Raises:
        ParameterError: The probability or the size lies outside.

    Example:
        >>> bernoulli(Fraction(1), 3).tolist(), bernoulli(Fraction(0), 2).tolist()
        ([True, True, True], [False, False])
    """
    if not 0 <= probability <= 1:
        raise ParameterError("probability", probability, "must lie between 0 and 1")
    return uniform_below(probability.denominator, size) < probability.numerator


def bernoulli_exp(numerators: NDArray[Any], denominator: int) -> Booleans:
    """One coin for each numerator, true with probability exp(−numerator/denominator), exactly.

    With x = m + r, m whole and 0 ≤ r < 1, it is one coin of exp(−r) and m coins of exp(−1), of which all must be true.
    The m coins are tossed only while all were true, so a huge x costs no more than a small one.

    Args:
        numerators: Integers, 0 or more, int64 or Python integers of any size.
        denominator: A whole number above 0.

    Raises:
        ParameterError: The denominator is below 1 or a numerator is negative.

    Example:
        >>> bernoulli_exp(np.array([0, 10**6]), 1).tolist()
        [True, False]

    References:
        [CKS20] Algorithm 1.
    """
    if denominator < 1:
        raise ParameterError("denominator", denominator, "must be at least 1")
    if (numerators < 0).any():
        raise ParameterError("numerators", "an array", "must hold no negative number")
    whole = floor_divide(numerators, denominator)
    return _all_of_exp_minus_one(whole, heads=_exp_below_one(numerators - whole * denominator, denominator))


def _exp_below_one(numerators: Integers, denominator: int) -> Booleans:
    """Coins of exp(−x) for x ≤ 1: toss coins of x/1, x/2, x/3, … until one is false; true if that was an odd one."""
    odd = np.ones(len(numerators), dtype=np.bool_)
    active, trial = np.arange(len(numerators)), 1
    while len(active):
        active = active[uniform_below(denominator * trial, len(active)) < numerators[active]]
        odd[active] = ~odd[active]
        trial += 1
    return odd


def _all_of_exp_minus_one(counts: Integers, *, heads: Booleans) -> Booleans:
    """Which of `heads` are still true after as many coins of exp(−1) as `counts` says."""
    active, tossed = np.flatnonzero(heads & (counts > 0)), 0
    while len(active):
        lucky = _exp_below_one(np.ones(len(active), dtype=np.int64), 1)
        heads[active[~lucky]] = False
        tossed += 1
        active = active[lucky]
        active = active[counts[active] > tossed]
    return heads
