"""Values as another kind in Polars: what `values.typed` and `values.converted` say, every step total."""

from typing import Final

import polars as pl

from sfumato.engines.dates import DATE_PATTERN, TIMESTAMP_PATTERN
from sfumato.engines.frames.dates import of_days, of_microseconds, within_the_years
from sfumato.engines.frames.terms import MICROSECONDS, constant, guarded, named, null
from sfumato.engines.values import FALSE_WORDS, MAX_WHOLE_DOUBLE, NUMBER_PATTERN, TRUE_WORDS, WHOLE_PATTERN, null_cell
from sfumato.query.kinds import Kind
from sfumato.query.schema import Column

_TIME_PATTERN: Final = f"({DATE_PATTERN})|({TIMESTAMP_PATTERN})"
_MIDNIGHT: Final = "2000-01-01 00:00:00.000000"
_TEXTS: Final = (pl.String, pl.Categorical, pl.Enum)
_SCIENTIFIC: Final = (
    (r"e-([0-9])$", "e-0${1}"),
    (r"^(-?)0[.]0000([1-9])$", "${1}${2}e-05"),
    (r"^(-?)0[.]0000([1-9])([0-9]+)$", "${1}${2}.${3}e-05"),
)
"""How Polars shows some small doubles, and how Python does."""


def lower_typed(name: str, declared: Column, storage: pl.DataType) -> pl.Expr:
    """`values.typed` in Polars: a stored column as it is declared.

    Args:
        name: The column.
        declared: What it is declared as.
        storage: The type it is stored in.
    """
    value = as_kind(pl.col(name), storage, declared.kind)
    nearest = null_cell(declared)
    return value if nearest is None else value.fill_null(constant(nearest))


def as_kind(value: pl.Expr, storage: pl.DataType, kind: Kind) -> pl.Expr:
    """`values.converted` in Polars: a value of some type of storage as a kind, NULL where it does not convert."""
    if isinstance(storage, _TEXTS):
        value, storage = value if storage == pl.String else value.cast(pl.String), pl.String()
    match kind:
        case Kind.TEXT:
            return _as_text(value, storage)
        case Kind.BOOLEAN:
            return _as_boolean(value, storage)
        case Kind.INTEGER:
            return _as_integer(value, storage)
        case Kind.FLOAT:
            return _as_double(value, storage)
        case Kind.DATE | Kind.TIMESTAMP:
            return _as_time(value, storage, kind)


def _as_double(value: pl.Expr, storage: pl.DataType) -> pl.Expr:
    """A binary double; NaN, and text that is no number, are NULL."""
    if storage == pl.String:
        return named(value.str.strip_chars(" "), _double_of_text)
    if isinstance(storage, pl.Decimal):  # through text, which is rounded once
        return value.cast(pl.String).cast(pl.Float64, strict=False)
    number = value.cast(pl.Float64, strict=False)
    return guarded(number, lambda x: x.is_not_nan()) if storage.is_float() else number


def _double_of_text(stored: pl.Expr) -> pl.Expr:
    word = stored.str.to_lowercase()
    number = pl.when(_matches(stored, NUMBER_PATTERN)).then(stored.cast(pl.Float64, strict=False))
    return number.when(word == "true").then(1.0).when(word == "false").then(0.0)


def _as_integer(value: pl.Expr, storage: pl.DataType) -> pl.Expr:
    """A 64-bit integer: whole numbers exactly, also in text; all else through a double, half up."""
    if storage == pl.Boolean or storage.is_integer():
        return value.cast(pl.Int64, strict=False)
    if storage != pl.String:
        return _half_up(_as_double(value, storage))

    def of_text(stored: pl.Expr) -> pl.Expr:
        exact = pl.when(_matches(stored, WHOLE_PATTERN)).then(stored.cast(pl.Int64, strict=False))
        return exact.otherwise(_half_up(_double_of_text(stored)))

    return named(value.str.strip_chars(" "), of_text)


def _half_up(number: pl.Expr) -> pl.Expr:
    return (number + 0.5).floor().cast(pl.Int64, strict=False)


def _as_text(value: pl.Expr, storage: pl.DataType) -> pl.Expr:
    """Text; of a double that is whole, without the point."""
    if not storage.is_float():
        return value.cast(pl.String, strict=False)
    return named(_as_double(value, storage), _text_of_double)


def _text_of_double(number: pl.Expr) -> pl.Expr:
    is_whole = (number.floor() == number) & (number.abs() < float(MAX_WHOLE_DOUBLE))
    shown = number.cast(pl.String)
    for pattern, replacement in _SCIENTIFIC:
        shown = shown.str.replace(pattern, replacement)
    return pl.when(is_whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(shown)


def _as_boolean(value: pl.Expr, storage: pl.DataType) -> pl.Expr:
    if storage == pl.Boolean:
        return value
    if storage != pl.String:
        return _as_double(value, storage) != 0.0
    word = value.str.strip_chars(" ").str.to_lowercase()
    return named(word, lambda w: pl.when(w.is_in(TRUE_WORDS)).then(True).when(w.is_in(FALSE_WORDS)).then(False))


def _as_time(value: pl.Expr, storage: pl.DataType, kind: Kind) -> pl.Expr:
    """A day or a time: text by its pattern, of a time its day, of a day its midnight; of anything else NULL."""
    if storage == pl.String:
        moment = _moment_of_text(value.str.strip_chars(" "))
    elif storage == pl.Date:
        days = guarded(value.cast(pl.Int64), within_the_years(Kind.DATE))
        return of_days(days, kind)
    elif isinstance(storage, pl.Datetime):
        moment = of_microseconds(_microseconds(value, storage.time_unit))
    else:
        return null(kind)
    return moment if kind is Kind.TIMESTAMP else moment.cast(pl.Date)


def _moment_of_text(value: pl.Expr) -> pl.Expr:
    """What is not written of a time is filled up with what midnight has there."""

    def read(stored: pl.Expr) -> pl.Expr:
        spaced = stored.str.replace("T", " ", literal=True)
        rest = pl.lit(_MIDNIGHT).str.slice(stored.str.len_chars())
        known = pl.when(_matches(stored, _TIME_PATTERN)).then(pl.concat_str(spaced, rest))
        return known.str.to_datetime("%Y-%m-%d %H:%M:%S%.6f", time_unit="us", strict=False)

    return named(value, read).cast(MICROSECONDS)


def _microseconds(value: pl.Expr, unit: str) -> pl.Expr:
    """What a time counts since 1970, whatever it counts, in UTC; NULL outside of the years 1 to 9999."""
    count = value.cast(pl.Int64)
    wide = count // 1_000 if unit == "ns" else count.cast(pl.Int128) * (1_000 if unit == "ms" else 1)
    return guarded(wide.cast(pl.Int64, strict=False), within_the_years(Kind.TIMESTAMP))


def _matches(value: pl.Expr, pattern: str) -> pl.Expr:
    return value.str.contains(rf"\A(?:{pattern})\z")
