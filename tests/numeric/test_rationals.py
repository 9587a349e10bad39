import math
from dataclasses import FrozenInstanceError, dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import (
    decimal_text,
    exact,
    flag,
    nonnegative,
    positive,
    positive_integer,
    probability,
    root_up,
    set_fields,
    sqrt_up,
)

TENTH = Fraction(1, 10)


@pytest.mark.parametrize("written", [0.1, "0.1", " 0.1 ", "1/10", "1e-1", Decimal("0.1"), TENTH])
def test_a_number_is_taken_as_it_was_written(written):
    assert exact(written, "epsilon") == TENTH


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_comes_back_from_its_shortest_decimal(value):
    assert float(exact(value, "value")) == value


@pytest.mark.parametrize("wrong", ["", "x", "1/0", "nan", "inf", math.nan, math.inf, -math.inf, Decimal("nan")])
def test_what_is_not_a_finite_number_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match="epsilon"):
        exact(wrong, "epsilon")


@pytest.mark.parametrize("wrong", [True, None, [], b"1", 1j])
def test_what_is_no_number_at_all_is_refused(wrong):
    with pytest.raises(ParameterError, match="must be a number"):
        exact(wrong, "epsilon")


@pytest.mark.parametrize("bomb", ["1e999999999", "1e-999999999", "9" * 10_000, "1/" + "9" * 10_000])
def test_a_short_text_cannot_become_a_huge_number(bomb):
    with pytest.raises(ParameterError):
        exact(bomb, "epsilon")


def test_ranges_are_checked_at_their_ends():
    assert nonnegative(0, "x") == 0
    assert probability(1, "x") == 1
    for check, wrong in [(positive, 0), (nonnegative, "-1e-9"), (probability, "1.0001"), (probability, -1)]:
        with pytest.raises(ParameterError, match="x = "):
            check(wrong, "x")


@pytest.mark.parametrize("wrong", [0, -1, 1.0, True, "1", None])
def test_a_count_is_a_whole_number_of_at_least_one(wrong):
    with pytest.raises(ParameterError, match="count"):
        positive_integer(wrong, "count")


@given(st.fractions(min_value=0, max_value=10**30))
def test_a_square_root_is_rounded_up_and_tight(square):
    root = sqrt_up(square)
    assert root**2 >= square
    assert (root * (1 - Fraction(1, 2**62))) ** 2 <= square


@given(st.fractions(min_value=0, max_value=10**9))
def test_a_rational_square_root_is_exact(root):
    assert sqrt_up(root**2) == root


def test_a_tiny_square_has_a_relatively_tight_root():
    square = Fraction(2, 10**80)
    assert square <= sqrt_up(square) ** 2 <= square * (1 + Fraction(1, 2**60))


@given(st.fractions(min_value=0, max_value=10**30), st.sampled_from([2, 3, 5]), st.sampled_from([4, 10, 64]))
def test_any_root_is_rounded_up_and_tight(power, degree, bits):
    root = root_up(power, degree, bits)
    assert root**degree >= power
    assert (root * (1 - Fraction(1, 2 ** (bits - 1)))) ** degree <= power


@given(st.fractions(min_value=0, max_value=10**9), st.sampled_from([2, 3, 5]))
def test_any_rational_root_is_exact(root, degree):
    assert root_up(root**degree, degree, 3) == root


def test_the_root_of_a_negative_number_is_refused():
    with pytest.raises(ParameterError, match="square"):
        sqrt_up(Fraction(-1))


def test_people_see_whether_a_decimal_is_exact():
    assert decimal_text(Fraction(1, 8)) == "0.125"
    assert decimal_text(Fraction(2, 3), digits=3) == "≈0.667"


@pytest.mark.parametrize("value", ["false", 0, 1, None, "True"])
def test_only_true_and_false_are_flags(value):
    with pytest.raises(ParameterError, match="monotonic"):
        flag(value, "monotonic")
    assert (flag(True, "monotonic"), flag(False, "monotonic")) == (True, False)


def test_fields_of_a_frozen_value_are_set_while_it_is_made():
    @dataclass(frozen=True, slots=True, init=False)
    class Point:
        x: int
        y: int

        def __init__(self):
            set_fields(self, x=1, y=2)

    assert (Point().x, Point().y) == (1, 2)
    with pytest.raises(FrozenInstanceError):
        Point().x = 3
    with pytest.raises(AttributeError):
        set_fields(Point(), z=3)
