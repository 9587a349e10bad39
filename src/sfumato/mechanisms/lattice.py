"""Data values, whatever holds them, as plain columns and as steps of a public lattice, where exact noise can hide them.

What a container adds to its values may itself reveal data: a database hands out a masked array exactly where
something is missing. So masks, subclasses and missing values are gone behind this module. Nothing here fails on a data
value: a NaN, an infinity or a number of any size has its lattice point.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from operator import countOf
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.numeric.rationals import Number, exact, positive, sqrt_up

Column: TypeAlias = NDArray[Any] | list[Any]
"""A plain array of one dimension that holds integers (Python's, if they need it), bits or floats; or else a list."""
LARGEST: Final = 10**308
"""Numbers lie within ±10^308, as floats of any size do: what lies beyond counts as that, whatever holds it."""
LARGEST_STEP: Final = 1 << 62

_MISSING: Final = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})  # of Python, pandas and NumPy
_NUMBERS: Final = "iubf"
_ALIKE: Final = (float, int, bool)
_EXACT: Final = 1 << 62  # up to here whole floats become int64 at once
_INFINITE: Final = np.finfo(np.float64).max
_SMALLEST_EXPONENT: Final = -400  # smaller decimals count as 0
_BOUND: Final = Fraction(LARGEST)
_HALF: Final = Fraction(1, 2)
_QUOTIENT_ERROR: Final = 2.0**-50
_SPARSE: Final = 1 << 53  # floats from here on are whole, and their shortest decimals need not be
_LARGEST_TERM: Final = 1 << 900  # times 2^64 steps, still a float


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
        array = np.ma.filled(values, 0) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if array.ndim != 1:
            raise ParameterError(name, f"{array.ndim}-dimensional", "must have one dimension")
        if array.dtype == object or array.dtype.type is np.longdouble:
            return column(list(array), name)  # a long double is finer than a float
        if array.dtype.kind not in _NUMBERS:
            raise ParameterError(name, f"an array of {array.dtype.type.__name__}", "must hold numbers")
        return array
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


def integer_column(values: Column) -> Integers | None:
    """The values as int64 or Python integers, if they are an array of integers or bits."""
    if not isinstance(values, np.ndarray) or values.dtype.kind == "f":
        return None
    if values.dtype == object:
        return values
    fits = values.dtype != np.uint64 or not (values >> np.uint64(63)).any()
    return values.astype(np.int64, copy=False) if fits else values.astype(object)


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


def present(value: Any) -> Any:
    """The value, or 0 if it is a missing one, NaN included; of a scalar of Arrow what is in it."""
    if isinstance(value, np.ma.MaskedArray) and value.ndim == 0:
        return 0 if np.ma.is_masked(value) else value.item()
    held = value.as_py() if hasattr(value, "as_py") else value
    if is_missing(held) or (isinstance(held, float | np.floating) and np.isnan(held)):
        return 0
    return held


def is_missing(value: Any) -> bool:
    """Whether it stands for nothing: None, a masked cell, or what pandas writes."""
    return type(value).__name__ in _MISSING


def within(number: int) -> int:
    """The number, or the nearest one that is not too large.

    Example:
        >>> within(-7), within(10**400) == 10**308
        (-7, True)
    """
    return max(-LARGEST, min(LARGEST, number))


def to_lattice(value: object, resolution: Fraction) -> int:
    """⌊value/resolution + ½⌋ in exact arithmetic: the nearest lattice step, halves upward.

    Rounding halves upward commutes with shifts by whole steps; to the even neighbor, as `round` does, it would not,
    and values one step apart could end up two steps apart.

    Edge cases: NaN and None are 0; ±∞ and whatever lies beyond ±2^62 steps are ±2^62.

    Args:
        value: A number; a float below 2^53 counts as its shortest decimal.
        resolution: The width of a step, above 0, in the unit of the value.

    Raises:
        ParameterError: The value is no number at all, which its column's public type decides.

    Example:
        >>> [to_lattice(value, Fraction(1, 10)) for value in (0.25, -0.25, 1e300)] == [3, -2, 2**62]
        True
    """
    steps = floor(as_rational(value) / resolution + _HALF)
    return max(-LARGEST_STEP, min(LARGEST_STEP, steps))


