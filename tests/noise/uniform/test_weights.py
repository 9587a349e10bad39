"""Enclosures of weights: certain at every magnitude, and close enough to certify words."""

from fractions import Fraction
from itertools import islice

import pytest
from flint import arb, ctx
from tests.noise.exact_tables import LONG, ball

from sfumato.noise.uniform.weights import gaussian_weights, laplace_weights, skellam_weights


@pytest.mark.parametrize("precision", [72, 128, 192])
@pytest.mark.parametrize(
    ("stream", "exponent"),
    [
        (laplace_weights(Fraction(10)), lambda k: Fraction(k, 10)),
        (laplace_weights(Fraction(1, 1000)), lambda k: Fraction(1000 * k)),
        (laplace_weights(Fraction(355, 113)), lambda k: Fraction(113 * k, 355)),
        (gaussian_weights(Fraction(100)), lambda k: Fraction(k * k, 200)),
        (gaussian_weights(Fraction(1, 9)), lambda k: Fraction(9 * k * k, 2)),
    ],
)
def test_every_weight_lies_between_its_bounds(stream, exponent, precision):
    old, ctx.prec = ctx.prec, 400
    for k, (lower, upper) in enumerate(islice(stream(precision), 500)):
        exact = (-ball(exponent(k))).exp() * arb(2) ** precision
        assert arb(lower) <= exact <= arb(upper)
        assert upper - lower <= 4 * k * k + 4
    ctx.prec = old


@pytest.mark.parametrize("precision", [72, 128, 192])
@pytest.mark.parametrize("mean", [Fraction(1, 10**30), Fraction(1, 3), Fraction(10), Fraction(10**7, 19), LONG])
def test_every_weight_of_a_skellam_law_lies_between_its_bounds(mean, precision):
    """Against Bessel functions by ball arithmetic, and beyond where the first ratios start."""
    spread = 2 + int((2 * mean) ** 0.5)
    old, ctx.prec = ctx.prec, 600
    for k, (lower, upper) in enumerate(islice(skellam_weights(mean)(precision), 2500)):
        if 0 < k < 20 or k % 50 == 49:
            exact = (2 * ball(mean)).bessel_i(arb(k)) / (2 * ball(mean)).bessel_i(arb(0)) * arb(2) ** precision
            assert arb(lower) <= exact <= arb(upper)
        assert upper - lower <= (4 * k + 4) * (k + spread)
    ctx.prec = old


def test_the_weight_of_nothing_is_one():
    assert next(laplace_weights(Fraction(3))(64)) == next(gaussian_weights(Fraction(3))(64)) == (1 << 64, 1 << 64)
