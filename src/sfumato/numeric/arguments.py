"""What callers hand over, checked where it arrives: several values, a value of some kind, one of a few words.

Each error names the parameter, shows what came, and says what was wanted. Numbers are read by `rationals`.
"""

import math
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from numbers import Real
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
    return tuple(each(values, name, of=of))


def each(values: Iterable[_Item], name: str, *, of: str = "values") -> Iterator[_Item]:
    """The same, one after the other, for what is made when it is asked for; its own errors stay what they are.

    Raises:
        ParameterError: It is not several.

    Example:
        >>> next(each([2, 8], "orders"))
        2
    """
    is_one = isinstance(values, str | bytes | Mapping) or getattr(values, "ndim", 1) == 0
    if is_one or not isinstance(values, Iterable):
        raise ParameterError(name, values, f"must be a list of {of}")
    return iter(values)


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
    if not is_one_of(value, words):
        raise ParameterError(name, value, f"must be {' or '.join(map(repr, words))}")
    return str(value)


def is_one_of(value: object, words: Collection[str]) -> bool:
    """Whether something is text, and one of a few words; what cannot be compared with them is not.

    Example:
        >>> is_one_of("age", {"age": 36}), is_one_of(["age"], {"age": 36})
        (True, False)
    """
    return isinstance(value, str) and value in words


def called(function: Any, name: str, wanted: str, *, may_be_class: bool = True) -> Any:
    """Something that can be called.

    Args:
        function: What was handed over.
        name: The parameter's name, for the error.
        wanted: What it must be, for the error.
        may_be_class: Whether a class will do, such as ``list``, or must have been meant to be an object of it.

    Raises:
        ParameterError: The value cannot be called.

    Example:
        >>> called(len, "statistic", "a function of rows") is len
        True
    """
    if not callable(function) or (isinstance(function, type) and not may_be_class):
        raise ParameterError(name, function, f"must be {wanted}")
    return function


def result(function: Any, name: str, *arguments: Any) -> Any:
    """What a function gives. One that cannot be called so is refused; what it raises itself stays what it is.

    Args:
        function: What was handed over.
        name: The parameter's name, for the error.
        arguments: What it is called with.

    Raises:
        ParameterError: It is no function, or takes other arguments.

    Example:
        >>> result(max, "statistic", [3, 5])
        5
    """
    try:
        return function(*arguments)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # from within the function
        wanted = f"must be a function of {len(arguments)} argument{'s' * (len(arguments) != 1)} of its kind"
        shown = getattr(function, "__qualname__", type(function)) if callable(function) else function
        raise ParameterError(name, shown, wanted) from error  # of a partial the rest may be rows


def whole(value: Any, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number within limits, also one of NumPy.

    Raises:
        ParameterError: It is none, or is out of range.

    Example:
        >>> whole(np.int64(3), "hits", most=10)
        3
    """
    try:
        found = operator.index(value)
    except TypeError:  # such as an array
        found = least - 1
    if isinstance(value, bool | np.bool_) or found < least or (most is not None and found > most):
        limits = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise ParameterError(name, value, f"must be a whole number {limits}")
    return found


def real(value: Any, name: str, *, least: float | None = None, is_finite: bool = False) -> float:
    """One number as a float, or text of one such as "0.1" or "1/4"; True and False are none.

    Args:
        value: What was handed over.
        name: The parameter's name, for the error.
        least: It must be at or above it, so NaN is refused; if not given, NaN stays NaN.
        is_finite: Whether infinities, and NaN, are refused.

    Raises:
        ParameterError: It is no real number, beyond the floats, or outside.

    Example:
        >>> real(np.float64(0.5), "threshold"), real("1/4", "level"), real(math.inf, "scale", least=0)
        (0.5, 0.25, inf)
    """
    found: float | None = None
    if not isinstance(value, bool) and isinstance(value, str | Real | Decimal):
        with suppress(TypeError, ValueError, OverflowError):  # one of them a ParameterError
            found = float(exact(value, name) if isinstance(value, str) else value)
    if found is None or (is_finite and not math.isfinite(found)):
        raise ParameterError(name, value, "must be a number that a float can hold")
    if least is not None and not found >= least:
        raise ParameterError(name, value, "must be a number" if least == -math.inf else f"must be {least:g} or more")
    return found


def share(value: Number, name: str) -> float:
    """A float of at least 1e-300 and below 1, as levels of tests are.

    Raises:
        ParameterError: It is none.

    Example:
        >>> share(0.05, "significance")
        0.05
    """
    number = real(value, name, is_finite=True)
    if not _SMALLEST_SHARE <= number < 1:
        raise ParameterError(name, value, f"must lie between {_SMALLEST_SHARE} and 1, such as 0.05")
    return number


def truths(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    """True and False, or 1 and 0, as an array of any shape. The error shows none of them.

    Raises:
        ParameterError: Something is neither.

    Example:
        >>> truths([1, 0], "present").tolist()
        [True, False]
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "b":
        return values
    try:
        found = floats(values, name)
    except ParameterError:
        found = np.array(np.nan)
    if not np.isin(found, (0, 1)).all():
        raise ParameterError(name, type(values), "must be True or False each")
    return found.astype(np.bool_)


def floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers as an array of floats, of any shape; NaN stays NaN. The error shows no list, which may be of people.

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
    raise ParameterError(name, type(values) if isinstance(values, list | tuple) else values, "must be numbers")


def column(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers in a row, as `floats`; the error shows none of them.

    Raises:
        ParameterError: Something is no real number, or they stand in no row.

    Example:
        >>> column((1, 2.5), "heights").tolist()
        [1.0, 2.5]
    """
    found = floats(values, name)
    if found.ndim != 1:
        raise ParameterError(name, type(values), "must be a list of numbers")
    return found


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
