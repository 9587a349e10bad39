"""Columns of data values as arrays."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.arrays import as_column, integer_column


def test_lists_of_one_kind_become_arrays():
    assert as_column([1, 2], "values").dtype == np.int64
    assert as_column((0.5, 1.0), "values").dtype == np.float64


def test_integers_beyond_64_bits_stay_exact():
    assert as_column([1, 2**70], "values").tolist() == [1, 2**70]


@pytest.mark.parametrize("mixed", [[True, 1.5], [1, 0.5], [2**60 + 1, 0.5], [None, 1], [], ["a"]], ids=str)
def test_mixed_lists_stay_lists(mixed):
    assert as_column(mixed, "values") == mixed


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
    column = integer_column(values)
    assert column.dtype == dtype
    assert column.tolist() == values.astype(object).tolist()


@pytest.mark.parametrize("values", [np.array([0.5]), [1], np.array([1], dtype=object)], ids=str)
def test_what_is_no_array_of_integers_is_none(values):
    assert integer_column(values) is None


def test_a_table_is_refused():
    with pytest.raises(ParameterError, match="one dimension"):
        as_column(np.zeros((2, 2)), "values")
