"""Exact Poisson integers of a rational mean, from fair coins and rational ones; no exponential is ever computed."""

from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.laws.fair_binomial import fair_binomial
from sfumato.noise.uniform.acceptance import Booleans
from sfumato.noise.uniform.integers import SAFE, Integers, multiply_add
from sfumato.noise.uniform.rejection import accepted, size_of
from sfumato.noise.uniform.uniform_each import uniform_below_each

LARGEST_MEAN: Final = Fraction(1 << 40)

_COINS: Final = 1 << 15  # tossed at a time


def poisson(mean: Fraction, size: int) -> Integers:
    """`size` independent integers k ≥ 0 with P(k) = e^(−mean)·mean^k/k!, exactly.

    The number of tails before the ⌈mean⌉-th head of a fair coin is proposed; where its chance and Poisson's are made
    equal at their largest ratio, the ratio elsewhere is a product of rationals of at most 1, each a coin. A draw takes
    about √mean coins and log₂ mean fair binomial draws, and 5 of 7 proposals are kept.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/poisson.md.

    Args:
        mean: A rational between 0 and 2^40.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> poisson(Fraction(0), 3).tolist(), bool((poisson(Fraction(22, 7), 100) >= 0).all())
        ([0, 0, 0], True)
    """
    if not 0 <= mean <= LARGEST_MEAN:
        raise ParameterError("mean", mean, "must lie between 0 and 2^40")
    whole = Fraction(int(mean))  # its coins are of small integers, however long the fraction
    return _drawn(whole, size) + _drawn(mean - whole, size)


def _drawn(mean: Fraction, size: int) -> Integers:
    return accepted(lambda count: _attempts(mean, count), size) if mean else np.zeros(size_of(size), dtype=np.int64)


def _attempts(mean: Fraction, count: int) -> Integers:
    proposals = _tails_before(ceil(mean), count)
    return proposals[_kept(proposals, mean)]


def _tails_before(heads: int, count: int) -> Integers:
    """Tails of a fair coin before so many heads; as many coins are tossed at once as heads are missing."""
    missing = np.full(count, heads, dtype=np.int64)
    tails = np.zeros(count, dtype=np.int64)
    while missing.any():
        found = fair_binomial(missing)
        tails += missing - found
        missing -= found
    return tails


def _kept(proposals: Integers, mean: Fraction) -> Booleans:
    """Coins of ratio(k)/ratio(peak), where ratio(j + 1)/ratio(j) = 2·mean/(⌈mean⌉ + j) falls below 1 at the peak."""
    heads = ceil(mean)
    peak = max(0, ceil(2 * mean - heads))
    distances = abs(proposals - peak)
    kept = np.ones(len(proposals), dtype=np.bool_)
    start, active = 0, np.flatnonzero(distances)
    while len(active):
        width = _COINS // len(active) + 1
        steps = np.arange(start, min(start + width, int(distances[active].max())))
        rows, columns = np.nonzero(steps < distances[active][:, np.newaxis])
        places = active[rows]
        above = proposals[places] > peak
        between = heads + np.where(above, peak + steps[columns], peak - 1 - steps[columns])
        kept[places[~_coins(between, mean, above=above)]] = False
        start += width
        active = active[kept[active] & (distances[active] > start)]
    return kept


def _coins(between: Integers, mean: Fraction, *, above: Booleans) -> Booleans:
    """Coins of 2·mean/between above the peak, of between/(2·mean) below it."""
    twice, denominator = (2 * mean.numerator, mean.denominator)
    scaled = multiply_add(denominator, between, np.zeros_like(between))
    if twice > SAFE:
        scaled = scaled.astype(object)
    tossed: Booleans = uniform_below_each(np.where(above, scaled, twice)) < np.where(above, twice, scaled)
    return tossed
