"""What callers hand over is used as it is, or refused by its name."""

from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import (
    called,
    column,
    each,
    floats,
    listed,
    of_kind,
    one_of,
    path_of,
    real,
    result,
    share,
    truths,
    whole,
)


def kind(value):
    """Of some values `repr` is not the same in each process."""
    return type(value).__name__


@pytest.mark.parametrize("values", [[1, 2], (1, 2), np.array([1, 2]), iter([1, 2]), {1: "a", 2: "b"}.keys()])
def test_several_values_are_kept_in_their_order(values):
    assert listed(values, "orders") == (1, 2)


@pytest.mark.parametrize("value", [None, 1, "ab", b"ab", {1: 2}, np.array(1.0)], ids=kind)
def test_one_thing_is_no_list_and_the_error_says_so(value):
    with pytest.raises(ParameterError, match=r"^orders = .*: must be a list of numbers$"):
        listed(value, "orders", of="numbers")


def test_a_value_is_of_its_kind_or_refused():
    assert of_kind("a", "name", (str, bytes), "text") == "a"
    with pytest.raises(ParameterError, match=r"^name = 1: must be text$"):
        of_kind(1, "name", str, "text")


@pytest.mark.parametrize("value", [None, "c", 1, ["a"], np.array(["a"]), {}], ids=kind)
def test_only_one_of_the_words_is_one(value):
    assert one_of("a", "side", ("a", "b")) == "a"
    with pytest.raises(ParameterError, match=r"^side = .*: must be 'a' or 'b'$"):
        one_of(value, "side", ("a", "b"))


def test_only_what_can_be_called_is_called():
    assert called(len, "f", "a function") is len
    with pytest.raises(ParameterError, match=r"^f = 3: must be a function$"):
        called(3, "f", "a function")


def test_a_class_is_called_only_where_it_may_be():
    assert called(list, "make", "a function") is list
    with pytest.raises(ParameterError, match=r"^make = <class 'list'>: must be a function$"):
        called(list, "make", "a function", may_be_class=False)


def test_numbers_become_floats_of_any_shape_and_nan_stays():
    assert floats([[1, 2], [3, 4]], "shares").shape == (2, 2)
    assert floats(7, "shares").tolist() == 7.0
    assert np.isnan(floats([float("nan")], "shares")).all()


@pytest.mark.parametrize(
    "values",
    [["a"], [1j], [object()], [[1], [1, 2]], [10**400], np.array(["NaT"], "M8[D]")],
    ids=kind,
)
def test_what_is_no_real_number_is_refused(values):
    with pytest.raises(ParameterError, match=r"^shares = .*: must be numbers$"):
        floats(values, "shares")


def test_numbers_that_are_refused_are_not_shown():
    with pytest.raises(ParameterError) as refused:
        floats([["Ada", 36]], "records")
    assert "Ada" not in str(refused.value)


def test_several_values_are_made_one_after_the_other():
    made = []
    several = each((made.append(number) or number for number in (1, 2)), "orders")
    assert made == []
    assert next(several) == 1
    assert made == [1]


def test_an_error_while_values_are_made_stays_that_error():
    with pytest.raises(TypeError, match="NoneType"):
        listed((1 + number for number in [None]), "orders")


@pytest.mark.parametrize("function", [None, "abc", lambda: 1, lambda _a, _b: 1, int], ids=kind)
def test_what_cannot_be_called_so_is_refused(function):
    with pytest.raises(ParameterError, match=r"^model = .*: must be a function of 1 argument of its kind$"):
        result(function, "model", [1, 2])


def test_what_a_function_holds_is_not_shown():
    with pytest.raises(ParameterError) as refused:
        result(partial(lambda _rows: 1, ["Ada"]), "model", [1, 2])
    assert "Ada" not in str(refused.value)


@pytest.mark.parametrize("function", [lambda rows: rows + 1, lambda rows: len(rows[0])])
def test_an_error_inside_a_function_stays_that_error(function):
    with pytest.raises(TypeError):
        result(function, "model", [1, 2])
    assert result(sum, "model", [1, 2]) == 3


@pytest.mark.parametrize("value", [3, np.int64(3), np.array(3)])
def test_whole_numbers_within_limits_are_used(value):
    assert whole(value, "hits", least=3, most=3) == 3


