"""Exact Poisson integers, and differences of two (Skellam): a discrete noise that adds up to itself.

Poisson integers come from fair coins and rational ones; no exponential is ever computed for them.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.laws.binomial import fair_binomial
from sfumato.noise.tables.block_table import DirectTable
from sfumato.noise.tables.word_table import KEPT, AtomWeights, Supply, WordTable, skellam_weights
from sfumato.noise.uniform.bernoulli import Booleans
from sfumato.noise.uniform.integers import SAFE, Integers, multiply_add
from sfumato.noise.uniform.uniform import accepted, size_of, uniform_below_each

LARGEST_MEAN: Final = Fraction(1 << 40)

_COINS: Final = 1 << 15  # tossed at a time
_LARGEST_PART: Final = 1 << 19  # a standard deviation of 2^10: its table has fewer than 2^15 atoms
_PAYS: Final = 1000  # so that every call for more than a few draws gets a table


def poisson(mean: Fraction, size: int) -> Integers:
    """`size` independent integers k ≥ 0 with P(k) = e^(−mean)·mean^k/k!, exactly.

    The number of tails before the ⌈mean⌉-th head of a fair coin is proposed; where its probability and Poisson's are
    made equal at their largest ratio, the ratio elsewhere is a product of rationals of at most 1, each a coin. A draw
    takes about √mean coins and log₂ mean fair binomial draws, and 5 of 7 proposals are kept.

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/poisson.md.

    Args:
        mean: A rational between 0 and 2^40.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> poisson(Fraction(0), 3).tolist(), bool((poisson(Fraction(22, 7), 100) >= 0).all())
        ([0, 0, 0], True)
    """
    if not 0 <= mean <= LARGEST_MEAN:
        raise ParameterError("mean", mean, "must lie between 0 and 2^40")
    whole = Fraction(int(mean))  # its coins are of small integers, however long the fraction
    return _drawn(whole, size) + _drawn(mean - whole, size)


def skellam(mean: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = e^(−2·mean)·I_|k|(2·mean), exactly; the variance is 2·mean.

    Two tiers with the same law: a certified table where more than a few draws are asked for, otherwise the difference
    of two draws of `poisson`. A mean above 2^19 is drawn in equal parts, because Skellam integers add up to themselves.
    Tables are kept, so a mean that is itself secret must not come here.

    **Guarantee**: the distribution is exact. Proof: proofs/noise/laws/poisson.md.

    Args:
        mean: The mean of each of the two Poisson integers: a rational between 0 and 2^40.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> skellam(Fraction(0), 2).tolist(), len(skellam(Fraction(5, 2), 100))
        ([0, 0], 100)

    References:
        [AKL21].
    """
    if not 0 <= mean <= LARGEST_MEAN:
        raise ParameterError("mean", mean, "must lie between 0 and 2^40")
    return _supply(*mean.as_integer_ratio()).draw(size) if mean else poisson(mean, size)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of draws from a table."""

    table: DirectTable
    terms: int

    def draw(self, size: int) -> Integers:
        """`size` independent sums."""
        total = self.table.draw(size)
        for _ in range(self.terms - 1):
            total += self.table.draw(size)
        return total

    def draw_one(self) -> int:
        """One sum."""
        return sum(self.table.draw_one() for _ in range(self.terms))


def skellam_table(mean: Fraction) -> _Sums:
    """The certified table of a mean, or of equal parts of a large one; 1 to 100 ms to set up."""
    parts = ceil(mean / _LARGEST_PART)
    return _Sums(DirectTable(WordTable(AtomWeights(skellam_weights(mean / parts), 1, 2))), parts)


def universal_skellam(mean: Fraction, size: int) -> Integers:
    """As `skellam`, without a table."""
    return poisson(mean, size) - poisson(mean, size)


@lru_cache(maxsize=KEPT)
def _supply(numerator: int, denominator: int) -> Supply:
    mean = Fraction(numerator, denominator)
    return Supply(
        build=partial(skellam_table, mean),
        universal=partial(universal_skellam, mean),
        universal_one=lambda: int(universal_skellam(mean, 1)[0]),
        pays=_PAYS,
    )


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
