"""How many arguments functions take, and which of them must be constants of which values."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.schema import MAX_KEY

TRUNCATIONS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute")
"""What dates and times can be truncated to."""

MAX_DIGITS: Final = 15

_MANY: Final = 1_000
_TWO: Final = frozenset(
    {
        Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE, Function.MODULO, Function.ROUND,
        Function.POWER, Function.LIKE, Function.TRUNCATE, Function.ADD_DAYS, Function.ADD_MONTHS,
        Function.ADD_SECONDS, Function.DAYS_BETWEEN, Function.NULL_IF,
    }
)  # fmt: skip
_SEVERAL: Final = {
    Function.LEAST: (1, _MANY), Function.GREATEST: (1, _MANY), Function.COALESCE: (1, _MANY),
    Function.CONCAT: (2, _MANY), Function.SUBSTRING: (3, 3),
}  # fmt: skip

Check: TypeAlias = Callable[[object], bool]


def check_parameters(call: Call) -> None:
    """Refuse a call with too few or too many arguments, or with parameters that are not the constants they must be.

    Raises:
        ParameterError: What it lacks.

    Example:
        >>> from sfumato.query.model.expressions import ColumnRef
        >>> check_parameters(Call(Function.ROUND, (ColumnRef("x"), Literal(Fraction(2)))))
    """
    least, most = _SEVERAL.get(call.function, (2, 2) if call.function in _TWO else (1, 1))
    if not least <= len(call.arguments) <= most:
        raise ParameterError(call.function.value, f"{len(call.arguments)} arguments", f"must have {least} to {most}")
    for place, (is_right, requirement) in _CONSTANTS.get(call.function, {}).items():
        argument = call.arguments[place]
        if not isinstance(argument, Literal) or not is_right(argument.value):
            raise ParameterError(call.function.value, f"argument {place + 1}", f"must be {requirement}, written out")


def literal_integer(argument: Expression, name: str) -> int:
    """The whole number that a parameter of a function must be.

    Raises:
        ParameterError: It is none.
    """
    if isinstance(argument, Literal) and isinstance(argument.value, Fraction) and argument.value.denominator == 1:
        return int(argument.value)
    raise ParameterError(name, "an expression", "must be a whole number written out")


def _whole(least: int, most: int) -> Check:
    return lambda value: isinstance(value, Fraction) and value.denominator == 1 and least <= value <= most


_CONSTANTS: Final[Mapping[Function, Mapping[int, tuple[Check, str]]]] = {
    Function.ROUND: {1: (_whole(0, MAX_DIGITS), f"a whole number from 0 to {MAX_DIGITS}")},
    Function.POWER: {1: (lambda value: isinstance(value, Fraction), "a number")},
    Function.SUBSTRING: {
        1: (_whole(1, 2**31), "a whole number from 1 on"),
        2: (_whole(0, 2**31), "a whole number from 0 on"),
    },
    Function.LIKE: {1: (lambda value: isinstance(value, str), "a pattern")},
    Function.TRUNCATE: {1: (lambda value: value in TRUNCATIONS, f"one of {', '.join(TRUNCATIONS)}")},
    Function.ADD_MONTHS: {1: (_whole(-MAX_KEY - 1, MAX_KEY), "a whole number of months")},
}
