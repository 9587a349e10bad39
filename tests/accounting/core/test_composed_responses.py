import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.composed_responses import Added, Composed, _sum_of_equal, _sum_of_tabled, composed

ctx.prec = 200


def exactly(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator


def exact_delta(epsilon_each: Fraction, count: int, epsilon: Fraction) -> arb:
    """Σ over l of C(k, l) max(e^(lε₀) − e^(ε + (k − l)ε₀), 0)/(1 + e^ε₀)^k (Murtagh and Vadhan 2016)."""
    total, each = arb(0), exactly(epsilon_each)
    for true in range(count + 1):
        if (2 * true - count) * epsilon_each > epsilon:
            mass = (each * true).exp() - (exactly(epsilon) + each * (count - true)).exp()
            total += math.comb(count, true) * mass
    return total / (1 + each.exp()) ** count


@given(
    st.fractions(Fraction(1, 1000), 5, max_denominator=1000),
    st.integers(1, 300),
    st.fractions(0, Fraction(99, 100), max_denominator=100),
)
def test_equal_responses_are_bounded_on_both_sides(epsilon_each, count, share):
    epsilon = share * epsilon_each * count
    curve = composed(((epsilon_each, count),))
    truth = float(exact_delta(epsilon_each, count, epsilon))
    assert curve.delta_down(epsilon) <= truth <= curve.delta_up(epsilon)
    assert curve.delta_up(epsilon) <= truth * (1 + 1e-10) + 1e-299


@given(st.integers(1, 60), st.integers(1, 60), st.fractions(0, Fraction(99, 100), max_denominator=100))
def test_a_table_of_two_is_the_sum_of_one(first, second, share):
    each = Fraction(1, 7)
    nearly = each + Fraction(1, 10**30)
    epsilon = share * each * (first + second)
    table = composed(((each, first), (nearly, second)))
    truth = float(exact_delta(each, first + second, epsilon))
    assert table.delta_down(epsilon) <= truth * (1 + 1e-15)
    assert table.delta_up(epsilon) >= truth * (1 - 1e-15)
    assert table.delta_up(epsilon) == pytest.approx(truth, rel=1e-8, abs=1e-290)


def test_sums_also_give_the_slope_of_the_curve():
    step = Fraction(1, 10**6)
    for sum_beyond in (
        lambda epsilon: _sum_of_equal(Fraction(1, 10), 100, epsilon),
        lambda epsilon: _sum_of_tabled(((Fraction(1, 10), 10), (Fraction(1, 3), 5)), epsilon),
    ):
        at = Fraction(51, 100)
        height, slope = sum_beyond(at)
        assert (height - sum_beyond(at + step)[0]) * 10**6 == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("counts", [((Fraction(1, 10), 10**5),), ((Fraction(1, 10), 300), (Fraction(1, 5), 40))])
@pytest.mark.parametrize("delta", ["0.5", "1e-3", "1e-9", "1e-40", "1e-200"])
def test_the_search_finds_where_the_curve_crosses(counts, delta):
    curve = composed(counts)
    wanted = Fraction(delta)
    upper = curve.epsilon_up(wanted)
    lower = curve.epsilon_down(wanted, start=upper)
    assert curve.delta_up(upper) <= wanted
    assert curve.delta_down(lower) > wanted
    assert upper - lower < upper / 10**9


def test_at_zero_and_beyond_the_highest_loss_the_curve_is_exact():
    curve = composed(((Fraction(1, 10), 30), (Fraction(1, 5), 5)))
    assert curve.delta_up(Fraction(4)) == 0
    assert curve.delta_up(Fraction(4) - Fraction(1, 10**9)) > 0
    assert curve.epsilon_up(Fraction(0)) == curve.epsilon_down(Fraction(0), start=Fraction(9)) == 4
    assert curve.epsilon_up(Fraction(1, 2)) == curve.epsilon_down(Fraction(1, 2), start=Fraction(0)) == 0


def test_what_cannot_be_summed_adds_up():
    curve = composed(((Fraction(10**20), 3),))
    assert isinstance(curve, Added)
    assert curve.epsilon_up(Fraction(1, 2)) == 3 * 10**20
    assert curve.epsilon_down(Fraction(1, 2), start=Fraction(3 * 10**20)) == 0
    assert curve.delta_up(Fraction(3 * 10**20)) == 0
    assert curve.delta_up(Fraction(10**20)) == 1
    assert isinstance(composed(((Fraction(1), 10**12),)), Composed)


def test_too_many_different_responses_are_left_to_others():
    assert composed(((Fraction(1), 2000), (Fraction(2), 2000))) is None
    assert composed(((Fraction(1, 10**9), 10**15),)) is None
