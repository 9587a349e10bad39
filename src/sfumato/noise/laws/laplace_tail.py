"""The few of many discrete Laplace integers that reach a threshold, without drawing the others."""

from fractions import Fraction
from functools import lru_cache
from typing import Final

from sfumato.errors import ParameterError
from sfumato.noise.laws.binomial import binomial
from sfumato.noise.laws.discrete_laplace import geometric
from sfumato.noise.uniform.bernoulli import bernoulli, bernoulli_within
from sfumato.noise.uniform.integers import Integers, add, drawable, python_integers
from sfumato.numeric.rounding import exp_bounds

MOST_SCALES: Final = 4096
"""A threshold is at most so many scales away: beyond, none of 2^62 integers would ever reach it."""

_FEW: Final = 1 << 16  # so many coins are tossed one by one


def laplace_tail_bounds(scale: Fraction, threshold: int, bits: int) -> tuple[int, int]:
    """Integers `lower` ≤ 2^bits · P(X ≥ threshold) ≤ `upper`, a few apart, for X of `discrete_laplace`.

        P(X ≥ threshold) = q^threshold / (1 + q),   q = exp(−1/scale)

    Args:
        scale: A rational above 0.
        threshold: 1 or more.
        bits: The precision.

    Example:
        >>> laplace_tail_bounds(Fraction(1), 1, 16)  # 2^16·0.26894… is 17625.3…
        (17624, 17626)
    """
    one = 1 << bits
    ratio_lower, ratio_upper = exp_bounds(1 / scale, bits)
    lower, upper = exp_bounds(threshold / scale, bits)
    return (lower << bits) // (one + ratio_upper), -(-(upper << bits) // (one + ratio_lower))


def laplace_above(scale: Fraction, threshold: int, trials: int) -> Integers:
    """Of `trials` independent discrete Laplace integers those that are at least `threshold`, in any order, exactly.

    How many they are is binomial, with the probability p = P(X ≥ threshold), which is no rational. So the least
    power of two above p is taken first, and each success is kept with the chance of p over that. Given that one reaches
    the threshold, by how much it exceeds it is geometric.

    **Guarantee**: the distribution is that of drawing all and keeping those. Proof: proofs/noise/laws/laplace_tail.md.

    Args:
        scale: A rational between 1/1000 and 2^50.
        threshold: 1 or more, and at most 4,096 scales.
        trials: How many integers, between 0 and 2^62.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> found = laplace_above(Fraction(10), 3, 1000)
        >>> bool((found >= 3).all())
        True
    """
    drawable(scale, "scale")
    if not 1 <= threshold <= MOST_SCALES * scale:
        raise ParameterError("threshold", threshold, f"must lie between 1 and {MOST_SCALES:,} scales")
    digits = _digits(scale, threshold)
    above = Fraction(1, 1 << digits)
    likely = int(bernoulli(above, trials).sum() if trials <= _FEW else binomial(trials, above, 1)[0])
    kept = int(bernoulli_within(lambda bits: _share(scale, threshold, digits, bits), likely).sum())
    return add(geometric(scale, kept), python_integers([threshold] * kept))


@lru_cache(maxsize=4096)
def _digits(scale: Fraction, threshold: int) -> int:
    """The largest number of digits d with P(X ≥ threshold) below 2^−d; it is never 2^−d, being no rational."""
    bits = 64
    while (lower := laplace_tail_bounds(scale, threshold, bits)[0]) == 0:
        bits *= 2
    found = bits - lower.bit_length()
    while laplace_tail_bounds(scale, threshold, found + bits)[1] > 1 << bits:
        found -= 1
    return found


@lru_cache(maxsize=4096)
def _share(scale: Fraction, threshold: int, digits: int, bits: int) -> tuple[int, int]:
    """Bounds of 2^bits · p / 2^−digits."""
    lower, upper = laplace_tail_bounds(scale, threshold, bits + digits)
    return lower, upper
