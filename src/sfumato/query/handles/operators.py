"""Handles in Python: an expression with what is publicly known of it, and its operators."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import NoReturn, Self

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of
from sfumato.numeric.rationals import Number, exact
from sfumato.query.analysis.inference import facts_of
from sfumato.query.handles.conditions import between, literal
from sfumato.query.model.expressions import (
    And,
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from sfumato.query.model.facts import Facts, literal_facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """An expression over the columns of a frame; it never holds values.

    Attributes:
        expression: The expression.
        facts: What is publicly known about it: type, bounds, nullability, keys.
    """

    expression: Expression
    facts: Facts

    @classmethod
    def of(cls, value: object) -> Self:
        """A handle as it is, or the handle of a constant.

        Raises:
            ParameterError: It is neither.
        """
        if isinstance(value, cls):
            return value
        constant = literal(value)
        return cls(constant, literal_facts(constant.value))

    @classmethod
    def made(cls, make: Callable[..., Expression], *operands: object) -> Self:
        """A handle of what is made of others, its kinds checked at once.

        Facts follow from those of the operands, not from all below them, so that a long chain costs what it is long.

        Raises:
            ParameterError: It mixes kinds.
        """
        handles = [cls.of(operand) for operand in operands]
        known = {str(place): handle.facts for place, handle in enumerate(handles)}
        places = [  # constants as they are, because some functions read them
            handle.expression if isinstance(handle.expression, Literal) else ColumnRef(str(place))
            for place, handle in enumerate(handles)
        ]
        return cls(make(*(handle.expression for handle in handles)), facts_of(make(*places), known))

    @classmethod
    def call(cls, function: Function, *arguments: object) -> Self:
        """A handle of a function of others and of constants.

        Raises:
            ParameterError: It is none of the `Function` there are, or mixes kinds.
        """
        if not isinstance(function, Function):
            raise ParameterError("function", function, "must be a Function")
        return cls.made(lambda *expressions: Call(function, expressions), *arguments)

    def __bool__(self) -> NoReturn:
        raise ParameterError(
            "condition", "and / or / not", "must be combined with &, | and ~; a < x < b is x.between(a, b)"
        )


class Operators(Handle):
    """Handles that are computed with, compared and combined."""

    __slots__ = ()

    def __eq__(self, other: object) -> Self:  # type: ignore[override] # a comparison of columns is a condition
        return self._compared(Comparison.EQUAL, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override] # the same
        return self._compared(Comparison.NOT_EQUAL, other)

    __hash__ = None  # type: ignore[assignment] # columns are compared, never looked up

    def __lt__(self, other: object) -> Self:
        return self._compared(Comparison.LESS, other)

    def __le__(self, other: object) -> Self:
        return self._compared(Comparison.LESS_EQUAL, other)

    def __gt__(self, other: object) -> Self:
        return self._compared(Comparison.GREATER, other)

    def __ge__(self, other: object) -> Self:
        return self._compared(Comparison.GREATER_EQUAL, other)

    def __and__(self, other: object) -> Self:
        return self._connected(And, self, other)

    def __rand__(self, other: object) -> Self:
        return self._connected(And, other, self)

    def __or__(self, other: object) -> Self:
        return self._connected(Or, self, other)

    def __ror__(self, other: object) -> Self:
        return self._connected(Or, other, self)

    def __invert__(self) -> Self:
        return self.made(Not, self)

    def __add__(self, other: object) -> Self:
        return self._sum(self, other)

    def __radd__(self, other: object) -> Self:
        return self._sum(other, self)

    def __sub__(self, other: object) -> Self:
        return self._difference(self, other)

    def __rsub__(self, other: object) -> Self:
        return self._difference(other, self)

    def __mul__(self, other: object) -> Self:
        return self.call(Function.MULTIPLY, self, other)

    def __rmul__(self, other: object) -> Self:
        return self.call(Function.MULTIPLY, other, self)

    def __truediv__(self, other: object) -> Self:
        return self._quotient(self, other)

    def __rtruediv__(self, other: object) -> Self:
        return self._quotient(other, self)

    def __floordiv__(self, other: object) -> Self:
        return self._whole_quotient(self, other)

    def __rfloordiv__(self, other: object) -> Self:
        return self._whole_quotient(other, self)

    def __mod__(self, other: object) -> Self:
        return self.call(Function.MODULO, self, other)

    def __rmod__(self, other: object) -> Self:
        return self.call(Function.MODULO, other, self)

    def __pow__(self, exponent: Number) -> Self:
        return self.call(Function.POWER, self, exact(exponent, "exponent"))

    def __neg__(self) -> Self:
        return self.call(Function.NEGATE, self)

    def __abs__(self) -> Self:
        return self.call(Function.ABS, self)

    def between(self, lower: object, upper: object) -> Self:
        """Whether the value lies between two values, both included."""
        return self.made(between, self, self._alike(lower), self._alike(upper))

    def is_in(self, values: Iterable[object]) -> Self:
        """Whether the value is one of some constants.

        Raises:
            ParameterError: There are no constants, or one has another type.
        """
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise ParameterError("is_in", values, "must be several constants, such as [1, 2]")
        constants = tuple(literal(self._alike(value)) for value in values)
        return self.made(lambda value: IsIn(value, constants), self)

    def is_null(self) -> Self:
        """Whether the value is NULL: absent, NaN, or not convertible to the declared type."""
        return self.made(IsNull, self)

    def fill_null(self, value: object) -> Self:
        """The value, or another one where it is NULL."""
        return self.call(Function.COALESCE, self, self._alike(value))

    def null_if(self, value: object) -> Self:
        """The value, or NULL where it equals another value."""
        return self.call(Function.NULL_IF, self, self._alike(value))

    def cast(self, kind: str) -> Self:
        """The value as "integer", "float", "text", "boolean", "date" or "timestamp"; NULL if it does not convert."""
        if not is_one_of(kind, tuple(Kind)):
            raise ParameterError("kind", kind, f"must be one of: {', '.join(Kind)}")
        return self.call(Function(f"to_{kind}"), self)

    def _compared(self, comparison: Comparison, other: object) -> Self:
        return self.made(lambda left, right: Compare(comparison, left, right), self, self._alike(other))

    def _alike(self, value: object) -> object:
        """A date beside timestamps is its midnight."""
        if self.facts.kind is Kind.TIMESTAMP and isinstance(value, date) and not isinstance(value, datetime):
            return datetime.combine(value, time())
        return value

    @classmethod
    def _connected(cls, kind: type[And] | type[Or], *sides: object) -> Self:
        """A chain of conditions; & and | bind before comparisons, so that a > 1 & b < 2 is none."""
        handles = [cls.of(side) for side in sides]
        for handle in handles:
            if handle.facts.kind is not Kind.BOOLEAN:
                requirement = "must be true or false; put each comparison into parentheses: (a > 1) & (b < 2)"
                raise ParameterError("condition", handle.facts.kind.value, requirement)
        return cls.made(lambda left, right: kind((*_members(kind, left), *_members(kind, right))), *handles)

    @classmethod
    def _sum(cls, first: object, second: object) -> Self:
        """Texts are joined."""
        kinds = {cls.of(first).facts.kind, cls.of(second).facts.kind}
        return cls.call(Function.CONCAT if Kind.TEXT in kinds else Function.ADD, first, second)

    @classmethod
    def _difference(cls, first: object, second: object) -> Self:
        """The days between two dates."""
        kinds = {cls.of(first).facts.kind, cls.of(second).facts.kind}
        return cls.call(Function.DAYS_BETWEEN if Kind.DATE in kinds else Function.SUBTRACT, first, second)

    @classmethod
    def _quotient(cls, first: object, second: object) -> Self:
        """A fraction, of whole numbers too."""
        dividend, divisor = cls.of(first), cls.of(second)
        if {dividend.facts.kind, divisor.facts.kind} == {Kind.INTEGER}:
            dividend = cls.call(Function.TO_FLOAT, dividend)
        return cls.call(Function.DIVIDE, dividend, divisor)

    @classmethod
    def _whole_quotient(cls, first: object, second: object) -> Self:
        """Cut off toward zero, as division of whole numbers is in SQL."""
        quotient = cls.call(Function.DIVIDE, first, second)
        return quotient if quotient.facts.kind is Kind.INTEGER else cls.call(Function.TRUNC, quotient)


def _members(kind: type[And] | type[Or], condition: Expression) -> tuple[Expression, ...]:
    """So that a long chain of one connective is wide and not deep."""
    return condition.conditions if isinstance(condition, And | Or) and isinstance(condition, kind) else (condition,)
