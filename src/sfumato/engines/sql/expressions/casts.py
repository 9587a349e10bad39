"""Values as another kind, in SQL: what `values.typed` and `values.converted` say, every step total."""

from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import limited, within_range
from sfumato.engines.sql.expressions.terms import (
    TYPES,
    Sql,
    all_of,
    between,
    case,
    cast,
    column,
    constant,
    double,
    figure,
    function,
    is_null,
    named,
    negated,
    null,
    one_of,
    operation,
    stripped,
    text,
    try_cast,
    whole,
)
from sfumato.query.model.columns import MAX_ID, Column
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.values.cells import (
    DIGITS_PATTERN,
    FALSE_WORDS,
    LONGEST_NUMBER,
    LONGEST_STORED,
    MAX_INT64,
    MAX_WHOLE_DOUBLE,
    MIN_INT64,
    NOUGHTS,
    NUMBER_PATTERN,
    TRUE_WORDS,
    WHOLE_PATTERN,
    null_cell,
)
from sfumato.query.values.dates import DATE_PATTERN, TIMESTAMP_PATTERN
from sfumato.query.values.numbers import LARGEST

_TIME_PATTERN: Final = f"({DATE_PATTERN})|({TIMESTAMP_PATTERN})"
_DOUBLES: Final = {"FLOAT", "DOUBLE"}
_BEYOND_64_BITS: Final = {"UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"}
"""Types of whole numbers that may lie beyond 64 bits with a sign."""

_TIMES: Final = {TYPES[kind] for kind in TIMES}
_TEXT_OF: Final = {"BOOLEAN": "text_of_boolean", "DATE": "text_of_date"}
_TO_THE_SECOND: Final = len("2026-01-31 12:00:00")


def lower_typed(name: str, declared: Column, storage: str) -> Sql:
    """`values.typed` in SQL: a stored column as it is declared.

    Args:
        name: The column.
        declared: What it is declared as.
        storage: The engine's name for the type it is stored in.
    """
    stored: Sql = column(name)
    if declared.kind is Kind.TEXT:
        if declared.is_whole:
            return _whole_id(stored, storage, declared)
        value = _shortened(as_kind(stored, storage, declared.kind), declared)
    else:
        if not is_number(storage) and storage not in {"BOOLEAN", "DATE", "TIMESTAMP"}:
            written = stored if storage == "VARCHAR" else try_cast(stored, "VARCHAR")
            stored, storage = beginning(written, LONGEST_STORED), "VARCHAR"
        value = as_kind(stored, storage, declared.kind)
        if declared.saturates and (not is_whole(storage) or storage in _BEYOND_64_BITS):
            value = function("COALESCE", value, _nearest_whole(stored, storage))
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


def beginning(value: Sql, length: int) -> Sql:
    """The first characters of a text; one that has no more bytes than these is not looked at."""

    def first(x: Sql) -> Sql:
        is_short = operation(exp.LTE, function("byte_count", x), figure(length))
        return case([(is_short, x)], function("SUBSTRING", x, figure(1), figure(length)))

    return named(value, first)


def _shortened(value: Sql, declared: Column) -> Sql:
    """`values.shortened` in SQL."""
    if not declared.is_id:
        return value if declared.longest is None else beginning(value, declared.longest)

    def told_apart(x: Sql) -> Sql:
        first, most = function("SUBSTRING", x, figure(1), figure(MAX_ID)), figure(MAX_ID)
        is_short = [operation(exp.LTE, function(measure, x), most) for measure in ("byte_count", "LENGTH")]
        whole_id = [(condition, x) for condition in (is_null(x), *is_short)]
        return case(whole_id, function("joined", first, function("sha256_text", x)))

    return named(value, told_apart)


def is_whole(storage: str) -> bool:
    """Whether a storage type holds whole numbers."""
    return storage.endswith("INT") or storage in {"INTEGER", "UINTEGER", "BIGNUM"}


def is_number(storage: str) -> bool:
    """Whether a storage type holds numbers."""
    return is_whole(storage) or storage in _DOUBLES or storage.startswith("DECIMAL")


def _as_number(value: Sql, storage: str) -> Sql:
    """A double within the range; what is beyond it, and text that is no number, are NULL."""
    number = _as_double(value, storage)
    return limited(number) if storage in {*_DOUBLES, "VARCHAR"} else number


def _as_double(value: Sql, storage: str) -> Sql:
    """A binary double; beyond the range it may be NULL, infinite or NaN."""
    if storage == "VARCHAR":
        return _double_of_text(stripped(value))
    if storage.startswith("DECIMAL"):  # through text, which is rounded once
        return function("double_of_text", function("text_of_decimal", value))
    if storage == "BOOLEAN":
        return cast(_as_integer(value, storage), "DOUBLE")
    if storage in _TIMES:
        return null(Kind.FLOAT)
    return value if storage == "DOUBLE" else cast(value, "DOUBLE")


def _double_of_text(value: Sql) -> Sql:
    word = function("lower_ascii", value)
    is_short = operation(exp.LTE, function("LENGTH", value), figure(LONGEST_NUMBER))
    is_number = all_of((is_short, _matches(value, NUMBER_PATTERN)))
    branches: list[tuple[Sql, Sql]] = [(is_number, function("double_of_text", value))]
    for name, truth in (("true", 1.0), ("false", 0.0)):
        branches.append((operation(exp.EQ, word, text(name)), double(truth)))
    return case(branches)


