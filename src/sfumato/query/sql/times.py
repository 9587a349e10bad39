"""Dates and times in SQL: EXTRACT, DATE_TRUNC, and sums, by which days and intervals move them."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.parameters import TRUNCATIONS
from sfumato.query.sql.constants import negated
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.scalars import Rule, Rules, Scalars, as_time

_PARTS: Final[Mapping[str, Function]] = {
    "YEAR": Function.YEAR, "QUARTER": Function.QUARTER, "MONTH": Function.MONTH, "WEEK": Function.WEEK,
    "DAY": Function.DAY, "DOW": Function.DAY_OF_WEEK, "ISODOW": Function.ISO_DAY_OF_WEEK, "DOY": Function.DAY_OF_YEAR,
    "HOUR": Function.HOUR, "MINUTE": Function.MINUTE, "SECOND": Function.SECOND,
}  # fmt: skip
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
            shown(interval), "an interval must be one whole number of one unit, written out",
            "Write INTERVAL '3 months', and add several of them one after the other.",
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


_SIDES: Final = frozenset({"this", "expression"})
RULES: Final[Rules] = {
    exp.Add: Rule(_SIDES, _sum),
    exp.Sub: Rule(_SIDES, _sum),
    exp.Extract: Rule(_SIDES, _extract),
    exp.TimestampTrunc: Rule(frozenset({"this", "unit"}), _truncate),
}
"""Parts of dates and times, and sums, which may move them."""
