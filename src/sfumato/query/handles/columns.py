"""Columns in Python: handles that make expressions, and the functions of several of them."""

from dataclasses import dataclass

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.handles.functions import NumberFunctions, TextFunctions, TimeFunctions
from sfumato.query.handles.operators import Operators
from sfumato.query.model.expressions import Case, ColumnRef, Expression, Null
from sfumato.query.model.functions import Function


class ColumnExpression(Operators, NumberFunctions, TextFunctions, TimeFunctions):
    """A column of a frame, or an expression of columns; it never holds values.

    Compare with ``==``, ``<`` …, and combine conditions with ``&``, ``|`` and ``~``. Arithmetic is as in SQL: for two
    whole numbers ``//`` rounds toward zero and ``%`` has the sign of the left side; ``/`` always gives a fraction. An
    undefined result is NULL, and operations on NULL give NULL.
    """

    __slots__ = ()


def expression_of(value: str | ColumnExpression) -> Expression:
    """The expression of a handle, or of a column by its name.

    Raises:
        ParameterError: It is neither.
    """
    if isinstance(value, ColumnExpression):
        return value.expression
    if isinstance(value, str):
        return ColumnRef(value)
    raise ParameterError(
        "column", type(value).__name__, "must be the name of a column, or computed, such as people.age"
    )


def constant(value: object) -> ColumnExpression:
    """A constant as a column: a number, text, a boolean, a date or a time.

    Example:
        >>> constant("none").expression
        Literal(value='none')
    """
    return ColumnExpression.of(value)


def least(*values: object) -> ColumnExpression:
    """The least of some values; NULL values are ignored.

    Example:
        >>> least(2, 1).facts.interval.upper
        Fraction(1, 1)
    """
    return _of_some(Function.LEAST, values)


def greatest(*values: object) -> ColumnExpression:
    """The greatest of some values; NULL values are ignored."""
    return _of_some(Function.GREATEST, values)


def coalesce(*values: object) -> ColumnExpression:
    """The first of some values that is not NULL."""
    return _of_some(Function.COALESCE, values)


@dataclass(frozen=True, slots=True)
class When:
    """An unfinished CASE expression: add cases with `when`, and end it with `otherwise`."""

    branches: tuple[tuple[object, object], ...]

    def when(self, condition: ColumnExpression, value: object) -> "When":
        """Add a case, for rows for which no earlier condition is true."""
        return When((*self.branches, (condition, value)))

    def otherwise(self, value: object = None) -> ColumnExpression:
        """End the expression with the value of all other rows; default: NULL.

        Raises:
            ParameterError: The values have different types, or all are NULL.
        """
        values = [*(own for _, own in self.branches), value]
        null = _null_beside(values)
        results = [null if own is None else own for own in values]
        return ColumnExpression.made(_case, *(condition for condition, _ in self.branches), *results)


def when(condition: ColumnExpression, value: object) -> When:
    """Begin a CASE expression: a value for rows for which a condition is true; end it with ``.otherwise(…)``.

    Example:
        >>> when(constant(1) > 2, "more").otherwise("less").facts.values
        ('more', 'less')
    """
    return When(((condition, value),))


def _case(*parts: Expression) -> Case:
    """Of the conditions, then as many values, then the default."""
    *branches, default = parts
    half = len(branches) // 2
    return Case(tuple(zip(branches[:half], branches[half:], strict=True)), default)


def _null_beside(values: list[object]) -> ColumnExpression:
    """NULL of the kind of the first value that is none."""
    for value in values:
        if value is not None:
            null = Null(ColumnExpression.of(value).facts.kind)
            return ColumnExpression(null, facts_of(null, {}))
    raise ParameterError("when", None, "must have a value that is not NULL")


def _of_some(function: Function, values: tuple[object, ...]) -> ColumnExpression:
    if not values:
        raise ParameterError(function.value, "no values", "must have at least one")
    return ColumnExpression.call(function, *values)
