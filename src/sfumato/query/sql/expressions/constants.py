"""Constants of a question: numbers taken at their word, dates and times, and the values of parameters."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import exact
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.sql.parsing import shown

_DAY: Final = r"\d{4}-\d{2}-\d{2}"
_DATE: Final = re.compile(_DAY, re.ASCII)
_TIMESTAMP: Final = re.compile(_DAY + r"([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


class Parameters:
    """The values of `$1` or `:name`; each must be used.

    Args:
        values: Those of `$1`, `$2`, … in order, or those of `:name` by name.
    """

    def __init__(self, values: Sequence[object] | Mapping[str, object] = ()) -> None:
        if isinstance(values, str) or not isinstance(values, Sequence | Mapping):
            raise ParameterError("parameters", type(values).__name__, "must be a sequence for $1, a mapping for :name")
        if isinstance(values, Mapping) and not all(isinstance(name, str) for name in values):
            raise ParameterError("parameters", "names", "must be text, such as {'least': 3} for :least")
        self._sign = ":" if isinstance(values, Mapping) else "$"
        listed = values if isinstance(values, Mapping) else {str(place): v for place, v in enumerate(values, start=1)}
        self._values = dict(listed)
        self._used: set[str] = set()

    def value(self, node: exp.Parameter | exp.Placeholder) -> Expression:
        """The constant that stands in the place of a parameter.

        Raises:
            ParameterError: It has no value, or one that is no constant.
        """
        sign = ":" if isinstance(node, exp.Placeholder) else "$"
        name = str(node.name)
        if sign != self._sign or name not in self._values:
            given = ", ".join(self._sign + known for known in self._values) or "none"
            raise ParameterError("parameters", shown(node), f"must have a value; given are: {given}")
        self._used.add(name)
        value = self._values[name]
        constant = literal(value)
        return _fractional(constant) if isinstance(value, float | Decimal) else constant

    def check_used(self) -> None:
        """Refuse values that nothing asks for.

        Raises:
            ParameterError: There are some.
        """
        if len(self._used) < len(self._values):
            unused = [self._sign + name for name in self._values if name not in self._used]
            raise ParameterError("parameters", ", ".join(unused), "must be used in the query")


def number(text: str) -> Expression:
    """A number as written; with a point or an exponent it is a FLOAT even if it is whole, as in 7 / 2.0."""
    constant = Literal(exact(text, "literal"))
    return constant if text.isdecimal() else _fractional(constant)


def bare(expression: Expression) -> Expression:
    """A whole constant that was written with a point, as the constant itself."""
    match expression:
        case Call(Function.TO_FLOAT, (Literal(Fraction()) as constant,)):
            return constant
        case _:
            return expression


def negated(expression: Expression) -> Expression:
    """−x; of a constant, another constant."""
    match expression:
        case Literal(Fraction() as value):
            return Literal(-value)
        case Call(Function.TO_FLOAT, (Literal(Fraction() as value),)):
            return _fractional(Literal(-value))
        case _:
            return Call(Function.NEGATE, (expression,))


def constant(expression: Expression, node: exp.Expr) -> Literal:
    """The constant that an expression must be.

    Raises:
        NotPrivateError: It is none.
    """
    value = bare(expression)
    if not isinstance(value, Literal):
        raise NotPrivateError(shown(node), "only a constant can be here", "Write it out as a number or text.")
    return value


def whole(expression: Expression, node: exp.Expr, *, lower: int, upper: int, name: str) -> int:
    """The whole number between two others that an expression must be.

    Raises:
        NotPrivateError: It is no constant.
        ParameterError: It is another one.
    """
    value = constant(expression, node).value
    if not isinstance(value, Fraction) or value.denominator != 1 or not lower <= value <= upper:
        raise ParameterError(name, shown(node), f"must be a whole number from {lower} to {upper}")
    return int(value)


def time_constant(text: str, kind: Kind) -> Literal:
    """The date or the time that a text is.

    Raises:
        ParameterError: It is none.

    Example:
        >>> time_constant("2026-01-31", Kind.DATE).value
        datetime.date(2026, 1, 31)
    """
    pattern, example = (_DATE, "2026-01-31") if kind is Kind.DATE else (_TIMESTAMP, "2026-01-31 12:00:00")
    refused = ParameterError("literal", text, f"must be a {kind} such as '{example}'")
    if not pattern.fullmatch(text):
        raise refused
    try:
        return Literal(dt.date.fromisoformat(text) if kind is Kind.DATE else dt.datetime.fromisoformat(text))
    except ValueError:
        raise refused from None


def midnight(day: dt.date) -> Literal:
    """The first moment of a day."""
    return Literal(dt.datetime.combine(day, dt.time()))


def _fractional(constant: Literal) -> Expression:
    """A constant as a FLOAT: one that is whole has to be told so."""
    is_whole = isinstance(constant.value, Fraction) and constant.value.denominator == 1
    return Call(Function.TO_FLOAT, (constant,)) if is_whole else constant
