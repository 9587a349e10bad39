"""Columns of data values as arrays."""

from array import array

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.arrays import column, integer_column, is_vector, present


def test_lists_of_one_kind_become_arrays():
    assert column([1, 2]).dtype == np.int64
    assert column((0.5, 1.0)).dtype == np.float64
    assert column([True, False]).dtype == np.bool_


def test_what_is_missing_in_a_list_of_floats_is_zero():
    assert column([0.5, float("nan"), float("inf")]).tolist() == [0.5, 0.0, float("inf")]


def test_integers_beyond_64_bits_stay_exact():
    assert column([1, 2**70]).tolist() == [1, 2**70]


@pytest.mark.parametrize("mixed", [[True, 1.5], [1, 0.5], [2**60 + 1, 0.5], [], ["a"]], ids=str)
def test_mixed_lists_stay_lists(mixed):
    assert column(mixed) == mixed


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([-1], dtype=np.int8), np.int64),
        (np.array([1], dtype=np.uint32), np.int64),
        (np.array([True]), np.int64),
        (np.array([2**64 - 1], dtype=np.uint64), object),
    ],
)
def test_integers_become_ones_that_cannot_wrap(values, dtype):
    exact = integer_column(values)
    assert exact.dtype == dtype
    assert exact.tolist() == values.astype(object).tolist()


@pytest.mark.parametrize("values", [np.array([0.5]), [1]], ids=str)
def test_what_is_no_array_of_integers_is_none(values):
    assert integer_column(values) is None


class Labelled(np.ndarray):
    """An array that would carry what it knows into every answer."""


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (np.ma.masked_array([5, 7, 9], mask=[False, True, False]), [5, 0, 9]),
        (np.ma.masked_array([0.5, 7.5], mask=[True, False]), [0.0, 7.5]),
        (np.ma.masked_array([5, 7], mask=[False, False]), [5, 7]),
        (np.array([1, 2]).view(Labelled), [1, 2]),
        (pd.Series([1, 2], index=["a", "b"]), [1, 2]),
        (pd.Series([1, None, 3], dtype="Int64"), [1, 0, 3]),
        (pd.Series([1.5, None], dtype="Float64"), [1.5, 0]),
        (np.array([1, None, 2**70], dtype=object), [1, 0, 2**70]),
        ([1, pd.NA, np.ma.masked, pd.NaT, None, float("nan")], [1, 0, 0, 0, 0, 0]),
        (pa.array([2**64 - 1, None], pa.uint64()), [2**64 - 1, 0]),
        (pa.chunked_array([[2**53 + 1], [None]]), [2**53 + 1, 0]),
        (pd.array([2**53 + 1, None], dtype="Int64"), [2**53 + 1, 0]),
        (pd.Series([2**53 + 1, None], dtype="int64[pyarrow]"), [2**53 + 1, 0]),
        (pd.Categorical([2**53 + 1, 7]), [2**53 + 1, 7]),
        (pl.Series([2**53 + 1, None]), [2**53 + 1, 0]),
        (array("q", [2**53 + 1]), [2**53 + 1]),
        ([pa.scalar(5), pa.scalar(None, pa.int64())], [5, 0]),
        (range(3), [0, 1, 2]),
        ((value for value in (4, 5)), [4, 5]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_of_a_container_remains_and_what_is_missing_is_zero(values, plain):
    found = column(values)
    assert type(found) in {np.ndarray, list}
    assert list(found) == plain


@pytest.mark.parametrize(
    "value",
    [None, pd.NA, pd.NaT, np.ma.masked, np.ma.masked_array(5, mask=True), float("nan"), pa.scalar(None)],
    ids=repr,
)
def test_missing_values_are_zero(value):
    assert present(value) == 0
    assert present(5) == 5


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((2, 2)), "2-dimensional"),
        (np.array(3), "0-dimensional"),
        (np.ma.masked_array([[1]], mask=[[True]]), "2-dimensional"),
        ("12", "str"),
        (b"12", "bytes"),
        ({1, 2}, "set"),
        ({1: 2}, "dict"),
        (3, "int"),
        (np.array(["a"]), "array of str_"),
        (np.array([1, "NaT"], dtype="m8[ns]"), "array of timedelta64"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "array of datetime64"),
        (np.array([1j]), "array of complex128"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_column_of_numbers_is_refused_by_its_type(values, said):
    with pytest.raises(ParameterError, match=said):
        column(values)


@pytest.mark.parametrize("values", [[1], (1,), range(1), np.array([1]), pd.Series([1])], ids=lambda v: type(v).__name__)
def test_what_holds_several_numbers_is_a_vector(values):
    assert is_vector(values)


@pytest.mark.parametrize("value", [1, 1.5, "12", b"12", None, np.array(1), np.int64(1), np.ma.masked], ids=repr)
def test_what_is_one_thing_is_no_vector(value):
    assert not is_vector(value)
