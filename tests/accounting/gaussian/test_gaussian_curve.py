from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.gaussian.test_gaussian import true_delta

from sfumato.accounting.gaussian.gaussian_curve import continuous_delta_down, continuous_delta_up


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
