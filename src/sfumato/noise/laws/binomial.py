"""Exact binomial integers, from fair coins alone: counted bits, and for many coins rejection from a Gaussian."""

from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws.discrete_gaussian import universal_gaussian
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.noise.uniform.integers import Integers, largest
from sfumato.noise.uniform.uniform import accepted, size_of, uniform_one_below

LARGEST_COUNT: Final = 1 << 62

_COUNTED_BITS: Final = 10  # fewer than 2^10 coins are tossed one by one, as bits of words
_WORD: Final = 64
_ONES: Final = np.array([byte.bit_count() for byte in range(256)], dtype=np.int64)


def binomial(n: int, probability: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = C(n, k)·p^k·(1 − p)^(n − k), exactly.

    Each of n trials compares a uniform number in [0, 1) with p, binary digit by digit, and all trials at once: of those
    that still tie, the number whose next digit is 1 is fair binomial. About log₂ n digits settle all trials, at about
    (log₂ n)²/2 fair draws; p = 1/2 takes one digit.

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/binomial.md.

    Args:
        n: How many trials, between 0 and 2^62.
        probability: p, a rational between 0 and 1, both included.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter is out of range.

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


def fair_binomial(counts: Integers) -> Integers:
    """For each n the number of heads among n fair coins: P(k) = C(n, k)/2^n, exactly.

    The last ten binary digits of n stand for coins that are tossed, each other digit for a power of two of coins whose
    heads are drawn at once; so the time grows with ln n, and is about a Gaussian draw for each digit.

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/binomial.md.

    Args:
        counts: int64, between 0 and 2^62.

    Raises:
        ParameterError: A count is out of range.

    Example:
        >>> fair_binomial(np.array([0, 0])).tolist()
        [0, 0]

    References:
        [BKPPT14] for rejection; the envelope here is another one.
    """
    if counts.dtype == object or ((counts < 0) | (counts > LARGEST_COUNT)).any():
        raise ParameterError("counts", "an array", "must hold integers between 0 and 2^62")
    heads = _counted(counts & (1 << _COUNTED_BITS) - 1)
    for digit in range(_COUNTED_BITS, LARGEST_COUNT.bit_length()):
        places = np.flatnonzero(counts >> digit & 1)
        if len(places):
            heads[places] += _drawn(1 << digit - 1, len(places))
    return heads


def _counted(counts: Integers) -> Integers:
    """Ones among as many random bits."""
    heads = np.zeros(len(counts), dtype=np.int64)
    for start in range(0, largest(counts), _WORD):
        bits = np.clip(counts - start, 0, _WORD)
        masks = np.where(
            bits > 0, np.uint64((1 << _WORD) - 1) >> (_WORD - bits).clip(max=_WORD - 1).astype(np.uint64), 0
        )
        words = entropy.random_words(len(counts)) & masks.astype(np.uint64)
        heads += _ONES[words.view(np.uint8)].reshape(-1, 8).sum(axis=1)
    return heads


def _drawn(half: int, size: int) -> Integers:
    """Heads among 2·half fair coins: half + d, d from a Gaussian whose density lies just above the binomial's."""
    variance = Fraction(2 * half + 1, 4)
    return half + accepted(lambda count: _attempts(half, variance, count), size)


def _attempts(half: int, variance: Fraction, count: int) -> Integers:
    offsets = universal_gaussian(variance, count)
    offsets = offsets[abs(offsets) <= half]
    return offsets[_kept(abs(offsets), half)]


def _kept(distances: Integers, half: int) -> Booleans:
    """Coins of P(half + d)/P(half) · exp(d²/(half + ½)) = exp(−Σ_j Σ_k 2·x_j^(2k+1)/(2k+1)), j = 1..d, k ≥ 1.

    x_j = (j − ½)/(half + ½). Each is exp(−rate·p) for one common rate, with p the probability of `_is_marked`, made of
    trials as exp(−x) is in [CKS20]; a batch whose rate is above 1 is done in pieces.
    """
    kept = np.ones(len(distances), dtype=np.bool_)
    rate = _rate(largest(distances), half)
    pieces = max(1, ceil(rate))
    for _ in range(pieces):
        for place in np.flatnonzero(bernoulli(rate / pieces, len(kept)) & kept):
            kept[place] = _survives(int(distances[place]), half, rate, pieces)
    return kept


def _survives(distance: int, half: int, rate: Fraction, pieces: int) -> bool:
    """A coin of exp(−p·rate/pieces) whose first trial has passed its first toss, of rate/pieces."""
    trial = 1
    while _is_marked(distance, half, rate):
        trial += 1
        if not _toss(rate / (pieces * trial)):
            break
    return trial % 2 == 1


def _is_marked(distance: int, half: int, rate: Fraction) -> bool:
    """One place j and one power k at random, kept so that each pair has probability 2·x_j^(2k+1)/(2k+1) / rate."""
    if not _toss(_rate(distance, half) / rate):
        return False
    last, place, power = 2 * distance - 1, 2 * uniform_one_below(distance) + 1, 1
    while _toss(Fraction(last, 2 * half + 1) ** 2):
        power += 1
    return _toss(Fraction(place, last) ** (2 * power + 1) * Fraction(3, 2 * power + 1))


def _rate(distance: int, half: int) -> Fraction:
    """A bound of the double sum: distance · Σ_k 2·x^(2k+1)/3, with x the largest x_j; 0 at distance 0."""
    share = Fraction(2 * distance - 1, 2 * half + 1)
    return distance * 2 * share**3 / (3 * (1 - share**2))


def _toss(probability: Fraction) -> bool:
    return uniform_one_below(probability.denominator) < probability.numerator
