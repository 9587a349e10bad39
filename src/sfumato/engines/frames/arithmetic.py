"""The functions of numbers in Polars, as `arithmetic` has them: whole numbers in 128 bits, so that nothing wraps."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import polars as pl

from sfumato.engines.frames.terms import Term, computed, named, named_together, whole
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind

Lowering: TypeAlias = Callable[[Sequence[Term]], Term]
_Operator: TypeAlias = Callable[[pl.Expr, pl.Expr], pl.Expr]

_EXACT_POWERS: Final = 22
"""Up to this one powers of ten are doubles."""


def rounded(value: Term, digits: int) -> Term:
    """ROUND: floor(x·10^digits + 1/2) / 10^digits; a whole number as it is."""
    if value.kind is Kind.INTEGER:
        return value
    power = float(10**digits)
    return computed(quotient((value.value * power + 0.5).floor(), pl.lit(power)))


def power(value: Term, exponent: float) -> Term:
    """POWER; by a constant for all rows, for which Polars has another way than for a column of exponents."""
    return computed(_settled_double(value).pow(pl.lit(float(exponent))))


def quotient(first: pl.Expr, second: pl.Expr) -> pl.Expr:
    """The quotient of doubles.

    Where a divisor is one for all rows, Polars (2.1) multiplies by its inverse, unless there is but one row: the last
    bit would be another one, and would depend on other rows. It does divide by a column, so here there always is one.
    """

    def divided(x: pl.Expr, y: pl.Expr) -> pl.Expr:
        return pl.when(y.is_not_null()).then(x / x.clip(y, y))

    return named_together((first, second), divided)


def toward_zero(first: pl.Expr, second: pl.Expr) -> pl.Expr:
    """The quotient of 128-bit integers cut off toward zero; NULL of a divisor of 0."""
    quotient = first.abs() // second.abs()
    return pl.when((first < 0) == (second < 0)).then(quotient).otherwise(0 - quotient)


def _rest(first: pl.Expr, second: pl.Expr) -> pl.Expr:
    """What that division leaves, with the sign of the first."""
    rest = first.abs() % second.abs()
    return pl.when(first < 0).then(0 - rest).otherwise(rest)


def _of_two(combine: _Operator) -> Lowering:
    def lower(terms: Sequence[Term]) -> Term:
        if _are_whole(terms):
            return whole(_in_64_bits(combine(*map(_wide, terms))))
        return computed(combine(*(term.as_double for term in terms)))

    return lower


def _divided(terms: Sequence[Term]) -> Term:
    """Of doubles a divisor of 0 makes what is not finite; one that stands for NULL must not make a 0."""
    first, second = terms
    if _are_whole(terms):
        return whole(_in_64_bits(named_together((_wide(first), _wide(second)), toward_zero)))
    return computed(quotient(first.as_double, _settled_double(second)))


def _modulo(terms: Sequence[Term]) -> Term:
    first, second = map(_wide, terms)
    return whole(_in_64_bits(named_together((first, second), _rest)))


def _negated(terms: Sequence[Term]) -> Term:
    if _are_whole(terms):
        return whole(_in_64_bits(0 - _wide(terms[0])))
    return computed(-terms[0].value)


def _absolute(terms: Sequence[Term]) -> Term:
    if _are_whole(terms):
        return whole(_in_64_bits(_wide(terms[0]).abs()))
    return computed(terms[0].value.abs())


def _sign(terms: Sequence[Term]) -> Term:
    return whole(terms[0].settled.sign().cast(pl.Int64))


def _of_doubles(change: Callable[[pl.Expr], pl.Expr]) -> Lowering:
    """Of a whole number itself."""
    return lambda terms: terms[0] if _are_whole(terms) else computed(change(terms[0].value))


def _cut(number: pl.Expr) -> pl.Expr:
    return named(number, lambda x: pl.when(x < 0).then(x.ceil()).otherwise(x.floor()))


def _computed(change: Callable[[pl.Expr], pl.Expr]) -> Lowering:
    """A function that makes NaN or an infinity of what it is not defined for."""
    return lambda terms: computed(change(_settled_double(terms[0])))


def _logarithm_of_10(number: pl.Expr) -> pl.Expr:
    """By natural logarithms, which miss whole ones by a bit."""

    def exactly(x: pl.Expr) -> pl.Expr:
        nearest = x.log10().round()
        is_power = nearest.is_between(0, _EXACT_POWERS) & (pl.lit(10.0).pow(nearest) == x)
        return pl.when(is_power).then(nearest).otherwise(x.log10())

    return named(number, exactly)


def _settled_double(term: Term) -> pl.Expr:
    return term.settled if term.kind is Kind.FLOAT else term.as_double


def _are_whole(terms: Sequence[Term]) -> bool:
    return all(term.kind is Kind.INTEGER for term in terms)


def _wide(term: Term) -> pl.Expr:
    return term.value.cast(pl.Int128)


def _in_64_bits(value: pl.Expr) -> pl.Expr:
    return value.cast(pl.Int64, strict=False)


ARITHMETIC: Final[Mapping[Function, Lowering]] = {
    Function.ADD: _of_two(operator.add),
    Function.SUBTRACT: _of_two(operator.sub),
    Function.MULTIPLY: _of_two(operator.mul),
    Function.DIVIDE: _divided,
    Function.MODULO: _modulo,
    Function.NEGATE: _negated,
    Function.ABS: _absolute,
    Function.SIGN: _sign,
    Function.FLOOR: _of_doubles(lambda x: x.floor()),
    Function.CEIL: _of_doubles(lambda x: x.ceil()),
    Function.TRUNC: _of_doubles(_cut),
    Function.SQRT: _computed(lambda x: x.sqrt()),
    Function.LN: _computed(lambda x: x.log()),
    Function.LOG10: _computed(_logarithm_of_10),
    Function.EXP: _computed(lambda x: x.exp()),
}
"""Functions of numbers without constants."""
