import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.crossing import Axis, costliest_allowed

TOLERANCE = Fraction(1, 10**6)
NOISE = Axis(costliest=Fraction(1, 2**256), cheapest=Fraction(2**256), tolerance=TOLERANCE)
COUNT = Axis(costliest=Fraction(10**12), cheapest=Fraction(1), tolerance=TOLERANCE, is_whole=True)
SHARE = Axis(costliest=Fraction(1), cheapest=Fraction(1, 2**64), tolerance=TOLERANCE)


class Tried:
    """A function that remembers what it was asked."""

    def __init__(self, excess):
        self.excess, self.values = excess, []

    def __call__(self, value):
        self.values.append(value)
        return self.excess(value)


def gaussian_like(limit):
    """Like ε of Gaussian noise: a linear and a quadratic part."""
    return Tried(lambda noise: math.log((1 / (2 * float(noise) ** 2) + 4.8 / float(noise)) / limit))


@pytest.mark.parametrize("limit", [1e-3, 0.1, 1, 3, 8, 100, 1e4])
def test_noise_is_found_in_few_evaluations(limit):
    cost = gaussian_like(limit)
    found = costliest_allowed(cost, axis=NOISE, guess=Fraction(1))
    assert cost.excess(found) <= 0 < cost.excess(found * (1 - 2 * TOLERANCE))
    assert len(cost.values) <= 9


@pytest.mark.parametrize("limit", [0.003002, 0.1, 1, 8, 100, 1e4])
def test_a_count_is_exact_below_one_over_the_tolerance(limit):
    cost = Tried(lambda count: math.log((1e-6 * count + 3e-3 * math.sqrt(count)) / limit))
    found = costliest_allowed(cost, axis=COUNT, guess=Fraction(1))
    assert found.denominator == 1
    assert cost.excess(found) <= 0 < cost.excess(found + max(1, int(found * TOLERANCE)))
    assert len(cost.values) <= 16


@given(st.floats(1e-6, 1e6), st.floats(0.3, 3), st.floats(-3, 3))
def test_powers_cross_where_they_should(limit, power, jump):
    cost = Tried(lambda noise: -power * math.log(noise) - math.log(limit) + (jump if noise < 1 else 0))
    found = costliest_allowed(cost, axis=NOISE, guess=Fraction(1))
    assert cost.excess(found) <= 0
    assert len(cost.values) <= 45


def test_the_result_was_tried_and_is_short():
    cost = gaussian_like(3)
    found = costliest_allowed(cost, axis=NOISE, guess=Fraction(1))
    assert found in cost.values
    assert found.numerator.bit_length() <= 24


@given(st.randoms(use_true_random=False), st.sampled_from([NOISE, COUNT, SHARE]))
def test_whatever_the_cost_does_the_result_was_allowed(generator, axis):
    table = {}
    cost = Tried(lambda value: table.setdefault(value, generator.choice((-math.inf, -1.0, -1e-9, 1e-9, 1.0, math.inf))))
    found = costliest_allowed(cost, axis=axis, guess=min(axis.costliest, Fraction(1)))
    assert found is None or table[found] <= 0
    assert len(cost.values) <= 400


@pytest.mark.parametrize("axis", [NOISE, COUNT, SHARE])
def test_the_ends_of_an_axis(axis):
    assert costliest_allowed(lambda _: -1.0, axis=axis, guess=Fraction(1)) == axis.costliest
    assert costliest_allowed(lambda _: 1.0, axis=axis, guess=Fraction(1)) is None
    assert costliest_allowed(lambda _: math.inf, axis=axis, guess=Fraction(1)) is None


def test_a_cliff_between_nothing_and_infinity_is_found():
    found = costliest_allowed(lambda noise: -math.inf if noise >= 7 else math.inf, axis=NOISE, guess=Fraction(1))
    assert 7 <= found <= 7 * (1 + TOLERANCE)


def test_a_probability_stays_below_one():
    cost = Tried(lambda share: math.log(share / Fraction(1, 3)))
    found = costliest_allowed(cost, axis=SHARE, guess=Fraction(1, 100))
    assert max(cost.values) <= 1
    assert Fraction(1, 3) * (1 - TOLERANCE) <= found <= Fraction(1, 3)


@pytest.mark.parametrize("tolerance", ["0.05", "0.1", "0.2", "0.5", "1"])
@pytest.mark.parametrize("limit", [0.0011, 0.999, 1.001, 7.3])
def test_coarse_tolerances_are_kept(tolerance, limit):
    axis = Axis(costliest=Fraction(1, 2**256), cheapest=Fraction(2**256), tolerance=Fraction(tolerance))
    found = costliest_allowed(lambda noise: math.log(1 / noise / limit), axis=axis, guess=Fraction(1))
    assert 1 <= found * limit <= 1 + axis.tolerance


def test_costs_that_only_just_differ_from_the_limit_have_no_secant():
    least = math.ulp(0.0)
    found = costliest_allowed(lambda noise: 0.0 if noise >= 7 else least, axis=NOISE, guess=Fraction(1))
    assert 7 <= found <= 7 * (1 + TOLERANCE)
