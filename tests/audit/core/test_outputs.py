"""Every number and text of an output is read, as exactly as it is."""

import random
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from sfumato.audit.core.outputs import (
    ANSWER,
    MAX_PARTS,
    MISSING,
    TYPE,
    UNREAD,
    WHOLE,
    as_float,
    columns,
    label,
    plain,
    read,
    without_clocks,
)

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


HUGE = 10**5000


class Speechless:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (np.float64(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
        ((np.int8(1), [np.bool_(True)]), (1, [True])),
        ({"a": np.array([0.5])}, {"a": [0.5]}),
        ("text", "text"),
    ],
)
def test_values_of_numpy_become_those_of_python(value, same):
    assert label(plain(value)) == label(same)


def test_negative_zero_nan_and_types_have_labels_of_their_own():
    values = (0.0, -0.0, nan, 0, False, "0", None, (0,), [0], {0: 0})
    assert len(set(map(label, values))) == len(values)
    assert label(nan) == label(-nan)


def test_a_list_that_holds_itself_has_a_label():
    endless = [np.float64(1)]
    endless.append(endless)
    assert label(plain(endless))


@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: Fraction(n, 7), lambda n: [1, n], lambda n: {"a": (n,)}])
def test_integers_of_any_length_are_told_apart(wrap):
    assert label(wrap(HUGE)) != label(wrap(HUGE + 1))
    assert label(wrap(HUGE)) == label(wrap(HUGE))


@pytest.mark.parametrize("value", [Speechless(), [Speechless()], Decimal("sNaN"), "\ud800" * 100])
def test_odd_values_have_labels(value):
    assert label(value) == label(value)


def test_a_long_label_is_a_digest_of_all_of_it():
    first, second = "x" * 10**6, "x" * (10**6 - 1) + "y"
    assert label(first) != label(second)
    assert len(label(first)) < 100


def test_equal_sets_have_one_label_however_they_were_filled():
    """8 and 0 collide in a small table, so their order tells which came first."""
    assert label({8, 0}) == label({0, 8}) == "set(0, 8)"
    assert label(frozenset({0})) != label({0})


RANDOM = random.Random(14)  # noqa: S311 # makes test data
LEAVES = (
    lambda: RANDOM.randrange(-3, 3),
    lambda: 2**60 + RANDOM.randrange(9),
    lambda: 2**70 + RANDOM.randrange(9),
    RANDOM.random,
    lambda: RANDOM.choice((0.0, -0.0, nan, inf, 1.0, 1e300, 0.1)),
    lambda: Fraction(RANDOM.randrange(9), 7),
    lambda: RANDOM.choice((None, True, "text", "", 10**5000, np.float32(0.1), np.int8(3))),
)


def leaf():
    return RANDOM.choice(LEAVES)()


def anything(depth=2):
    """A random output: a number, something else, a list, tuple or mapping of some, or an array."""
    kind = RANDOM.randrange(8) if depth else 0
    size = RANDOM.choice((0, 1, 2, 3, 10, 64, 300)) if depth == 2 else 2
    match kind:
        case 0 | 1 | 2:
            return leaf()
        case 3:
            return [anything(depth - 1) for _ in range(size)]
        case 4:
            return tuple(anything(depth - 1) for _ in range(size))
        case 5:
            return {RANDOM.choice((1, True, "a", "b", None, 2.5)): anything(depth - 1) for _ in range(size)}
        case 6:
            return np.array([RANDOM.random() for _ in range(size)])
        case _:
            return [round(RANDOM.random(), 1) for _ in range(size)]


def shown(read, run):
    """Everything that one run shows, without what is missing."""
    numbers = {("number", name): float(read.number(name)[run]).hex() for name in read.numbers}
    texts = {("text", name): read.text(name)[run] for name in read.texts}
    return {name: entry for name, entry in {**numbers, **texts}.items() if entry not in {"nan", MISSING}}


def objects(outputs):
    array = np.empty(len(outputs), dtype=object)
    for i, output in enumerate(outputs):
        array[i] = output
    return array


