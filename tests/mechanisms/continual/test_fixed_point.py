"""Multiplication of whole numbers, rounded down: machine integers and Python integers agree in every bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.mechanisms.continual.fixed_point import DIGITS, Multiplier

VALUES = st.integers(-(2**62), 2**62)
NUMBERS = st.fractions(min_value=Fraction(1, 2**40), max_value=1)


@settings(max_examples=40)
@given(NUMBERS, st.lists(VALUES, min_size=1))
def test_arrays_and_numbers_agree_with_the_floor(number, values):
    multiplier = Multiplier.near(number)
    exact = [value * multiplier.significand // 2**multiplier.shift for value in values]
    assert [multiplier.times_one(value) for value in values] == exact
    assert multiplier.times(np.array(values)).tolist() == exact
    assert multiplier.times(np.array(values, dtype=object)).tolist() == exact


@settings(max_examples=40)
@given(NUMBERS)
def test_a_multiplier_is_near(number):
    multiplier = Multiplier.near(number)
    assert abs(multiplier.value / number - 1) <= Fraction(1, 2**30)
    assert multiplier.significand < 1 << DIGITS
    assert Multiplier.near(multiplier.value).value == multiplier.value


@pytest.mark.parametrize("shift", range(30, 120, 7))
def test_the_ends_of_machine_integers_are_no_exception(shift):
    multiplier = Multiplier((1 << DIGITS) - 1, shift)
    values = np.array([2**61 - 1, -(2**61) + 1, 2**61, 2**63 - 1, -(2**63), 0, 1, -1])
    assert multiplier.times(values).tolist() == [multiplier.times_one(int(value)) for value in values]
    assert multiplier.times(values[:2]).tolist() == [multiplier.times_one(int(value)) for value in values[:2]]
