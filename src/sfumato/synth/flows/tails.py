"""Tails of beta-binomial distributions, rounded outward, and the largest of them over all counts that a cell can have.

Proof: proofs/synth/flows/priors.md.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, floor, inf, isfinite, lcm
from typing import Final

import numpy as np
from numpy.typing import NDArray

DIGITS: Final = 60
"""The precision of each step; a tail of m draws is within a relative 10^−59 · 7·m of the true one."""

_SLACK: Final = 2.0**-32  # doubles take at most 20 steps for each draw, each within 2^-53: below it up to 30,000 draws
_LEAST: Final = 2.0**-900  # smaller tails are not computed in doubles
_MOST_IN_DOUBLES: Final = 30_000
_BLOCK: Final = 8  # so many factors of a product are within the range of doubles


def tail_bound(
    draws: int, least: int, *, inside: Fraction, outside: Fraction, rounding: str = ROUND_CEILING
) -> Decimal:
    """A bound of P(X ≥ least), for X the draws of one cell among `draws`: X ~ BetaBinomial(draws, inside, outside).

    Every step multiplies, divides or adds numbers of at least 0, and rounds in one direction.

    Args:
        draws: How many draws, m.
        least: From 0 to m.
        inside: The weight of the cell, above 0.
        outside: The weight of all others, 0 or more.
        rounding: ``ROUND_CEILING`` for a number that is not below the tail, ``ROUND_FLOOR`` for one not above it.

    Example:
        >>> float(tail_bound(2, 1, inside=Fraction(1), outside=Fraction(1)))  # 0, 1 and 2 are equally likely
        0.6666666666666666
    """
    context = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX, rounding=rounding)
    unit = lcm(inside.denominator, outside.denominator)
    a, b = int(inside * unit), int(outside * unit)
    mass = Decimal(1)
    for step in range(draws):
        mass = context.divide(context.multiply(mass, Decimal(a + step * unit)), Decimal(a + b + step * unit))
    total = mass
    for hits in range(draws, least, -1):  # from the mass of `hits` to that of one less
        mass = context.multiply(mass, Decimal(hits * (b + (draws - hits) * unit)))
        mass = context.divide(mass, Decimal((draws - hits + 1) * (a + (hits - 1) * unit)))
        total = context.add(total, mass)
    return total


def tail_near(draws: int, least: int, *, inside: Fraction, outside: Fraction) -> tuple[float, float]:
    """What `tail_bound` bounds, from below and from above, in doubles: some hundred times as fast.

    Both may be useless, 0 and infinity, where doubles do not reach.

    Args:
        draws: How many draws, m.
        least: From 0 to m.
        inside: The weight of the cell, 1 or more.
        outside: The weight of all others, 0 or more.

    Example:
        >>> low, high = tail_near(2, 1, inside=Fraction(1), outside=Fraction(1))
        >>> low < 2 / 3 < high
        True
    """
    if not outside:
        return 1.0, 1.0
    a, b = float(inside), float(outside)
    if draws > _MOST_IN_DOUBLES or not (1 <= a < 1 / _SLACK and _SLACK < b < 1 / _SLACK):
        return 0.0, inf
    hits, misses = np.arange(least, dtype=np.float64), np.arange(draws - least, dtype=np.float64)
    factors = np.ones(-(-draws // _BLOCK) * _BLOCK)
    factors[:least] = (a + hits) / (hits + 1) * ((draws - hits) / (a + b + hits))
    factors[least:draws] = (b + misses) / (a + b + least + misses)
    parts, exponents = np.frexp(factors.reshape(-1, _BLOCK).prod(axis=1))
    more = np.arange(least, draws, dtype=np.float64)
    steps = (a + more) / (more + 1) * ((draws - more) / (b + (draws - more - 1)))
    with np.errstate(over="ignore", under="ignore"):
        mass, shift = _product(parts)
        total = mass * (1 + float(np.cumprod(steps).sum()))
    if not isfinite(total):  # the tail begins far below the mean
        mean = int(draws * (a / (a + b)))
        return (tail_near(draws, mean, inside=inside, outside=outside)[0] if mean > least else 0.0), inf
    found = float(np.ldexp(total, max(-2_000, int(exponents.sum()) + shift)))
    return (found * (1 - _SLACK), found * (1 + _SLACK)) if found > _LEAST else (0.0, _LEAST * (1 + _SLACK))


def _product(parts: NDArray[np.float64]) -> tuple[float, int]:
    """The product of numbers from 1/2 to 1, as one of them and a power of two."""
    shift = 0
    while len(parts) > 1:
        whole = np.ones(-(-len(parts) // 512) * 512)
        whole[: len(parts)] = parts
        parts, exponents = np.frexp(whole.reshape(-1, 512).prod(axis=1))
        shift += int(exponents.sum())
    return float(parts[0]), shift


def tails_are_below(
    limit: Fraction, *, prior: Fraction, others: Fraction, growth: Fraction, draws: int, total: int | None = None
) -> bool:
    """Whether a cell is hardly ever drawn too often, whatever count it has.

        P(X > growth · (n − 1 + prior)) ≤ limit for every n ≥ 1,   X ~ BetaBinomial(draws, n + prior, rest).

    The rest is `others`, or with a public total `others + total − n`. Counts are taken in intervals: the tail of the
    largest count beyond the smallest threshold bounds all of an interval, which is halved where that is too much. Where
    the threshold is at least `draws`, nothing lies beyond it.

    Args:
        limit: The most that a tail may have.
        prior: What is added to the count of the cell.
        others: What is added to all others together.
        growth: By what a weight may grow: e^ε − 1, rounded down.
        draws: How many draws.
        total: How many are counted in all cells, where that is public.

    Example:
        >>> enough = dict(prior=Fraction(4), others=Fraction(400), growth=Fraction("1.718"), draws=10)
        >>> tails_are_below(Fraction(1, 10**3), **enough), tails_are_below(Fraction(1, 10**30), **enough)
        (True, False)
    """
    down = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX, rounding=ROUND_FLOOR)
    allowed = down.divide(Decimal(limit.numerator), Decimal(limit.denominator))
    last = ceil(draws / growth - prior + 1) - 1
    waiting = [(1, last if total is None else min(last, total))]
    while waiting:
        low, high = waiting.pop()
        if low > high:
            continue
        beyond = floor(growth * (low - 1 + prior)) + 1
        rest = others if total is None else others + total - high
        surely, perhaps = tail_near(draws, beyond, inside=high + prior, outside=rest)
        is_below = perhaps <= allowed or (
            surely <= allowed and tail_bound(draws, beyond, inside=high + prior, outside=rest) <= allowed
        )
        if is_below:
            continue
        if low == high:
            return False
        middle = (low + high) // 2
        waiting += [(middle + 1, high), (low, middle)]
    return True
