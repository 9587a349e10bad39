"""Constants, and the conditions that are made of simpler ones, for both front ends."""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import exact
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Literal,
    Null,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.schema import unicode_text


def literal(value: object) -> Literal:
    """A constant of one of the kinds that columns have; numbers at their word, so that 0.1 is 1/10.

    Raises:
        NotPrivateError: NULL, which compares with nothing.
        ParameterError: Something else, text that is not Unicode, or a time with a time zone.

    Example:
        >>> literal(0.1)
        Literal(value=Fraction(1, 10))
    """
    match value:
        case None:
            raise NotPrivateError("NULL", "a comparison with NULL is never true", "Write IS NULL, or is_null().")
        case bool():
            return Literal(value)
        case str():
            return Literal(unicode_text(str.__str__(value), "literal"))
        case int() | float() | Decimal() | Fraction():
            return Literal(exact(value, "literal"))
        case datetime():
            return Literal(_without_zone(value))
        case date():
            return Literal(date(value.year, value.month, value.day))
        case _:
            raise ParameterError(
                "literal", type(value).__name__, "must be a number, text, a boolean, a date or a time of Python"
            )


def between(value: Expression, lower: Expression, upper: Expression) -> Condition:
    """Whether a value lies between two others, both included."""
    return And((Compare(Comparison.GREATER_EQUAL, value, lower), Compare(Comparison.LESS_EQUAL, value, upper)))


def _without_zone(value: datetime) -> datetime:
    if value.tzinfo is not None:
        raise ParameterError(
            "literal", "a time with a time zone", "must have no time zone; convert it to UTC and drop it"
        )
    return datetime.combine(value.date(), value.time())


def clamped(value: Expression, lower: Literal, upper: Literal, facts: Facts) -> Expression:
    """A value moved into bounds; NULL stays NULL, though LEAST and GREATEST leave it out."""
    inside = Call(Function.LEAST, (Call(Function.GREATEST, (value, lower)), upper))
    return Case(((IsNull(value), Null(facts.kind)),), inside) if facts.nullable else inside
