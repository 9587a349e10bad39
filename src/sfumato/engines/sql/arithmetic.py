"""The functions of numbers in SQL, as `arithmetic` has them: whole numbers in 128 bits, so that nothing overflows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from sqlglot import exp

from sfumato.engines.sql.kinds import Term, computed
from sfumato.engines.sql.terms import Sql, cast, double, figure, function, guarded, operation
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind

Lowering: TypeAlias = Callable[[Sequence[Term]], Term]


def whole(sql: Sql) -> Term:
    """A 64-bit integer."""
    return Term(sql=sql, kind=Kind.INTEGER)


def rounded(value: Term, digits: int) -> Term:
    """ROUND: floor(x·10^digits + 1/2) / 10^digits; a whole number as it is."""
    if value.kind is Kind.INTEGER:
        return value
    power = double(float(10**digits))
    half_up = function("double_sum", function("double_product", value.sql, power), double(0.5))
    return computed(_quotient(function("FLOOR", half_up), power))


def _of_two(operator: type[exp.Binary], idiom: str) -> Lowering:
    def lower(terms: Sequence[Term]) -> Term:
        if _are_whole(terms):
            return whole(_in_64_bits(operation(operator, *map(_wide, terms))))
        return computed(function(idiom, *(term.as_double for term in terms)))

    return lower


def _divided(terms: Sequence[Term]) -> Term:
    """Of doubles a divisor of 0 makes what is not finite; one that stands for NULL must not make a 0."""
    first, second = terms
    if _are_whole(terms):
        return whole(_in_64_bits(function("wide_quotient", _wide(first), _not_zero(_wide(second)))))
    divisor = second.settled if second.kind is Kind.FLOAT else second.as_double
    return computed(_quotient(first.as_double, divisor))


def _modulo(terms: Sequence[Term]) -> Term:
    first, second = map(_wide, terms)
    return whole(_in_64_bits(function("wide_rest", first, _not_zero(second))))


def _negated(terms: Sequence[Term]) -> Term:
    return _of_two(exp.Sub, "double_difference")((Term(sql=_zero(terms[0]), kind=terms[0].kind), terms[0]))


def _absolute(terms: Sequence[Term]) -> Term:
    if _are_whole(terms):
        return whole(_in_64_bits(function("ABS", _wide(terms[0]))))
    return computed(function("ABS", terms[0].sql))


def _sign(terms: Sequence[Term]) -> Term:
    return whole(cast(function("SIGN", terms[0].settled), "BIGINT"))


def _rounded_by(name: str) -> Lowering:
    """Of a whole number itself."""
    return lambda terms: terms[0] if _are_whole(terms) else computed(function(name, terms[0].sql))


def _of_domain(name: str, condition: type[exp.Binary]) -> Lowering:
    """A function of the numbers that compare so with 0; one that is not finite stays so."""

    def lower(terms: Sequence[Term]) -> Term:
        number = guarded(terms[0].as_double, lambda x: operation(condition, x, double(0.0)))
        return computed(function(name, number))

    return lower


def _exponential(terms: Sequence[Term]) -> Term:
    return computed(function("exponential", _settled_double(terms[0])))


def _power(terms: Sequence[Term]) -> Term:
    return computed(function("double_power", *map(_settled_double, terms)))


def _settled_double(term: Term) -> Sql:
    return term.settled if term.kind is Kind.FLOAT else term.as_double


def _quotient(first: Sql, second: Sql) -> Sql:
    return function("double_quotient", first, second)


def _are_whole(terms: Sequence[Term]) -> bool:
    return all(term.kind is Kind.INTEGER for term in terms)


def _wide(term: Term) -> Sql:
    return cast(term.sql, "HUGEINT")


def _in_64_bits(sql: Sql) -> Sql:
    return function("whole_of_wide", sql)


def _not_zero(sql: Sql) -> Sql:
    return guarded(sql, lambda x: operation(exp.NEQ, x, figure(0)))


def _zero(term: Term) -> Sql:
    return cast(figure(0), "DOUBLE" if term.kind is Kind.FLOAT else "BIGINT")


ARITHMETIC: Final[Mapping[Function, Lowering]] = {
    Function.ADD: _of_two(exp.Add, "double_sum"),
    Function.SUBTRACT: _of_two(exp.Sub, "double_difference"),
    Function.MULTIPLY: _of_two(exp.Mul, "double_product"),
    Function.DIVIDE: _divided,
    Function.MODULO: _modulo,
    Function.NEGATE: _negated,
    Function.ABS: _absolute,
    Function.SIGN: _sign,
    Function.FLOOR: _rounded_by("FLOOR"),
    Function.CEIL: _rounded_by("CEIL"),
    Function.TRUNC: _rounded_by("truncated_double"),
    Function.SQRT: _of_domain("square_root", exp.GTE),
    Function.LN: _of_domain("natural_log", exp.GT),
    Function.LOG10: _of_domain("decimal_log", exp.GT),
    Function.EXP: _exponential,
    Function.POWER: _power,
}
"""Functions of numbers alone."""
