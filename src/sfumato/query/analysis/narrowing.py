"""What a condition says of the values in the rows of which it is true: narrower facts.

No guarantee rests on them: like all facts they only propose the bounds to which values are clamped and the keys with
which groups are joined. They are chosen so that neither changes an exact answer, whatever a table holds, values beyond
its declared bounds included. Proof: proofs/query/analysis/narrowing.md.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.query.analysis.simplify import MIRRORED, OPPOSITE
from sfumato.query.model.expressions import (
    And,
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    Value,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.comparing import EXACT, LOWER_ENDS, either, restricted
from sfumato.query.values.dates import days_added, months_added, seconds_added, truncated
from sfumato.query.values.evaluation import evaluate

FactsOf: TypeAlias = Callable[[Expression], Facts]
Narrowed: TypeAlias = dict[Expression, Facts]
"""What a condition says of the columns and the expressions that it speaks of."""

_CHOICES: Final = frozenset({Function.COALESCE, Function.LEAST, Function.GREATEST, Function.NULL_IF})
"""The functions that NULL does not always make NULL; all others it does."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a condition: that it is true, or that it is false; or that it is that or NULL."""

    is_true: bool
    or_null: bool = False


TRUE: Final = Truth(is_true=True)
NOT_TRUE: Final = Truth(is_true=False, or_null=True)


def narrowed(condition: Condition, truth: Truth, facts: FactsOf) -> Narrowed:
    """What is known of columns and expressions in rows in which a condition is what it is known to be.

    A list of values that nothing passes is empty here.

    Args:
        condition: One that `facts_of` accepts.
        truth: What it is known to be.
        facts: What is known of each expression in any row.

    Example:
        >>> from sfumato.query.model.facts import of_column
        >>> from sfumato.query.model.schema import integer
        >>> below = Compare(Comparison.LESS, ColumnRef("age"), Literal(Fraction(50)))
        >>> narrowed(below, TRUE, lambda _: of_column(integer(17, 90)))[ColumnRef("age")].interval
        Interval(lower=Fraction(17, 1), upper=Fraction(49, 1))
    """
    match condition:
        case Not(inner):
            return narrowed(inner, replace(truth, is_true=not truth.is_true), facts)
        case And(conditions) | Or(conditions):
            combine = _all if isinstance(condition, And) is truth.is_true else _any
            return combine(conditions, truth, facts)
        case Compare(comparison, left, right):
            return _compared(comparison, left, right, truth, facts)
        case IsIn(value, values):
            comparison = Comparison.EQUAL if truth.is_true else Comparison.NOT_EQUAL
            return _said(value, comparison, [one.value for one in values], truth, facts)
        case IsNull(value):
            return {} if truth.is_true else _present(value, facts)
        case ColumnRef() | Call():
            return _said(condition, Comparison.EQUAL, [truth.is_true], truth, facts)
        case _:
            return {}


def _all(conditions: Iterable[Condition], truth: Truth, facts: FactsOf) -> Narrowed:
    """Of conditions that are all so: each narrows what those before it left."""
    found: Narrowed = {}
    for condition in conditions:
        found |= narrowed(condition, truth, _after(found, facts))
    return found


def _after(found: Narrowed, facts: FactsOf) -> FactsOf:
    """The facts of expressions, of which something was found already."""
    return lambda expression: found[expression] if expression in found else facts(expression)


def _any(conditions: Iterable[Condition], truth: Truth, facts: FactsOf) -> Narrowed:
    """Of conditions of which at least one is so: what each of them says of the same values."""
    branches = [narrowed(condition, truth, facts) for condition in conditions]
    first, *others = branches or [{}]
    shared = set(first).intersection(*others)
    return {
        expression: either([branch[expression] for branch in branches], facts(expression))
        for expression in first
        if expression in shared
    }


def _compared(comparison: Comparison, left: Expression, right: Expression, truth: Truth, facts: FactsOf) -> Narrowed:
    """Of a comparison with a constant; one of two columns only says that neither is NULL."""
    comparison = comparison if truth.is_true else OPPOSITE[comparison]
    for side, other, meant in ((left, right, comparison), (right, left, MIRRORED[comparison])):
        value = _constant(other)
        if value is not None:
            return _said(side, meant, [value], truth, facts)
    return {} if truth.or_null else {**_present(left, facts), **_present(right, facts)}


