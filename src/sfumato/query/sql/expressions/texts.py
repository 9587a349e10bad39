"""Functions of text in SQL: parts, places, replacement, and patterns, which are constants."""

import re
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, Expression, Literal, Not
from sfumato.query.model.functions import Function
from sfumato.query.model.texts import lowered
from sfumato.query.sql.expressions.constants import bare
from sfumato.query.sql.expressions.numbers import MAX_CHARACTERS
from sfumato.query.sql.expressions.scalars import Rule, Rules, Scalars, call
from sfumato.query.sql.parsing import shown

_TRIMS: Final = {"BOTH": Function.TRIM, "LEADING": Function.LTRIM, "TRAILING": Function.RTRIM}
_SPECIAL: Final = re.compile(r"[%_\\]")
_WORDS: Final = {exp.StartsWith: "{}%", exp.EndsWith: "%{}", exp.Contains: "%{}%"}
"""The pattern of a word that a text begins with, ends with, or has anywhere."""


def _part(scalars: Scalars, node: exp.Expr, start: int, length: int) -> Expression:
    return Call(Function.SUBSTRING, (scalars.lower(node.this), Literal(Fraction(start)), Literal(Fraction(length))))


def _substring(scalars: Scalars, node: exp.Substring) -> Expression:
    start, length = node.args.get("start"), node.args.get("length")
    place = None if start is None else bare(scalars.lower(start))
    if place is not None and not isinstance(place, Literal):
        if length is not None:
            raise NotPrivateError(
                shown(node), "a length beside a computed start is not supported", "Leave out the length, or write LEFT."
            )
        return Call(Function.SUFFIX, (scalars.lower(node.this), place))
    first = 1 if start is None else scalars.whole(start, lower=1, upper=MAX_CHARACTERS, name="start")
    most = MAX_CHARACTERS
    if length is not None:
        most = scalars.whole(length, lower=0, upper=MAX_CHARACTERS, name="length")
    return _part(scalars, node, first, most)


def _right(scalars: Scalars, node: exp.Right) -> Expression:
    """RIGHT(x, n): what begins n characters before the end."""
    count = scalars.whole(node.expression, lower=0, upper=MAX_CHARACTERS, name="length")
    value = scalars.lower(node.this)
    place = Call(Function.ADD, (Call(Function.LENGTH, (value,)), Literal(Fraction(1 - count))))
    return Call(Function.SUFFIX, (value, place))


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
    pattern = _constant_text(scalars, node.expression, node, "a pattern must be constant text", "LIKE 'A%'")
    value = scalars.lower(node.this)
    if isinstance(node, exp.ILike):
        pattern, value = lowered(pattern), Call(Function.LOWER, (value,))
    like = Call(Function.LIKE, (value, Literal(pattern)))
    return Not(like) if node.args.get("negate") else like


def _has_word(scalars: Scalars, node: exp.StartsWith | exp.EndsWith | exp.Contains) -> Expression:
    """LIKE of the word with its special characters escaped."""
    word = _constant_text(scalars, node.expression, node, "the word must be constant text", "'A'")
    pattern = _WORDS[type(node)].format(_SPECIAL.sub(r"\\\g<0>", word))
    return Call(Function.LIKE, (scalars.lower(node.this), Literal(pattern)))


def _position(scalars: Scalars, node: exp.StrPosition) -> Expression:
    word = _word(scalars, node.args["substr"], node)
    return Call(Function.POSITION, (scalars.lower(node.this), word))


def _replace(scalars: Scalars, node: exp.Replace) -> Expression:
    old = _word(scalars, node.expression, node)
    new = _constant_text(scalars, node.args["replacement"], node, "what is put in must be constant text", "'A'")
    return Call(Function.REPLACE, (scalars.lower(node.this), old, Literal(new)))


def _word(scalars: Scalars, node: exp.Expr, call: exp.Func) -> Literal:
    """Constant text that is looked for: at least one character, as nothing is everywhere."""
    word = _constant_text(scalars, node, call, "what is looked for must be constant text", "'A'")
    if not word:
        raise ParameterError(call.sql_name(), shown(node), "must look for at least one character")
    return Literal(word)


def _constant_text(scalars: Scalars, node: exp.Expr, call: exp.Expr, reason: str, example: str) -> str:
    value = scalars.constant(node).value
    if isinstance(value, str):
        return value
    raise NotPrivateError(shown(call), reason, f"Write it out: {example}.")


_LIKE: Final = Rule(frozenset({"this", "expression", "negate"}), _like)
_HAS_WORD: Final = Rule(frozenset({"this", "expression"}), _has_word)
RULES: Final[Rules] = {
    exp.Lower: call(Function.LOWER, "this"),
    exp.Upper: call(Function.UPPER, "this"),
    exp.Length: call(Function.LENGTH, "this"),
    exp.Substring: Rule(frozenset({"this", "start", "length"}), _substring),
    exp.Left: Rule(
        frozenset({"this", "expression"}),
        lambda scalars, node: _part(
            scalars, node, 1, scalars.whole(node.expression, lower=0, upper=MAX_CHARACTERS, name="length")
        ),
    ),
    exp.Right: Rule(frozenset({"this", "expression"}), _right),
    exp.Trim: Rule(frozenset({"this", "expression", "position"}), _trim),
    exp.DPipe: Rule(  # x || y is NULL if either is
        frozenset({"this", "expression", "safe"}),
        lambda scalars, node: Call(Function.CONCAT, tuple(scalars.lower(side) for side in node.flatten())),
    ),
    exp.Concat: Rule(frozenset({"expressions", "safe", "coalesce"}), _concat),
    exp.Like: _LIKE,
    exp.ILike: _LIKE,
    **dict.fromkeys(_WORDS, _HAS_WORD),
    exp.StrPosition: Rule(frozenset({"this", "substr"}), _position),
    exp.Replace: Rule(frozenset({"this", "expression", "replacement"}), _replace),
}
"""What is made of text, and what it is looked for."""
