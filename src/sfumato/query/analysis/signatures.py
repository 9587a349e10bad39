"""What every function takes, and what is publicly known of what it gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.facts import Facts, merged
from sfumato.query.model.functions import MAX_TEXT, Function
from sfumato.query.model.intervals import YEARS, Interval, date_at, place_of, point
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.model.schema import MAX_KEY
from sfumato.query.values.dates import as_date, as_timestamp, months_added, truncated
from sfumato.query.values.reals import REALS, rough_interval

TRUNCATIONS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute")
"""What dates and times can be truncated to."""

MAX_DIGITS: Final = 15

_MANY: Final = 1_000
_TWO: Final = frozenset(
    {
        Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE, Function.MODULO, Function.ROUND,
        Function.POWER, Function.LIKE, Function.TRUNCATE, Function.ADD_DAYS, Function.ADD_MONTHS,
        Function.ADD_SECONDS, Function.DAYS_BETWEEN, Function.NULL_IF, Function.POSITION,
        Function.SUFFIX,
    }
)  # fmt: skip
_SEVERAL: Final = {
    Function.LEAST: (1, _MANY), Function.GREATEST: (1, _MANY), Function.COALESCE: (1, _MANY),
    Function.CONCAT: (2, _MANY), Function.SUBSTRING: (3, 3), Function.REPLACE: (3, 3),
}  # fmt: skip

Check: TypeAlias = Callable[[object], bool]


def check_parameters(call: Call) -> None:
    """Refuse a call with too few or too many arguments, or with parameters that are not the constants they must be.

    Raises:
        ParameterError: What it lacks.

    Example:
        >>> from sfumato.query.model.expressions import ColumnRef
        >>> check_parameters(Call(Function.ROUND, (ColumnRef("x"), Literal(Fraction(2)))))
    """
    least, most = _SEVERAL.get(call.function, (2, 2) if call.function in _TWO else (1, 1))
    if not least <= len(call.arguments) <= most:
        raise ParameterError(call.function.value, f"{len(call.arguments)} arguments", f"must have {least} to {most}")
    for place, (is_right, requirement) in _CONSTANTS.get(call.function, {}).items():
        argument = call.arguments[place]
        if not isinstance(argument, Literal) or not is_right(argument.value):
            raise ParameterError(call.function.value, f"argument {place + 1}", f"must be a constant: {requirement}")


def literal_integer(argument: Expression, name: str) -> int:
    """The whole number that a parameter of a function must be.

    Raises:
        ParameterError: It is none.
    """
    if isinstance(argument, Literal) and isinstance(argument.value, Fraction) and argument.value.denominator == 1:
        return int(argument.value)
    raise ParameterError(name, "an expression", "must be a constant whole number")


def _whole(least: int, most: int) -> Check:
    return lambda value: isinstance(value, Fraction) and value.denominator == 1 and least <= value <= most


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value)


_CONSTANTS: Final[Mapping[Function, Mapping[int, tuple[Check, str]]]] = {
    Function.ROUND: {1: (_whole(0, MAX_DIGITS), f"a whole number from 0 to {MAX_DIGITS}")},
    Function.POWER: {1: (lambda value: isinstance(value, Fraction), "a number")},
    Function.SUBSTRING: {
        1: (_whole(1, 2**31), "a whole number of at least 1"),
        2: (_whole(0, 2**31), "a whole number of at least 0"),
    },
    Function.LIKE: {1: (lambda value: isinstance(value, str), "a pattern")},
    Function.POSITION: {1: (_is_word, "text of at least one character")},
    Function.REPLACE: {
        1: (_is_word, "text of at least one character"),
        2: (lambda value: isinstance(value, str), "text"),
    },
    Function.TRUNCATE: {1: (lambda value: value in TRUNCATIONS, f"one of {', '.join(TRUNCATIONS)}")},
    Function.ADD_MONTHS: {1: (_whole(-MAX_KEY - 1, MAX_KEY), "a whole number of months")},
}


Signature: TypeAlias = Callable[[Call, Sequence[Facts]], Facts]
"""The facts of a call by those of its arguments."""


def _require(function: Function, arguments: Sequence[Facts], *allowed: frozenset[Kind]) -> None:
    """One set of kinds an argument; the last one for all further ones."""
    for index, facts in enumerate(arguments):
        kinds = allowed[min(index, len(allowed) - 1)]
        if facts.kind not in kinds:
            wanted = " or ".join(sorted(kinds))
            raise ParameterError(function.value, f"a {facts.kind}", f"must be of {wanted}")


def _nullable(arguments: Sequence[Facts]) -> bool:
    return any(facts.nullable for facts in arguments)


_INTERVALS: Final[Mapping[Function, Callable[[Interval, Interval], Interval]]] = {
    Function.ADD: lambda x, y: x + y,
    Function.SUBTRACT: lambda x, y: x - y,
    Function.MULTIPLY: lambda x, y: x * y,
    Function.DIVIDE: lambda x, y: x / y,
}


def _arithmetic(call: Call, arguments: Sequence[Facts]) -> Facts:
    _require(call.function, arguments, NUMBERS)
    first, second = arguments
    interval = _INTERVALS[call.function](first.interval, second.interval)
    if {first.kind, second.kind} == {Kind.INTEGER}:
        return Facts(kind=Kind.INTEGER, interval=interval.rounded() if call.function is Function.DIVIDE else interval)
    steps = (first.resolution, second.resolution)
    resolution: Fraction | None = None
    if steps[0] is not None and steps[1] is not None:
        if call.function in {Function.ADD, Function.SUBTRACT}:
            resolution = min(steps[0], steps[1])
        elif call.function is Function.MULTIPLY:
            resolution = _no_finer_than_needed(steps[0] * steps[1], interval)
    return Facts(kind=Kind.FLOAT, interval=interval, resolution=resolution)


def _no_finer_than_needed(step: Fraction, interval: Interval) -> Fraction | None:
    """The step, unless the bounds then lie beyond 2^40 of them."""
    ends = [abs(end) for end in (interval.lower, interval.upper) if end is not None]
    return step if all(end / step < 2**40 for end in ends) else None


def _modulo(call: Call, arguments: Sequence[Facts]) -> Facts:
    _require(call.function, arguments, frozenset({Kind.INTEGER}))
    first, second = arguments
    reach = second.interval.absolute().upper
    if reach is None:
        return Facts(kind=Kind.INTEGER)
    most = max(reach - 1, Fraction(0))
    lower = Fraction(0) if first.interval.lower is not None and first.interval.lower >= 0 else -most
    upper = Fraction(0) if first.interval.upper is not None and first.interval.upper <= 0 else most
    return Facts(kind=Kind.INTEGER, interval=Interval(lower, upper))


def _of_one_number(call: Call, arguments: Sequence[Facts]) -> Facts:
    _require(call.function, arguments, NUMBERS, frozenset({Kind.INTEGER}))
    x = arguments[0]
    match call.function:
        case Function.NEGATE:
            return replace(x, interval=-x.interval, values=None, nullable=True)  # of −2^63, beyond 64 bits
        case Function.ABS:
            return replace(x, interval=x.interval.absolute(), values=None, nullable=True)
        case Function.SIGN:
            return Facts(
                kind=Kind.INTEGER, interval=Interval(Fraction(-1), Fraction(1)), values=(-1, 0, 1), nullable=x.nullable
            )
        case Function.ROUND if x.kind is Kind.FLOAT:
            step = Fraction(1, 10 ** literal_integer(call.arguments[1], "digits"))
            scaled = Interval(Fraction(1) / step, Fraction(1) / step) * x.interval
            return Facts(kind=x.kind, interval=scaled.rounded() * point(step), resolution=step, nullable=x.nullable)
        case _:
            return replace(x, interval=x.interval.rounded(), resolution=Fraction(1), values=None)


def _of_one_real(call: Call, arguments: Sequence[Facts]) -> Facts:
    """FLOATs between the values at the ends of what they are of."""
    _require(call.function, arguments, NUMBERS)
    exponent = call.arguments[1] if call.function is Function.POWER else None
    interval = rough_interval(call.function, arguments[0].interval, exponent)
    return Facts(kind=Kind.FLOAT, interval=interval, resolution=None)


def _extreme(call: Call, arguments: Sequence[Facts]) -> Facts:
    """LEAST and GREATEST leave NULL out: only those that are never NULL bound the result from their side."""
    both = merged(arguments)
    interval = both.interval
    for facts in arguments:
        if not facts.nullable and call.function is Function.LEAST:
            interval = interval.least(Interval(None, facts.interval.upper))
        elif not facts.nullable:
            interval = interval.greatest(Interval(facts.interval.lower, None))
    if call.function is Function.LEAST:
        interval = Interval(both.interval.lower, interval.upper)
    else:
        interval = Interval(interval.lower, both.interval.upper)
    return replace(both, interval=interval, values=None, nullable=all(facts.nullable for facts in arguments))


def _converted(call: Call, arguments: Sequence[Facts]) -> Facts:
    kind, allowed = _CONVERSIONS[call.function]
    _require(call.function, arguments, allowed)
    x = arguments[0]
    nullable = x.nullable or x.kind is Kind.TEXT or (x.kind is Kind.FLOAT and kind is Kind.INTEGER)
    if x.kind is kind:
        return x
    if kind in TIMES and x.kind in TIMES:
        as_kind = as_date if kind is Kind.DATE else as_timestamp
        return Facts(kind=kind, interval=_at_ends(x, lambda end: place_of(as_kind(end))), nullable=nullable)
    if kind not in NUMBERS:
        values = (False, True) if kind is Kind.BOOLEAN else None
        return Facts(
            kind=kind, values=values, nullable=nullable, longest=_LENGTHS[x.kind] if kind is Kind.TEXT else None
        )
    if x.kind is Kind.BOOLEAN:
        return Facts(kind=kind, interval=Interval(Fraction(0), Fraction(1)), nullable=nullable)
    interval = x.interval.rounded() if kind is Kind.INTEGER else x.interval
    resolution = Fraction(1) if kind is Kind.INTEGER or x.kind is Kind.INTEGER else None
    return Facts(kind=kind, interval=interval, resolution=resolution, nullable=nullable)


_LENGTHS: Final = {Kind.INTEGER: len(str(-(2**63))), Kind.BOOLEAN: len("false"), Kind.DATE: len("2026-01-31")}
"""How many characters values of other kinds have as text, at most."""

_ANY_BUT_TIMES: Final = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.TEXT, Kind.BOOLEAN})
_CONVERSIONS: Final[Mapping[Function, tuple[Kind, frozenset[Kind]]]] = {
    Function.TO_INTEGER: (Kind.INTEGER, _ANY_BUT_TIMES),
    Function.TO_FLOAT: (Kind.FLOAT, _ANY_BUT_TIMES),
    Function.TO_TEXT: (Kind.TEXT, frozenset({Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE})),
    Function.TO_BOOLEAN: (Kind.BOOLEAN, frozenset({Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN})),
    Function.TO_DATE: (Kind.DATE, frozenset({Kind.TEXT, Kind.DATE, Kind.TIMESTAMP})),
    Function.TO_TIMESTAMP: (Kind.TIMESTAMP, frozenset({Kind.TEXT, Kind.DATE, Kind.TIMESTAMP})),
}


def _textual(call: Call, arguments: Sequence[Facts]) -> Facts:
    _require(call.function, arguments, frozenset({Kind.TEXT}), *_PARAMETERS.get(call.function, ()))
    if call.function in {Function.LENGTH, Function.POSITION}:
        return Facts(kind=Kind.INTEGER, interval=Interval(Fraction(0), None), nullable=_nullable(arguments))
    if call.function is Function.LIKE:
        return Facts(kind=Kind.BOOLEAN, values=(False, True), nullable=_nullable(arguments))
    nullable = _nullable(arguments) or call.function in {Function.CONCAT, Function.REPLACE}
    return Facts(kind=Kind.TEXT, nullable=nullable, longest=_length_of_result(call, arguments))


def _length_of_result(call: Call, arguments: Sequence[Facts]) -> int | None:
    first = arguments[0].longest
    match call.function:
        case Function.CONCAT:
            lengths = [MAX_TEXT if facts.longest is None else facts.longest for facts in arguments]
            return min(sum(lengths), MAX_TEXT)
        case Function.SUBSTRING:
            length = literal_integer(call.arguments[2], "length")
            return length if first is None else min(first, length)
        case Function.REPLACE:
            return None if first is None else min(replaced_length(call, first), max(first, MAX_TEXT))
        case _:
            return first


def replaced_length(call: Call, length: int) -> int:
    """How many characters REPLACE makes of so many, at most.

    Example:
        >>> from sfumato.query.model.expressions import ColumnRef
        >>> replaced_length(Call(Function.REPLACE, (ColumnRef("x"), Literal("ab"), Literal("12345"))), 5)
        11
    """
    words = [part.value for part in call.arguments[1:] if isinstance(part, Literal)]
    old, new = (len(word) for word in words if isinstance(word, str))
    return length + length // old * max(new - old, 0)


_PARAMETERS: Final = dict.fromkeys((Function.SUBSTRING, Function.SUFFIX), (frozenset({Kind.INTEGER}),))
_PART_BOUNDS: Final = {
    Function.YEAR: (1, 9999), Function.QUARTER: (1, 4), Function.MONTH: (1, 12), Function.WEEK: (1, 53),
    Function.DAY: (1, 31), Function.DAY_OF_WEEK: (0, 6), Function.ISO_DAY_OF_WEEK: (1, 7),
    Function.DAY_OF_YEAR: (1, 366), Function.HOUR: (0, 23), Function.MINUTE: (0, 59), Function.SECOND: (0, 59),
}  # fmt: skip
_CLOCK: Final = frozenset({Function.HOUR, Function.MINUTE, Function.SECOND})


def _part(call: Call, arguments: Sequence[Facts]) -> Facts:
    _require(call.function, arguments, frozenset({Kind.TIMESTAMP}) if call.function in _CLOCK else TIMES)
    low, high = _PART_BOUNDS[call.function]
    interval = Interval(Fraction(low), Fraction(high))
    if call.function is not Function.YEAR:
        values = tuple(range(low, high + 1))
        return Facts(kind=Kind.INTEGER, interval=interval, values=values, nullable=_nullable(arguments))
    years = _at_ends(arguments[0], lambda x: Fraction(x.year))
    interval = Interval(years.lower or interval.lower, years.upper or interval.upper)
    return Facts(kind=Kind.INTEGER, interval=interval, nullable=_nullable(arguments))


def _moved(call: Call, arguments: Sequence[Facts]) -> Facts:
    """A date or time of the same kind, later for a later one."""
    second = Kind.TEXT if call.function is Function.TRUNCATE else Kind.INTEGER
    _require(call.function, arguments, frozenset({Kind.TIMESTAMP}) if call.function is Function.ADD_SECONDS else TIMES,
             frozenset({second}))  # fmt: skip
    moved, by = arguments
    match call.function:
        case Function.ADD_DAYS | Function.ADD_SECONDS:
            step = _SECOND if call.function is Function.ADD_SECONDS else _DAYS[moved.kind]
            interval = moved.interval + by.interval * point(Fraction(step))
        case Function.ADD_MONTHS:
            months = literal_integer(call.arguments[1], "months")
            interval = _at_ends(moved, lambda x: place_of(months_added(x, months)))
        case _:
            unit = str(call.arguments[1].value) if isinstance(call.arguments[1], Literal) else ""
            interval = _at_ends(moved, lambda x: place_of(truncated(x, unit)))
    return Facts(kind=moved.kind, interval=interval)


def _at_ends(moments: Facts, function: Callable[[date], Fraction | None]) -> Interval:
    """Of what a function that does not fall makes of days or times, by what it makes of their bounds."""
    years, ends = YEARS[moments.kind], (moments.interval.lower, moments.interval.upper)
    lower, upper = (
        None if end is None or not years.holds(end) else function(date_at(end, moments.kind)) for end in ends
    )
    return Interval(lower, upper)


_SECOND: Final = 10**6
_DAYS: Final = {Kind.DATE: 1, Kind.TIMESTAMP: 86_400 * _SECOND}
"""How many places of an interval a second and a day take."""


def _days_between(call: Call, arguments: Sequence[Facts]) -> Facts:
    _require(call.function, arguments, frozenset({Kind.DATE}))
    first, second = arguments
    return Facts(kind=Kind.INTEGER, interval=first.interval - second.interval, nullable=_nullable(arguments))


def _coalesce(_call: Call, arguments: Sequence[Facts]) -> Facts:
    return replace(merged(arguments), nullable=all(facts.nullable for facts in arguments))


def _null_if(_call: Call, arguments: Sequence[Facts]) -> Facts:
    merged(arguments)
    return replace(arguments[0], nullable=True)


SIGNATURES: Final[Mapping[Function, Signature]] = {
    **dict.fromkeys((Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE), _arithmetic),
    Function.MODULO: _modulo,
    **dict.fromkeys(
        (Function.NEGATE, Function.ABS, Function.SIGN, Function.FLOOR, Function.CEIL, Function.TRUNC, Function.ROUND),
        _of_one_number,
    ),
    **dict.fromkeys(REALS, _of_one_real),
    **dict.fromkeys((Function.LEAST, Function.GREATEST), _extreme),
    **dict.fromkeys(_CONVERSIONS, _converted),
    **dict.fromkeys(
        (Function.LOWER, Function.UPPER, Function.LENGTH, Function.SUBSTRING, Function.TRIM, Function.LTRIM,
         Function.RTRIM, Function.CONCAT, Function.LIKE, Function.POSITION, Function.REPLACE, Function.SUFFIX),
        _textual,
    ),
    **dict.fromkeys(_PART_BOUNDS, _part),
    **dict.fromkeys((Function.TRUNCATE, Function.ADD_DAYS, Function.ADD_MONTHS, Function.ADD_SECONDS), _moved),
    Function.DAYS_BETWEEN: _days_between,
    Function.COALESCE: _coalesce,
    Function.NULL_IF: _null_if,
}  # fmt: skip
"""The facts of calls of each function; all raise `ParameterError` for arguments that it does not take."""
