"""Exact discrete Cauchy noise: tails so heavy that a change of scale hardly shows, which pure privacy needs."""

from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.uniform import accepted, uniform_below

_COIN_BITS: Final = 62  # uniform integers below 2^62 stay in int64


def discrete_cauchy(scale: Fraction, size: int) -> Integers:
    """`size` independent integers k with P(k) = scale·tanh(π·scale)/π · 1/(scale² + k²), exactly.

    The distribution has no mean, for its tails are those of 1/k²: of 3m draws, about two lie beyond m scales. The scale
    may be
    secret: nothing is kept between calls. Proof: proofs/noise/laws/discrete_cauchy.md.

    Args:
        scale: A rational, 1 or more.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: The scale or the size is out of range.

    Example:
        >>> len(discrete_cauchy(Fraction(10, 3), 5))
        5
    """
    if scale < 1:
        raise ParameterError("scale", "a number", "must be at least 1 lattice step")
    numerator, denominator = scale.as_integer_ratio()
    octave = (numerator // denominator).bit_length() - 1
    return accepted(lambda count: _attempts(numerator, denominator, octave, count), size)


def _attempts(numerator: int, denominator: int, octave: int, count: int) -> Integers:
    """Magnitudes in blocks [0, h) and [h, 2h), [2h, 4h), … for the power of two h below the scale; then a sign.

    A magnitude in a block of width w is proposed with probability ∝ 1/w² and kept with w²/(scale² + k²).
    """
    inner = bernoulli(Fraction(1, 3), count)
    bits = octave + np.where(inner, 0, _heads(count)).astype(object)
    widths = np.array([1 << width for width in bits], dtype=object)
    offsets = uniform_below(1 << max(bits, default=0), count).astype(object) & (widths - 1)
    magnitudes = np.where(inner, offsets, widths + offsets)
    kept = _coins((denominator * widths) ** 2, numerator**2 + (denominator * magnitudes) ** 2)
    negative = bernoulli(Fraction(1, 2), count)
    signed: Integers = np.where(negative, -magnitudes, magnitudes)
    found: Integers = signed[kept & ~(negative & (magnitudes == 0))]  # +0 and −0 together would count zero twice
    return found


def _heads(size: int) -> Integers:
    """True fair coins before the first false one, `size` times: v with probability 2^−(v+1)."""
    heads = np.zeros(size, dtype=np.int64)
    active = np.arange(size)
    while len(active):
        active = active[bernoulli(Fraction(1, 2), len(active))]
        heads[active] += 1
    return heads


def _coins(numerators: Integers, denominators: Integers) -> Booleans:
    """A coin for each rational probability: its first bits against uniform ones, and the rest only where they tie."""
    words = uniform_below(1 << _COIN_BITS, len(numerators)).astype(object)
    shifted = numerators << _COIN_BITS
    thresholds = shifted // denominators
    true: Booleans = (words < thresholds).astype(np.bool_)
    for tie in np.flatnonzero(words == thresholds):
        rest = Fraction(shifted[tie] % denominators[tie], denominators[tie])
        true[tie] = bernoulli(rest, 1)[0]
    return true
