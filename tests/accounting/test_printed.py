import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.printed import percent_down, percent_up, text_down, text_exactly, text_up

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