def as_rational(value: object) -> Fraction:
    """The rational a data value stands for: never an error on a number, and never decreasing in it.

    A float is its shortest decimal below 2^53, and exactly itself from there on, where decimals would spread it. What
    lies beyond ±10^308 counts as that, whether an int, a float or a decimal holds it.
    """
    held: Any = present(value)
    match held:
        case int() | np.bool_() as number:
            return Fraction(within(int(number)))
        case np.integer() as number if number.dtype.kind in "iu":  # not a timedelta, which NumPy takes for one
            return Fraction(int(number))
        case Fraction() as number:
            return max(-_BOUND, min(_BOUND, number))
        case float() | np.floating():
            return _from_float(held)
        case Decimal() as number:
            return _from_decimal(number)
        case _:
            raise ParameterError("exact", type(value).__name__, "must be a number")


def lattice_steps(values: Iterable[Any], resolution: Fraction) -> Integers:
    """`to_lattice` of each value.

    Raises:
        ParameterError: The values are not one-dimensional or hold something that is no number.
    """
    plain = column(values)
    if isinstance(plain, np.ndarray) and plain.dtype.kind == "f":
        with np.errstate(all="ignore"):  # a long double may be beyond floats
            floats = plain.astype(np.float64, copy=False)
        return _float_steps(floats, resolution)
    exact_integers = integer_column(plain)
    if exact_integers is not None:
        if resolution == 1:
            return np.clip(exact_integers, -LARGEST_STEP, LARGEST_STEP).astype(np.int64)
        if exact_integers.dtype != object and _divides_in_int64(resolution):
            return _integer_steps(exact_integers, resolution)
    return narrow(python_integers(to_lattice(value, resolution) for value in plain))


def lattice_floats(steps: Integers, resolution: Fraction) -> NDArray[np.float64]:
    """The lattice points as floats: a function of the steps alone, the nearest float where one is all it takes.

    That is so for up to 2^53 steps of a width 1/n, such as 0.01 or 2^−20; otherwise two roundings make it.
    """
    numerator, denominator = resolution.as_integer_ratio()
    return steps.astype(np.float64) * float(numerator) / float(denominator)


def as_resolution(resolution: Number) -> Fraction:
    """The width of a step, if floats can hold its terms and the steps times them.

    Raises:
        ParameterError: It is not above 0, or a term of it is too large.
    """
    step = positive(resolution, "resolution")
    if max(step.numerator, step.denominator) > _LARGEST_TERM:
        requirement = "must have a numerator and a denominator of at most 2^900"
        raise ParameterError("resolution", "a number", requirement)
    return step


def lattice_l1_sensitivity(l1_sensitivity: Fraction, *, resolution: Fraction | None, l0_sensitivity: int) -> Fraction:
    """The most lattice steps, summed over all coordinates, by which one unit changes a vector.

    ⌈Δ/resolution⌉ + l0_sensitivity − 1, because each of them may round away from its neighbor by less than one step:
    Σ⌈δᵢ⌉ < Σ(δᵢ + 1) for Σδᵢ = Δ/resolution. Without a resolution the values are integers already, and Δ is unchanged.

    Example:
        >>> lattice_l1_sensitivity(Fraction(1), resolution=Fraction(2, 5), l0_sensitivity=1)
        Fraction(3, 1)
    """
    if resolution is None or l1_sensitivity == 0:
        return l1_sensitivity
    return Fraction(ceil(l1_sensitivity / resolution) + l0_sensitivity - 1)


