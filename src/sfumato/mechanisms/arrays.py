"""Columns of data values, whatever holds them: the one way in for every mechanism that takes many numbers.

What a container adds to its values may itself tell of the data: a database hands out a masked array exactly where
something is missing. So masks, subclasses and missing values are gone behind this module.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import countOf
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise.uniform.integers import Integers, narrow, python_integers

Column: TypeAlias = NDArray[Any] | list[Any]
"""A plain array of one dimension that holds integers (Python's, if they need it), bits or floats; or else a list."""

LARGEST: Final = 10**308
"""Numbers lie within ±10^308, as floats of any size do: what lies beyond counts as that, whatever holds it."""

_MISSING: Final = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})  # of Python, pandas and NumPy
_NUMBERS: Final = "iubf"
_ALIKE: Final = (float, int, bool)
_EXACT: Final = 1 << 62  # up to here whole floats become int64 at once
_INFINITE: Final = np.finfo(np.float64).max


def is_vector(values: object) -> bool:
    """Whether it holds several numbers; a text does not.

    Example:
        >>> is_vector([1]), is_vector(np.array([1])), is_vector(np.array(1)), is_vector(1), is_vector("1")
        (True, True, False, False, False)
    """
    if isinstance(values, np.ndarray):
        return values.ndim > 0
    is_sequence = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray)
    return is_sequence or (hasattr(values, "__array__") and not isinstance(values, np.generic))


def column(values: Iterable[Any], name: str = "exact") -> Column:
    """The values without their container: integers, bits or floats as an array, all else as a list.

    Missing values are 0: masked ones, None, and what pandas writes for it. A list of nothing but ints, or nothing but
    floats, comes as an array too, because arrays are faster.

    Args:
        values: An array, a series, a sequence or another iterable.
        name: The parameter's name, for the error.

    Raises:
        ParameterError: It has not one dimension, or holds a type of things that are no numbers.

    Example:
        >>> column([1, 2]), column([1, None]), column(np.ma.masked_array([5, 7], mask=[False, True]))
        (array([1, 2]), array([1, 0]), array([5, 0]))
    """
    if isinstance(values, str | bytes | bytearray | AbstractSet | Mapping) or not isinstance(values, Iterable):
        raise ParameterError(name, type(values).__name__, "must be a sequence of numbers")
    if isinstance(values, np.ndarray):
        return _plain(values, name)
    # Other containers may turn integers into floats on their way into an array where one is missing.
    for exactly in ("to_list", "to_pylist", "tolist"):
        if hasattr(values, exactly):
            return column(getattr(values, exactly)(), name)
    items = values if type(values) is list else list(values)
    alike = _alike(items)
    if alike is not None:
        return alike
    items = [present(value) for value in items]
    alike = _alike(items)
    return items if alike is None else alike


def _alike(items: list[Any]) -> NDArray[Any] | None:
    """An array of items that are nothing but floats, nothing but ints or nothing but bits."""
    kind = type(items[0]) if items else None
    if kind not in _ALIKE or countOf(map(type, items), kind) < len(items):
        return None
    # Of items of one known type `fromiter` makes the same array as `array`, and sooner.
    if kind is float:
        floats = np.fromiter(items, dtype=np.float64, count=len(items))
        missing = np.isnan(floats)
        return np.where(missing, 0.0, floats) if missing.any() else floats
    if kind is bool:
        return np.frombuffer(bytearray(items), dtype=np.bool_)
    try:
        return np.fromiter(items, dtype=np.int64, count=len(items))
    except OverflowError:
        return python_integers(items)


def is_missing(value: Any) -> bool:
    """Whether it stands for nothing: None, a masked cell, or what pandas writes."""
    return type(value).__name__ in _MISSING


def present(value: Any) -> Any:
    """The value, or 0 if it is a missing one, NaN included; of a scalar of Arrow what is in it."""
    if isinstance(value, np.ma.MaskedArray) and value.ndim == 0:
        return 0 if np.ma.is_masked(value) else value.item()
    held = value.as_py() if hasattr(value, "as_py") else value
    if is_missing(held) or (isinstance(held, float | np.floating) and np.isnan(held)):
        return 0
    return held


def whole_floats(values: NDArray[Any]) -> Integers | None:
    """Floats that hold nothing but whole numbers, as integers: pandas makes them of integers where one is missing.

    NaN is 0, and the infinities are ±10^308.
    """
    with np.errstate(all="ignore"):
        floats = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=_INFINITE, neginf=-_INFINITE)
        if (floats != np.floor(floats)).any():
            return None
        if (np.abs(floats) <= _EXACT).all():
            return floats.astype(np.int64)
    return narrow(python_integers(within(int(value)) for value in floats.tolist()))


def within(number: int) -> int:
    """The number, or the nearest one that is not too large.

    Example:
        >>> within(-7), within(10**400) == 10**308
        (-7, True)
    """
    return max(-LARGEST, min(LARGEST, number))


def integer_column(values: Column) -> Integers | None:
    """The values as int64 or Python integers, if they are an array of integers or bits."""
    if not isinstance(values, np.ndarray) or values.dtype.kind == "f":
        return None
    if values.dtype == object:
        return values
    fits = values.dtype != np.uint64 or not (values >> np.uint64(63)).any()
    return values.astype(np.int64, copy=False) if fits else values.astype(object)


def _plain(values: NDArray[Any], name: str) -> Column:
    array = np.ma.filled(values, 0) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if array.ndim != 1:
        raise ParameterError(name, f"{array.ndim}-dimensional", "must have one dimension")
    if array.dtype == object or array.dtype.type is np.longdouble:
        return column(list(array), name)  # a long double is finer than a float
    if array.dtype.kind not in _NUMBERS:
        raise ParameterError(name, f"an array of {array.dtype.type.__name__}", "must hold numbers")
    return array
