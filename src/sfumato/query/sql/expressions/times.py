"""Dates and times in SQL: + and −, their parts, truncation, and TO_CHAR by the patterns that are listed here."""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.signatures import TRUNCATIONS
from sfumato.query.model.expressions import Call, Case, Compare, Comparison, Expression, Literal, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.sql.expressions.constants import negated
from sfumato.query.sql.expressions.scalars import Rule, Rules, Scalars, as_time, call
from sfumato.query.sql.parsing import require_only, shown, unnested

_PARTS: Final[Mapping[str, Function]] = {
    "YEAR": Function.YEAR, "QUARTER": Function.QUARTER, "MONTH": Function.MONTH, "WEEK": Function.WEEK,
    "DAY": Function.DAY, "DOW": Function.DAY_OF_WEEK, "ISODOW": Function.ISO_DAY_OF_WEEK, "DOY": Function.DAY_OF_YEAR,
    "HOUR": Function.HOUR, "MINUTE": Function.MINUTE, "SECOND": Function.SECOND,
}  # fmt: skip
_PART_NODES: Final[Mapping[type[exp.Expr], Function]] = {
    exp.Year: Function.YEAR, exp.Quarter: Function.QUARTER, exp.Month: Function.MONTH, exp.Week: Function.WEEK,
    exp.WeekOfYear: Function.WEEK, exp.Day: Function.DAY, exp.DayOfMonth: Function.DAY,
    exp.DayOfWeek: Function.DAY_OF_WEEK, exp.DayOfWeekIso: Function.ISO_DAY_OF_WEEK,
    exp.DayOfYear: Function.DAY_OF_YEAR, exp.Hour: Function.HOUR, exp.Minute: Function.MINUTE,
    exp.Second: Function.SECOND,
}  # fmt: skip
"""YEAR(d) and its family."""

_CLOCK: Final = frozenset({"hour", "minute"})
_STEPS: Final[Mapping[str, tuple[Function, int]]] = {
    **dict.fromkeys(("YEAR", "YEARS"), (Function.ADD_MONTHS, 12)),
    **dict.fromkeys(("MONTH", "MONTHS", "MON", "MONS"), (Function.ADD_MONTHS, 1)),
    **dict.fromkeys(("WEEK", "WEEKS"), (Function.ADD_DAYS, 7)),
    **dict.fromkeys(("DAY", "DAYS"), (Function.ADD_DAYS, 1)),
    **dict.fromkeys(("HOUR", "HOURS"), (Function.ADD_SECONDS, 3600)),
    **dict.fromkeys(("MINUTE", "MINUTES", "MIN", "MINS"), (Function.ADD_SECONDS, 60)),
    **dict.fromkeys(("SECOND", "SECONDS", "SEC", "SECS"), (Function.ADD_SECONDS, 1)),
}
_AMOUNT: Final = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_SIDES: Final = frozenset({"this", "expression"})


def _sum(scalars: Scalars, node: exp.Add | exp.Sub) -> Expression:
    """What + and − mean depends on kinds: of numbers, of dates and days, of a time and an interval."""
    first, second, takes = node.this, node.expression, isinstance(node, exp.Sub)
    if isinstance(unnested(second), exp.Interval):
        return _by_interval(scalars, first, unnested(second), sign=-1 if takes else 1)
    if isinstance(unnested(first), exp.Interval) and not takes:
        return _by_interval(scalars, second, unnested(first), sign=1)
    left, right = scalars.lower(first), scalars.lower(second)
    match scalars.kind(left), scalars.kind(right):
        case (Kind.DATE, Kind.DATE) if takes:
            return Call(Function.DAYS_BETWEEN, (left, right))
        case (Kind.DATE, Kind.INTEGER):
            return Call(Function.ADD_DAYS, (left, negated(right) if takes else right))
        case (Kind.INTEGER, Kind.DATE) if not takes:
            return Call(Function.ADD_DAYS, (right, left))
        case (one, other) if one in TIMES or other in TIMES:
            raise NotPrivateError(
                shown(node), f"a {one} and a {other} cannot be added or subtracted",
                "Add whole days to a date, an INTERVAL to either, or take one date from another.",
            )  # fmt: skip
        case _:
            return Call(Function.SUBTRACT if takes else Function.ADD, (left, right))


def _by_interval(scalars: Scalars, value: exp.Expr, interval: exp.Expr, *, sign: int) -> Expression:
    require_only(interval, {"this", "unit"})
    amount, unit = interval.this, interval.args.get("unit")
    name = unit.name.upper() if isinstance(unit, exp.Var) else ""
    if not isinstance(amount, exp.Literal) or not _AMOUNT.fullmatch(amount.name) or name not in _STEPS:
        raise NotPrivateError(
            shown(interval), "an interval must be one constant whole number of one unit",
            "Write INTERVAL '3 months'; add several intervals one after the other.",
        )  # fmt: skip
    function, factor = _STEPS[name]
    time = scalars.lower(value)
    if function is Function.ADD_SECONDS:
        time = as_time(time, scalars.kind(time), Kind.TIMESTAMP)
    return Call(function, (time, Literal(Fraction(sign * int(amount.name) * factor))))