def _constant(expression: Expression) -> Value | None:
    """The constant that an expression is: written out, or computed of constants alone; None if it is NULL."""
    match expression:
        case Literal(value):
            return value
        case Call(Function.TO_FLOAT, (Literal(Fraction() as value),)):
            return value
        case Call() if _is_constant(expression):
            cell = evaluate(expression, {})
            return Fraction(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else cell
        case _:
            return None


def _is_constant(expression: Expression) -> bool:
    match expression:
        case Literal():
            return True
        case Call(function, arguments):
            return function not in _CHOICES and all(map(_is_constant, arguments))
        case _:
            return False


def _said(
    expression: Expression, comparison: Comparison, values: Sequence[Value], truth: Truth, facts: FactsOf
) -> Narrowed:
    """Of an expression that compares so with a constant: with one of several if it is equal, else with each of them."""
    if not _is_plain(expression) or _is_constant(expression):
        return {}
    before = facts(expression)
    found = {} if truth.or_null or isinstance(expression, ColumnRef) else _present(expression, facts)
    found[expression] = restricted(before, comparison, values, nullable=before.nullable and truth.or_null)
    if isinstance(expression, Call) and expression.function in _RISING:
        after = _after(found, facts)
        for argument, implied, value in _of_argument(expression, comparison, values, facts):
            found |= _said(argument, implied, [value], truth, after)
    return found


def _is_plain(expression: Expression) -> bool:
    """Whether it is made of columns, constants and functions alone.

    The facts of CASE need those of its conditions; to narrow them too would read each level of CASE several times.
    """
    match expression:
        case ColumnRef() | Literal() | Null():
            return True
        case Call(_, arguments):
            return all(map(_is_plain, arguments))
        case _:
            return False


def _present(expression: Expression, facts: FactsOf) -> Narrowed:
    """Of an expression that is not NULL: nor are the columns of which NULL would have made it NULL."""
    if not _is_plain(expression) or isinstance(expression, Literal | Null):
        return {}
    found: Narrowed = {expression: replace(facts(expression), nullable=False)}
    pending: list[Expression] = [expression]
    while pending:
        match pending.pop():
            case ColumnRef() as column:
                found[column] = replace(facts(column), nullable=False)
            case Call(function, arguments) if function not in _CHOICES:
                pending += arguments
            case _:
                pass
    return found


def _of_argument(
    call: Call, comparison: Comparison, values: Sequence[Value], facts: FactsOf
) -> Iterable[tuple[Expression, Comparison, Value]]:
    """What follows for the argument of a function that never falls: comparisons that it passes too."""
    if comparison is Comparison.NOT_EQUAL:
        return
    argument, *parameters = call.arguments
    ends = {comparison: values[0]}
    if comparison is Comparison.EQUAL:
        ordered = sorted(values)
        ends = {Comparison.GREATER_EQUAL: ordered[0], Comparison.LESS_EQUAL: ordered[-1]}
    for end, value in ends.items():
        implied = _RISING[call.function](end, value, facts(argument).kind, parameters)
        if implied is not None:
            yield (argument, *implied)


Implied: TypeAlias = tuple[Comparison, Value] | None


def _of_truncated(end: Comparison, value: Value, _kind: Kind, parameters: Sequence[Expression]) -> Implied:
    """Of the start of a period: it is not after the argument, which lies before the next one."""
    if end in LOWER_ENDS:
        return end, value
    unit = parameters[0].value if parameters and isinstance(parameters[0], Literal) else None
    if not isinstance(value, dt.date) or not isinstance(unit, str):
        return None
    start = truncated(value, unit)
    if end is Comparison.LESS and start == value:
        return end, value
    following = _next(start, unit)
    return None if following is None else (Comparison.LESS, following)


def _next(start: dt.date, unit: str) -> dt.date | None:
    """The start of the period behind one."""
    if unit in _MONTHS:
        return months_added(start, _MONTHS[unit])
    if unit in _SECONDS and isinstance(start, dt.datetime):
        return seconds_added(start, _SECONDS[unit])
    return days_added(start, 7 if unit == "week" else 1)


_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}
_SECONDS: Final = {"hour": 3600, "minute": 60}


def _of_year(end: Comparison, value: Value, kind: Kind, _parameters: Sequence[Expression]) -> Implied:
    if not isinstance(value, Fraction) or value.denominator != 1 or not dt.MINYEAR <= value <= dt.MAXYEAR:
        return None
    start = dt.date(int(value), 1, 1)
    moment = dt.datetime.combine(start, dt.time.min) if kind is Kind.TIMESTAMP else start
    if end is Comparison.GREATER:
        following = _next(moment, "year")
        return None if following is None else (Comparison.GREATER_EQUAL, following)
    return _of_truncated(end, moment, kind, (Literal("year"),))


def _of_day(end: Comparison, value: Value, kind: Kind, _parameters: Sequence[Expression]) -> Implied:
    """Of the day of a time."""
    if kind is not Kind.TIMESTAMP or not isinstance(value, dt.date):
        return None
    return _of_truncated(end, dt.datetime.combine(value, dt.time.min), kind, (Literal("day"),))


def _of_midnight(end: Comparison, value: Value, kind: Kind, _parameters: Sequence[Expression]) -> Implied:
    """Of the first moment of a day."""
    if kind is not Kind.DATE or not isinstance(value, dt.datetime):
        return None
    is_midnight = value.time() == dt.time.min
    inclusive = Comparison.GREATER_EQUAL if end in LOWER_ENDS else Comparison.LESS_EQUAL
    return end if is_midnight else inclusive, value.date()


def _of_float(end: Comparison, value: Value, kind: Kind, _parameters: Sequence[Expression]) -> Implied:
    is_exact = kind is Kind.INTEGER and isinstance(value, Fraction) and abs(value) < EXACT
    return (end, value) if is_exact else None


_RISING: Final[dict[Function, Callable[[Comparison, Value, Kind, Sequence[Expression]], Implied]]] = {
    Function.TRUNCATE: _of_truncated,
    Function.YEAR: _of_year,
    Function.TO_DATE: _of_day,
    Function.TO_TIMESTAMP: _of_midnight,
    Function.TO_FLOAT: _of_float,
}
"""Functions that never fall, and are NULL of NULL alone: what a bound of the result says of the argument."""
