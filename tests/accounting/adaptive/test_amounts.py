import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.adaptive.amounts import NOTHING, Amounts, scaled, total

NUMBERS = st.dictionaries(st.sampled_from(["rho", "delta", "epsilon"]), st.fractions(0, 10))
AMOUNTS = NUMBERS.map(lambda numbers: Amounts(tuple(sorted(numbers.items()))))


def amounts(**numbers):
    return Amounts(tuple((name, Fraction(number)) for name, number in numbers.items()))


def test_what_is_not_named_is_zero():
    assert NOTHING["rho"] == amounts(rho=1)["delta"] == 0
    assert amounts(rho=1).plus(amounts(delta=2)) == amounts(rho=1, delta=2)


@given(AMOUNTS, AMOUNTS)
def test_sums_are_name_by_name(first, second):
    total = first.plus(second)
    assert all(total[name] == first[name] + second[name] for name in ("rho", "delta", "epsilon"))


@given(AMOUNTS, st.integers(1, 7))
def test_so_many_times_is_a_sum_of_so_many(single, count):
    total = NOTHING
    for _ in range(count):
        total = total.plus(single)
    assert single.times(count) == total


@given(AMOUNTS, AMOUNTS)
def test_what_is_left_fills_the_limits_exactly(spent, limits):
    filled = spent.plus(spent.left_of(limits))
    assert all(filled[name] == limit for name, limit in limits.numbers)
    assert spent.is_within(limits) == all(spent[name] <= limits[name] for name in ("rho", "delta", "epsilon"))


def test_infinite_amounts_are_within_nothing():
    endless = Amounts((("epsilon", math.inf),))
    assert endless.plus(endless).times(3)["epsilon"] == math.inf
    assert not endless.is_within(amounts(epsilon=10**400))


def test_amounts_are_written_for_people():
    assert str(amounts(rho="3/10", delta="1/3")) == "rho 0.3, delta ≈0.333333"
    assert str(Amounts((("epsilon", math.inf),))) == "epsilon ∞"
    assert str(NOTHING) == "nothing"


def test_infinite_amounts_meet_rationals_that_no_float_holds():
    endless, huge = Amounts((("epsilon", math.inf),)), amounts(epsilon=10**390)
    assert endless.plus(huge) == huge.plus(endless) == endless.times(10**400) == endless
    assert endless.left_of(huge)["epsilon"] == -math.inf
    assert total(Fraction(10**390), Fraction(1)) == 10**390 + 1
    assert scaled(math.inf, Fraction(1, 10**400)) == math.inf