def _extract(scalars: Scalars, node: exp.Extract) -> Expression:
    name = node.this.name.upper()
    if name not in _PARTS:
        raise NotPrivateError(
            shown(node), "this part of a date is not supported", f"Ask for one of: {', '.join(_PARTS)}."
        )
    return Call(_PARTS[name], (scalars.lower(node.expression),))


def _truncate(scalars: Scalars, node: exp.TimestampTrunc) -> Expression:
    unit = node.args["unit"]
    name = unit.name.lower()
    if name not in TRUNCATIONS:
        raise NotPrivateError(
            shown(node), "this unit is not supported", f"Truncate to one of: {', '.join(TRUNCATIONS)}."
        )
    value = scalars.lower(node.this)
    if name in _CLOCK:
        value = as_time(value, scalars.kind(value), Kind.TIMESTAMP)
    return Call(Function.TRUNCATE, (value, Literal(name)))


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
Field = Callable[[Expression], Expression]
"""What a field of a pattern is of a date or a time: text."""


def _listed(function: Function, names: Sequence[str], *, first: int = 1) -> Field:
    """A part of which all texts are listed, so that they are public."""
    places = [(Literal(Fraction(place)), Literal(name)) for place, name in enumerate(names, start=first)]

    def field(value: Expression) -> Expression:
        part = Call(function, (value,))
        branches = tuple((Compare(Comparison.EQUAL, part, place), name) for place, name in places)
        return Case(branches, Null(Kind.TEXT))

    return field


def _digits(function: Function, count: int, first: int, last: int) -> Field:
    return _listed(function, [f"{number:0{count}}" for number in range(first, last + 1)], first=first)


def _of_day(start: int, length: int) -> Field:
    """Some of the digits of 2026-01-31."""
    places = Literal(Fraction(start)), Literal(Fraction(length))
    return lambda value: Call(
        Function.SUBSTRING, (Call(Function.TO_TEXT, (Call(Function.TO_DATE, (value,)),)), *places)
    )


_FIELDS: Final[Mapping[str, Field]] = {
    "YYYY": _of_day(1, 4), "YY": _of_day(3, 2), "Q": _digits(Function.QUARTER, 1, 1, 4),
    "MM": _digits(Function.MONTH, 2, 1, 12), "IW": _digits(Function.WEEK, 2, 1, 53),
    "DDD": _digits(Function.DAY_OF_YEAR, 3, 1, 366), "DD": _digits(Function.DAY, 2, 1, 31),
    "ID": _digits(Function.ISO_DAY_OF_WEEK, 1, 1, 7), "D": _listed(Function.DAY_OF_WEEK, "1234567", first=0),
    "HH24": _digits(Function.HOUR, 2, 0, 23), "MI": _digits(Function.MINUTE, 2, 0, 59),
    "SS": _digits(Function.SECOND, 2, 0, 59),
    "FMMonth": _listed(Function.MONTH, _MONTHS), "Mon": _listed(Function.MONTH, [name[:3] for name in _MONTHS]),
    "FMDay": _listed(Function.DAY_OF_WEEK, _DAYS, first=0),
    "Dy": _listed(Function.DAY_OF_WEEK, [name[:3] for name in _DAYS], first=0),
}  # fmt: skip
"""The fields of patterns of TO_CHAR; months and days of the week in English."""

_WHOLE_DAYS: Final = {"YYYY-MM-DD": 10, "YYYY-MM": 7}
"""Patterns that a day as text begins with, and how many characters."""

_TOKEN: Final = re.compile(
    "|".join(sorted(_FIELDS, key=lambda field: -len(field))) + r'|"[^"\\]*"|[-/.,:; ]+', re.ASCII
)
_OTHER: Final = "TO_CHAR of numbers is not supported"


def _shown_time(scalars: Scalars, node: exp.ToChar) -> Expression:
    """TO_CHAR of a date or a time: the fields of a constant pattern, one behind the other."""
    value, pattern = scalars.lower(node.this), scalars.constant(node.args["format"]).value
    if scalars.kind(value) not in TIMES:
        raise NotPrivateError(shown(node), _OTHER, "Ask for a date or a timestamp, or CAST a whole number AS text.")
    tokens = _TOKEN.findall(pattern) if isinstance(pattern, str) else []
    if not isinstance(pattern, str) or not tokens or "".join(tokens) != pattern:
        raise NotPrivateError(
            shown(node), "this pattern is not supported",
            f"Put it together of {', '.join(_FIELDS)}, marks such as - and :, and \"text\" in double quotes.",
        )  # fmt: skip
    if pattern in _WHOLE_DAYS:
        return _of_day(1, _WHOLE_DAYS[pattern])(value)
    pieces = [_FIELDS[token](value) if token in _FIELDS else Literal(token.strip('"')) for token in tokens]
    return pieces[0] if len(pieces) == 1 else Call(Function.CONCAT, tuple(pieces))


RULES: Final[Rules] = {
    exp.Add: Rule(_SIDES, _sum),
    exp.Sub: Rule(_SIDES, _sum),
    exp.Extract: Rule(_SIDES, _extract),
    exp.TimestampTrunc: Rule(frozenset({"this", "unit"}), _truncate),
    exp.ToChar: Rule(frozenset({"this", "format"}), _shown_time),
    **{node: call(function, "this") for node, function in _PART_NODES.items()},
}
"""What is made of dates and times; and + and −, which numbers have too."""