@pytest.mark.parametrize("container", [list, tuple, objects])
@pytest.mark.parametrize("_", range(10))
def test_an_output_shows_the_same_alone_as_among_others(container, _):
    outputs = [anything() for _ in range(12)]
    together = columns(container(outputs))
    for run in range(len(outputs)):
        assert shown(together, run) == shown(columns(container(outputs[run : run + 1])), 0)


ROWS = ([0, 3], [0, None], [0, 2**70], [0, 2**63], [0, 0.5], [False, 2], [[1, 2], [3, 4]], [[1, 2], [3, 0.5]])


@pytest.mark.parametrize("outputs", ROWS)
def test_a_number_in_an_array_shows_the_same_whatever_dtype_another_one_needs(outputs):
    together = columns(np.array(outputs))
    for run in range(2):
        assert shown(together, run) == shown(columns(np.array(outputs[run : run + 1])), 0)


def test_integers_shortened_to_64_bits_show_the_same_as_others():
    narrow, wide = columns(np.array([5, 7])), columns(np.array([5, 2**70], dtype=object))
    assert shown(narrow, 0) == shown(wide, 0)


def test_the_sum_of_a_vector_does_not_depend_on_a_longer_one():
    vector = [0.1, 0.9, 0.3, 0.7, 0.2, 0.8, 0.6, 0.4, 0.5, 0.1]
    alone, beside = columns([vector]), columns([vector, vector + [0.5] * 54])
    assert alone.number("the sum of coordinates")[0] == beside.number("the sum of coordinates")[0]


@pytest.mark.parametrize("outputs", [np.array([3, 4]), np.array([0.5, 1.5]), [1, 2], ["a", "b"], np.zeros((2, 0))])
def test_the_whole_answer_and_its_type_are_always_there(outputs):
    assert {WHOLE, TYPE} <= set(columns(outputs).texts)


def test_runs_keep_their_order():
    read = columns(["b", 7, "a", "b", 7.5])
    assert read.text(ANSWER) == ["'b'", MISSING, "'a'", "'b'", MISSING]
    np.testing.assert_array_equal(read.number(ANSWER), [nan, 7, nan, nan, 7.5])
    assert len(read) == 5


def test_equal_outputs_of_different_types_are_told_apart():
    assert columns([1, 1.0, True]).text(TYPE) == ["int", "float", "bool"]


def test_what_is_never_shown_is_missing():
    read = columns([1, 2])
    assert np.isnan(read.number("coordinate 7")).all()
    assert read.text("coordinate 7") == [MISSING] * 2


def test_the_commonest_columns_come_first():
    read = columns([{"rare": 1, "common": 2}, *({"common": i} for i in range(9))])
    assert read.values == ["the value of 'common'", "the value of 'rare'"]


def test_no_outputs_have_no_columns():
    assert len(columns([])) == 0
    assert columns([]).number(ANSWER).tolist() == []


def test_keys_of_nobody_else_take_no_room():
    """A column for each of 3000 keys, with 3000 entries each, would be nine million."""
    read = columns([{f"key {i}": i} for i in range(3000)])
    assert len(read.values) == 3000
    assert np.count_nonzero(~np.isnan(read.number("the value of 'key 5'"))) == 1


@pytest.mark.parametrize(
    ("first", "second", "is_clock"),
    [
        (range(50), range(50, 100), True),
        ([*range(50), inf], [inf, *range(50)], False),
        ([i // 2 for i in range(50)], [25 + i // 2 for i in range(50)], True),
        ([0] * 50, [1] * 50, False),
        (range(50), range(50), False),
        ([*range(48), 48, 47], range(50, 100), False),
    ],
)
def test_only_a_number_that_grows_with_many_runs_is_a_clock(first, second, is_clock):
    kept, clocks = without_clocks(["the answer"], columns(list(first)), columns(list(second)))
    assert (not kept, len(clocks)) == (is_clock, is_clock)
