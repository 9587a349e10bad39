"""An expression as people read it: SQL in the PostgreSQL flavour. No engine runs it."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Final

from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
)
from sfumato.query.model.functions import Function
from sfumato.query.statistics.statistic import number_sql

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_RESERVED: Final = frozenset({
    "all", "and", "any", "as", "asc", "between", "by", "case", "cast", "coalesce", "cross", "date", "desc", "distinct",
    "else", "end", "except", "exists", "extract", "false", "from", "full", "group", "having", "in", "inner",
    "intersect", "interval", "is", "join", "left", "like", "limit", "natural", "not", "null", "offset", "on", "or",
    "order", "outer", "right", "select", "semi", "set", "some", "table", "then", "timestamp", "true", "union", "unique",
    "using", "values", "when", "where", "with",
})  # fmt: skip
_INFIX: Final = {
    Function.ADD: "+",
    Function.SUBTRACT: "-",
    Function.MULTIPLY: "*",
    Function.DIVIDE: "/",
    Function.MODULO: "%",
    Function.CONCAT: "||",
    Function.DAYS_BETWEEN: "-",
    Function.LIKE: "LIKE",
}
_CASTS: Final = {
    Function.TO_INTEGER: "BIGINT",
    Function.TO_FLOAT: "DOUBLE PRECISION",
    Function.TO_TEXT: "TEXT",
    Function.TO_BOOLEAN: "BOOLEAN",
    Function.TO_DATE: "DATE",
    Function.TO_TIMESTAMP: "TIMESTAMP",
}
_FIELDS: Final = {
    Function.YEAR: "YEAR",
    Function.QUARTER: "QUARTER",
    Function.MONTH: "MONTH",
    Function.WEEK: "WEEK",
    Function.DAY: "DAY",
    Function.DAY_OF_WEEK: "DOW",
    Function.ISO_DAY_OF_WEEK: "ISODOW",
    Function.DAY_OF_YEAR: "DOY",
    Function.HOUR: "HOUR",
    Function.MINUTE: "MINUTE",
    Function.SECOND: "SECOND",
}
_MOVES: Final = {Function.ADD_DAYS: "day", Function.ADD_MONTHS: "month", Function.ADD_SECONDS: "second"}


class Written(ColumnRef):
    """What is already written as SQL, such as a statistic, in the place of a column."""

    __slots__ = ()


def expression_sql(expression: Expression) -> str:
    """An expression as SQL.

    Example:
        >>> from sfumato.query.model.expressions import Comparison
        >>> expression_sql(Not(Compare(Comparison.LESS, ColumnRef("age"), Literal(Fraction(18)))))
        'NOT age < 18'
    """
    match expression:
        case Written(text):
            return text
        case ColumnRef(name):
            return quoted(name)
        case Literal():
            return _constant(expression)
        case Null(kind):
            return f"CAST(NULL AS {_CASTS[Function(f'to_{kind.value}')]})"
        case Call():
            return _call(expression)
        case Case(branches, default):
            cases = " ".join(f"WHEN {expression_sql(c)} THEN {expression_sql(v)}" for c, v in branches)
            return (
                f"CASE {cases} END" if isinstance(default, Null) else f"CASE {cases} ELSE {expression_sql(default)} END"
            )
        case Compare(comparison, left, right):
            return f"{_side(left)} {comparison} {_side(right)}"
        case IsIn(value, values):
            return f"{_side(value)} IN ({', '.join(map(expression_sql, values))})"
        case IsNull(value):
            return f"{_side(value)} IS NULL"
        case Not(condition):
            return f"NOT {_member(condition)}"
        case And(conditions):
            return " AND ".join(map(_member, conditions)) or "TRUE"
        case Or(conditions):
            return " OR ".join(map(_member, conditions)) or "FALSE"


def quoted(name: str) -> str:
    """A name as SQL reads it: in quotes unless it is a plain word that means nothing else.

    Example:
        >>> quoted("age"), quoted("order"), quoted("net pay")
        ('age', '"order"', '"net pay"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _constant(literal: Literal) -> str:
    match literal.value:
        case bool(value):
            return str(value).upper()
        case str(value):
            return "'" + value.replace("'", "''") + "'"
        case Fraction() as value:
            return number_sql(value)
        case datetime() as value:
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date() as value:
            return f"DATE '{value.isoformat()}'"


def _call(call: Call) -> str:
    function, arguments = call.function, call.arguments
    if function in _INFIX:
        return f" {_INFIX[function]} ".join(map(_side, arguments))
    if function in _CASTS:
        return f"CAST({expression_sql(arguments[0])} AS {_CASTS[function]})"
    if function in _FIELDS:
        return f"EXTRACT({_FIELDS[function]} FROM {expression_sql(arguments[0])})"
    if function in _MOVES:
        return _moved(arguments[0], arguments[1], _MOVES[function])
    if function is Function.NEGATE:
        inner = expression_sql(arguments[0])
        return f"-{inner}" if isinstance(arguments[0], ColumnRef) else f"-({inner})"
    texts, write = [expression_sql(argument) for argument in arguments], _NAMED.get(function)
    return f"{function.value.upper()}({', '.join(texts)})" if write is None else write(function, texts)


def _moved(value: Expression, amount: Expression, unit: str) -> str:
    if isinstance(amount, Literal):
        return f"{_side(value)} + INTERVAL '{_constant(amount)} {unit}'"
    return f"{_side(value)} + {_side(amount)} * INTERVAL '1 {unit}'"


_NAMED: Final[Mapping[Function, Callable[[Function, list[str]], str]]] = {
    Function.TRUNCATE: lambda _, arguments: f"DATE_TRUNC({arguments[1]}, {arguments[0]})",
    Function.SUFFIX: lambda _, arguments: f"SUBSTRING({arguments[0]} FROM {arguments[1]})",
    Function.POSITION: lambda _, arguments: f"STRPOS({', '.join(arguments)})",
    Function.NULL_IF: lambda _, arguments: f"NULLIF({', '.join(arguments)})",
}
"""Functions that SQL writes in another way than by their own names."""


def _side(side: Expression) -> str:
    """An operand: in parentheses if it is made with an operator."""
    is_infix = isinstance(side, Call) and (side.function in _INFIX or side.function in _MOVES)
    is_condition = isinstance(side, Compare | IsIn | IsNull | Not | And | Or)
    return f"({expression_sql(side)})" if is_infix or is_condition else expression_sql(side)


def _member(condition: Expression) -> str:
    """A condition inside another: AND and OR of several in parentheses."""
    nested = isinstance(condition, And | Or) and len(condition.conditions) > 1
    return f"({expression_sql(condition)})" if nested else expression_sql(condition)
