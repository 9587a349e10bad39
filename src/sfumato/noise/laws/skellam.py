"""Exact Skellam integers: the difference of two Poisson ones, a discrete noise that adds up to itself."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import Final

from sfumato.errors import ParameterError
from sfumato.noise.laws.poisson import LARGEST_MEAN, poisson
from sfumato.noise.tables.direct_table import DirectTable
from sfumato.noise.tables.supply import KEPT, Supply
from sfumato.noise.tables.word_table import WordTable
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.weights import Law, skellam_weights

_LARGEST_PART: Final = 1 << 19  # a standard deviation of 2^10: its table has fewer than 2^15 atoms
_PAYS: Final = 1000  # so that every call for more than a few draws gets a table


def skellam(mean: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = e^(−2·mean)·I_|k|(2·mean), exactly; the variance is 2·mean.

    Two tiers with the same law: a certified table where more than a few draws are asked for, otherwise the difference
    of two draws of `poisson`. A mean above 2^19 is drawn in equal parts, because Skellam integers add up to themselves.
    Tables are kept, so a mean that is itself secret must not come here.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/poisson.md.

    Args:
        mean: The mean of each of the two Poisson integers: a rational between 0 and 2^40.
        size: How many, 0 or more.

    Returns:
        int64.

    Raises:
        ParameterError: A parameter lies outside.

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
    return _Sums(DirectTable(WordTable(Law(skellam_weights(mean / parts), 1, 2))), parts)


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
