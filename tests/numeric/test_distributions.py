"""Masses, tails and half-widths against sums in exact or long arithmetic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import nbinom

from sfumato.errors import ParameterError
from sfumato.numeric.distributions import (
    discrete_gaussian_cdf,
    discrete_gaussian_half_width,
    discrete_gaussian_log_pmf,
    discrete_gaussian_tail,
    discrete_gaussian_variance,
    discrete_laplace_cdf,
    discrete_laplace_half_width,
    discrete_laplace_log_pmf,
    discrete_laplace_tail,
    discrete_laplace_variance,
    failure_probability,
    polya_difference_half_width,
)
from sfumato.numeric.gaussian_sums import tail_ratio

SCALES = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(30)]
CONFIDENCES = [Fraction(1, 100), Fraction(1, 2), Fraction(95, 100), Fraction(999_999, 10**6)]
LARGE = [Fraction(65), Fraction(1000), Fraction(10**9), Fraction(2**50), Fraction(3**40, 2**20)]


def laplace_weight(scale, k):
    return math.exp(-abs(k) / scale)


def gaussian_weight(stddev, k):
    return math.exp(-k * k / (2 * stddev**2))


LAWS = [
    pytest.param(laplace_weight, discrete_laplace_log_pmf, discrete_laplace_tail, discrete_laplace_cdf, id="laplace"),
    pytest.param(
        gaussian_weight, discrete_gaussian_log_pmf, discrete_gaussian_tail, discrete_gaussian_cdf, id="gaussian"
    ),
]


def masses(weight, scale):
    """The law by summation, on a support that holds all but e^-60 of it."""
    support = np.arange(-2000, 2001)
    weights = np.array([weight(float(scale), int(k)) for k in support])
    return support, weights / math.fsum(weights)


@pytest.mark.parametrize(("weight", "log_pmf", "tail", "cdf"), LAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_masses_tails_and_distribution_functions_are_sums(weight, log_pmf, tail, cdf, scale):
    support, expected = masses(weight, scale)
    assert np.exp(log_pmf(scale, support)) == pytest.approx(expected, rel=1e-11, abs=1e-300)
    for k in (-3, -1, 0, 1, 2, 7, 20):
        assert tail(scale, k) == pytest.approx(math.fsum(expected[np.abs(support) > k]), rel=1e-11, abs=1e-300)
        assert cdf(scale, k) == pytest.approx(math.fsum(expected[support <= k]), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(
    ("tail", "half_width"),
    [(discrete_laplace_tail, discrete_laplace_half_width), (discrete_gaussian_tail, discrete_gaussian_half_width)],
    ids=["laplace", "gaussian"],
)
@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("scale", [Fraction(1, 1000), *SCALES, Fraction(64), *LARGE[:2]])
def test_a_half_width_is_the_smallest_that_holds_the_confidence(tail, half_width, scale, confidence):
    steps = half_width(scale, confidence)
    assert tail(scale, steps) <= 1 - confidence < tail(scale, steps - 1)


@pytest.mark.parametrize("scale", LARGE)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_laplace_half_widths_solve_their_equation_in_long_arithmetic(scale, confidence):
    with localcontext(prec=100):
        width, failure = (Decimal(x.numerator) / x.denominator for x in (scale, 1 - confidence))
        steps = discrete_laplace_half_width(scale, confidence)
        tails = [2 * (-(k + 1) / width).exp() / (1 + (-1 / width).exp()) for k in (steps, steps - 1)]
        assert tails[0] <= failure < tails[1]


def erf_in_long_arithmetic(x):
    """The Maclaurin series of erf, in digits enough for its cancellation."""
    with localcontext(prec=150):
        pi = Decimal(
            "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679"
        )
        total, power, n = Decimal(0), x, 0
        while abs(power) > Decimal("1e-120"):
            total += power / (2 * n + 1)
            n += 1
            power *= -x * x / n
        return 2 * total / pi.sqrt()


@pytest.mark.parametrize("stddev", LARGE)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_gaussian_half_widths_are_right_to_one_step_at_any_scale(stddev, confidence):
    with localcontext(prec=150):
        steps = discrete_gaussian_half_width(stddev, confidence)
        sigma, level = (Decimal(x.numerator) / x.denominator for x in (stddev, confidence))
        central = [
            erf_in_long_arithmetic((k + Decimal("0.5")) / (sigma * Decimal(2).sqrt())) for k in (steps, steps - 1)
        ]
        assert central[0] >= level > central[1]


@pytest.mark.parametrize("stddev", [Fraction(64), Fraction(65), Fraction(700), Fraction(5000)])
@pytest.mark.parametrize("multiple", [0, 1, 3, 8])
def test_gaussian_tails_are_never_too_small_and_agree_with_the_certified_sums(stddev, multiple):
    k = int(multiple * stddev)
    total = 2 * tail_ratio(stddev, 0).high - 1
    expected = 2 * math.exp(-((k + 1) ** 2) / (2 * stddev**2)) * tail_ratio(stddev, k + 1).low / total
    excess = discrete_gaussian_tail(stddev, k) / expected - 1
    assert -1e-11 <= excess <= float((1 + multiple**2) / (24 * stddev**2)) * 1.1 + 1e-11


@pytest.mark.parametrize("k", [2**53 + 1, 10**30])
def test_tails_beyond_every_float_are_zero(k):
    assert discrete_laplace_tail(Fraction(1), k) == 0.0
    assert discrete_gaussian_tail(Fraction(1000), k) == 0.0


@pytest.mark.parametrize("scale", SCALES)
def test_the_variance_is_the_sum(scale):
    support, probabilities = masses(laplace_weight, scale)
    assert discrete_laplace_variance(scale) == pytest.approx(float((support**2 * probabilities).sum()), rel=1e-9)


@pytest.mark.parametrize(
    "stddev", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(399, 100), Fraction(4), Fraction(50)]
)
def test_the_variance_of_a_gaussian_is_the_sum(stddev):
    support = np.arange(-1000, 1001)
    weights = np.exp(-(support**2) / (2 * float(stddev) ** 2))
    expected = float((support**2 * weights).sum() / weights.sum())
    assert discrete_gaussian_variance(stddev) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert discrete_gaussian_variance(stddev) <= float(stddev) ** 2


def test_the_variance_at_the_smallest_scale_is_that_of_no_noise():
    assert discrete_laplace_variance(Fraction(1, 1000)) == 0.0


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, "1.0"])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        failure_probability(confidence)
    with pytest.raises(ParameterError):
        discrete_gaussian_half_width(Fraction(1), confidence)


@pytest.mark.parametrize("confidence", ["0.95", 0.95, Fraction(19, 20)])
def test_a_confidence_may_be_written_in_any_way(confidence):
    assert discrete_laplace_half_width(Fraction(10), confidence) == 30
    assert discrete_gaussian_half_width(Fraction(10), confidence) == 20


@pytest.mark.parametrize("half_width", [discrete_laplace_half_width, discrete_gaussian_half_width])
def test_a_float_does_not_stand_for_the_rational_it_is_stored_as(half_width):
    nearly_one, scale = 1 - 5 * 2.0**-53, Fraction(50)
    first = half_width(scale, nearly_one)  # 0.9999999999999994, as it is written
    second = half_width(scale, Fraction(nearly_one))
    assert (first, second) == (half_width(scale, "0.9999999999999994"), half_width(scale, 1 - Fraction(5, 2**53)))
    assert first < second


def smallest(shape, scale, confidence):
    """By convolution of the masses."""
    masses = nbinom.pmf(np.arange(3000), float(shape), -math.expm1(-1 / float(scale)))
    difference = np.convolve(masses, masses[::-1])
    center = len(masses) - 1
    inside = np.cumsum(np.concatenate([difference[center : center + 1], 2 * difference[center + 1 :]]))
    return int(np.searchsorted(inside, confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(17, 2), Fraction(50)])
@pytest.mark.parametrize("shape", [Fraction(1), Fraction(10, 9), Fraction(2), Fraction(10)])
def test_half_widths_of_shares_are_never_too_small_and_not_much_too_large(shape, scale, confidence):
    bound, truth = polya_difference_half_width(shape, scale, confidence), smallest(shape, scale, confidence)
    assert truth <= bound <= 4 * truth + 4
    if confidence > 0.9:
        assert bound <= 2 * truth + 4


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999, 1 - 1e-9])
@pytest.mark.parametrize("scale", [Fraction(1, 20), Fraction(1), Fraction(17, 2), Fraction(50)])
@pytest.mark.parametrize("shape", [Fraction(18, 17), Fraction(2), Fraction(4)])
def test_half_widths_of_few_shares_too_many_are_the_smallest(shape, scale, confidence):
    bound, truth = polya_difference_half_width(shape, scale, confidence), smallest(shape, scale, confidence)
    assert truth <= bound <= truth + (confidence > 0.9999)  # where the sums of the test round as well


def test_half_widths_of_many_shares_hardly_grow_where_they_are_no_longer_summed():
    widths = [polya_difference_half_width(Fraction(9, 8), Fraction(scale), "0.95") for scale in (2000, 2001)]
    assert widths[0] <= widths[1] <= 2 * widths[0]


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(2**50)])
def test_the_ends_of_the_scale_are_worked_out(scale):
    bound = polya_difference_half_width(Fraction(3, 2), scale, "0.95")
    assert bound >= discrete_laplace_half_width(scale, "0.95")


def test_shape_one_is_discrete_laplace():
    assert polya_difference_half_width(Fraction(1), Fraction(7), "0.9") == discrete_laplace_half_width(
        Fraction(7), "0.9"
    )


@pytest.mark.parametrize("shape", [1, 2])
def test_a_confidence_outside_is_refused_for_shares(shape):
    with pytest.raises(ParameterError, match="confidence"):
        polya_difference_half_width(Fraction(shape), Fraction(1), 1)
