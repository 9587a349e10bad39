"""What callers hand over is used as it is, or refused by its name."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, column, finite, floats, listed, of_kind, one_of, path_of, share, whole


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


def test_a_row_of_numbers_has_one_dimension():
    assert column([1, None], "heights")[0] == 1
    for values in (7, [[1], [2]], np.ones((2, 2)), iter([1])):
        with pytest.raises(ParameterError, match=r"^heights = .*: must be "):
            column(values, "heights")


def test_a_finite_number_is_a_float_and_text_of_one_too():
    assert finite("1/4", "level") == finite(np.float32(0.25), "level") == 0.25
    for value in (None, True, float("inf"), float("nan"), "abc", 10**400, np.ones(2)):
        with pytest.raises(ParameterError, match=r"^level = .*: must "):
            finite(value, "level")


@pytest.mark.parametrize("value", [0, 1, -0.5, 1e-320, "2", None], ids=repr)
def test_a_share_lies_between_0_and_1(value):
    assert share(0.05, "significance") == 0.05
    with pytest.raises(ParameterError, match=r"^significance = "):
        share(value, "significance")


@pytest.mark.parametrize("value", [1, 11, 2.0, True, "2", None, np.array([2]), np.float64(2)], ids=kind)
def test_a_whole_number_lies_in_its_range(value):
    assert whole(np.int64(2), "samples", least=2, most=10) == whole(2, "samples", least=2, most=10) == 2
    with pytest.raises(ParameterError, match=r"^samples = .*: must be a whole number from 2 to 10$"):
        whole(value, "samples", least=2, most=10)


@pytest.mark.parametrize("value", [None, "", "a\0b", b"abc", 3, object()], ids=kind)
def test_a_path_is_text_or_a_path(value, tmp_path):
    assert path_of(str(tmp_path), "path") == path_of(tmp_path, "path") == tmp_path
    with pytest.raises(ParameterError, match=r"^path = .*: must be a path"):
        path_of(value, "path")
