import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.printed import percent_down, percent_up, text_down, text_exactly, text_up

POSITIVE = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)


@given(POSITIVE)
def test_a_text_lies_on_its_side_and_near_the_value(value):
    low, high = Fraction(text_down(value)), Fraction(text_up(value))
    assert low <= value <= high
    assert high - low <= value / 10**5


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(1, 10), "0.1"), (Fraction(0), "0"), (math.inf, "∞"), (Fraction(10**6), "1000000"), (1.5, "1.5")],
)
def test_short_numbers_are_shown_in_full(value, text):
    assert (text_up(value), text_down(value)) == (text, text)


def test_tiny_and_huge_numbers_keep_their_digits():
    assert text_up(Fraction(1, 10**30)) == "1e-30"
    assert text_up(Fraction(2, 3 * 10**30)) == "6.66667e-31"
    assert Decimal(text_up(Fraction(10**40 + 1))) > 10**40
    assert text_up(Fraction(10**400)) == "1e+400"


@given(st.fractions(min_value=0, max_value=1))
def test_a_percentage_lies_on_its_side(value):
    low, high = (Fraction(text.removesuffix("%")) / 100 for text in (percent_down(value), percent_up(value)))
    assert low <= value <= high
    assert high - low <= Fraction(1, 10_000)


@given(st.integers(), st.integers(0, 80))
def test_a_dyadic_number_is_shown_with_all_its_digits(numerator, octaves):
    value = Fraction(numerator, 2**octaves)
    assert Fraction(text_exactly(value)) == value
    assert "/" not in text_exactly(value)


def test_other_fractions_stay_fractions():
    assert text_exactly(Fraction(-1, 3)) == "-1/3"


@pytest.mark.parametrize(("value", "text"), [("1e-6", "1e-6"), ("0.3333333", "0.3333333"), (10, "10"), (0, "0")])
def test_decimals_are_shown_exactly_as_they_were_stated(value, text):
    assert text_exactly(Fraction(value)) == text


@given(st.fractions())
def test_an_exact_text_is_the_value(value):
    assert Fraction(text_exactly(value)) == value


def test_rounding_does_not_depend_on_the_decimal_context_of_the_caller():
    with localcontext(Context(prec=3)):
        assert (text_up(Fraction(1, 3)), text_down(Fraction(19_999, 10_000))) == ("0.333334", "1.9999")
        assert text_exactly(Fraction("1.23456789")) == "1.23456789"
