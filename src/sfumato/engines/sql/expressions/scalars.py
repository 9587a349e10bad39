"""Expressions to SQL, with the values that `values.evaluation` gives them.

They are built as a tree: nothing that an analyst wrote is ever spliced in.

Total: every branch of it has a value or is NULL for every row, whatever the engine evaluates first.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions import dates, texts
from sfumato.engines.sql.expressions.arithmetic import ARITHMETIC, Lowering, power, rounded
from sfumato.engines.sql.expressions.casts import as_kind, whole_of_double
from sfumato.engines.sql.expressions.kinds import Term, storage
from sfumato.engines.sql.expressions.terms import (
    Sql,
    all_of,
    any_of,
    case,
    constant,
    function,
    is_null,
    named,
    negated,
    null,
    one_of,
    operation,
)
from sfumato.query.analysis.work import folds_ascii
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    Value,
)
from sfumato.query.model.facts import literal_facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import constant as cell_of
from sfumato.query.values.numbers import factor

_KINDS: Final[Mapping[type, Kind]] = {
    int: Kind.INTEGER, float: Kind.FLOAT, str: Kind.TEXT, bool: Kind.BOOLEAN, date: Kind.DATE, datetime: Kind.TIMESTAMP,
}  # fmt: skip
"""What constants are, but for those of classes of the caller's own."""

_COMPARE: Final = {
    Comparison.EQUAL: exp.EQ,
    Comparison.NOT_EQUAL: exp.NEQ,
    Comparison.LESS: exp.LT,
    Comparison.LESS_EQUAL: exp.LTE,
    Comparison.GREATER: exp.GT,
    Comparison.GREATER_EQUAL: exp.GTE,
}


def lower_expression(expression: Expression, columns: Mapping[str, Term]) -> Term:
    """An expression in SQL.

    Args:
        expression: One that `facts_of` accepts.
        columns: The columns it reads, by name.
    """
    match expression:
        case ColumnRef(name):
            return columns[name]
        case Literal(value):
            return _constant(value)
        case Null(kind):
            return Term(sql=null(kind), kind=kind)
        case Call(_, (Call(_, (value,)), Literal(pattern))) if folds_ascii(expression):
            return texts.is_like_in_ascii(lower_expression(value, columns), str(pattern))
        case Call(function, arguments):
            return _called(function, arguments, columns)
        case Case(branches, default):
            return _chosen(branches, default, columns)
        case IsIn(value, values):
            return _truth(_is_in(lower_expression(value, columns), values))
        case Compare(comparison, left, right):
            sides = lower_expression(left, columns), lower_expression(right, columns)
            return _truth(_compared(_COMPARE[comparison], *sides))
        case IsNull(value):
            return _truth(is_null(lower_expression(value, columns).settled))
        case Not(condition):
            return _truth(negated(lower_expression(condition, columns).sql))
        case And(conditions):
            return _truth(all_of(lower_expression(condition, columns).sql for condition in conditions))
        case Or(conditions):
            return _truth(any_of(lower_expression(condition, columns).sql for condition in conditions))


def _truth(sql: Sql) -> Term:
    return Term(sql=sql, kind=Kind.BOOLEAN)


def _constant(value: Value) -> Term:
    cell = cell_of(value)
    rounded_off = isinstance(cell, float) and factor(cell) == cell
    kind = _KINDS.get(type(cell)) or literal_facts(value).kind
    return Term(sql=constant(cell), kind=kind, rounded=rounded_off)


def _chosen(
    branches: Sequence[tuple[Expression, Expression]], default: Expression, columns: Mapping[str, Term]
) -> Term:
    conditions = [lower_expression(condition, columns).sql for condition, _ in branches]
    values = (*(value for _, value in branches), default)
    *chosen, otherwise = _of_one_kind([lower_expression(value, columns) for value in values])
    cases = [(condition, value.settled) for condition, value in zip(conditions, chosen, strict=True)]
    return Term(sql=case(cases, otherwise.settled), kind=otherwise.kind)


