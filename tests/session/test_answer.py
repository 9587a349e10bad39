import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.asking import parsed

from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.compile import compile_plan
from sfumato.session.answer import NOTHING, Estimate, estimates, figure


def answered(sql, noisy, epsilon="0.5"):
    plan = compile_plan(parsed(sql), PureDP(epsilon), neighboring_relation=ADD_OR_REMOVE_ONE)
    return plan, estimates(plan, noisy, 0.95)


def test_a_count_is_the_noisy_count_plus_or_minus_the_error_of_the_noise():
    plan, rows = answered("SELECT COUNT(*) FROM people", [[100], [-3]])
    error = plan.mechanisms[0].accuracy(0.95)
    assert rows == [[Estimate(value=v, low=v - error, high=v + error)] for v in (100, -3)]


def test_a_sum_is_lattice_steps_times_the_resolution():
    plan, [[estimate]] = answered("SELECT SUM(pay) FROM people", [[250]])
    assert (estimate.value, estimate.half_width) == (2.5, pytest.approx(float(plan.mechanisms[0].accuracy(0.95)) / 100))


@given(st.integers(-50, 5_000), st.integers(-500_000, 500_000))
def test_a_mean_lies_in_its_interval_and_in_the_bounds_whatever_the_noise(count, total):
    _, [[estimate]] = answered("SELECT AVG(pay) FROM people", [[count, total]])
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 10


def test_a_mean_is_the_centre_plus_noisy_sum_over_noisy_count():
    _, [[estimate]] = answered("SELECT AVG(age) FROM people", [[1_000, 2_500]])
    assert estimate.value == 52.5  # the centre of [0, 100] is 50


def test_a_mean_over_nothing_is_the_middle_and_may_be_anything():
    _, [[estimate]] = answered("SELECT AVG(age) FROM people", [[0, 0]], epsilon="0.01")
    assert (estimate.value, estimate.low, estimate.high) == (50, 0, 100)


@given(st.integers(1, 400), st.integers(-20_000, 20_000), st.data())
def test_the_interval_of_a_mean_holds_every_mean_within_both_errors(count, total, data):
    plan, [[estimate]] = answered("SELECT AVG(age) FROM people", [[count, total]])
    count_error, total_error = (int(mechanism.accuracy(0.975)) for mechanism in plan.mechanisms)
    true_count = max(1, count + data.draw(st.integers(-count_error, count_error)))
    true_total = total + data.draw(st.integers(-total_error, total_error))
    mean = min(max(50 + Fraction(true_total, true_count), Fraction(0)), Fraction(100))
    assert estimate.low <= float(mean) <= estimate.high


def test_nothing_is_estimated_where_nothing_was_released():
    for sql in ("SELECT COUNT(*) FROM people", "SELECT SUM(pay) FROM people", "SELECT AVG(age) FROM people"):
        _, rows = answered(sql, [[0, 0]], epsilon=0)
        assert rows == [[NOTHING]]
    assert NOTHING.half_width == math.inf


@pytest.mark.parametrize(
    ("steps", "resolution", "shown"),
    [(3, "1", 3), (3, "7", 21), (1, "1/2", 0.5), (2, "1/2", 1.0), (1, "1/3", 1 / 3), (2**63, "1", 2.0**63)],
)
def test_figures_are_whole_where_the_lattice_is_whatever_the_value(steps, resolution, shown):
    found = figure(steps, Fraction(resolution))
    assert (found, type(found)) == (shown, type(shown))
