import math
from fractions import Fraction

import mpmath
import pytest
from dp_accounting import gaussian_mechanism
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.gaussian.gaussian import (
    GaussianBound,
    analytic_stddev,
    as_delta,
    certifiable_down,
    certified_stddev,
    classic_stddev,
    continuous_delta_down,
    continuous_delta_up,
    epsilon_down,
    gaussian_delta_up,
    gaussian_epsilon_up,
    in_range,
    in_range_or_zero,
    least_delta_up,
    least_epsilon_up,
)
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import open_probability

# Balle and Wang (2018), Theorem 8, evaluated to 6 decimals: epsilon, then sigma at delta 1e-5, 1e-6, 1e-9.
ANALYTIC = [
    ("0.1", 30.749566, 36.304690, 50.209818),
    ("0.5", 7.031827, 8.057618, 10.673897),
    ("1", 3.730632, 4.224679, 5.495266),
    ("2", 1.993812, 2.230476, 2.844547),
    ("5", 0.891868, 0.980049, 1.211712),
    ("10", 0.499889, 0.541087, 0.650247),
]
# mu = 1/noise_multiplier, and epsilon at delta 1e-6 (Dong, Roth and Su 2022, Corollary 1).
CURVE = [
    ("0.1", 0.396857),
    ("0.25", 1.060702),
    ("0.5", 2.254085),
    ("1", 4.886554),
    ("2", 10.997151),
    ("3", 18.163446),
    ("5", 35.566344),
]
MULTIPLIERS = st.fractions(min_value=Fraction(1, 20), max_value=10**6, max_denominator=10**6)
EPSILONS = st.fractions(min_value=0, max_value=50, max_denominator=10**6)
DELTAS = st.sampled_from(["0.5", "1e-2", "1e-5", "1e-9", "1e-15"])


def true_delta(noise_multiplier: Fraction, epsilon: Fraction) -> mpmath.mpf:
    with mpmath.workdps(400):
        sigma = mpmath.mpf(noise_multiplier.numerator) / noise_multiplier.denominator
        loss = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        low, high = loss * sigma - 1 / (2 * sigma), loss * sigma + 1 / (2 * sigma)
        tails = mpmath.erfc(low / mpmath.sqrt(2)) - mpmath.exp(loss) * mpmath.erfc(high / mpmath.sqrt(2))
        return +(tails / 2)


@pytest.mark.parametrize(("epsilon", "at_5", "at_6", "at_9"), ANALYTIC)
def test_the_analytic_calibration_has_its_published_values(epsilon, at_5, at_6, at_9):
    for delta, sigma in zip(("1e-5", "1e-6", "1e-9"), (at_5, at_6, at_9), strict=True):
        found = analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=delta)
        assert float(found) == pytest.approx(sigma, abs=1e-5)


@pytest.mark.parametrize(("mu", "epsilon"), CURVE)
def test_the_curve_has_its_published_values(mu, epsilon):
    found = gaussian_epsilon_up(noise_multiplier=1 / Fraction(mu), delta="1e-6")
    assert float(found) == pytest.approx(epsilon, abs=2e-6)


@given(MULTIPLIERS, EPSILONS)
def test_delta_is_above_the_truth_and_near(noise_multiplier, epsilon):
    truth = true_delta(noise_multiplier, epsilon)
    bound = gaussian_delta_up(noise_multiplier=noise_multiplier, epsilon=epsilon)
    assert truth <= bound
    assert bound <= max(truth * (1 + mpmath.mpf("1e-5")) + mpmath.mpf("1e-15"), mpmath.mpf("1e-300"))


@pytest.mark.parametrize("noise_multiplier", ["1/40", "0.01", "1e-100", "1e100"])
@pytest.mark.parametrize("epsilon", [0, "1e-100", 700, 10**9, "1e100"])
def test_extreme_parameters_stay_above_the_truth(noise_multiplier, epsilon):
    bound = gaussian_delta_up(noise_multiplier=noise_multiplier, epsilon=epsilon)
    assert 0 < bound <= 1
    if noise_multiplier in {"1/40", "0.01"} and epsilon in {0, 700}:
        assert bound >= true_delta(Fraction(noise_multiplier), Fraction(epsilon))


@given(MULTIPLIERS, DELTAS)
def test_epsilon_keeps_delta_and_no_smaller_one_does(noise_multiplier, delta):
    epsilon = gaussian_epsilon_up(noise_multiplier=noise_multiplier, delta=delta)
    assert true_delta(noise_multiplier, epsilon) <= Fraction(delta)
    if epsilon > Fraction(1, 10**6):
        assert true_delta(noise_multiplier, epsilon * (1 - Fraction(1, 10**5))) > Fraction(delta) * Fraction(99, 100)


