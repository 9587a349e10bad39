"""Exact binomial integers, from fair coins alone."""

from fractions import Fraction

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.laws.fair_binomial import LARGEST_COUNT, fair_binomial
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.rejection import size_of


def binomial(n: int, probability: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = C(n, k)·p^k·(1 − p)^(n − k), exactly.

    Each of n trials compares a uniform number in [0, 1) with p, binary digit by digit, and all trials at once: of those
    that still tie, the number whose next digit is 1 is fair binomial. About log₂ n digits settle all trials, at about
    (log₂ n)²/2 fair draws; p = 1/2 takes one digit.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/binomial.md.

    Args:
        n: How many trials, between 0 and 2^62.
        probability: p, a rational between 0 and 1, both included.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> binomial(10, Fraction(1), 3).tolist(), binomial(10, Fraction(0), 2).tolist()
        ([10, 10, 10], [0, 0])

    References:
        [FCT15] for the reduction to fair coins.
    """
    if not 0 <= n <= LARGEST_COUNT:
        raise ParameterError("n", n, "must lie between 0 and 2^62")
    if not 0 <= probability <= 1:
        raise ParameterError("probability", probability, "must lie between 0 and 1")
    remainder, denominator = probability.as_integer_ratio()
    tied = np.full(size_of(size), n, dtype=np.int64)
    successes = np.zeros(size, dtype=np.int64)
    while remainder and tied.any():
        ones = fair_binomial(tied)
        remainder *= 2
        if remainder >= denominator:  # the digit of p is 1: whose digit is 0 is below p
            remainder -= denominator
            successes += tied - ones
            tied = ones
        else:  # it is 0: whose digit is 1 is above p
            tied = tied - ones
    return successes
