"""Functions in SQL: of numbers, with literals and parameters; of text and between kinds; of dates and times."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.signatures import MAX_DIGITS, TRUNCATIONS
from sfumato.query.model.expressions import Call, Expression, Literal, Not, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.texts import lowered
from sfumato.query.sql.constants import negated, number
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.scalars import Rule, Rules, Scalars, as_time

MAX_CHARACTERS: Final = 2**31 - 1
"""How many characters a part of a text may have, where nothing else says so."""

_TRIMS: Final = {"BOTH": Function.TRIM, "LEADING": Function.LTRIM, "TRAILING": Function.RTRIM}
_CONVERSIONS: Final[Mapping[exp.DType, tuple[Function, Kind]]] = {
    **dict.fromkeys((exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT), (Function.TO_INTEGER, Kind.INTEGER)),
    **dict.fromkeys((exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL), (Function.TO_FLOAT, Kind.FLOAT)),
    **dict.fromkeys((exp.DType.TEXT, exp.DType.VARCHAR), (Function.TO_TEXT, Kind.TEXT)),
    exp.DType.BOOLEAN: (Function.TO_BOOLEAN, Kind.BOOLEAN),
    exp.DType.DATE: (Function.TO_DATE, Kind.DATE),
    exp.DType.TIMESTAMP: (Function.TO_TIMESTAMP, Kind.TIMESTAMP),
}
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
_SIDES: Final = ("this", "expression")


def call(function: Function, *arguments: str) -> Rule:
    """The rule of a function that takes expressions only."""

    def lower(scalars: Scalars, node: exp.Expr) -> Expression:
        return Call(function, tuple(scalars.lower(node.args[name]) for name in arguments))

    return Rule(frozenset(arguments), lower)


def _round(scalars: Scalars, node: exp.Round) -> Expression:
    decimals = node.args.get("decimals")
    digits = 0 if decimals is None else scalars.whole(decimals, lower=0, upper=MAX_DIGITS, name="digits")
    return Call(Function.ROUND, (scalars.lower(node.this), Literal(Fraction(digits))))


def _logarithm(scalars: Scalars, node: exp.Log) -> Expression:
    """LOG(x) and LOG(10, x), the same in PostgreSQL."""
    if node.expression is None:
        return Call(Function.LOG10, (scalars.lower(node.this),))
    if scalars.constant(node.this) != Literal(Fraction(10)):
        raise NotPrivateError(shown(node), "only logarithms to the base 10 and e are supported", "Write LN(x) / LN(b).")
    return Call(Function.LOG10, (scalars.lower(node.expression),))


def _extreme(scalars: Scalars, node: exp.Least | exp.Greatest) -> Expression:
    function = Function.LEAST if isinstance(node, exp.Least) else Function.GREATEST
    return Call(function, scalars.alternatives((node.this, *node.expressions)))


def _part(scalars: Scalars, node: exp.Expr, start: int, length: int) -> Expression:
    return Call(Function.SUBSTRING, (scalars.lower(node.this), Literal(Fraction(start)), Literal(Fraction(length))))


def _substring(scalars: Scalars, node: exp.Substring) -> Expression:
    start, length = node.args.get("start"), node.args.get("length")
    first = 1 if start is None else scalars.whole(start, lower=1, upper=MAX_CHARACTERS, name="start")
    most = MAX_CHARACTERS
    if length is not None:
        most = scalars.whole(length, lower=0, upper=MAX_CHARACTERS, name="length")
    return _part(scalars, node, first, most)


def _trim(scalars: Scalars, node: exp.Trim) -> Expression:
    characters = node.args.get("expression")
    if characters is not None and scalars.constant(characters) != Literal(" "):
        raise NotPrivateError(shown(node), "only spaces can be trimmed", "Leave out the characters.")
    return Call(_TRIMS[node.args.get("position") or "BOTH"], (scalars.lower(node.this),))


def _concat(scalars: Scalars, node: exp.Concat) -> Expression:
    """CONCAT leaves NULL out, as PostgreSQL does."""
    present = [_or_empty(scalars, scalars.lower(part)) for part in node.expressions]
    return present[0] if len(present) == 1 else Call(Function.CONCAT, tuple(present))


def _or_empty(scalars: Scalars, value: Expression) -> Expression:
    nullable = scalars.known.of(value).nullable
    return Call(Function.COALESCE, (value, Literal(""))) if nullable else value


def _like(scalars: Scalars, node: exp.Like | exp.ILike) -> Expression:
    pattern = scalars.constant(node.expression).value
    if not isinstance(pattern, str):
        raise NotPrivateError(shown(node), "a pattern must be constant text", "Write it out: LIKE 'A%'.")
    value = scalars.lower(node.this)
    if isinstance(node, exp.ILike):
        pattern, value = lowered(pattern), Call(Function.LOWER, (value,))
    like = Call(Function.LIKE, (value, Literal(pattern)))
    return Not(like) if node.args.get("negate") else like


def _cast(scalars: Scalars, node: exp.Cast) -> Expression:
    """A conversion; of constant text to a time, that time; of NULL, NULL of that kind."""
    target = node.args["to"]
    if not isinstance(target, exp.DataType) or target.this not in _CONVERSIONS:
        raise NotPrivateError(
            shown(node), "this type is not supported", "Cast to integer, float, text, boolean, date or timestamp."
        )
    require_only(target, {"this"})
    function, kind = _CONVERSIONS[target.this]
    if isinstance(unnested(node.this), exp.Null):
        return Null(kind)
    value = scalars.lower(node.this)
    is_text = isinstance(value, Literal) and isinstance(value.value, str)
    return as_time(value, Kind.TEXT, kind) if kind in TIMES and is_text else Call(function, (value,))


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


_EXTREME: Final = Rule(frozenset({"this", "expressions", "ignore_nulls"}), _extreme)
_LIKE: Final = Rule(frozenset({"this", "expression", "negate"}), _like)
RULES: Final[Rules] = {
    exp.Literal: Rule(
        frozenset({"this", "is_string"}),
        lambda _, node: Literal(str(node.this)) if node.is_string else number(str(node.this)),
    ),
    exp.Parameter: Rule(frozenset({"this"}), lambda scalars, node: scalars.parameters.value(node)),
    exp.Placeholder: Rule(frozenset({"this", "jdbc"}), lambda scalars, node: scalars.parameters.value(node)),
    exp.Neg: Rule(frozenset({"this"}), lambda scalars, node: negated(scalars.lower(node.this))),
    exp.Mul: call(Function.MULTIPLY, *_SIDES),
    exp.Div: Rule(frozenset({*_SIDES, "typed", "safe"}), call(Function.DIVIDE, *_SIDES).lower),
    exp.Mod: call(Function.MODULO, *_SIDES),
    exp.Pow: Rule(
        frozenset(_SIDES),
        lambda scalars, node: Call(Function.POWER, (scalars.lower(node.this), scalars.constant(node.expression))),
    ),
    exp.Abs: call(Function.ABS, "this"),
    exp.Sign: call(Function.SIGN, "this"),
    exp.Floor: call(Function.FLOOR, "this"),
    exp.Ceil: call(Function.CEIL, "this"),
    exp.Trunc: call(Function.TRUNC, "this"),
    exp.Round: Rule(frozenset({"this", "decimals"}), _round),
    exp.Sqrt: call(Function.SQRT, "this"),
    exp.Ln: call(Function.LN, "this"),
    exp.Exp: call(Function.EXP, "this"),
    exp.Log: Rule(frozenset(_SIDES), _logarithm),
    exp.Least: _EXTREME,
    exp.Greatest: _EXTREME,
    exp.Lower: call(Function.LOWER, "this"),
    exp.Upper: call(Function.UPPER, "this"),
    exp.Length: call(Function.LENGTH, "this"),
    exp.Substring: Rule(frozenset({"this", "start", "length"}), _substring),
    exp.Left: Rule(
        frozenset(_SIDES),
        lambda scalars, node: _part(
            scalars, node, 1, scalars.whole(node.expression, lower=0, upper=MAX_CHARACTERS, name="length")
        ),
    ),
    exp.Trim: Rule(frozenset({"this", "expression", "position"}), _trim),
    exp.DPipe: Rule(  # x || y is NULL if either is
        frozenset({"this", "expression", "safe"}),
        lambda scalars, node: Call(Function.CONCAT, tuple(scalars.lower(side) for side in node.flatten())),
    ),
    exp.Concat: Rule(frozenset({"expressions", "safe", "coalesce"}), _concat),
    exp.Like: _LIKE,
    exp.ILike: _LIKE,
    exp.Cast: Rule(frozenset({"this", "to"}), _cast),
    exp.Add: Rule(frozenset(_SIDES), _sum),
    exp.Sub: Rule(frozenset(_SIDES), _sum),
    exp.Extract: Rule(frozenset(_SIDES), _extract),
    exp.TimestampTrunc: Rule(frozenset({"this", "unit"}), _truncate),
}
"""Numbers, text, dates and times, and what turns values of one kind into another."""