@given(st.sampled_from(["1/3", "1", "7.5", "1e6"]), st.sampled_from(["0", "0.01", "1", "8"]), DELTAS)
def test_the_calibrated_noise_suffices_and_a_little_less_does_not(l2_sensitivity, epsilon, delta):
    sigma = analytic_stddev(l2_sensitivity=l2_sensitivity, epsilon=epsilon, delta=delta)
    multiplier = sigma / Fraction(l2_sensitivity)
    assert true_delta(multiplier, Fraction(epsilon)) <= Fraction(delta)
    assert true_delta(multiplier * (1 - Fraction(1, 10**4)), Fraction(epsilon)) > Fraction(delta)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_an_independent_implementation_agrees(epsilon):
    sigma = gaussian_mechanism.get_sigma_gaussian(epsilon, 1e-6, tol=1e-10)
    assert float(analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=1e-6)) == pytest.approx(sigma, rel=1e-7)


def test_the_classic_formula_is_valid_and_never_better():
    for epsilon in ("0.01", "0.5", "0.99"):
        for delta in ("1e-5", "1e-9"):
            classic = classic_stddev(l2_sensitivity=3, epsilon=epsilon, delta=delta)
            formula = 3 * math.sqrt(2 * math.log(1.25 / float(delta))) / float(epsilon)
            assert formula <= float(classic) <= formula * (1 + 1e-10)
            assert classic > analytic_stddev(l2_sensitivity=3, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("epsilon", ["0", "1", "2", "-1"])
def test_the_classic_formula_is_refused_outside_its_proof(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        classic_stddev(l2_sensitivity=1, epsilon=epsilon, delta="1e-6")


@pytest.mark.parametrize("calibrate", [analytic_stddev, classic_stddev])
@pytest.mark.parametrize("delta", ["0", "1", "-1e-6", "1.5"])
def test_gaussian_noise_needs_a_delta_inside(calibrate, delta):
    with pytest.raises(ParameterError, match="delta"):
        calibrate(l2_sensitivity=1, epsilon="0.5", delta=delta)


@pytest.mark.parametrize("wrong", ["0", "-1", "1e-200", "1e200", "nan"])
def test_a_sensitivity_that_floats_cannot_certify_is_refused(wrong):
    with pytest.raises(ParameterError, match="l2_sensitivity"):
        analytic_stddev(l2_sensitivity=wrong, epsilon=1, delta="1e-6")


def test_a_delta_too_small_to_certify_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        analytic_stddev(l2_sensitivity=1, epsilon=1, delta="1e-310")


def test_the_curve_at_its_ends():
    assert gaussian_epsilon_up(noise_multiplier=1, delta=0) == math.inf
    assert gaussian_epsilon_up(noise_multiplier=1, delta="0.9") == 0
    assert gaussian_delta_up(noise_multiplier="1e-3", epsilon=0) == 1


def test_a_calibrated_stddev_is_a_short_dyadic():
    sigma = analytic_stddev(l2_sensitivity="1/3", epsilon="0.7", delta="1e-7")
    assert sigma.numerator.bit_length() <= 32
    assert sigma.denominator & (sigma.denominator - 1) == 0


@given(
    st.fractions(min_value=Fraction(1, 20), max_value=1000, max_denominator=10**6),
    st.fractions(min_value=0, max_value=50, max_denominator=10**6),
)
def test_the_truth_lies_between_the_bounds(noise_multiplier, epsilon):
    truth = true_delta(noise_multiplier, epsilon)
    low, high = continuous_delta_down(noise_multiplier, epsilon), continuous_delta_up(noise_multiplier, epsilon)
    assert 0 <= low <= truth <= high
    assert low >= truth * (1 - 1e-5) - 1e-15


@pytest.mark.parametrize("noise_multiplier", [Fraction(1, 2**499), Fraction(1, 100), Fraction(2) ** 499])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10**100), Fraction(700), Fraction(2) ** 499])
def test_extreme_parameters_give_bounds_in_order(noise_multiplier, epsilon):
    low, high = continuous_delta_down(noise_multiplier, epsilon), continuous_delta_up(noise_multiplier, epsilon)
    assert 0 <= low <= high <= 1


def test_much_sensitivity_reveals_nearly_everything():
    assert 1 - 1e-9 < continuous_delta_down(Fraction(1, 100), Fraction(0)) < 1


