"""What a stored value means under a declared column: the semantics that every engine keeps, in plain Python.

Total: what does not convert is None, so that no cell of a table can raise. Text is stripped of spaces; a number in text
is one of `NUMBER_PATTERN`, a whole one exact within 64 bits, any other a binary double, or true or false for 1 or 0;
other numbers become whole as floor(x + 1/2); NaN is None. As text, 1.0 is 1, because one missing cell turns a column of
integers into doubles.
"""

import math
import re
from decimal import Decimal
from typing import Final, TypeAlias

from sfumato.query.measures import Measure, RowCount, StepSum, ValueCount
from sfumato.query.schema import Column, Kind, Table

Cell: TypeAlias = int | float | str | bool | None

WHOLE_PATTERN: Final = r"[+-]?[0-9]{1,30}"
NUMBER_PATTERN: Final = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
TRUE_WORDS: Final = ("true", "t", "yes", "y", "1")
FALSE_WORDS: Final = ("false", "f", "no", "n", "0")
MIN_INT64, MAX_INT64 = -(2**63), 2**63 - 1

MAX_WHOLE_DOUBLE: Final = 2**53

_NUMBER: Final = re.compile(NUMBER_PATTERN, re.ASCII)
_WHOLE: Final = re.compile(WHOLE_PATTERN, re.ASCII)
_TRUTHS: Final = {"true": 1.0, "false": 0.0}


def typed(value: object, column: Column) -> Cell:
    """A stored value as its declared type, or None."""
    if value is None:
        return None
    match column.kind:
        case Kind.INTEGER:
            return _integer(value)
        case Kind.FLOAT:
            return _float(value)
        case Kind.TEXT:
            return _text(value)
        case Kind.BOOLEAN:
            return _boolean(value)


def contribution(measure: Measure, row: dict[str, Cell], table: Table) -> int:
    """What one typed row adds to a measure."""
    match measure:
        case RowCount():
            return 1
        case ValueCount(column, nullable):
            return 1 if not nullable or row[column] is not None else 0
        case StepSum():
            value = row[measure.column]
            if not isinstance(value, int | float):
                return measure.null_amount
            resolution = float(table.column(measure.column).resolution)
            return clamped_steps(value, measure, resolution) - measure.offset


def clamped_steps(value: float, measure: StepSum, resolution: float) -> int:
    """The lattice point of a value, floor(x / resolution + 1/2) in doubles, clamped to the bounds."""
    scaled = float(value) / resolution
    if scaled >= measure.upper:
        return measure.upper
    if scaled <= measure.lower:
        return measure.lower
    return min(max(math.floor(scaled + 0.5), measure.lower), measure.upper)


def _integer(value: object) -> int | None:
    if isinstance(value, bool | int) or (isinstance(value, str) and _WHOLE.fullmatch(value.strip(" "))):
        whole = int(value)
    else:
        number = _float(value)
        if number is None or math.isinf(number):
            return None
        whole = math.floor(number + 0.5)
    return whole if MIN_INT64 <= whole <= MAX_INT64 else None


def _float(value: object) -> float | None:
    match value:
        case str():
            text = value.strip(" ")
            number = float(text) if _NUMBER.fullmatch(text) else _TRUTHS.get(text.lower(), math.nan)
        case bool() | int() | float() | Decimal():
            number = float(value)
        case _:
            return _float(str(value))
    return None if math.isnan(number) else number


def _text(value: object) -> str | None:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE_DOUBLE:
        return str(int(value))
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _boolean(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return None if math.isnan(value) else value != 0
    word = str(value).strip(" ").lower()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