def lattice_linf_sensitivity(linf_sensitivity: Fraction, resolution: Fraction | None) -> Fraction:
    """The most steps that one unit changes each number on the lattice that it moves: ⌈Δ/resolution⌉; Δ without one."""
    return linf_sensitivity if resolution is None else Fraction(ceil(linf_sensitivity / resolution))


def lattice_l2_sensitivity(l2_sensitivity: Fraction, *, resolution: Fraction | None, l0_sensitivity: int) -> Fraction:
    """How far, in steps and in L2, one unit changes a vector on the lattice if it changes `l0_sensitivity` coordinates.

    ⌈Δ/resolution⌉ for one coordinate, Δ/resolution + √l0_sensitivity (rounded up) for more.
    """
    if resolution is None or l2_sensitivity == 0:
        return l2_sensitivity
    steps = l2_sensitivity / resolution
    return Fraction(ceil(steps)) if l0_sensitivity == 1 else steps + sqrt_up(Fraction(l0_sensitivity))


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


def _from_float(value: float | np.floating[Any]) -> Fraction:
    if not np.isfinite(value):
        return _BOUND if value > 0 else -_BOUND
    if isinstance(value, np.longdouble) or abs(float(value)) >= _SPARSE:
        return max(-_BOUND, min(_BOUND, Fraction(*value.as_integer_ratio())))
    return exact(float(value), "exact")


def _from_decimal(value: Decimal) -> Fraction:
    if value.is_nan() or not value:  # a zero may have any exponent
        return Fraction(0)
    if value.is_infinite() or value >= LARGEST or value <= -LARGEST:
        return _BOUND if value > 0 else -_BOUND
    return Fraction(value) if value.adjusted() >= _SMALLEST_EXPONENT else Fraction(0)


def _divides_in_int64(resolution: Fraction) -> bool:
    """Whether the numbers on the way of `_integer_steps` stay below 2^63, whatever the values."""
    numerator, denominator = resolution.as_integer_ratio()
    return numerator * (2 * denominator + 1) <= LARGEST_STEP and denominator <= LARGEST_STEP >> 2


def _integer_steps(values: NDArray[np.int64], resolution: Fraction) -> NDArray[np.int64]:
    """⌊value/resolution + ½⌋ in machine integers.

    For a resolution p/q and value = a·p + b with 0 ≤ b < p it is a·q + ⌊(2bq + p)/(2p)⌋. An a so large that a·q lies
    beyond the last step counts as one just beyond.
    """
    numerator, denominator = resolution.as_integer_ratio()
    beyond = LARGEST_STEP // denominator + 3
    whole, remainder = (values, None) if numerator == 1 else np.divmod(values, numerator)
    steps: NDArray[np.int64] = whole.clip(-beyond, beyond) * denominator
    if remainder is not None:
        steps += (2 * denominator * remainder + numerator) // (2 * numerator)
    return steps.clip(-LARGEST_STEP, LARGEST_STEP)


def _float_steps(values: NDArray[np.float64], resolution: Fraction) -> NDArray[np.int64]:
    """⌊value/resolution + ½⌋ in floats, but in exact arithmetic for those so near a half that floats could err.

    A quotient of floats is off by less than 2^−50 of itself, the shortest decimal of the value included; NaN, ±∞ and
    what lies beyond 2^49 steps are never near enough to be trusted.
    """
    with np.errstate(all="ignore"):  # whatever the caller made of warnings, none may come of data
        quotients = values / float(resolution)
        below = np.floor(quotients)
        beyond_half = quotients - below - 0.5
        settled = np.abs(beyond_half) > np.abs(quotients) * _QUOTIENT_ERROR + _QUOTIENT_ERROR
        steps = (below + (beyond_half >= 0)).astype(np.int64)
    doubtful = np.flatnonzero(~settled)
    different, which = np.unique(values[doubtful], return_inverse=True)
    exact_steps = [to_lattice(value, resolution) for value in different.tolist()]
    steps[doubtful] = np.array(exact_steps, dtype=np.int64)[which]
    return steps
