"""Columns as the owner declares them: kind, public bounds, lattice, public keys."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, set_fields
from sfumato.query.model.intervals import YEARS, date_at, place_of
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind

MAX_STEPS: Final = 2**53
"""Bounds lie within this many lattice steps of 0, where binary doubles still count one by one."""

MAX_KEY: Final = 2**63 - 1

DEFAULT_LENGTH: Final = 256
"""How many characters of a text are read where the owner declares nothing else."""

MAX_LENGTH: Final = 2**20
"""The largest `max_length` that can be declared."""

MAX_ID: Final = 256
"""Ids of up to so many characters are read as they are; longer ones as these and the SHA-256 of the whole id."""

DIGEST: Final = 64
"""How many hexadecimal digits a SHA-256 has."""

_FINEST: Final = Fraction(1, 10**100)  # a resolution, and the values on its lattice, are doubles far from 0 and ∞

Key: TypeAlias = int | str | bool | dt.date
"""A key to group by; a `datetime` for a timestamp."""

Bound: TypeAlias = Number | dt.date
"""A bound as an owner writes it: a number; of dates and timestamps a `date`, a `datetime`, or either in ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What the owner declares about one column.

    Attributes:
        kind: How values are read; what does not convert is NULL.
        lower: Public lower bound, or None; of dates and timestamps in the numbers of `intervals.place_of`.
        upper: Public upper bound, or None.
        resolution: The lattice on which values are summed; 1 for integers.
        values: Public keys, in the order in which answers list them, or None.
        nullable: If False, NULL counts as the bound nearest to 0, so that every row has a value.
        max_length: Of text, how many characters of a value are read, 256 if nothing is said; None for other kinds.
        is_id: Of text, whether it tells people or rows apart, as its table declares (`schema.Table`): ids are never
            cut, so that different ids stay different.
        is_whole: Of ids, whether they were declared as integers where text holds them (`Policy.with_text_ids`): text
            that is a whole number of any length, without a sign or zeros that say nothing; other text is NULL.
    """

    kind: Kind
    lower: Fraction | None = None
    upper: Fraction | None = None
    resolution: Fraction = Fraction(1)
    values: tuple[Key, ...] | None = None
    nullable: bool = True
    max_length: int | None = field(default=None, repr=False)  # stored answers are found by what is shown of a table,
    is_id: bool = field(default=False, repr=False)  # and by the canonical form of a question, which has lengths
    is_whole: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind is Kind.TEXT:
            most = DEFAULT_LENGTH if self.max_length is None else self.max_length
            set_fields(self, max_length=positive_integer(most, "max_length", most=MAX_LENGTH))
        elif self.max_length is not None or self.is_id or self.is_whole:
            raise ParameterError("max_length", self.max_length, f"belongs to text; this column is {self.kind}")
        if self.values is not None:
            set_fields(self, values=_checked_keys(self.kind, self.values))
            self._check_lengths(self.values)
        if self.resolution <= 0 or (self.kind is not Kind.FLOAT and self.resolution != 1):
            raise ParameterError(
                "resolution", str(self.resolution), "must be above 0, and 1 unless the column is a float"
            )
        if not _FINEST <= self.resolution <= 1 / _FINEST:
            raise ParameterError("resolution", "out of range", "must lie between 1e-100 and 1e100")
        if (self.lower is None) != (self.upper is None):
            raise ParameterError("bounds", (self.lower, self.upper), "must have both a lower and an upper bound")
        if self.lower is not None and self.upper is not None:
            self._check_bounds(self.lower, self.upper)
        elif not self.nullable:
            raise ParameterError("nullable", False, "needs bounds, because NULL then counts as the bound nearest to 0")

    def _check_bounds(self, lower: Fraction, upper: Fraction) -> None:
        bounds: tuple[object, object] = str(lower), str(upper)
        if self.kind not in NUMBERS | TIMES:
            requirement = f"belong to a number, a date or a timestamp; this column is {self.kind}"
            raise ParameterError("bounds", bounds, requirement)
        if self.kind in TIMES:
            if not (YEARS[self.kind].holds(lower) and YEARS[self.kind].holds(upper)):
                raise ParameterError("bounds", bounds, "must be in years 1 to 9999; write them as sf.date does")
            bounds = str(date_at(lower, self.kind)), str(date_at(upper, self.kind))
        if lower >= upper:
            raise ParameterError("bounds", bounds, "must have the lower bound below the upper bound")
        if self.kind in TIMES:
            if not self.nullable:
                raise ParameterError("nullable", False, "belongs to numbers, of which one bound is nearest to 0")
            return
        if self.kind is Kind.INTEGER and (lower.denominator, upper.denominator) != (1, 1):
            raise ParameterError(
                "bounds", bounds, "must be whole numbers, as in an integer column; sf.real takes others"
            )
        if max(abs(lower), abs(upper)) / self.resolution > MAX_STEPS:
            raise ParameterError(
                "bounds", bounds, f"must lie within 2^53 multiples of {self.resolution}; use a coarser resolution"
            )

    def _check_lengths(self, values: tuple[Key, ...]) -> None:
        """What is listed is read whole, so that nothing longer is taken for it."""
        if self.max_length is None:
            return
        longest = max(len(value) for value in values if isinstance(value, str))
        if longest > self.max_length:
            requirement = f"must have at most max_length = {self.max_length} characters; declare a larger max_length"
            raise ParameterError("values", f"a key of {longest} characters", requirement)
        if self.is_id and longest > MAX_ID:
            requirement = f"must have at most {MAX_ID} characters, because the column holds ids"
            raise ParameterError("values", f"a key of {longest} characters", requirement)

    @property
    def longest(self) -> int | None:
        """The most characters of a value as it is read; None of other kinds than text."""
        if self.is_id:
            return MAX_ID + DIGEST
        if self.max_length is None or self.values is None:
            return self.max_length
        return self.max_length + 1

    @property
    def as_declared(self) -> "Column":
        """What the owner declared, which is an integer if it is one as text."""
        return Column(kind=Kind.INTEGER) if self.is_whole else self

    @property
    def saturates(self) -> bool:
        """Whether whole numbers beyond 64 bits are read as the nearest of them, because bounds clamp them anyway."""
        return self.kind is Kind.INTEGER and self.lower is not None

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
    """A whole number of 64 bits, with public bounds if queries sum it.

    Without bounds and values, an id that is stored as text, as in a CSV file, may be longer: it is text in queries.

    Example:
        >>> integer(17, 90).bounded_steps
        (17, 90)
    """
    return Column(
        kind=Kind.INTEGER, lower=_bound(lower, "lower", Kind.INTEGER), upper=_bound(upper, "upper", Kind.INTEGER),
        values=_keys(values), nullable=nullable,
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
        kind=Kind.FLOAT, lower=_bound(lower, "lower", Kind.FLOAT), upper=_bound(upper, "upper", Kind.FLOAT),
        resolution=positive(resolution, "resolution"), nullable=nullable,
    )  # fmt: skip


def text(*, values: Iterable[str] | None = None, max_length: int = DEFAULT_LENGTH) -> Column:
    """Text, with public keys if queries group by it.

    Only the first `max_length` characters (code points) of a value are read, so no person's text makes a query slow.
    Ids are never shortened: columns that identify units, foreign keys to them, and columns that `matches` names.
    A value longer than `max_length` equals none of the public keys.

    Args:
        values: The public keys, each of at most `max_length` characters.
        max_length: The most characters read of a value, from 1 to 2^20.

    Raises:
        ParameterError: `max_length` is out of range, or a key is longer.

    Example:
        >>> text(max_length=80).max_length
        80
    """
    return Column(kind=Kind.TEXT, values=_keys(values), max_length=max_length)


def boolean() -> Column:
    """True or false; its two values are public keys."""
    return Column(kind=Kind.BOOLEAN, values=(False, True))


def date(
    lower: dt.date | str | None = None, upper: dt.date | str | None = None, *, values: Iterable[dt.date] | None = None
) -> Column:
    """A date from year 1 to 9999, with public bounds or public keys if queries group by it.

    Between bounds, days, weeks, months and years are public keys. Quantiles of dates need bounds.

    Example:
        >>> date("2020-01-01", dt.date(2026, 12, 31)).kind
        <Kind.DATE: 'date'>
    """
    return Column(
        kind=Kind.DATE, lower=_bound(lower, "lower", Kind.DATE), upper=_bound(upper, "upper", Kind.DATE),
        values=_keys(values),
    )  # fmt: skip


def timestamp(
    lower: dt.datetime | str | None = None,
    upper: dt.datetime | str | None = None,
    *,
    values: Iterable[dt.datetime] | None = None,
) -> Column:
    """A time from year 1 to 9999 with microseconds, in UTC and without a time zone; with public bounds as `date`.

    Example:
        >>> timestamp("2026-01-01 00:00", "2026-12-31 23:59:59").kind
        <Kind.TIMESTAMP: 'timestamp'>
    """
    return Column(
        kind=Kind.TIMESTAMP, lower=_bound(lower, "lower", Kind.TIMESTAMP),
        upper=_bound(upper, "upper", Kind.TIMESTAMP), values=_keys(values),
    )  # fmt: skip


def bound_of(value: Bound, name: str, kind: Kind) -> Fraction:
    """A bound of a column: a number, or where a day or a time lies in an interval.

    Args:
        value: The bound as it is written.
        name: The parameter's name, for the error.
        kind: Of the column.

    Raises:
        ParameterError: It is of another kind.

    Example:
        >>> bound_of("0.5", "lower", Kind.FLOAT), bound_of("0001-01-03", "lower", Kind.DATE)
        (Fraction(1, 2), Fraction(3, 1))
    """
    if kind not in TIMES:
        if isinstance(value, dt.date):
            raise ParameterError(name, value, f"must be a number, as the column is {kind}")
        return exact(value, name)
    moment = _read_moment(value) if isinstance(value, str) else value
    has_zone = isinstance(moment, dt.datetime) and moment.tzinfo is not None
    if not isinstance(moment, dt.date) or type(moment) is not _KEY_TYPES[kind] or has_zone:
        shown = "2026-01-31" if kind is Kind.DATE else "2026-01-31 12:00:00, in UTC and without a time zone"
        raise ParameterError(name, value, f"must be a {kind}, e.g. {shown}")
    return place_of(moment)


def _read_moment(text: str) -> dt.date | None:
    """A day or a time in ISO 8601; None of other text."""
    for read in (dt.date.fromisoformat, dt.datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _bound(value: Bound | None, name: str, kind: Kind) -> Fraction | None:
    return None if value is None else bound_of(value, name, kind)


def _keys(values: Iterable[Key] | None) -> tuple[Key, ...] | None:
    return None if values is None else listed(values, "values", of="keys")


def _checked_keys(kind: Kind, keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """Keys of the column's own type, each once; numbers with fractions are no keys."""
    for key in keys:
        if type(key) is not _KEY_TYPES.get(kind):  # exactly: True is no 1, and no time is a day
            raise ParameterError("values", key, f"cannot be a key of a column of type {kind}")
        match key:
            case str():
                unicode_text(key, "values")
            case int() if abs(key) > MAX_KEY:
                raise ParameterError("values", key, "must lie within 64 bits, like all whole numbers in columns")
            case dt.datetime() if key.tzinfo is not None:
                raise ParameterError("values", key, "must be a time in UTC, written without a time zone")
    if not keys or len(set(keys)) != len(keys):
        raise ParameterError("values", f"{len(keys)} keys", "must have at least one key, each once")
    return keys
