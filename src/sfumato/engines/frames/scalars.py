"""Expressions to Polars, as `scalars` evaluates them: total, so that every row has a value or NULL."""

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import polars as pl

from sfumato.engines.frames import dates, texts
from sfumato.engines.frames.arithmetic import ARITHMETIC, Lowering, power, rounded
from sfumato.engines.frames.casts import as_kind
from sfumato.engines.frames.terms import TYPES, Term, computed, constant, named, named_together, null, of_column
from sfumato.engines.mixing import unmixed
from sfumato.engines.scalars import constant as cell_of
from sfumato.query.expressions import (
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
from sfumato.query.facts import Facts, literal_facts
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind


def lower_expression(expression: Expression, facts: Mapping[str, Facts], names: Mapping[str, str]) -> Term:
    """An expression in Polars.

    Args:
        expression: One that `facts_of` accepts.
        facts: What is known of the columns it reads.
        names: What frames call them.
    """
    columns = {name: of_column(names[name], known.kind) for name, known in facts.items()}
    return lowered(unmixed(expression, facts), columns)


def lowered(expression: Expression, columns: Mapping[str, Term]) -> Term:
    """An `unmixed` expression in Polars."""
    match expression:
        case ColumnRef(name):
            return columns[name]
        case Literal(value):
            return _constant(value)
        case Null(kind):
            return Term(value=null(kind), kind=kind)
        case Call(function, arguments):
            return _called(function, arguments, columns)
        case Case(branches, default):
            return _chosen(branches, default, columns)
        case IsIn(value, values):
            return _truth(_is_in(lowered(value, columns), values))
        case Compare(comparison, left, right):
            return _truth(_compared(comparison, lowered(left, columns), lowered(right, columns)))
        case IsNull(value):
            return _truth(lowered(value, columns).settled.is_null())
        case Not(condition):
            return _truth(~lowered(condition, columns).value)
        case And(conditions):
            return _truth(all_of(lowered(condition, columns).value for condition in conditions))
        case Or(conditions):
            return _truth(any_of(lowered(condition, columns).value for condition in conditions))


def all_of(conditions: Iterable[pl.Expr]) -> pl.Expr:
    """AND; true of nothing."""
    return functools.reduce(operator.and_, conditions, pl.lit(value=True))


def any_of(conditions: Iterable[pl.Expr]) -> pl.Expr:
    """OR; false of nothing."""
    return functools.reduce(operator.or_, conditions, pl.lit(value=False))


def _truth(value: pl.Expr) -> Term:
    return Term(value=value, kind=Kind.BOOLEAN)


def _constant(value: Value) -> Term:
    cell = cell_of(value)
    return Term(value=constant(cell), kind=literal_facts(value).kind, infinite=cell in _INFINITIES)


def _chosen(
    branches: Sequence[tuple[Expression, Expression]], default: Expression, columns: Mapping[str, Term]
) -> Term:
    otherwise = lowered(default, columns)
    values = [lowered(value, columns) for _, value in branches]
    chosen: pl.Expr = otherwise.settled
    for (condition, _), value in zip(reversed(branches), reversed(values), strict=True):
        chosen = pl.when(lowered(condition, columns).value).then(value.settled).otherwise(chosen)
    return Term(value=chosen, kind=otherwise.kind, infinite=any(value.infinite for value in (*values, otherwise)))


def _compared(comparison: Comparison, left: Term, right: Term) -> pl.Expr:
    sides = (left, right) if left.kind is right.kind else map(_as_float, (left, right))
    return _COMPARE[comparison](*(side.settled for side in sides))


def _as_float(term: Term) -> Term:
    return term if term.kind is Kind.FLOAT else Term(value=term.as_double, kind=Kind.FLOAT)


def _is_in(value: Term, values: Sequence[Literal]) -> pl.Expr:
    """Constants of one kind at a time; a whole number and a float are equal as doubles."""
    listed = [_constant(one.value) for one in values]
    cells: dict[Kind, list[object]] = {}
    for term, one in zip(listed, values, strict=True):
        cells.setdefault(term.kind, []).append(cell_of(one.value))

    def tests(x: pl.Expr) -> pl.Expr:
        sides = {kind: x if kind is value.kind else x.cast(pl.Float64) for kind in cells}
        return any_of(sides[kind].is_in(_as_one(own, kind, value.kind)) for kind, own in cells.items())

    return named(value.settled, tests)


def _as_one(cells: Sequence[object], kind: Kind, other: Kind) -> pl.Expr:
    """Constants as one list, of doubles where they are compared with other numbers."""
    listed = pl.Series(cells, dtype=TYPES[kind])
    return pl.lit(listed if kind is other else listed.cast(pl.Float64)).implode()


def _called(function: Function, arguments: Sequence[Expression], columns: Mapping[str, Term]) -> Term:
    if function in _PARAMETERS:
        first, *others = arguments
        constants = [cell_of(other.value) for other in others if isinstance(other, Literal)]
        return _PARAMETERS[function](lowered(first, columns), *constants)
    return _FUNCTIONS[function]([lowered(argument, columns) for argument in arguments])


def _converted_to(kind: Kind) -> Lowering:
    def lower(terms: Sequence[Term]) -> Term:
        (term,) = terms
        value = term.value if term.kind is kind else as_kind(term.value, TYPES[term.kind], kind)
        return computed(value) if kind is Kind.FLOAT else Term(value=value, kind=kind)

    return lower


def _first_of(choose: Callable[..., pl.Expr]) -> Lowering:
    """Of values that are not NULL; an infinite one that is chosen is NULL after all."""

    def lower(terms: Sequence[Term]) -> Term:
        value = choose(*(term.settled for term in terms))
        return Term(value=value, kind=terms[0].kind, pending=any(term.infinite for term in terms))

    return lower


def _null_if(terms: Sequence[Term]) -> Term:
    first, second = terms

    def unless_equal(x: pl.Expr, y: pl.Expr) -> pl.Expr:
        equal = _compared(Comparison.EQUAL, Term(value=x, kind=first.kind), Term(value=y, kind=second.kind))
        return pl.when(equal.fill_null(value=False).not_()).then(x)

    return Term(
        value=named_together((first.settled, second.settled), unless_equal), kind=first.kind, pending=first.infinite
    )


_COMPARE: Final[Mapping[Comparison, Callable[[pl.Expr, pl.Expr], pl.Expr]]] = {
    Comparison.EQUAL: pl.Expr.eq,
    Comparison.NOT_EQUAL: pl.Expr.ne,
    Comparison.LESS: pl.Expr.lt,
    Comparison.LESS_EQUAL: pl.Expr.le,
    Comparison.GREATER: pl.Expr.gt,
    Comparison.GREATER_EQUAL: pl.Expr.ge,
}

_INFINITIES: Final = (float("inf"), float("-inf"))

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
    Function.LEAST: _first_of(pl.min_horizontal),
    Function.GREATEST: _first_of(pl.max_horizontal),
    Function.COALESCE: _first_of(pl.coalesce),
    Function.NULL_IF: _null_if,
    Function.TO_INTEGER: _converted_to(Kind.INTEGER),
    Function.TO_FLOAT: _converted_to(Kind.FLOAT),
    Function.TO_TEXT: _converted_to(Kind.TEXT),
    Function.TO_BOOLEAN: _converted_to(Kind.BOOLEAN),
    Function.TO_DATE: _converted_to(Kind.DATE),
    Function.TO_TIMESTAMP: _converted_to(Kind.TIMESTAMP),
}
