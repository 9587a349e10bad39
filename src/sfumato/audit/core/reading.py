"""What is read off one output: a function of that output alone, so that an event on it is an event on the output.

Numbers are floats, beside which stands what a float cannot hold of them; everything else is text.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import fsum, inf, isfinite, isnan, nan
from typing import Any, Final

import numpy as np

from sfumato.audit.core.labels import label

ANSWER: Final = "the answer"
WHOLE: Final = "the whole answer"
TYPE: Final = "the type"
MAX_PARTS: Final = 256
MAX_DEPTH: Final = 3
UNREAD: Final = (
    f"parts after the first {MAX_PARTS} of a vector or mapping, or deeper than {MAX_DEPTH} levels, or of very many"
)
_MOST_READ: Final = 1024  # numbers and texts of one output, so that vectors of vectors stay cheap
_BUILT_IN: Final = frozenset((int, float))
_NUMBERS: Final = (int, float, Fraction, Decimal, np.floating)
_LOW_BITS: Final = (1 << 16) - 1
_DIGITS: Final = re.compile(r"[0-9]+")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """What one output shows, by name.

    Attributes:
        values: Its numbers, as floats; NaN where it shows no number.
        derived: What follows from them.
        texts: What are no numbers, and the output as a whole.
    """

    values: dict[str, float] = field(default_factory=dict)
    derived: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def read(output: Any, whole: str) -> Reading:
    """Everything that is looked at in one output.

    Args:
        output: Made of plain values.
        whole: Its label.

    Example:
        >>> reading = read({"answer": "yes", "count": 5}, "…")
        >>> reading.values, reading.texts["the value of 'answer'"]
        ({"the value of 'count'": 5.0}, "'yes'")
    """
    reading = Reading(texts={WHOLE: whole, TYPE: type(output).__name__})
    _read(output, ANSWER, reading, depth=0)
    return reading


def _read(value: Any, name: str, reading: Reading, *, depth: int) -> None:
    if type(value) in _BUILT_IN and -_LOW_BITS <= value <= _LOW_BITS:
        reading.values[name] = float(value)  # as `_read_number` would, which the many small numbers need not wait for
    elif isinstance(value, _NUMBERS):
        _read_number(value, name, reading)
    elif isinstance(value, str):
        _read_text(value, name, reading)
    elif isinstance(value, bytes | bytearray | complex):
        reading.texts[name] = label(value)
        parts = [value.real, value.imag] if isinstance(value, complex) else list(value)
        _read(parts, _of("the parts", name), reading, depth=depth)
    elif not isinstance(value, list | tuple | Mapping | AbstractSet):
        reading.texts[name] = label(value)
    else:
        if depth > 0:
            reading.texts[name] = label(value)
        goes_on = depth < MAX_DEPTH and len(reading.values) + len(reading.texts) <= _MOST_READ
        if len(value) > MAX_PARTS or not goes_on:
            reading.derived[UNREAD] = 1.0
        if goes_on:
            _read_parts(value, name, reading, depth=depth + 1)


def _read_parts(value: Any, name: str, reading: Reading, *, depth: int) -> None:
    if isinstance(value, Mapping):
        reading.texts[_of("the keys in order", name)] = label(tuple(value))
        for key, part in islice(value.items(), MAX_PARTS):
            words = label(key)
            reading.derived[_of(f"whether there is {words}", name)] = 1.0
            _read(part, _of(f"the value of {words}", name), reading, depth=depth)
        return
    if isinstance(value, AbstractSet):
        reading.derived[_of("the number of members", name)] = float(len(value))
        for words in sorted(map(label, value))[:MAX_PARTS]:  # in an order of their own, as a set has none
            reading.derived[_of(f"whether there is {words}", name)] = 1.0
        return
    _summarize([part if type(part) is float else as_float(part) for part in value], name, reading)
    for coordinate, part in zip(_coordinates(name), value, strict=False):
        _read(part, coordinate, reading, depth=depth)


def _read_text(text: str, name: str, reading: Reading) -> None:
    """What it says, also without its digits, which may be a time or a number of the run; and the number that it is."""
    reading.texts[name] = label(text)
    reading.derived[_of("the length", name)] = float(len(text))
    without = _DIGITS.sub("#", text)
    if without != text:
        reading.texts[_of("the text without digits", name)] = label(without)
    if _NUMBER.fullmatch(text):
        reading.values[_of("the number in text", name)] = float(text)


def _read_number(number: Any, name: str, reading: Reading) -> None:
    """Its nearest double, what that double misses, and its low bits if it is a large integer."""
    nearest = as_float(number)
    reading.values[name] = nearest
    if isinstance(number, Decimal):
        reading.texts[name] = label(number)  # its exponent may have a million digits, so it is not made exact
        return
    if not (isfinite(nearest) or isinstance(number, int)):
        return
    exact = Fraction(*number.as_integer_ratio())
    if isfinite(nearest) and exact != (held := Fraction(nearest)):
        reading.derived[_of("what a double misses", name)] = as_float(exact - held)
    if exact.denominator == 1 and abs(exact) > _LOW_BITS:
        reading.derived[_of("the lowest 16 bits", name)] = float(int(exact) & _LOW_BITS)


def _summarize(numbers: list[float], name: str, reading: Reading) -> None:
    present = [number for number in numbers if not isnan(number)]
    if not present:
        return
    largest, smallest = max(present), min(present)
    reading.derived.update(
        {
            _of("the sum of coordinates", name): _total(present),
            _of("the largest coordinate", name): largest,
            _of("the smallest coordinate", name): smallest,
            _of("the spread of coordinates", name): largest - smallest,
            _of("the index of the largest coordinate", name): float(numbers.index(largest)),
            _of("the number of coordinates", name): float(len(present)),
        }
    )


def _total(numbers: list[float]) -> float:
    """The sum, correctly rounded; NaN for ∞ − ∞."""
    try:
        return fsum(numbers)
    except ValueError:
        return nan
    except OverflowError:  # on the way, or in the end
        return as_float(sum(map(Fraction, numbers)))


def as_float(value: Any) -> float:
    """The nearest double of a number, ±∞ beyond them; NaN for what is no number."""
    if not isinstance(value, _NUMBERS):
        return nan
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
    except ValueError:  # a signaling NaN
        return nan


@lru_cache(maxsize=1 << 10)
def _coordinates(name: str) -> tuple[str, ...]:
    return tuple(_of(f"coordinate {i}", name) for i in range(MAX_PARTS))


@lru_cache(maxsize=1 << 14)
def _of(part: str, name: str) -> str:
    return part if name == ANSWER else f"{part} of {name}"