def _of_one_kind(terms: Sequence[Term]) -> Sequence[Term]:
    """Alternatives of which a row has one; whole numbers among floats as floats, as `unmixed.unmixed` has them."""
    if not {Kind.INTEGER, Kind.FLOAT} <= {term.kind for term in terms}:
        return terms
    return [_FUNCTIONS[Function.TO_FLOAT]([term]) for term in terms]


def _compared(operator: type[exp.Binary], left: Term, right: Term) -> Sql:
    if left.kind is not right.kind:
        left, right = _as_float(left), _as_float(right)
    return operation(operator, left.settled, right.settled)


def _as_float(term: Term) -> Term:
    return term if term.kind is Kind.FLOAT else Term(sql=term.as_double, kind=Kind.FLOAT)


def _is_in(value: Term, values: Sequence[Literal]) -> Sql:
    """Constants of one kind at a time, because a list of mixed kinds would be compared in the widest of them."""
    kinds: dict[Kind, list[Sql]] = {}
    for listed in values:
        term = _constant(listed.value)
        kinds.setdefault(term.kind, []).append(term.sql)

    def tests(x: Sql) -> Sql:
        own = Term(sql=x, kind=value.kind)
        sides = {kind: own.sql if kind is own.kind else _as_float(own).sql for kind in kinds}
        return any_of(one_of(sides[kind], listed) for kind, listed in kinds.items())

    return named(value.settled, tests)


def _called(function: Function, arguments: Sequence[Expression], columns: Mapping[str, Term]) -> Term:
    if function in _PARAMETERS:
        first, *others = arguments
        constants = [cell_of(other.value) for other in others if isinstance(other, Literal)]
        return _PARAMETERS[function](lower_expression(first, columns), *constants)
    return _FUNCTIONS[function]([lower_expression(argument, columns) for argument in arguments])


def _converted_to(kind: Kind) -> Lowering:
    def lower(terms: Sequence[Term]) -> Term:
        value = terms[0]
        if value.kind is kind:
            return value
        if value.kind is Kind.FLOAT and kind is Kind.INTEGER:
            return Term(sql=whole_of_double(value.sql), kind=kind)
        return Term(sql=as_kind(value.settled, storage(value), kind), kind=kind)

    return lower


def _first_of(name: str) -> Lowering:
    """Of values that are not NULL."""

    def lower(terms: Sequence[Term]) -> Term:
        alike = _of_one_kind(terms)
        return Term(sql=function(name, *(term.settled for term in alike)), kind=alike[0].kind)

    return lower


def _null_if(terms: Sequence[Term]) -> Term:
    first, second = terms

    def unless_equal(x: Sql) -> Sql:
        equal = _compared(exp.EQ, Term(sql=x, kind=first.kind), second)
        return case([(equal, exp.Null())], x)

    return Term(sql=named(first.settled, unless_equal), kind=first.kind)


_PARAMETERS: Final[Mapping[Function, Callable[..., Term]]] = {
    Function.ROUND: rounded,
    Function.POWER: power,
    Function.SUBSTRING: texts.substring,
    Function.LIKE: texts.is_like,
    Function.POSITION: texts.position,
    Function.REPLACE: texts.replaced,
    Function.TRUNCATE: dates.truncated,
    Function.ADD_MONTHS: dates.months_added,
}
"""Functions all of whose arguments but the first are constants."""

_FUNCTIONS: Final[Mapping[Function, Lowering]] = {
    **ARITHMETIC,
    **texts.TEXTS,
    **dates.DATES,
    Function.LEAST: _first_of("LEAST"),
    Function.GREATEST: _first_of("GREATEST"),
    Function.COALESCE: _first_of("COALESCE"),
    Function.NULL_IF: _null_if,
    Function.TO_INTEGER: _converted_to(Kind.INTEGER),
    Function.TO_FLOAT: _converted_to(Kind.FLOAT),
    Function.TO_TEXT: _converted_to(Kind.TEXT),
    Function.TO_BOOLEAN: _converted_to(Kind.BOOLEAN),
    Function.TO_DATE: _converted_to(Kind.DATE),
    Function.TO_TIMESTAMP: _converted_to(Kind.TIMESTAMP),
}
