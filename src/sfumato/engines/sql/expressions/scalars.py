"""Expressions to SQL, with the values that `values.evaluation` gives them.

They are built as a tree: nothing that an analyst wrote is ever spliced in.

Total: every branch of it has a value or is NULL for every row, whatever the engine evaluates first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions import dates, texts
from sfumato.engines.sql.expressions.arithmetic import ARITHMETIC, Lowering, power, rounded
from sfumato.engines.sql.expressions.casts import as_kind
from sfumato.engines.sql.expressions.kinds import Term, storage
from sfumato.engines.sql.expressions.terms import (
    Sql,
    all_of,
    any_of,
    case,
    column,
    constant,
    function,
    is_null,
    named,
    negated,
    null,
    one_of,
    operation,
)
from sfumato.engines.values.evaluation import constant as cell_of
from sfumato.engines.values.evaluation import unmixed
from sfumato.engines.values.numbers import factor
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
from sfumato.query.model.facts import Facts, literal_facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

_COMPARE: Final = {
    Comparison.EQUAL: exp.EQ,
    Comparison.NOT_EQUAL: exp.NEQ,
    Comparison.LESS: exp.LT,
    Comparison.LESS_EQUAL: exp.LTE,
    Comparison.GREATER: exp.GT,
    Comparison.GREATER_EQUAL: exp.GTE,
}


def lower_expression(expression: Expression, facts: Mapping[str, Facts], names: Mapping[str, str]) -> Term:
    """An expression in SQL.

    Args:
        expression: One that `facts_of` accepts.
        facts: What is known of the columns it reads.
        names: What SQL calls them.
    """
    columns = {name: Term(sql=column(names[name]), kind=known.kind) for name, known in facts.items()}
    return lowered(unmixed(expression, facts), columns)


def lowered(expression: Expression, columns: Mapping[str, Term]) -> Term:
    """An `unmixed` expression in SQL, over columns that are given as SQL."""
    match expression:
        case ColumnRef(name):
            return columns[name]
        case Literal(value):
            return _constant(value)
        case Null(kind):
            return Term(sql=null(kind), kind=kind)
        case Call(function, arguments):
            return _called(function, arguments, columns)
        case Case(branches, default):
            return _chosen(branches, default, columns)
        case IsIn(value, values):
            return _truth(_is_in(lowered(value, columns), values))
        case Compare(comparison, left, right):
            return _truth(_compared(_COMPARE[comparison], lowered(left, columns), lowered(right, columns)))
        case IsNull(value):
            return _truth(is_null(lowered(value, columns).settled))
        case Not(condition):
            return _truth(negated(lowered(condition, columns).sql))
        case And(conditions):
            return _truth(all_of(lowered(condition, columns).sql for condition in conditions))
        case Or(conditions):
            parts = [lowered(condition, columns).sql for condition in conditions]
            return _truth(any_of(parts))


def _truth(sql: Sql) -> Term:
    return Term(sql=sql, kind=Kind.BOOLEAN)


def _constant(value: Value) -> Term:
    cell = cell_of(value)
    rounded_off = isinstance(cell, float) and factor(cell) == cell
    return Term(sql=constant(cell), kind=literal_facts(value).kind, rounded=rounded_off)


def _chosen(
    branches: Sequence[tuple[Expression, Expression]], default: Expression, columns: Mapping[str, Term]
) -> Term:
    otherwise = lowered(default, columns)
    values = [lowered(value, columns) for _, value in branches]
    conditions = [lowered(condition, columns).sql for condition, _ in branches]
    cases = [(condition, value.settled) for condition, value in zip(conditions, values, strict=True)]
    return Term(sql=case(cases, otherwise.settled), kind=otherwise.kind)


def _compared(operator: type[exp.Binary], left: Term, right: Term) -> Sql:
    sides = (left, right) if left.kind is right.kind else map(_as_float, (left, right))
    return operation(operator, *(side.settled for side in sides))


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
        return _PARAMETERS[function](lowered(first, columns), *constants)
    return _FUNCTIONS[function]([lowered(argument, columns) for argument in arguments])


def _converted_to(kind: Kind) -> Lowering:
    def lower(terms: Sequence[Term]) -> Term:
        value = terms[0]
        return value if value.kind is kind else Term(sql=as_kind(value.settled, storage(value), kind), kind=kind)

    return lower


def _first_of(name: str) -> Lowering:
    """Of values that are not NULL."""
    return lambda terms: Term(sql=function(name, *(term.settled for term in terms)), kind=terms[0].kind)


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
