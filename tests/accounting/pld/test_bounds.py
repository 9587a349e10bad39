import math
from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.pld.laws import PAIRS, symmetric

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
from sfumato.accounting.pld.bounds import CertifiedCurve
from sfumato.accounting.pld.composing import curve_at_delta, curve_at_epsilon
from sfumato.accounting.pld.convolve import Composition
from sfumato.accounting.profiles.additive import Gaussian

HUNDRED = ((symmetric(Gaussian(Fraction(10))), 100),)


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-12", "1e-30", "1e-100"])
def test_tiny_deltas_keep_their_relative_precision(delta):
    exact = float(gaussian_epsilon_up(noise_multiplier=1, delta=delta))
    upper = curve_at_delta(HUNDRED, float(delta), step=0.005, is_upper=True).epsilon(Fraction(delta))
    lower = curve_at_delta(HUNDRED, float(delta), step=0.005, is_upper=False).epsilon(Fraction(delta))
    assert lower <= exact <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("epsilon", [0, 1, 3, 8, 20])
def test_delta_at_epsilon_encloses_the_closed_form(epsilon):
    exact = gaussian_delta_up(noise_multiplier=1, epsilon=epsilon)
    guess = exact
    upper = curve_at_epsilon(HUNDRED, Fraction(epsilon), step=0.002, delta=guess, is_upper=True).delta(
        Fraction(epsilon)
    )
    lower = curve_at_epsilon(HUNDRED, Fraction(epsilon), step=0.002, delta=guess, is_upper=False).delta(
        Fraction(epsilon)
    )
    assert lower <= exact * (1 + 1e-11)
    assert exact * (1 - 1e-11) <= upper
    assert upper - lower <= 3e-2 * upper


def test_below_the_window_an_upper_bound_knows_nothing_and_a_lower_bound_does():
    upper = curve_at_delta(HUNDRED, 1e-30, step=0.01, is_upper=True)
    lower = curve_at_delta(HUNDRED, 1e-30, step=0.01, is_upper=False)
    assert upper.delta(Fraction(0)) == 1
    assert 0 < lower.delta(Fraction(0)) < 1


def test_beyond_all_losses_nothing_is_left_but_infinite_ones():
    curve = curve_at_delta(((PAIRS["laplace"], 3),), 1e-6, step=0.01, is_upper=True)
    assert curve.delta(Fraction(3)) == 0


def test_the_smallest_epsilon_is_where_delta_is_enough():
    for is_upper in (True, False):
        curve = curve_at_delta(HUNDRED, 1e-6, step=0.01, is_upper=is_upper)
        epsilon = Fraction(curve.epsilon(Fraction("1e-6")))
        assert (curve.delta(epsilon) <= 1e-6) == is_upper
        assert curve.delta(epsilon * (1 + (-1) ** is_upper * Fraction(1, 10**7))) != pytest.approx(0)


def test_epsilon_is_zero_where_delta_is_large_and_infinite_where_all_loss_may_be():
    pairs = ((PAIRS["certain"], 1),)
    curve = curve_at_delta(pairs, 0.9, step=0.01, is_upper=True)
    assert curve.epsilon(Fraction(9, 10)) == 0
    assert curve.epsilon(Fraction(1, 100)) == math.inf


def composition(**errors):
    """One tilted mass at a loss of 1."""
    nothing = {"error": 0.0, "relative_error": 0.0, "stray": 0.0, "infinite_mass": 0.0}
    return Composition(
        center=Fraction(1),
        first=-2,
        step=0.5,
        masses=np.array([0.0, 0.0, 1.0, 0.0]),
        tilt=2.0,
        log_scale=-3.0,
        is_complete_below=False,
        **(nothing | errors),
    )


@pytest.mark.parametrize("errors", [{"error": 1e-3}, {"stray": 1e-3}, {"relative_error": 1e-3}])
def test_each_error_moves_the_bounds_outward(errors):
    exact = math.exp(-3) * (1 - math.exp(-0.25))
    epsilon = Fraction(3, 4)
    upper = CertifiedCurve(composition(**errors), is_upper=True).delta(epsilon)
    lower = CertifiedCurve(composition(**errors), is_upper=False).delta(epsilon)
    assert upper >= exact * (1 + 1e-4)
    assert lower <= exact * (1 - 1e-4)


def test_an_error_of_the_masses_counts_as_if_it_lay_where_it_does_most_harm():
    epsilon, error = Fraction(3, 4), 1e-3
    harm = max(math.exp(-2 * x) * (1 - math.exp(-x)) for x in (0.25, 0.75)) * math.exp(-3 + 2 * 0.25)
    exact = math.exp(-3) * (1 - math.exp(-0.25))
    upper = CertifiedCurve(composition(error=error), is_upper=True).delta(epsilon)
    lower = CertifiedCurve(composition(error=error), is_upper=False).delta(epsilon)
    assert upper - exact >= error * harm
    assert exact - lower >= error * harm


def test_infinite_mass_is_added_to_both():
    for is_upper in (True, False):
        curve = CertifiedCurve(composition(infinite_mass=0.25), is_upper=is_upper)
        assert curve.delta(Fraction(10)) == pytest.approx(0.25, rel=1e-12)
