"""Text in SQL: case, length, parts, trimming, joining, LIKE; and conversions between kinds."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.model.expressions import Call, Expression, Literal, Not, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.letters import lowered
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


def _one(function: Function) -> Rule:
    return Rule(frozenset({"this"}), lambda scalars, node: Call(function, (scalars.lower(node.this),)))


def _part(scalars: Scalars, node: exp.Expr, start: int, length: int) -> Expression:
    return Call(Function.SUBSTRING, (scalars.lower(node.this), Literal(Fraction(start)), Literal(Fraction(length))))


def _substring(scalars: Scalars, node: exp.Substring) -> Expression:
    start, length = node.args.get("start"), node.args.get("length")
    first = 1 if start is None else scalars.whole(start, lower=1, upper=MAX_CHARACTERS, name="start")
    most = MAX_CHARACTERS
    if length is not None:
        most = scalars.whole(length, lower=0, upper=MAX_CHARACTERS, name="length")
    return _part(scalars, node, first, most)


def _left(scalars: Scalars, node: exp.Left) -> Expression:
    return _part(scalars, node, 1, scalars.whole(node.expression, lower=0, upper=MAX_CHARACTERS, name="length"))


def _trim(scalars: Scalars, node: exp.Trim) -> Expression:
    characters = node.args.get("expression")
    if characters is not None and scalars.constant(characters) != Literal(" "):
        raise NotPrivateError(shown(node), "only spaces can be trimmed", "Leave the characters out.")
    return Call(_TRIMS[node.args.get("position") or "BOTH"], (scalars.lower(node.this),))


def _joined(scalars: Scalars, node: exp.DPipe) -> Expression:
    """X || y: NULL if either is."""
    return Call(Function.CONCAT, tuple(scalars.lower(side) for side in node.flatten()))


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
    return as_time(value, Kind.TEXT, kind) if kind in TIMES and _is_text(value) else Call(function, (value,))


def _is_text(value: Expression) -> bool:
    return isinstance(value, Literal) and isinstance(value.value, str)


_LIKE: Final = Rule(frozenset({"this", "expression", "negate"}), _like)
RULES: Final[Rules] = {
    exp.Lower: _one(Function.LOWER),
    exp.Upper: _one(Function.UPPER),
    exp.Length: _one(Function.LENGTH),
    exp.Substring: Rule(frozenset({"this", "start", "length"}), _substring),
    exp.Left: Rule(frozenset({"this", "expression"}), _left),
    exp.Trim: Rule(frozenset({"this", "expression", "position"}), _trim),
    exp.DPipe: Rule(frozenset({"this", "expression", "safe"}), _joined),
    exp.Concat: Rule(frozenset({"expressions", "safe", "coalesce"}), _concat),
    exp.Like: _LIKE,
    exp.ILike: _LIKE,
    exp.Cast: Rule(frozenset({"this", "to"}), _cast),
}
"""Text, and what turns values of one kind into another."""
