"""What the tests of tables share: exact cumulative probabilities by ball arithmetic, and a few laws."""

from fractions import Fraction

from flint import arb, ctx, fmpq
from tests.laws import SAMPLES
from tests.sizes import FULL_SIZE

from sfumato.noise.tables.block_table import GaussianShape, LaplaceShape
from sfumato.noise.tables.word_table import AtomWeights, gaussian_weights, laplace_weights

BITS = 256

DRAWS = 4_000_000 if FULL_SIZE else SAMPLES
"""How many draws the law of each sampler is tested with."""

LONG = Fraction(31415926535897932384, 27182818284590452353)
"""A parameter of which the shortest fraction has twenty digits above and below: nothing shorter is it."""


def ball(value):
    return arb(fmpq(value.numerator, value.denominator))


def laplace(scale):
    """A two-sided law over single values, and its exponent at a magnitude."""
    return AtomWeights(laplace_weights(scale), 1, 2), lambda k: k / scale


def gaussian(variance):
    return AtomWeights(gaussian_weights(variance), 1, 2), lambda k: k * k / (2 * variance)


def one_sided(scale):
    return AtomWeights(laplace_weights(scale), 1, 1), lambda k: k / scale


def laplace_blocks(scale, bits):
    return LaplaceShape(scale, bits).law, lambda k: k * Fraction(1 << bits) / scale


def gaussian_blocks(variance, bits):
    return GaussianShape(variance, bits).law, lambda k: k * k * Fraction(1 << 2 * bits) / (2 * variance)


def cumulative(law, exponent, *, count):
    """Balls of 256 bits around C_0, C_1, …: the sums of exp(−g) over the first atoms, over the sum of all."""
    old, ctx.prec = ctx.prec, BITS
    try:
        total, sums, k = arb(0), [], 0
        while len(sums) < count or exponent(k) < 2 * BITS:
            weight = (-ball(Fraction(exponent(k)))).exp()
            for _ in range(law.each if k else law.first):
                total += weight
                sums.append(total)
            k += 1
        return [each / total for each in sums[:count]]  # what lies beyond is below 2^−700 of the total
    finally:
        ctx.prec = old


def floors(law, exponent, *, count, bits):
    """The certain ⌊2^bits·C_i⌋ of the first atoms, by ball arithmetic."""
    last = (1 << bits) - 1
    old, ctx.prec = ctx.prec, BITS
    try:
        exact = [int((ball_ * (1 << bits)).floor().unique_fmpz()) for ball_ in cumulative(law, exponent, count=count)]
        return [min(word, last) for word in exact]
    finally:
        ctx.prec = old
