"""Numbers in SQL: literals, parameters, products, and the functions of numbers."""

from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.parameters import MAX_DIGITS
from sfumato.query.sql.constants import negated, number
from sfumato.query.sql.parsing import shown
from sfumato.query.sql.scalars import Rule, Rules, Scalars


def call(function: Function, *arguments: str) -> Rule:
    """The rule of a function that takes expressions only."""

    def lower(scalars: Scalars, node: exp.Expr) -> Expression:
        return Call(function, tuple(scalars.lower(node.args[name]) for name in arguments))

    return Rule(frozenset(arguments), lower)


def _literal(_scalars: Scalars, node: exp.Literal) -> Expression:
    return Literal(str(node.this)) if node.is_string else number(str(node.this))


def _parameter(scalars: Scalars, node: exp.Parameter | exp.Placeholder) -> Expression:
    return scalars.parameters.value(node)


def _negative(scalars: Scalars, node: exp.Neg) -> Expression:
    return negated(scalars.lower(node.this))


def _round(scalars: Scalars, node: exp.Round) -> Expression:
    decimals = node.args.get("decimals")
    digits = 0 if decimals is None else scalars.whole(decimals, lower=0, upper=MAX_DIGITS, name="digits")
    return Call(Function.ROUND, (scalars.lower(node.this), Literal(Fraction(digits))))


def _power(scalars: Scalars, node: exp.Pow) -> Expression:
    return Call(Function.POWER, (scalars.lower(node.this), scalars.constant(node.expression)))


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


_SIDES: Final = ("this", "expression")
_EXTREME: Final = Rule(frozenset({"this", "expressions", "ignore_nulls"}), _extreme)
RULES: Final[Rules] = {
    exp.Literal: Rule(frozenset({"this", "is_string"}), _literal),
    exp.Parameter: Rule(frozenset({"this"}), _parameter),
    exp.Placeholder: Rule(frozenset({"this", "jdbc"}), _parameter),
    exp.Neg: Rule(frozenset({"this"}), _negative),
    exp.Mul: call(Function.MULTIPLY, *_SIDES),
    exp.Div: Rule(frozenset({*_SIDES, "typed", "safe"}), call(Function.DIVIDE, *_SIDES).lower),
    exp.Mod: call(Function.MODULO, *_SIDES),
    exp.Pow: Rule(frozenset(_SIDES), _power),
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
}
"""Numbers and what is done with them."""
