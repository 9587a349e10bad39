"""Numbers in SQL: literals and parameters, arithmetic, buckets of equal width; and CAST, which makes other kinds."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.signatures import MAX_DIGITS
from sfumato.query.model.expressions import Call, Case, Compare, Comparison, Expression, IsNull, Literal, Not, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.sql.expressions.constants import negated, number
from sfumato.query.sql.expressions.scalars import Rule, Rules, Scalars, as_time, call
from sfumato.query.sql.parsing import require_only, shown, unnested

MAX_BUCKETS: Final = 1_000
"""How many buckets WIDTH_BUCKET may have: each is a comparison."""

MAX_PRECISION: Final = 38
"""How many digits a numeric(p, s) may have."""

MAX_CHARACTERS: Final = 2**31 - 1
"""How many characters a part of a text may have, where nothing else says so."""

_SIDES: Final = ("this", "expression")
_DECIMAL: Final = exp.DType.DECIMAL
_VARCHAR: Final = exp.DType.VARCHAR
_CONVERSIONS: Final[Mapping[exp.DType, tuple[Function, Kind]]] = {
    **dict.fromkeys((exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT), (Function.TO_INTEGER, Kind.INTEGER)),
    **dict.fromkeys((exp.DType.FLOAT, exp.DType.DOUBLE, _DECIMAL), (Function.TO_FLOAT, Kind.FLOAT)),
    **dict.fromkeys((exp.DType.TEXT, _VARCHAR), (Function.TO_TEXT, Kind.TEXT)),
    exp.DType.BOOLEAN: (Function.TO_BOOLEAN, Kind.BOOLEAN),
    exp.DType.DATE: (Function.TO_DATE, Kind.DATE),
    exp.DType.TIMESTAMP: (Function.TO_TIMESTAMP, Kind.TIMESTAMP),
}


def _round(scalars: Scalars, node: exp.Round) -> Expression:
    decimals = node.args.get("decimals")
    digits = 0 if decimals is None else scalars.whole(decimals, lower=0, upper=MAX_DIGITS, name="digits")
    return _rounded(scalars.lower(node.this), digits)


def _rounded(value: Expression, digits: int) -> Expression:
    return Call(Function.ROUND, (value, Literal(Fraction(digits))))


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


def _bucket(scalars: Scalars, node: exp.WidthBucket) -> Expression:
    """0 below the first bucket, the number of buckets and 1 more above the last; so its values are public."""
    value = scalars.lower(node.this)
    first, last = (_number(scalars, node.args[name]) for name in ("min_value", "max_value"))
    count = scalars.whole(node.args["num_buckets"], lower=1, upper=MAX_BUCKETS, name="buckets")
    if not first < last:
        raise ParameterError("WIDTH_BUCKET", shown(node), "must have a lower end that is less than the upper one")
    width = (last - first) / count
    starts = [(first + place * width, place + 1) for place in range(count + 1)]
    branches = [
        (Compare(Comparison.GREATER_EQUAL, value, Literal(start)), Literal(Fraction(bucket)))
        for start, bucket in reversed(starts)
    ]
    below = Literal(Fraction(0))
    if not scalars.known.of(value).nullable:
        return Case(tuple(branches), below)
    return Case((*branches, (Not(IsNull(value)), below)), Null(Kind.INTEGER))


def _number(scalars: Scalars, node: exp.Expr) -> Fraction:
    value = scalars.constant(node).value
    if isinstance(value, Fraction):
        return value
    raise ParameterError("WIDTH_BUCKET", shown(node), "must be a number")


def _cast(scalars: Scalars, node: exp.Cast) -> Expression:
    """A conversion; of constant text to a time, that time; of NULL, NULL of that kind."""
    target = node.args["to"]
    if not isinstance(target, exp.DataType) or target.this not in _CONVERSIONS:
        raise NotPrivateError(
            shown(node), "this type is not supported", "Cast to integer, float, text, boolean, date or timestamp."
        )
    has_size = target.this in {_DECIMAL, _VARCHAR}
    require_only(target, {"this", "expressions"} if has_size else {"this"})
    sizes = [parameter.this for parameter in target.expressions]
    function, kind = _CONVERSIONS[target.this]
    if isinstance(unnested(node.this), exp.Null):
        return Null(kind)
    value = scalars.lower(node.this)
    is_text = isinstance(value, Literal) and isinstance(value.value, str)
    if kind in TIMES and is_text:
        return as_time(value, Kind.TEXT, kind)
    made = Call(function, (value,))
    if not sizes:
        return made
    if target.this is _VARCHAR:
        length = scalars.whole(sizes[0], lower=1, upper=MAX_CHARACTERS, name="length")
        return Call(Function.SUBSTRING, (made, Literal(Fraction(1)), Literal(Fraction(length))))
    precision = scalars.whole(sizes[0], lower=1, upper=MAX_PRECISION, name="precision")
    scale = 0 if len(sizes) == 1 else scalars.whole(sizes[1], lower=0, upper=min(precision, MAX_DIGITS), name="scale")
    return _within_digits(scalars, _rounded(made, scale), precision - scale)


def _within_digits(scalars: Scalars, value: Expression, digits: int) -> Expression:
    """A number, or NULL if it has more digits before the point."""
    most = Fraction(10**digits)
    known = scalars.known.of(value).interval
    if known.lower is not None and known.upper is not None and max(-known.lower, known.upper) < most:
        return value
    is_less = Compare(Comparison.LESS, Call(Function.ABS, (value,)), Literal(most))
    return Case(((is_less, value),), Null(Kind.FLOAT))


_EXTREME: Final = Rule(frozenset({"this", "expressions", "ignore_nulls"}), _extreme)
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
    exp.WidthBucket: Rule(frozenset({"this", "min_value", "max_value", "num_buckets"}), _bucket),
    exp.Cast: Rule(frozenset({"this", "to"}), _cast),
}
"""What is computed of numbers, and conversions."""
