"""Columns of data values as arrays where an array holds them exactly, because arrays are faster than lists."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise.integers import Integers, narrow, python_integers

Column: TypeAlias = NDArray[Any] | list[Any]


def as_column(values: Iterable[Any], name: str) -> Column:
    """Nothing but ints, or nothing but floats, as an array; an array as it is; all else as a list.

    Raises:
        ParameterError: An array has not one dimension.

    Example:
        >>> as_column([1, 2], "values"), as_column([1, None], "values")
        (array([1, 2]), [1, None])
    """
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ParameterError(name, f"{values.ndim}-dimensional", "must have one dimension")
        return values
    items = list(values)
    kinds = set(map(type, items))
    if kinds == {float}:
        return np.array(items, dtype=np.float64)
    return narrow(python_integers(items)) if kinds == {int} else items


def integer_column(values: Column) -> Integers | None:
    """The values as int64 or Python integers, if they are an array of integers or bits."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iub":
        return None
    return values.astype(object if values.dtype == np.uint64 else np.int64, copy=False)
