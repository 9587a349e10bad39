"""The functions of numbers in SQL, as `values.numbers` has them: whole ones in 128 bits, so that nothing overflows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import Term, computed
from sfumato.engines.sql.expressions.terms import (
    Sql,
    between,
    case,
    cast,
    double,
    figure,
    function,
    guarded,
    named,
    operation,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.numbers import LARGEST, LARGEST_EXPONENT, bases

Lowering: TypeAlias = Callable[[Sequence[Term]], Term]


def whole(sql: Sql) -> Term:
    """A 64-bit integer."""
    return Term(sql=sql, kind=Kind.INTEGER)


def rounded(value: Term, digits: int) -> Term:
    """ROUND: floor(x·10^digits + 1/2) / 10^digits; a whole number as it is."""
    if value.kind is Kind.INTEGER:
        return value
    power = double(float(10**digits))
    half_up = operation(exp.Add, operation(exp.Mul, value.operand, power), double(0.5))
    return computed(function("double_quotient", function("FLOOR", half_up), power))


def power(value: Term, exponent: float) -> Term:
    """POWER: of bases whose powers doubles hold; the others are told by their size."""
    y, zero = float(exponent), double(0.0)
    least, most = bases(y)

    def raised(x: Sql) -> Sql:
        size, made = function("ABS", x), function("POWER", x, double(y))
        branches = [] if y.is_integer() else [(operation(exp.LT, x, zero), exp.Null())]
        if most == LARGEST:
            branches += [(operation(exp.EQ, x, zero), exp.Null())] if y < 0 else []
            return case(branches, made) if branches else made
        vanishes = operation(exp.LT, size, double(least)) if y > 0 else operation(exp.GT, size, double(most))
        nothing = [(operation(exp.EQ, x, zero), exp.Null())] if y < 0 else []
        return case([*branches, *nothing, (vanishes, zero), (between(size, double(least), double(most)), made)])

    return computed(named(value.divisor, raised))


def _added(operator: type[exp.Binary]) -> Lowering:
    def lower(terms: Sequence[Term]) -> Term:
        if _are_whole(terms):
            return whole(_in_64_bits(operation(operator, *map(_wide, terms))))
        made = operation(operator, *(term.operand for term in terms))
        return Term(sql=made, kind=Kind.FLOAT, pending=True, rounded=all(term.is_rounded for term in terms))

    return lower


def _multiplied(terms: Sequence[Term]) -> Term:
    if _are_whole(terms):
        return whole(_in_64_bits(operation(exp.Mul, *map(_wide, terms))))
    return computed(operation(exp.Mul, *(term.factor for term in terms)))


def _divided(terms: Sequence[Term]) -> Term:
    """Of doubles a divisor of 0 makes what stands for NULL; one that itself stands for NULL must not make a 0."""
    first, second = terms
    if _are_whole(terms):
        return whole(_in_64_bits(function("wide_quotient", _wide(first), _not_zero(_wide(second)))))
    return computed(function("double_quotient", first.factor, second.divisor))


def _modulo(terms: Sequence[Term]) -> Term:
    first, second = map(_wide, terms)
    return whole(_in_64_bits(function("wide_rest", first, _not_zero(second))))


def _negated(terms: Sequence[Term]) -> Term:
    kind = terms[0].kind
    zero = cast(figure(0), "DOUBLE" if kind is Kind.FLOAT else "BIGINT")
    return _added(exp.Sub)((Term(sql=zero, kind=kind, rounded=True), terms[0]))


def _absolute(terms: Sequence[Term]) -> Term:
    if _are_whole(terms):
        return whole(_in_64_bits(function("ABS", _wide(terms[0]))))
    return replace(terms[0], sql=function("ABS", terms[0].sql))


def _rounded_by(name: str) -> Lowering:
    """Of a whole number itself; of a double that stands for NULL another one."""
    return lambda terms: (
        terms[0] if _are_whole(terms) else replace(terms[0], sql=function(name, terms[0].sql), rounded=True)
    )


def _of_domain(name: str, condition: type[exp.Binary]) -> Lowering:
    """A function of the numbers that compare so with 0; one that stands for NULL still does."""

    def lower(terms: Sequence[Term]) -> Term:
        number = guarded(terms[0].operand, lambda x: operation(condition, x, double(0.0)))
        return Term(sql=function(name, number), kind=Kind.FLOAT, pending=terms[0].pending)

    return lower


def _exponential(terms: Sequence[Term]) -> Term:
    """The power of e; 0 and NULL where doubles do not hold it."""

    def raised(x: Sql) -> Sql:
        vanishes, fits = (
            operation(kind, x, double(end)) for kind, end in ((exp.LT, -LARGEST_EXPONENT), (exp.LTE, LARGEST_EXPONENT))
        )
        return case([(vanishes, double(0.0)), (fits, function("EXP", x))])

    return computed(named(terms[0].settled_double, raised))


def _are_whole(terms: Sequence[Term]) -> bool:
    return all(term.kind is Kind.INTEGER for term in terms)


def _wide(term: Term) -> Sql:
    return cast(term.sql, "HUGEINT")


def _in_64_bits(sql: Sql) -> Sql:
    return function("whole_of_wide", sql)


def _not_zero(sql: Sql) -> Sql:
    return guarded(sql, lambda x: operation(exp.NEQ, x, figure(0)))


ARITHMETIC: Final[Mapping[Function, Lowering]] = {
    Function.ADD: _added(exp.Add),
    Function.SUBTRACT: _added(exp.Sub),
    Function.MULTIPLY: _multiplied,
    Function.DIVIDE: _divided,
    Function.MODULO: _modulo,
    Function.NEGATE: _negated,
    Function.ABS: _absolute,
    Function.SIGN: lambda terms: whole(cast(function("SIGN", terms[0].settled), "BIGINT")),
    Function.FLOOR: _rounded_by("FLOOR"),
    Function.CEIL: _rounded_by("CEIL"),
    Function.TRUNC: _rounded_by("truncated_double"),
    Function.SQRT: _of_domain("SQRT", exp.GTE),
    Function.LN: _of_domain("LN", exp.GT),
    Function.LOG10: _of_domain("LOG10", exp.GT),
    Function.EXP: _exponential,
}
"""Functions of numbers alone."""
