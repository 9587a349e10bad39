"""The statistical helper itself: it must accept what is right, refuse what is wrong, and never pass vacuously."""

import numpy as np
import pytest
from scipy.stats import poisson
from tests.laws import ALPHA, SAMPLES, assert_law, assert_not_law, cdf_of, p_value

RNG = np.random.default_rng(20)
POISSON = RNG.poisson(30, SAMPLES)


def poisson_cdf(mean):
    return lambda k: float(poisson.cdf(k, mean))


def test_the_right_law_is_accepted():
    assert_law(POISSON, poisson_cdf(30))


@pytest.mark.parametrize("factor", [1.01, 1 / 1.01])
def test_a_law_off_by_one_percent_is_refused_on_both_sides(factor):
    assert_not_law(POISSON, poisson_cdf(30 * factor))


def test_a_wrong_law_fails_the_assertion_and_the_text_names_the_type_one_error():
    with pytest.raises(AssertionError, match="type-I error"):
        assert_law(POISSON, poisson_cdf(33))


def test_the_right_law_fails_the_opposite_assertion():
    with pytest.raises(AssertionError, match="no power"):
        assert_not_law(POISSON, poisson_cdf(30))


def test_p_values_of_a_right_sampler_are_nearly_uniform():
    p_values = [p_value(RNG.geometric(0.1, 2000), lambda k: 1 - 0.9 ** max(k, 0)) for _ in range(400)]
    assert abs(np.mean(np.array(p_values) < 0.1) - 0.1) < 0.075  # 5 standard deviations
    assert min(p_values) > ALPHA


def test_a_sample_that_never_takes_one_of_the_values_is_refused():
    fair = cdf_of(np.full(6, 1 / 6))
    assert_law(RNG.integers(0, 6, SAMPLES), fair)
    assert_not_law(RNG.integers(0, 5, SAMPLES), fair)


def test_values_outside_of_the_support_are_refused():
    assert_not_law(RNG.integers(0, 7, SAMPLES), cdf_of(np.full(6, 1 / 6)))


def test_python_integers_are_counted_as_well():
    huge = np.array([int(value) << 80 for value in RNG.integers(0, 2, SAMPLES)], dtype=object)
    assert_law(huge, lambda k: 0.0 if k < 0 else 0.5 if k < 1 << 80 else 1.0)


def test_a_law_on_one_value_is_no_test():
    with pytest.raises(ValueError, match="single cell"):
        p_value(np.zeros(10), lambda k: float(k >= 0))


def test_the_distribution_function_of_a_finite_law():
    cdf = cdf_of(np.array([0.25, 0.75]))
    assert [cdf(k) for k in (-5, -1, 0, 1, 9)] == [0.0, 0.0, 0.25, 1.0, 1.0]
