"""Values as another kind, in SQL: what `values.typed` and `values.converted` say, every step total."""

from typing import Final

from sqlglot import exp

from sfumato.engines.dates import DATE_PATTERN, TIMESTAMP_PATTERN
from sfumato.engines.sql.terms import (
    TYPES,
    Sql,
    all_of,
    case,
    cast,
    column,
    constant,
    double,
    figure,
    function,
    guarded,
    named,
    negated,
    null,
    one_of,
    operation,
    stripped,
    text,
    try_cast,
)
from sfumato.engines.values import (
    FALSE_WORDS,
    MAX_WHOLE_DOUBLE,
    NUMBER_PATTERN,
    TRUE_WORDS,
    WHOLE_PATTERN,
    null_cell,
)
from sfumato.query.kinds import TIMES, Kind
from sfumato.query.schema import Column

_TIME_PATTERN: Final = f"({DATE_PATTERN})|({TIMESTAMP_PATTERN})"
_DOUBLES: Final = {"FLOAT", "DOUBLE"}


def lower_typed(name: str, declared: Column, storage: str) -> Sql:
    """`values.typed` in SQL: a stored column as it is declared.

    Args:
        name: The column.
        declared: What it is declared as.
        storage: The engine's name for the type it is stored in.
    """
    value = as_kind(column(name), storage, declared.kind)
    nearest = null_cell(declared)
    return value if nearest is None else function("COALESCE", value, constant(nearest))


def as_kind(value: Sql, storage: str, kind: Kind) -> Sql:
    """`values.converted` in SQL: a value of some type of storage as a kind, NULL where it does not convert."""
    if storage == TYPES[kind] and kind is not Kind.FLOAT:
        return value
    return named(value, lambda stored: _read(stored, storage, kind))


def _read(value: Sql, storage: str, kind: Kind) -> Sql:
    if not is_number(storage) and storage not in {"BOOLEAN", "VARCHAR", "DATE", "TIMESTAMP"}:
        value, storage = try_cast(value, "VARCHAR"), "VARCHAR"
    match kind:
        case Kind.TEXT:
            return _as_text(value, storage)
        case Kind.BOOLEAN:
            return _as_boolean(value, storage)
        case Kind.INTEGER:
            return _as_integer(value, storage)
        case Kind.FLOAT:
            return _as_number(value, storage)
        case Kind.DATE | Kind.TIMESTAMP:
            return _as_time(value, storage, kind)


def is_whole(storage: str) -> bool:
    """Whether a storage type holds whole numbers."""
    return storage.endswith("INT") or storage in {"INTEGER", "UINTEGER", "BIGNUM"}


def is_number(storage: str) -> bool:
    """Whether a storage type holds numbers."""
    return is_whole(storage) or storage in _DOUBLES or storage.startswith("DECIMAL")


def _as_number(value: Sql, storage: str) -> Sql:
    """A binary double; NaN, and text that is no number, are NULL."""
    number = _as_double(value, storage)
    return guarded(number, lambda x: negated(function("ISNAN", x))) if storage in _DOUBLES else number


def _as_double(value: Sql, storage: str) -> Sql:
    """A binary double, perhaps NaN."""
    if storage == "VARCHAR":
        return _double_of_text(stripped(value))
    if storage.startswith("DECIMAL"):  # through text, which is rounded once
        return try_cast(cast(value, "VARCHAR"), "DOUBLE")
    return value if storage == "DOUBLE" else try_cast(value, "DOUBLE")


def _double_of_text(value: Sql) -> Sql:
    word = function("LOWER", value)
    branches: list[tuple[Sql, Sql]] = [(_matches(value, NUMBER_PATTERN), try_cast(value, "DOUBLE"))]
    for name, truth in (("true", 1.0), ("false", 0.0)):
        branches.append((operation(exp.EQ, word, text(name)), double(truth)))
    return case(branches)


def _as_integer(value: Sql, storage: str) -> Sql:
    """A 64-bit integer: whole numbers exactly, also in text; all else through a double, half up."""
    if storage == "BOOLEAN" or is_whole(storage):
        return try_cast(value, "BIGINT")
    half_up = operation(exp.Add, _as_double(value, storage), double(0.5))
    rounded = try_cast(function("FLOOR", half_up), "BIGINT")
    if storage != "VARCHAR":
        return rounded
    stored = stripped(value)
    return case([(_matches(stored, WHOLE_PATTERN), try_cast(stored, "BIGINT"))], rounded)


def _as_text(value: Sql, storage: str) -> Sql:
    """Text; of a double that is whole, without the point; of a decimal with a digit before it."""
    if storage.startswith("DECIMAL"):  # of which the engine leaves a 0 out where no other digit could stand
        return function("REGEXP_REPLACE", cast(value, "VARCHAR"), text("^(-?)[.]"), text(r"\10."))
    if storage not in _DOUBLES:
        return cast(value, "VARCHAR")
    number = cast(value, "DOUBLE")
    is_whole_number = all_of(
        (
            operation(exp.EQ, function("FLOOR", number), number),
            operation(exp.LT, function("ABS", number), double(float(MAX_WHOLE_DOUBLE))),
        )
    )
    whole = cast(try_cast(number, "BIGINT"), "VARCHAR")
    return case([(function("ISNAN", number), exp.Null()), (is_whole_number, whole)], cast(number, "VARCHAR"))


def _as_boolean(value: Sql, storage: str) -> Sql:
    if storage == "VARCHAR":
        word = function("LOWER", stripped(value))
        true, false = (one_of(word, map(text, words)) for words in (TRUE_WORDS, FALSE_WORDS))
        return case([(true, exp.true()), (false, exp.false())])
    if is_whole(storage):
        return operation(exp.NEQ, value, figure(0))
    return operation(exp.NEQ, _as_number(value, storage), double(0.0))


def _as_time(value: Sql, storage: str, kind: Kind) -> Sql:
    """A day or a time: text by its pattern, of a time its day, of a day its midnight; of anything else NULL."""
    if storage == "VARCHAR":
        stored = stripped(value)
        moment = case([(_matches(stored, _TIME_PATTERN), try_cast(stored, "TIMESTAMP"))])
        return moment if kind is Kind.TIMESTAMP else cast(moment, "DATE")
    return cast(value, TYPES[kind]) if storage in {TYPES[time] for time in TIMES} else null(kind)


def _matches(value: Sql, pattern: str) -> Sql:
    return function("REGEXP_FULL_MATCH", value, text(pattern))