def _as_integer(value: Sql, storage: str) -> Sql:
    """A 64-bit integer: whole numbers exactly, also in text; all else through a double, half up."""
    if storage == "BOOLEAN":
        return case([(value, whole(1)), (negated(value), whole(0))])
    if is_whole(storage):
        return value if storage == "BIGINT" else function("whole_of_wide", value)
    rounded = whole_of_double(_as_double(value, storage))
    if storage != "VARCHAR":
        return rounded
    stored = stripped(value)
    return case([(_matches(stored, WHOLE_PATTERN), function("whole_of_text", stored))], rounded)


def whole_of_double(value: Sql) -> Sql:
    """The nearest 64-bit integer of a double, half up; NULL of one beyond them, infinite or no number.

    So what stands for NULL, which is beyond the range or none, needs no test of its own.
    """
    return function("whole_of_double", function("FLOOR", operation(exp.Add, value, double(0.5))))


def _nearest_whole(value: Sql, storage: str) -> Sql:
    """The end of 64 bits that a number lies beyond; NULL of one that lies within, and of what is no number."""

    def end_of(number: Sql) -> Sql:
        above, below = (double(float(MAX_INT64)), double(LARGEST)), (double(-LARGEST), double(float(MIN_INT64)))
        ends = ((above, MAX_INT64), (below, MIN_INT64))
        return case([(between(number, *beyond), whole(end)) for beyond, end in ends])

    return named(_as_double(value, storage), end_of)


def _whole_id(value: Sql, storage: str, declared: Column) -> Sql:
    """A whole number as text; in text one of any length, exactly."""
    if is_number(storage) or storage == "BOOLEAN":
        return function("text_of_whole", as_kind(value, storage, Kind.INTEGER))
    written = value if storage == "VARCHAR" else try_cast(value, "VARCHAR")
    within_64_bits = as_kind(beginning(written, LONGEST_STORED), "VARCHAR", Kind.INTEGER)
    stored = stripped(written)
    size = exp.Trim(this=stored, expression=text(NOUGHTS), position="LEADING")
    is_negative = operation(exp.EQ, function("SUBSTRING", stored, figure(1), figure(1)), text("-"))
    exact = case(
        [
            (operation(exp.EQ, size, text("")), text("0")),
            (is_negative, _shortened(function("joined", text("-"), size), declared)),
        ],
        _shortened(size, declared),
    )
    return case([(_matches(stored, DIGITS_PATTERN), exact)], function("text_of_whole", within_64_bits))


def _as_text(value: Sql, storage: str) -> Sql:
    """Text; of a double within the range, without the point if it is whole; of a decimal with a digit before it."""
    if storage not in _DOUBLES:
        return _as_it_is(value, storage)
    number = cast(value, "DOUBLE")
    is_whole_number = all_of(
        (
            operation(exp.EQ, function("FLOOR", number), number),
            operation(exp.LT, function("ABS", number), double(float(MAX_WHOLE_DOUBLE))),
        )
    )
    shown = function("text_of_whole", function("whole_of_double", number))
    return case([(is_whole_number, shown), (within_range(number), function("text_of_double", number))])


def _as_it_is(value: Sql, storage: str) -> Sql:
    """Text of what is no double."""
    if storage == "VARCHAR":
        return value
    if storage.startswith("DECIMAL"):
        return function("text_of_decimal", value)
    if storage == "TIMESTAMP":
        return named(function("time_in_full", value), _without_zeros)
    return function(_TEXT_OF.get(storage, "text_of_whole"), value)


def _without_zeros(time: Sql) -> Sql:
    """A time to the second, or if it has a fraction of one to the microsecond."""
    fraction = function("SUBSTRING", time, figure(_TO_THE_SECOND + 1), figure(7))
    to_the_second = function("SUBSTRING", time, figure(1), figure(_TO_THE_SECOND))
    return case([(operation(exp.EQ, fraction, text(".000000")), to_the_second)], time)


def _as_boolean(value: Sql, storage: str) -> Sql:
    if storage == "VARCHAR":
        word = function("lower_ascii", stripped(value))
        true, false = (one_of(word, map(text, words)) for words in (TRUE_WORDS, FALSE_WORDS))
        return case([(true, exp.true()), (false, exp.false())])
    if is_whole(storage):
        return operation(exp.NEQ, value, figure(0))
    return operation(exp.NEQ, _as_number(value, storage), double(0.0))


def _as_time(value: Sql, storage: str, kind: Kind) -> Sql:
    """A day or a time: text by its pattern, of a time its day, of a day its midnight; of anything else NULL."""
    if storage == "VARCHAR":
        stored = stripped(value)
        moment = case([(_matches(stored, _TIME_PATTERN), function("time_of_text", stored))])
        return moment if kind is Kind.TIMESTAMP else cast(moment, "DATE")
    return cast(value, TYPES[kind]) if storage in _TIMES else null(kind)


def _matches(value: Sql, pattern: str) -> Sql:
    return function("is_match", value, text(pattern))
