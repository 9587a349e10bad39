"""What a stored value means under a declared column: the semantics that every engine keeps, in plain Python.

Total: what does not convert is None, so that no cell of a table can raise. Text is stripped of spaces; a number in text
is one of `NUMBER_PATTERN`, a whole one exact within 64 bits, any other a binary double, or true or false for 1 or 0;
other numbers become whole as floor(x + 1/2); a double beyond the range of `numbers` is None, and −0.0 is 0.0. A whole
number beyond 64 bits is None, but where a column has bounds it is the nearest that there is, and clamped like that. An
id that is a whole number held as text has any length. As text, 1.0 is 1, because one missing cell turns a column of
integers into doubles. Days and times in text are those of `dates.DATE_PATTERN` and `dates.TIMESTAMP_PATTERN`; either
kind of column reads both.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.model.columns import MAX_ID, Column
from sfumato.query.model.kinds import Kind
from sfumato.query.values.dates import as_date, as_timestamp
from sfumato.query.values.numbers import limited

Cell: TypeAlias = int | float | str | bool | date | None
"""A value of a kind, or NULL: a TIMESTAMP is a `datetime`, which is a date too. A double is `limited`, never −0.0."""

Row: TypeAlias = Mapping[str, Cell]
"""The cells of a row by column."""

WHOLE_PATTERN: Final = r"[+-]?[0-9]{1,30}"
DIGITS_PATTERN: Final = r"[+-]?[0-9]+"
"""A whole number of any length."""

NOUGHTS: Final = "+-0"
"""What such a number may begin with that says nothing of its size."""

LONGEST_NUMBER: Final = 250
"""How many characters a number in text may have: one that no double holds is tiny if and only if its exponent is."""

LONGEST_STORED: Final = 256
"""How many characters, spaces included, are looked at where text is read as a number, a truth, a day or a time."""

NUMBER_PATTERN: Final = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
TRUE_WORDS: Final = ("true", "t", "yes", "y", "1")
FALSE_WORDS: Final = ("false", "f", "no", "n", "0")
MIN_INT64, MAX_INT64 = -(2**63), 2**63 - 1

FITTING_DIGITS: Final = 18
"""Whole numbers of so many digits lie within 64 bits, and not all of one more."""

MAX_WHOLE_DOUBLE: Final = 2**53

_NUMBER: Final = re.compile(NUMBER_PATTERN, re.ASCII)
_WHOLE: Final = re.compile(WHOLE_PATTERN, re.ASCII)
_DIGITS: Final = re.compile(DIGITS_PATTERN, re.ASCII)
_TRUTHS: Final = {"true": 1.0, "false": 0.0}


def typed(value: object, column: Column) -> Cell:
    """A stored value as its declared type; or None, for which a column that is not nullable has its `null_cell`.

    Text is `shortened`. Of text that is read as another kind, `LONGEST_STORED` characters are looked at.
    """
    if isinstance(value, str) and column.kind is not Kind.TEXT:
        value = value[:LONGEST_STORED]
    cell = None if value is None else _whole_id(value) if column.is_whole else _READERS[column.kind](value)
    if cell is None and column.saturates:
        cell = _nearest_whole(value)
    if isinstance(cell, str):
        cell = shortened(cell, column)
    return null_cell(column) if cell is None else cell


def check_digits(name: str, declared: Column, *, digits: int | None, shown: str) -> None:
    """Refuse an INTEGER in a type that holds whole numbers beyond 64 bits: rows with such an id would vanish.

    Args:
        name: The column.
        declared: What is declared of it.
        digits: How many digits the type has before the point; None where nothing bounds them.
        shown: What the type is called.

    Raises:
        ParameterError: The type is wider than an INTEGER.
    """
    if declared.kind is Kind.INTEGER and (digits is None or digits > FITTING_DIGITS):
        requirement = f"is stored as {shown}, which has whole numbers beyond 64 bits; declare ids as text and amounts"
        raise ParameterError("columns", name, f"{requirement} as a float, or cast it to a signed integer of 64 bits")


def shortened(text: str, column: Column) -> str:
    """What is read of a text: its first `max_length` characters, one more if it has to differ from public keys.

    A long id is its first `MAX_ID` characters and the SHA-256 of the whole id: ids that differ stay different.

    Example:
        >>> from sfumato.query.model.schema import text
        >>> shortened("Lisbon", text(max_length=3)), shortened("Lisbon", text(max_length=3, values=["Lis"]))
        ('Lis', 'Lisb')
    """
    if not column.is_id:
        return text[: column.longest]
    return text if len(text) <= MAX_ID else text[:MAX_ID] + sha256(text.encode()).hexdigest()


def converted(value: Cell, kind: Kind) -> Cell:
    """A cell as another kind, as a stored value is read."""
    return None if value is None else _READERS[kind](value)


def null_cell(column: Column) -> int | float | None:
    """What a column has for NULL: NULL, or if it is not nullable the bound nearest to 0, of its own kind."""
    if column.nullable or column.lower is None or column.upper is None:
        return None
    nearest = min(max(Fraction(0), column.lower), column.upper)
    return column.steps(nearest) if column.kind is Kind.INTEGER else float(nearest) + 0.0


def least_of(cells: Iterable[Cell]) -> Cell:
    """The least of cells of one kind, none of them NULL; NULL of no cells. Text is ordered by code points."""
    return min(cells, default=None)  # type: ignore[type-var] # cells of one kind are ordered


def greatest_of(cells: Iterable[Cell]) -> Cell:
    """The greatest of them."""
    return max(cells, default=None)  # type: ignore[type-var] # cells of one kind are ordered


def _integer(value: object) -> int | None:
    if isinstance(value, bool | int) or (isinstance(value, str) and _WHOLE.fullmatch(value.strip(" "))):
        whole = int(value)
    else:
        number = _float(value)
        if number is None:
            return None
        whole = math.floor(number + 0.5)
    return whole if MIN_INT64 <= whole <= MAX_INT64 else None


def _nearest_whole(value: object) -> int | None:
    """The end of 64 bits that a number lies beyond; None of one that lies within, and of what is no number."""
    number = None if value is None else _float(value)
    if number is None or -MAX_INT64 < number < MAX_INT64:
        return None
    return MIN_INT64 if number < 0 else MAX_INT64


def _whole_id(value: object) -> str | None:
    """A whole number as text; in text one of any length, exactly."""
    text = value.strip(" ") if isinstance(value, str) else ""
    if not _DIGITS.fullmatch(text):
        whole = _integer(value[:LONGEST_STORED] if isinstance(value, str) else value)
        return None if whole is None else str(whole)
    size = text.lstrip(NOUGHTS)
    return f"-{size}" if size and text.startswith("-") else size or "0"


def _float(value: object) -> float | None:
    match value:
        case str():
            text = value.strip(" ")
            is_number = len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text)
            number = float(text) if is_number else _TRUTHS.get(text.lower(), math.nan)
        case bool() | int() | float() | Decimal():
            number = float(value)
        case _:
            return _float(str(value))
    return limited(number)


def _text(value: object) -> str | None:
    if isinstance(value, float) and limited(value) is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE_DOUBLE:
        return str(int(value))
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _boolean(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value != 0
    if isinstance(value, float | Decimal):
        number = _float(value)
        return None if number is None else number != 0
    word = str(value).strip(" ").lower()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


_READERS: Final[Mapping[Kind, Callable[[object], Cell]]] = {
    Kind.INTEGER: _integer,
    Kind.FLOAT: _float,
    Kind.TEXT: _text,
    Kind.BOOLEAN: _boolean,
    Kind.DATE: as_date,
    Kind.TIMESTAMP: as_timestamp,
}
