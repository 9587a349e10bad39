"""One look for each key: what is shown of equal keys must not depend on which of them came first.

`True`, `1`, `1.0` and `Decimal("1.00")` are equal, so a dict holds them as one key and keeps whichever came first.
Shown as it is, that object would give its row away, however many others hold the key. Here is the object to show.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from math import inf, isnan, nan
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import integers
from sfumato.mechanisms.lattice import is_missing

Key: TypeAlias = "int | float | complex | Decimal | Fraction | str | bytes | date | tuple[Key, ...] | None"
KeyCounts: TypeAlias = Mapping[Any, int]
"""How many units hold each key: a unit that is added or removed changes a count by at most 1.

`LaplaceThreshold` and `GaussianThreshold`, alone or in a `StableHistogram`, also take how many rows each key has, if a
unit has at most `max_rows_per_group_per_unit` of them in a key. `TruncatedGeometricSelection` does not: from n to n + 1
its chances grow as much as one unit may make them grow, and with rows one unit could go several such steps.

Counts of canonical keys, such as `Counter(map(canonical_key, column))`, lose nothing when they are merged.
"""

NO_KEY: Final = nan
"""What `canonical_key` makes of a key that equals nothing, not even itself."""

_LARGEST_EXPONENT: Final = 400
_LARGEST: Final = 10**_LARGEST_EXPONENT
_SMALLEST: Final = Fraction(1, _LARGEST)
_LARGEST_FRACTIONAL: Final = 1 << 53  # floats from here on are whole
_EXACT: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_REQUIREMENT: Final = (
    "must be None, numbers, texts, bytes, dates, datetimes, or tuples of these; convert other keys first"
)


def canonical_key(key: Any) -> Key:
    """The one object that stands for a key and for all that equal it: a function of the key's value alone.

    ==========================================  ========================================================
    Key                                         Stands for it
    ==========================================  ========================================================
    number, of Python or a real one of NumPy    int if whole, else float if that is exact, else Decimal if that is,
                                                else Fraction; complex if its imaginary part is not 0
    True, False, -0.0                           1, 0, 0
    number beyond 10^±400                       an infinity, or 0
    text, bytes, tuple                          str, bytes, tuple of canonical keys, whatever the subclass
    date                                        date
    datetime without a zone                     datetime
    datetime with a zone                        datetime in UTC; in an hour that clocks repeat, of the first
    datetime, finer than a microsecond          datetime of the microsecond
    datetime outside years 1 to 9999 (in UTC)   the first or the last datetime
    None                                        None
    NaN (in a tuple too), pandas' NA and NaT    `NO_KEY`: they equal nothing, and are never shown
    ==========================================  ========================================================

    Raises:
        ParameterError: A key is of another type. The types of keys are public.

    Example:
        >>> [canonical_key(key) for key in (True, 1.0, Decimal("0.50"), Decimal("0.10"), (np.int64(7), np.str_("x")))]
        [1, 1, 0.5, Decimal('0.1'), (7, 'x')]
    """
    match key:
        case None:
            return None
        case str():
            return str.__str__(key)
        case bytes():
            return bytes(key)
        case tuple():
            parts = tuple(canonical_key(part) for part in key)
            return NO_KEY if any(part is NO_KEY for part in parts) else parts
        case _ if is_missing(key):
            return NO_KEY
        case datetime():
            return _datetime(key)
        case date():
            return date(key.year, key.month, key.day)
        case complex():
            return _complex(key)
        case _:
            return _real(key)


def key_rank(key: Key) -> tuple[Any, ...]:
    """A place for every canonical key: None, numbers by size, texts, tuples part by part, bytes, dates, datetimes.

    Total: two canonical keys share a place only if they are the same, so sorting never falls back on the order in which
    keys came. Numbers are compared exactly, the float 0.1 a little above Decimal("0.1").

    Example:
        >>> sorted(["b", 10, None, ("x", None), 9.5, "a"], key=key_rank)
        [None, 9.5, 10, 'a', 'b', ('x', None)]
    """
    match key:
        case None:
            return (0,)
        case complex():
            return (1, key.real, key.imag)
        case Decimal():
            return (1, Fraction(key), 0)  # Decimals do not compare with Fractions, all other numbers do
        case int() | float() | Fraction():
            return (1, key, 0)
        case str():
            return (2, key)
        case tuple():
            return (3, tuple(key_rank(part) for part in key))
        case bytes():
            return (4, key)
        case datetime():
            return (5 if key.tzinfo is None else 6, key)
        case date():
            return (7, key)


def canonical_counts(counts: KeyCounts) -> dict[Key, int]:
    """Each canonical key with its count; of keys that fall together, with the largest of their counts.

    The largest, not the sum: it moves no further than the counts do, and in no more keys.

    Raises:
        ParameterError: It is no mapping, a count is no integer, or a key's type is not one of those of `canonical_key`.

    Example:
        >>> canonical_counts({True: 3, "a": 2, float("nan"): 9})
        {1: 3, 'a': 2}
    """
    held: object = counts
    if not isinstance(held, Mapping):  # the private counts are not shown, only what holds them
        requirement = 'must be counts by key, such as {"a": 3}; of a pandas Series, series.to_dict()'
        raise ParameterError("counts", type(held).__name__, requirement)
    largest: dict[Key, int] = {}
    for key, count in zip(map(canonical_key, counts), integers(list(counts.values())).tolist(), strict=True):
        if key is not NO_KEY:
            largest[key] = max(count, largest.get(key, count))
    return largest


def _real(number: Any) -> Key:
    match number:
        case np.timedelta64():  # which NumPy takes for an integer
            raise ParameterError("keys", "timedelta64", _REQUIREMENT)
        case int() | np.integer() | np.bool_():
            return _rational(Fraction(int(number)))
        case Fraction():
            return _rational(number)
        case Decimal():
            return _decimal(number)
        case float() | np.floating():
            if np.isfinite(number):
                return _rational(Fraction(*number.as_integer_ratio()))
            return NO_KEY if np.isnan(number) else float(number)
        case _:
            raise ParameterError("keys", type(number).__name__, _REQUIREMENT)


def _decimal(number: Decimal) -> Key:
    if number.is_nan():
        return NO_KEY
    if not number or number.adjusted() < -_LARGEST_EXPONENT:  # a zero may have any exponent
        return 0
    if number.is_infinite() or number.adjusted() >= _LARGEST_EXPONENT:
        return inf if number > 0 else -inf
    return _rational(Fraction(number))


def _rational(number: Fraction) -> Key:
    if abs(number) >= _LARGEST:
        return inf if number > 0 else -inf
    if number.denominator == 1:
        return int(number)
    if abs(number) < _SMALLEST:
        return 0
    if abs(number) < _LARGEST_FRACTIONAL and number == float(number):
        return float(number)
    places = number.denominator.bit_length()
    shifted = number * 10**places  # whole if the number has a finite decimal: 2^a·5^b divides 10^(a + b)
    if shifted.denominator != 1:
        return number
    return Decimal(shifted.numerator).scaleb(-places, _EXACT).normalize(_EXACT)


def _complex(number: complex) -> Key:
    if number.imag == 0:
        return _real(number.real)
    if isnan(number.real) or isnan(number.imag):
        return NO_KEY
    return complex(number.real + 0.0, number.imag)  # −0.0 + 0.0 is 0.0


def _datetime(key: datetime) -> Key:
    """Without `fold`, which Python ignores when it compares within a zone."""
    try:
        zone = None if key.utcoffset() is None else UTC
        moment = key if zone is None else key.replace(fold=0).astimezone(UTC)
        fields = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond)
        return datetime(*fields, tzinfo=zone)
    except (
        OverflowError,
        ValueError,
        NotImplementedError,
    ):  # beyond the years that a datetime has, in UTC, or already in pandas
        end = datetime.min.replace(tzinfo=UTC) if key.year <= 1 else datetime.max.replace(tzinfo=UTC)
        return end.replace(tzinfo=None) if key.tzinfo is None else end
