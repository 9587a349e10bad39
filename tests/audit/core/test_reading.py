"""Every number and text of an output is read, as exactly as it is."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from sfumato.audit.core.reading import ANSWER, MAX_PARTS, TYPE, UNREAD, WHOLE, as_float, read

MISSED, LOW_BITS = "what a double misses", "the lowest 16 bits"


def reading(output):
    return read(output, "label")


@pytest.mark.parametrize(
    ("number", "double"),
    [(3, 3), (True, 1), (Fraction(1, 4), 0.25), (Decimal("0.2"), 0.2), (10**400, inf), (-(10**400), -inf), (0.1, 0.1)],
)
def test_numbers_of_any_type_are_the_answer(number, double):
    assert reading(number).values == {ANSWER: double}


@pytest.mark.parametrize("number", [nan, Decimal("NaN"), Decimal("sNaN"), np.longdouble("nan")])
def test_what_is_no_number_is_missing(number):
    np.testing.assert_equal(reading(number).values[ANSWER], nan)


@pytest.mark.parametrize(
    ("number", "missed"),
    [(2**60 + 5, 5), (2**63 + 7, 7), (Fraction(1, 3), Fraction(1, 3) - Fraction(1 / 3)), (2**53 + 1, 1)],
)
def test_what_a_double_misses_is_read(number, missed):
    assert reading(number).derived[MISSED] == float(missed)


def test_a_long_double_is_read_to_its_end():
    fine = np.longdouble(1) + np.longdouble(2) ** -60
    assert reading(fine).derived.get(MISSED, 0) == float(fine - 1)


@pytest.mark.parametrize("number", [5, 0.5, -3.25, 2**16 - 1, 1e300, inf])
def test_doubles_miss_nothing_of_themselves(number):
    assert MISSED not in reading(number).derived


@pytest.mark.parametrize("number", [7 * 2**40 + 9, float(7 * 2**40 + 9), -(2**20) + 9])
def test_the_low_bits_of_large_integers_are_read(number):
    assert reading(number).derived[LOW_BITS] == 9


def test_the_low_bits_of_an_integer_beyond_the_doubles_are_read():
    assert reading(10**5000 + 9).derived == {LOW_BITS: 9}
    assert reading(10**5000 + 9).values == {ANSWER: inf}


def test_text_is_read_wherever_it_stands():
    assert reading("yes").texts == {WHOLE: "label", TYPE: "str", ANSWER: "'yes'"}
    assert reading(("no", 0.5)).texts["coordinate 0"] == "'no'"
    assert reading({"answer": None}).texts["the value of 'answer'"] == "None"
    assert reading([{"a": ("deep",)}]).texts["coordinate 0 of the value of 'a' of coordinate 0"] == "'deep'"


def test_vectors_are_coordinates_and_what_follows_from_them():
    found = reading((5, nan, 2))
    assert found.values | {"coordinate 1": 0} == {"coordinate 0": 5, "coordinate 1": 0, "coordinate 2": 2}
    assert list(found.derived.values()) == [7, 5, 2, 3, 0, 2]


@pytest.mark.parametrize(
    ("vector", "total"), [([0.1] * 10, 1.0), ([1e308, 1e308, -1e308], 1e308), ([1e308] * 2, inf), ([inf, -inf], nan)]
)
def test_a_sum_is_rounded_once(vector, total):
    np.testing.assert_equal(reading(vector).derived["the sum of coordinates"], total)


def test_mappings_have_values_presence_and_an_order_of_keys():
    found = reading({"a": 1, True: 2})
    assert found.values == {"the value of 'a'": 1, "the value of True": 2}
    assert found.derived == {"whether there is 'a'": 1, "whether there is True": 1}
    assert found.texts["the keys in order"] != reading({True: 2, "a": 1}).texts["the keys in order"]


@pytest.mark.parametrize(
    "output", [[0] * (MAX_PARTS + 1), dict.fromkeys(range(300)), [[[[1]]]], [[0] * 250] * 250, [["x"] * 250] * 250]
)
def test_what_is_not_read_is_said(output):
    assert UNREAD in reading(output).derived


def test_an_ordinary_output_is_read_whole():
    assert UNREAD not in reading({"histogram": [0] * MAX_PARTS, "text": ("a", [1])}).derived


def test_only_numbers_are_numbers():
    np.testing.assert_equal([as_float(value) for value in (1, "1", None)], [1, nan, nan])


def test_the_members_of_a_set_are_read_in_no_order():
    found = reading({"b", "a"})
    assert found.derived == {"the number of members": 2, "whether there is 'a'": 1, "whether there is 'b'": 1}
    assert reading([{"x"}]).derived["whether there is 'x' of coordinate 0"] == 1


def test_a_text_is_read_without_its_digits_and_as_the_number_that_it_is():
    assert reading("no at 12:30").texts["the text without digits"] == "'no at #:#'"
    assert reading("-1.5e3").values == {"the number in text": -1500}
    assert reading("1.5 apples").values == {}
    assert reading("9" * 5000).values == {"the number in text": inf}
    assert reading("apples").derived == {"the length": 6}


@pytest.mark.parametrize(
    ("output", "parts"), [(b"\x01\xff", (1, 255)), (bytearray(b"\x02"), (2,)), (1.5 - 2j, (1.5, -2))]
)
def test_bytes_and_complex_numbers_are_read_part_by_part(output, parts):
    assert tuple(reading(output).values.values()) == parts