@pytest.mark.parametrize("value", [None, True, np.True_, "3", 3.0, 2, 10**400, np.ones(1), np.int64(9)], ids=kind)
def test_what_is_no_whole_number_within_limits_is_refused(value):
    with pytest.raises(ParameterError, match=r"^hits = .*: must be a whole number from 3 to 8$"):
        whole(value, "hits", least=3, most=8)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2), Decimal("0.5"), "0.5", "1/2"], ids=kind)
def test_one_number_becomes_a_float(value):
    assert (
        real(value, "threshold") == real(value, "threshold", least=0) == real(value, "threshold", is_finite=True) == 0.5
    )


@pytest.mark.parametrize("value", [2, 2.0, "2", np.int64(2), np.float32(2), Decimal(2), Fraction(2)], ids=kind)
def test_numbers_of_every_kind_become_floats(value):
    assert real(value, "scale", least=0) == 2.0


def test_what_is_infinite_or_missing_is_a_float_where_nothing_else_is_asked():
    assert real(float("inf"), "scale", least=0) == float("inf")
    assert np.isnan(real(float("nan"), "threshold"))
    with pytest.raises(ParameterError, match=r"^scale = nan: must be a number$"):
        real(float("nan"), "scale", least=float("-inf"))
    for value in (float("inf"), float("nan")):
        with pytest.raises(ParameterError, match=r"^level = .*: must be a number that a float can hold$"):
            real(value, "level", is_finite=True)


@pytest.mark.parametrize(
    "value",
    [None, True, "a", "inf", 1j, 10**400, [1], np.ones(1), np.ones((2, 2)), Decimal("sNaN"), np.datetime64("NaT", "s")],
    ids=kind,
)
def test_what_is_not_one_real_number_is_refused(value):
    with pytest.raises(ParameterError, match=r"^threshold = .*: must be a number that a float can hold$"):
        real(value, "threshold")


def test_truths_are_those_of_bools_and_bits():
    there = np.array([True, False])
    assert truths(there, "present") is there
    assert truths([[1, 0.0]], "present").tolist() == [[True, False]]


@pytest.mark.parametrize("values", [None, "abc", [2], [np.nan], ["Ada"], [[1], [1, 0]], {1: 0}], ids=kind)
def test_what_is_neither_true_nor_false_is_refused_and_not_shown(values):
    with pytest.raises(ParameterError, match=r"^present = <class .*>: must be True or False each$"):
        truths(values, "present")


def test_a_number_below_the_least_is_refused():
    with pytest.raises(ParameterError, match=r"^scale = -1: must be 0 or more$"):
        real(-1, "scale", least=0)
    with pytest.raises(ParameterError, match=r"^days = 0: must be a whole number of at least 1$"):
        whole(0, "days", least=1)


@pytest.mark.parametrize("value", [None, True, 1.0, "1", [1], float("nan")], ids=kind)
def test_what_is_no_whole_number_is_refused(value):
    assert whole(np.int64(1), "days", least=1) == 1
    with pytest.raises(ParameterError, match=r"^days = .*: must be a whole number of at least 0$"):
        whole(value, "days", least=0)


def test_a_row_of_numbers_has_one_dimension():
    assert column([1, None], "heights")[0] == 1
    for values in (7, [[1], [2]], np.ones((2, 2)), iter([1])):
        with pytest.raises(ParameterError, match=r"^heights = .*: must be "):
            column(values, "heights")


@pytest.mark.parametrize("value", [0, 1, -0.5, 1e-320, "2", None], ids=repr)
def test_a_share_lies_between_0_and_1(value):
    assert share(0.05, "significance") == 0.05
    with pytest.raises(ParameterError, match=r"^significance = "):
        share(value, "significance")


@pytest.mark.parametrize("value", [None, "", "a\0b", b"abc", 3, object()], ids=kind)
def test_a_path_is_text_or_a_path(value, tmp_path):
    assert path_of(str(tmp_path), "path") == path_of(tmp_path, "path") == tmp_path
    with pytest.raises(ParameterError, match=r"^path = .*: must be a path"):
        path_of(value, "path")
