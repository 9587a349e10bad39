"""What callers hand over, checked where it arrives: several values, a value of some kind, one of a few words.

Each error names the parameter, shows what came, and says what was wanted. Numbers are read by `rationals`.
"""

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
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


def whole(value: object, name: str, *, least: int = 0, most: int) -> int:
    """A whole number within limits, also one of NumPy.

    Raises:
        ParameterError: It is none, or lies outside.

    Example:
        >>> whole(np.int64(3), "hits", most=10)
        3
    """
    try:
        found = operator.index(value)  # type: ignore[arg-type] # what is none is what is looked for
    except TypeError:
        found = least - 1
    if isinstance(value, bool | np.bool_) or not least <= found <= most:
        raise ParameterError(name, value, f"must be a whole number of at least {least:,} and at most {most:,}")
    return found


def real(value: object, name: str) -> float:
    """One number as a float; NaN stays NaN. Text is none.

    Raises:
        ParameterError: It is no real number, or beyond the floats.

    Example:
        >>> real(np.float64(0.5), "threshold")
        0.5
    """
    if not isinstance(value, bool) and isinstance(value, Real | Decimal):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise ParameterError(name, value, "must be a number that a float can hold")


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
