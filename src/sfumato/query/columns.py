"""Columns as the owner declares them: kind, public bounds, lattice, public keys."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, exact, positive
from sfumato.query.kinds import NUMBERS, Kind

MAX_STEPS: Final = 2**53
"""Bounds lie within this many lattice steps of 0, where binary doubles still count one by one."""

MAX_KEY: Final = 2**63 - 1
_FINEST: Final = Fraction(1, 10**100)  # a resolution, and the values on its lattice, are doubles far from 0 and ∞

Key: TypeAlias = int | str | bool | dt.date
"""A key to group by; a `datetime` for a timestamp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What the owner declares about one column.

    Attributes:
        kind: How values are read; what does not convert is NULL.
        lower: Public lower bound, or None.
        upper: Public upper bound, or None.
        resolution: The lattice on which values are summed; 1 for integers.
        values: Public keys, in the order in which answers list them, or None.
        nullable: If False, NULL counts as the bound nearest to 0, so that every row has a value.
    """

    kind: Kind
    lower: Fraction | None = None
    upper: Fraction | None = None
    resolution: Fraction = Fraction(1)
    values: tuple[Key, ...] | None = None
    nullable: bool = True

    def __post_init__(self) -> None:
        if self.values is not None:
            object.__setattr__(self, "values", _checked_keys(self.kind, self.values))
        if self.resolution <= 0 or (self.kind is not Kind.FLOAT and self.resolution != 1):
            raise ParameterError(
                "resolution", str(self.resolution), "must be above 0, and 1 unless the column is a float"
            )
        if not _FINEST <= self.resolution <= 1 / _FINEST:
            raise ParameterError("resolution", "out of range", "must lie between 1e-100 and 1e100")
        if (self.lower is None) != (self.upper is None):
            raise ParameterError("bounds", (self.lower, self.upper), "must have both a lower and an upper end")
        if self.lower is not None and self.upper is not None:
            self._check_bounds(self.lower, self.upper)
        elif not self.nullable:
            raise ParameterError("nullable", False, "needs bounds, because NULL then counts as the bound nearest to 0")

    def _check_bounds(self, lower: Fraction, upper: Fraction) -> None:
        bounds = (str(lower), str(upper))
        if self.kind not in NUMBERS:
            raise ParameterError("bounds", bounds, f"belong to a number; this column is {self.kind}")
        if lower >= upper:
            raise ParameterError("bounds", bounds, "must have the lower end below the upper one")
        if max(abs(lower), abs(upper)) / self.resolution > MAX_STEPS:
            raise ParameterError(
                "bounds", bounds, f"must lie within 2^53 steps of {self.resolution}; use a coarser one"
            )

    @property
    def bounded_steps(self) -> tuple[int, int] | None:
        """The bounds in lattice steps, rounded half up like every value."""
        if self.lower is None or self.upper is None:
            return None
        return self.steps(self.lower), self.steps(self.upper)

    def steps(self, value: Fraction) -> int:
        """The lattice point of a value: floor(x / resolution + 1/2)."""
        return floor(value / self.resolution + Fraction(1, 2))


def unicode_text(text: str, name: str) -> str:
    """Text that engines and ledgers can store.

    Raises:
        ParameterError: It holds half a surrogate pair.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(name, ascii(text[:80]), "must be Unicode text, without unpaired surrogates") from None
    return text


_KEY_TYPES: Final = {
    Kind.INTEGER: int, Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.DATE: dt.date, Kind.TIMESTAMP: dt.datetime,
}  # fmt: skip


def integer(
    lower: Number | None = None,
    upper: Number | None = None,
    *,
    values: Iterable[int] | None = None,
    nullable: bool = True,
) -> Column:
    """A whole number, between public bounds if it is to be summed.

    Example:
        >>> integer(17, 90).bounded_steps
        (17, 90)
    """
    return Column(
        kind=Kind.INTEGER, lower=_bound(lower, "lower"), upper=_bound(upper, "upper"), values=_keys(values),
        nullable=nullable,
    )  # fmt: skip


def real(
    lower: Number | None = None, upper: Number | None = None, *, resolution: Number = "0.01", nullable: bool = True
) -> Column:
    """A number with a fraction, summed on a public lattice of `resolution`.

    Example:
        >>> real(0, 100, resolution="0.5").bounded_steps
        (0, 200)
    """
    return Column(
        kind=Kind.FLOAT, lower=_bound(lower, "lower"), upper=_bound(upper, "upper"),
        resolution=positive(resolution, "resolution"), nullable=nullable,
    )  # fmt: skip


def text(*, values: Iterable[str] | None = None) -> Column:
    """Text, with public keys if answers are to be grouped by it."""
    return Column(kind=Kind.TEXT, values=_keys(values))


def boolean() -> Column:
    """True or false; its two values are public keys."""
    return Column(kind=Kind.BOOLEAN, values=(False, True))


def date(*, values: Iterable[dt.date] | None = None) -> Column:
    """A day of the years 1 to 9999, with public keys if answers are to be grouped by it.

    Example:
        >>> date(values=[dt.date(2026, 1, 31)]).kind
        <Kind.DATE: 'date'>
    """
    return Column(kind=Kind.DATE, values=_keys(values))


def timestamp(*, values: Iterable[dt.datetime] | None = None) -> Column:
    """A microsecond of the years 1 to 9999, without a time zone: say it in UTC."""
    return Column(kind=Kind.TIMESTAMP, values=_keys(values))


def _bound(value: Number | None, name: str) -> Fraction | None:
    return None if value is None else exact(value, name)


def _keys(values: Iterable[Key] | None) -> tuple[Key, ...] | None:
    return None if values is None else tuple(values)


def _checked_keys(kind: Kind, keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """Keys of the column's own type, each once; numbers with fractions are no keys."""
    for key in keys:
        if type(key) is not _KEY_TYPES.get(kind):  # exactly: True is no 1, and no time is a day
            raise ParameterError("values", key, f"is no key of a column of type {kind}")
        match key:
            case str():
                unicode_text(key, "values")
            case int() if abs(key) > MAX_KEY:
                raise ParameterError("values", key, "must lie within 64 bits, as whole numbers in columns do")
            case dt.datetime() if key.tzinfo is not None:
                raise ParameterError("values", key, "must be a time in UTC, written without a time zone")
    if not keys or len(set(keys)) != len(keys):
        raise ParameterError("values", f"{len(keys)} keys", "must hold at least one key, each of them once")
    return keys
