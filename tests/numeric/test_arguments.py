"""What callers hand over is used as it is, or refused by its name."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, floats, listed, of_kind, one_of


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
