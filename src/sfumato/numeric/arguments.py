"""What callers hand over, checked where it arrives: several values, a value of some kind, one of a few words.

Each error names the parameter, shows what came, and says what was wanted. Numbers are read by `rationals`.
"""

from collections.abc import Collection, Iterable, Mapping
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, exact

_Item = TypeVar("_Item")
_Kind = TypeVar("_Kind")
_SMALLEST_SHARE: Final = 1e-300  # smaller ones vanish where several tests share them


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


def called(function: Any, name: str, wanted: str, *, may_be_class: bool = True) -> Any:
    """Something that can be called.

    Args:
        function: What was handed over.
        name: The parameter's name, for the error.
        wanted: What it must be, for the error.
        may_be_class: Whether a class will do, such as ``list``, or must have been meant to be an object of it.

    Raises:
        ParameterError: It cannot.

    Example:
        >>> called(len, "statistic", "a function of rows") is len
        True
    """
    if not callable(function) or (isinstance(function, type) and not may_be_class):
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


def column(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers in a row, as `floats`.

    Raises:
        ParameterError: Something is no real number, or they stand in no row.

    Example:
        >>> column((1, 2.5), "heights").tolist()
        [1.0, 2.5]
    """
    found = floats(values, name)
    if found.ndim != 1:
        raise ParameterError(name, values, "must be a list of numbers")
    return found


def finite(value: Number, name: str) -> float:
    """A number, of what `rationals.exact` reads, as a float.

    Raises:
        ParameterError: It is no number, or beyond the floats.

    Example:
        >>> finite("0.1", "level")
        0.1
    """
    try:
        return float(exact(value, name))
    except OverflowError:
        raise ParameterError(name, value, "must be a number below 1e308") from None


def share(value: Number, name: str) -> float:
    """A float of at least 1e-300 and below 1, as levels of tests are.

    Raises:
        ParameterError: It is none.

    Example:
        >>> share(0.05, "significance")
        0.05
    """
    number = finite(value, name)
    if not _SMALLEST_SHARE <= number < 1:
        raise ParameterError(name, value, f"must lie between {_SMALLEST_SHARE} and 1, such as 0.05")
    return number


def whole(value: Any, name: str, *, least: int, most: int) -> int:
    """A whole number in a range; NumPy's count too.

    Raises:
        ParameterError: It is none, or lies outside.

    Example:
        >>> whole(np.int64(100), "samples", least=2, most=1000)
        100
    """
    try:
        number = None if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:  # such as an array
        number = None
    if number is None or not least <= number <= most:
        raise ParameterError(name, value, f"must be a whole number from {least:,} to {most:,}")
    return number


def path_of(value: Any, name: str) -> Path:
    """Where a file is, or is to be.

    Raises:
        ParameterError: It is no text and no path, or has a NUL in it, which no system allows.

    Example:
        >>> path_of("pictures/ages.png", "path").suffix
        '.png'
    """
    text = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ParameterError(name, value, "must be a path, such as Path('picture.png') or its text")
    return Path(text)
