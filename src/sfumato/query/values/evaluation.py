"""The value of an expression on a row, in plain Python: the meaning of `query.model.functions` that every engine keeps.

Total: whatever the row holds there is a value or NULL. An INTEGER is an `int` and a FLOAT a `float`, and that alone
says which arithmetic is meant; `unmixed.unmixed` makes it say so of choices too, before rows are looked at. Whatever a
`Call` gives passes through one gate: a whole number beyond 64 bits and a double beyond the range of `numbers` are NULL.
Columns and constants are within it already, so that every value is.
"""

import math
import operator
from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from functools import partial
from typing import Final

from sfumato.query.model.expressions import (
    OPERATORS,
    And,
    Call,
    Case,
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
from sfumato.query.model.functions import MAX_TEXT, Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import LatticeValue
from sfumato.query.model.texts import Piece, lowered, pieces_of, raised
from sfumato.query.values import dates, numbers
from sfumato.query.values.cells import MAX_INT64, MIN_INT64, Cell, Row, converted, greatest_of, least_of
from sfumato.query.values.numbers import limited


def evaluate(expression: Expression, row: Row) -> Cell:
    """The value of an expression on a row.

    Args:
        expression: One that `facts_of` accepts; if it may mix whole numbers and floats, after `unmixed`.
        row: A cell for each column it reads.

    Example:
        >>> from sfumato.query.model.functions import Function
        >>> half = Call(Function.DIVIDE, (ColumnRef("n"), Literal(Fraction(2))))
        >>> [evaluate(half, {"n": n}) for n in (-7, 7.0, None)]
        [-3, 3.5, None]
    """
    match expression:
        case ColumnRef(name):
            return row[name]
        case Literal(value):
            return constant(value)
        case Null():
            return None
        case Call(function, arguments):
            return _within_its_kind(_called(function, [evaluate(argument, row) for argument in arguments]))
        case Case(branches, default):
            return evaluate(next((value for condition, value in branches if holds(condition, row)), default), row)
        case Compare(comparison, left, right):
            return compared(comparison, evaluate(left, row), evaluate(right, row))
        case IsIn(value, values):
            found, listed = evaluate(value, row), [constant(one.value) for one in values]
            return None if found is None else any(compared(Comparison.EQUAL, found, other) for other in listed)
        case IsNull(value):
            return evaluate(value, row) is None
        case Not(condition):
            return _not(evaluate(condition, row))
        case And(conditions):
            return _all([evaluate(condition, row) for condition in conditions])
        case Or(conditions):
            return _not(_all([_not(evaluate(condition, row)) for condition in conditions]))


def holds(condition: Condition, row: Row) -> bool:
    """Whether a condition is true of a row, neither false nor NULL."""
    return evaluate(condition, row) is True


def compared(comparison: Comparison, first: Cell, second: Cell) -> bool | None:
    """A comparison of two cells of one kind; of a whole number and a float as doubles, as engines do."""
    compare = OPERATORS[comparison]
    match first, second:
        case (None, _) | (_, None):
            return None
        case int(), float():
            return compare(float(first), second)
        case float(), int():
            return compare(first, float(second))
        case _:
            return compare(first, second)


def constant(value: Value) -> float | str | date:
    """A constant as a cell: a number is a 64-bit integer if it is one, else the nearest double, never −0.0."""
    if not isinstance(value, Fraction):
        return value
    whole = value.denominator == 1 and MIN_INT64 <= value <= MAX_INT64
    return int(value) if whole else float(value) + 0.0


def clamped_steps(value: Cell, steps: LatticeValue) -> int | None:
    """The lattice point of a number, floor(x / resolution + 1/2) in doubles, clamped to the bounds; None of NULL."""
    if not isinstance(value, int | float):
        return None
    quotient = float(value) / float(steps.resolution)
    if quotient >= steps.upper:
        return steps.upper
    if quotient <= steps.lower:
        return steps.lower
    return min(max(math.floor(quotient + 0.5), steps.lower), steps.upper)


def _called(function: Function, values: list[Cell]) -> Cell:
    if function in _OF_NULLS:
        return _OF_NULLS[function](values)
    return None if None in values else _STRICT[function](*values)


def _within_its_kind(value: Cell) -> Cell:
    match value:
        case bool():
            return value
        case int():
            return value if MIN_INT64 <= value <= MAX_INT64 else None
        case float():
            return limited(value)
        case _:
            return value


def _all(truths: list[Cell]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _not(truth: Cell) -> bool | None:
    return None if truth is None else not truth


def _present(values: list[Cell]) -> list[Cell]:
    return [value for value in values if value is not None]


def _null_if(values: list[Cell]) -> Cell:
    first, second = values
    return None if compared(Comparison.EQUAL, first, second) else first


def substring(text: str, start: int, length: int) -> str:
    """So many characters from a place on, the first of them 1."""
    return text[start - 1 : start - 1 + length]


def concatenated(*pieces: str) -> str | None:
    """One text of several; None if it would be longer than `MAX_TEXT`."""
    return "".join(pieces) if sum(map(len, pieces)) <= MAX_TEXT else None


def replaced(text: str, old: str, new: str) -> str | None:
    """The text with one word for another, from the left; None if it grows beyond `MAX_TEXT`.

    Example:
        >>> replaced("aaa", "aa", "b"), replaced("a" * 2**12, "a", "bb")
        ('ba', None)
    """
    made = text.replace(old, new)
    return None if len(made) > max(len(text), MAX_TEXT) else made


def is_like(text: str, pattern: str) -> bool:
    r"""Whether a pattern describes the whole text: % is any run of characters, _ any one, \ takes the next as it is.

    A \ at the end of a pattern is one itself.

    Example:
        >>> is_like("50% off", r"5_\% %"), is_like("x", "%_%x")
        (True, False)
    """
    first, *others = pieces_of(pattern)
    if not others:
        return len(text) == len(first) and _fits(text, 0, first)
    start, end = len(first), len(text) - len(others[-1])
    if start > end or not (_fits(text, 0, first) and _fits(text, end, others[-1])):
        return False
    for piece in others[:-1]:  # each as far to the left as it fits, which leaves most for the others
        places = (at for at in range(start, end - len(piece) + 1) if _fits(text, at, piece))
        place = next(places, None)
        if place is None:
            return False
        start = place + len(piece)
    return True


def _fits(text: str, at: int, piece: Piece) -> bool:
    return all(wanted is None or text[at + index] == wanted for index, wanted in enumerate(piece))


_OF_NULLS: Final[Mapping[Function, Callable[[list[Cell]], Cell]]] = {
    Function.LEAST: lambda values: least_of(_present(values)),
    Function.GREATEST: lambda values: greatest_of(_present(values)),
    Function.COALESCE: lambda values: next(iter(_present(values)), None),
    Function.NULL_IF: _null_if,
}
"""Functions to which NULL is a value among others."""

_STRICT: Final[Mapping[Function, Callable[..., Cell]]] = {
    Function.ADD: operator.add,
    Function.SUBTRACT: operator.sub,
    Function.MULTIPLY: numbers.product,
    Function.DIVIDE: numbers.divided,
    Function.MODULO: numbers.modulo,
    Function.NEGATE: operator.neg,
    Function.ABS: abs,
    Function.SIGN: numbers.sign,
    Function.FLOOR: partial(numbers.whole, math.floor),
    Function.CEIL: partial(numbers.whole, math.ceil),
    Function.TRUNC: partial(numbers.whole, math.trunc),
    Function.ROUND: numbers.rounded,
    Function.SQRT: numbers.square_root,
    Function.LN: partial(numbers.logarithm, math.log),
    Function.LOG10: partial(numbers.logarithm, math.log10),
    Function.EXP: numbers.exponential,
    Function.POWER: numbers.power,
    Function.TO_INTEGER: partial(converted, kind=Kind.INTEGER),
    Function.TO_FLOAT: partial(converted, kind=Kind.FLOAT),
    Function.TO_TEXT: partial(converted, kind=Kind.TEXT),
    Function.TO_BOOLEAN: partial(converted, kind=Kind.BOOLEAN),
    Function.TO_DATE: partial(converted, kind=Kind.DATE),
    Function.TO_TIMESTAMP: partial(converted, kind=Kind.TIMESTAMP),
    Function.LOWER: lowered,
    Function.UPPER: raised,
    Function.LENGTH: len,
    Function.SUBSTRING: substring,
    Function.SUFFIX: lambda text, start: text[max(start, 1) - 1 :],
    Function.TRIM: lambda text: text.strip(" "),
    Function.LTRIM: lambda text: text.lstrip(" "),
    Function.RTRIM: lambda text: text.rstrip(" "),
    Function.CONCAT: concatenated,
    Function.LIKE: is_like,
    Function.POSITION: lambda text, word: text.find(word) + 1,
    Function.REPLACE: replaced,
    **dates.PARTS,
    Function.TRUNCATE: dates.truncated,
    Function.ADD_DAYS: dates.days_added,
    Function.ADD_MONTHS: dates.months_added,
    Function.ADD_SECONDS: dates.seconds_added,
    Function.DAYS_BETWEEN: dates.days_between,
}
"""Functions of which a NULL makes NULL."""
