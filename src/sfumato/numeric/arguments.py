"""What callers hand over, checked where it arrives: several values, a value of some kind, one of a few words.

Each error names the parameter, shows what came, and says what was wanted. Numbers are read by `rationals`.
"""

import operator
from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError

_Item = TypeVar("_Item")
_Kind = TypeVar("_Kind")


def listed(values: Iterable[_Item], name: str, *, of: str = "values") -> tuple[_Item, ...]:
    """Several of something, in their order; text, and a mapping, is one thing.

    Raises:
        ParameterError: It is not several.

    Example:
        >>> listed([2, 8], "orders")
        (2, 8)
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ParameterError(name, values, f"must be a list of {of}")
    try:
        return tuple(values)
    except TypeError:  # such as an array without dimensions
        raise ParameterError(name, values, f"must be a list of {of}") from None


def of_kind(value: object, name: str, kind: type[_Kind] | tuple[type[_Kind], ...], wanted: str) -> _Kind:
    """A value of this class, or of one of these.

    Args:
        value: What was handed over.
        name: The parameter's name, for the error.
        kind: The class, or several.
        wanted: What it must be, for the error: ``"a guarantee such as PureDP(1)"``.

    Raises:
        ParameterError: It is of another one.

    Example:
        >>> of_kind(True, "sorted", bool, "True or False")
        True
    """
    if not isinstance(value, kind):
        raise ParameterError(name, value, f"must be {wanted}")
    return value


def one_of(value: object, name: str, words: Collection[str]) -> str:
    """One of a few words.

    Raises:
        ParameterError: It is none of them.

    Example:
        >>> one_of("january", "month", ("january", "february"))
        'january'
    """
    if not isinstance(value, str) or value not in words:
        raise ParameterError(name, value, f"must be {' or '.join(map(repr, words))}")
    return str(value)


def called(function: Any, name: str, wanted: str) -> Any:
    """Something that can be called.

    Raises:
        ParameterError: It cannot.

    Example:
        >>> called(len, "statistic", "a function of rows") is len
        True
    """
    if not callable(function):
        raise ParameterError(name, function, f"must be {wanted}")
    return function


def floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers as an array of floats, of any shape; NaN stays NaN.

    Raises:
        ParameterError: Something is no real number, or rows differ in length.

    Example:
        >>> floats([0, "0.5"], "shares").tolist()
        [0.0, 0.5]
    """
    try:
        found = np.asarray(values)
        if found.dtype.kind in "biufUO":
            return found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ParameterError(name, values, "must be numbers")


def as_float(value: Any, name: str, *, least: float = -inf) -> float:
    """A number as a float, at or above the least; an infinite one too, but not NaN.

    Raises:
        ParameterError: It is none, or below.

    Example:
        >>> as_float("0.5", "scale", least=0)
        0.5
    """
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, value, "must be a number") from None
    if not found >= least:
        raise ParameterError(name, value, "must be a number" if least == -inf else f"must be {least:g} or more")
    return found


def whole(value: Any, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number within limits, also one of NumPy.

    Raises:
        ParameterError: It is none, or lies outside.

    Example:
        >>> whole(np.int64(3), "hits", most=10)
        3
    """
    try:
        found = operator.index(value)
    except TypeError:
        found = least - 1
    if isinstance(value, bool | np.bool_) or found < least or (most is not None and found > most):
        limits = f"of at least {least:,}" if most is None else f"of at least {least:,} and at most {most:,}"
        raise ParameterError(name, value, f"must be a whole number {limits}")
    return found