DELTA = Fraction(1, 10**6)
NOTHING, ONE = GaussianBound(Fraction(0)), GaussianBound(Fraction(1))
LOOSE = GaussianBound(Fraction(1), Fraction(1, 4))
VAST = GaussianBound(Fraction(2) ** 1200)


def test_without_a_factor_it_is_the_curve_itself():
    assert ONE.delta_up(Fraction(2)) == pytest.approx(gaussian_delta_up(noise_multiplier=1, epsilon=2), rel=1e-15)
    assert least_epsilon_up([ONE], DELTA) == pytest.approx(gaussian_epsilon_up(noise_multiplier=1, delta=DELTA))


def test_a_factor_moves_and_raises_the_curve():
    moved = gaussian_delta_up(noise_multiplier=1, epsilon="1.75")
    assert LOOSE.delta_up(Fraction(2)) == pytest.approx(math.exp(1 / 8) * moved, rel=1e-9)
    moved = gaussian_delta_up(noise_multiplier=1, epsilon="2.25")
    assert LOOSE.delta_down(Fraction(2)) == pytest.approx(math.exp(-1 / 4) * moved, rel=1e-9)


def test_below_zero_the_curve_grows_by_what_the_weight_lacks():
    at_zero = gaussian_delta_up(noise_multiplier=1, epsilon=0)
    assert LOOSE.delta_up(Fraction(0)) == pytest.approx(math.exp(1 / 8) * (at_zero + 1 - math.exp(-1 / 4)), rel=1e-9)


def test_the_best_bound_counts():
    assert least_delta_up([VAST, LOOSE, ONE], Fraction(1)) == ONE.delta_up(Fraction(1))
    assert least_epsilon_up([VAST, LOOSE, ONE], DELTA) == least_epsilon_up([ONE], DELTA)
    assert epsilon_down([LOOSE, ONE], DELTA) == epsilon_down([ONE], DELTA)


@pytest.mark.parametrize("squared_mu", ["1e-9", "0.01", "1", "900", "1e8"])
def test_the_ends_of_the_interval_are_near_and_in_order(squared_mu):
    bounds = [GaussianBound(Fraction(squared_mu))]
    low, high = epsilon_down(bounds, DELTA), least_epsilon_up(bounds, DELTA)
    assert low <= high <= low * (1 + Fraction(1, 10**5))


def test_extreme_curves():
    assert (NOTHING.delta_up(Fraction(0)), least_epsilon_up([NOTHING], Fraction(0))) == (0, 0)
    assert (epsilon_down([NOTHING], Fraction(0)), epsilon_down([NOTHING], DELTA)) == (0, 0)
    assert (VAST.delta_up(Fraction(10)), VAST.delta_down(Fraction(10))) == (1, 0)
    assert least_epsilon_up([ONE], Fraction(0)) == epsilon_down([ONE], Fraction(0)) == math.inf
    assert GaussianBound(Fraction(1, 2**1200)).delta_up(Fraction(0)) < 1e-100
    assert GaussianBound(Fraction(1), Fraction(5000)).delta_up(Fraction(0)) == 1
    assert ONE.delta_up(Fraction(2) ** 900) < 1e-300
    assert epsilon_down([ONE], Fraction(1, 2)) == 0


def test_an_epsilon_beyond_floats_is_lowered():
    assert certifiable_down(Fraction(3)) == 3
    assert certifiable_down(Fraction(1, 10**200)) == 0
    assert certifiable_down(Fraction(10**200)) == 2**499


@pytest.mark.parametrize("value", [Fraction(1, 2**500), 1, 2**500])
def test_a_number_in_range_is_taken_exactly(value):
    assert in_range(value, "stddev") == value


@pytest.mark.parametrize("value", [0, -1, Fraction(1, 2**501), 2**500 + 1, "nan"])
def test_a_number_out_of_range_is_refused_by_name(value):
    with pytest.raises(ParameterError, match="stddev"):
        in_range(value, "stddev")


def test_zero_is_an_epsilon():
    assert in_range_or_zero(0, "epsilon") == 0


@pytest.mark.parametrize("delta", [0, 1, -1])
def test_delta_lies_between_its_ends(delta):
    with pytest.raises(ParameterError, match="delta"):
        open_probability(delta, "delta")


def test_the_least_bound_is_taken_upward():
    assert 0.25 <= as_delta(0.5, 0.25) < 0.2500001
    assert as_delta(3.0) <= 1


def test_the_stddev_found_suffices_and_a_little_less_does_not():
    found = certified_stddev(lambda stddev: float(1 / stddev), Fraction(1, 1000), guess=Fraction(1))
    assert float(1 / found) <= 1 / 1000 < float(1 / (found * (1 - Fraction(1, 2**20))))
