"""A question as people read it: the SQL that a frame stands for. For receipts and pictures; no engine runs it."""

from fractions import Fraction

from sfumato.numeric.rationals import decimal_text
from sfumato.query.expressions import (
    And,
    ColumnRef,
    Compare,
    Condition,
    IsIn,
    IsNull,
    IsTrue,
    Literal,
    Not,
    Or,
    Scalar,
)
from sfumato.query.relations import Aggregate, CountRows, CountValues, Filter, Mean, Statistic, Sum, lineage, table_of


def described(question: Aggregate) -> str:
    """The question as one SELECT statement.

    Example:
        >>> from sfumato.query.frame import aggregate, count
        >>> from sfumato.query.relations import Source
        >>> from sfumato.query.schema import Table, integer
        >>> people = Table(name="people", columns={"age": integer(0, 120)})
        >>> described(aggregate(Source(people), (), (("n", count()),)))
        'SELECT COUNT(*) AS n FROM people'
    """
    rows = question.child.child
    columns = [*question.child.keys, *(f"{_statistic(s)} AS {name}" for name, s in question.statistics)]
    text = f"SELECT {', '.join(columns)} FROM {table_of(rows).name}"
    conditions = [step.condition for step in lineage(rows) if isinstance(step, Filter)]
    if conditions:
        text += f" WHERE {_condition(And(tuple(reversed(conditions))) if len(conditions) > 1 else conditions[0])}"
    return f"{text} GROUP BY {', '.join(question.child.keys)}" if question.child.keys else text


def _statistic(statistic: Statistic) -> str:
    match statistic:
        case CountRows():
            return "COUNT(*)"
        case CountValues(column):
            return f"COUNT({column})"
        case Sum(column):
            return f"SUM({column})"
        case Mean(column):
            return f"AVG({column})"


def _condition(condition: Condition) -> str:
    match condition:
        case And(conditions):
            return " AND ".join(map(_inner, conditions)) or "TRUE"
        case Or(conditions):
            return " OR ".join(map(_inner, conditions)) or "FALSE"
        case Not(inner):
            return f"NOT {_inner(inner)}"
        case Compare(comparison, left, right):
            return f"{_scalar(left)} {comparison} {_scalar(right)}"
        case IsIn(column, values):
            return f"{column.name} IN ({', '.join(map(_scalar, values))})"
        case IsNull(column):
            return f"{column.name} IS NULL"
        case IsTrue(column):
            return column.name


def _inner(condition: Condition) -> str:
    """A condition inside another: AND and OR of several in parentheses."""
    nested = isinstance(condition, And | Or) and len(condition.conditions) > 1
    return f"({_condition(condition)})" if nested else _condition(condition)


def _scalar(side: Scalar) -> str:
    match side:
        case ColumnRef(name):
            return name
        case Literal(str(value)):
            return "'" + value.replace("'", "''") + "'"
        case Literal(bool(value)):
            return str(value).upper()
        case Literal(value):
            return decimal_text(Fraction(value), digits=17).removeprefix("≈")
