"""What outputs of runs show: plain values and text labels, the numbers and texts of one output, and columns over runs.

All that is read of one output is a function of that output alone, so an event on what is read is an event on the
output. Numbers are floats, beside what a float cannot hold of them; everything else is text.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from math import copysign, fsum, inf, isfinite, isnan, nan
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError

Outputs: TypeAlias = Sequence[Any] | NDArray[Any]
"""Outputs of independent runs, one after the other; an array of several dimensions holds one output in each row."""

Column: TypeAlias = NDArray[np.float64]
ANSWER: Final = "the answer"
WHOLE: Final = "the whole answer"
TYPE: Final = "the type"
MISSING: Final = ""
"""The text of an output that shows none by that name; no label is empty."""

MAX_PARTS, MAX_DEPTH = 256, 3
UNREAD: Final = (
    f"parts after the first {MAX_PARTS} of a vector or mapping, or deeper than {MAX_DEPTH} levels, or of very many"
)
_DEEPEST_PLAIN: Final = 8  # deeper values are left as they are; a list may hold itself
_PLAIN: Final = {int, float, bool, str, type(None)}
_LONGEST_LABEL: Final = 80
_DIGEST_BYTES: Final = 16
_MOST_READ: Final = 1024  # numbers and texts of one output, so that vectors of vectors stay cheap
_BUILT_IN: Final = frozenset((int, float))
_NUMBERS: Final = (int, float, Fraction, Decimal, np.floating)
_LOW_BITS: Final = (1 << 16) - 1
_DIGITS: Final = re.compile(r"[0-9]+")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_FEWEST_STEPS: Final = 20  # of a number in order on each side, which noise comes out in with probability 1e-18


def plain(value: Any, depth: int = 0) -> Any:
    """The same value with Python's own numbers, lists, tuples and dicts.

    Example:
        >>> plain((np.float32(0.5), np.array([1, 2])))
        (0.5, [1, 2])
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        if set(map(type, value)) <= _PLAIN or depth == _DEEPEST_PLAIN:
            return value
        parts = [plain(part, depth + 1) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, Mapping) and depth < _DEEPEST_PLAIN:
        return {key: plain(part, depth + 1) for key, part in value.items()}
    return value


def label(value: Any) -> str:
    """Text of a plain value; −0.0 is not 0.0, NaN is one value, and long text ends in a digest of all of it.

    Example:
        >>> label([1, -0.0, "x"])
        "[1, -0.0, 'x']"
    """
    text = _text(value)
    if len(text) <= _LONGEST_LABEL:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{text[: _LONGEST_LABEL // 2]}…{digest}"


def _text(value: Any) -> str:
    try:
        if isinstance(value, AbstractSet):
            return f"{type(value).__name__}({', '.join(sorted(map(_text, value)))})"  # a set has no order
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits, wherever in the value it is
        match value:
            case int():
                return hex(value)
            case Fraction():
                return f"{hex(value.numerator)}/{hex(value.denominator)}"
            case list() | tuple():
                return f"{type(value).__name__}({', '.join(map(_text, value))})"
            case Mapping():
                return f"{{{', '.join(f'{_text(key)}: {_text(part)}' for key, part in value.items())}}}"
            case _:
                pass
    except Exception:  # noqa: BLE001, S110 # the code of whoever made this value, which may raise anything
        pass
    return f"a {type(value).__name__} that has no text"


@dataclass(frozen=True, slots=True)
class OutputReading:
    """What one output shows, by name.

    Attributes:
        values: The numbers in it, as floats; NaN where there is none.
        derived: Numbers that follow from them.
        texts: The texts in it, and the label of the whole output.
    """

    values: dict[str, float] = field(default_factory=dict)
    derived: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def read(output: Any, whole: str) -> OutputReading:
    """All numbers and texts that are read of one output.

    Args:
        output: The output, made of plain values.
        whole: The label of the output.

    Example:
        >>> reading = read({"answer": "yes", "count": 5}, "…")
        >>> reading.values, reading.texts["the value of 'answer'"]
        ({"the value of 'count'": 5.0}, "'yes'")
    """
    reading = OutputReading(texts={WHOLE: whole, TYPE: type(output).__name__})
    _read(output, ANSWER, reading, depth=0)
    return reading


def _read(value: Any, name: str, reading: OutputReading, *, depth: int) -> None:
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


def _read_parts(value: Any, name: str, reading: OutputReading, *, depth: int) -> None:
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


def _read_text(text: str, name: str, reading: OutputReading) -> None:
    """What it says, also without its digits, which may be a time or a number of the run; and the number that it is."""
    reading.texts[name] = label(text)
    reading.derived[_of("the length", name)] = float(len(text))
    without = _DIGITS.sub("#", text)
    if without != text:
        reading.texts[_of("the text without digits", name)] = label(without)
    if _NUMBER.fullmatch(text):
        reading.values[_of("the number in text", name)] = float(text)


def _read_number(number: Any, name: str, reading: OutputReading) -> None:
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


def _summarize(numbers: list[float], name: str, reading: OutputReading) -> None:
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


@dataclass(frozen=True, slots=True)
class _Sparse:
    """The entries of one column, without those that are missing."""

    entries: MutableSequence[Any]
    places: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Tables:
    """The columns of each part of a reading, by name."""

    values: dict[str, _Sparse] = field(default_factory=dict)
    derived: dict[str, _Sparse] = field(default_factory=dict)
    texts: dict[str, _Sparse] = field(default_factory=dict)

    def add(self, reading: OutputReading, place: int) -> None:
        parts: tuple[tuple[dict[str, _Sparse], Mapping[str, float | str]], ...] = (
            (self.values, reading.values), (self.derived, reading.derived), (self.texts, reading.texts),
        )  # fmt: skip
        for table, entries in parts:
            for name, entry in entries.items():
                column = table.get(name)
                if column is None:
                    column = table[name] = _Sparse([] if isinstance(entry, str) else array("d"))
                column.places.append(place)
                column.entries.append(entry)


@dataclass(frozen=True, slots=True)
class Columns:
    """What outputs show; made by `columns`."""

    _which: NDArray[np.int64]  # for each run, its place among the different outputs
    _tables: _Tables
    _different: int

    def __len__(self) -> int:
        return len(self._which)

    @property
    def values(self) -> list[str]:
        """The names of the numbers that outputs consist of, first those that most of them show."""
        return _commonest_first(self._tables.values)

    @property
    def numbers(self) -> list[str]:
        """The names of these and of all other numbers."""
        return [*self.values, *_commonest_first(self._tables.derived)]

    @property
    def texts(self) -> list[str]:
        """The names of what is text."""
        return _commonest_first(self._tables.texts)

    def number(self, name: str) -> Column:
        """One number for each run: NaN where it does not show one by that name."""
        different = np.full(self._different, np.nan)
        found = self._tables.values.get(name) or self._tables.derived.get(name)
        if found is not None:
            different[found.places] = found.entries
        return different[self._which]

    def text(self, name: str) -> list[str]:
        """One text for each run."""
        different = [MISSING] * self._different
        found = self._tables.texts.get(name, _Sparse([]))
        for place, entry in zip(found.places, found.entries, strict=True):
            different[place] = entry
        return [different[place] for place in self._which.tolist()]


def columns(outputs: Outputs) -> Columns:
    """Read every output; equal ones only once, because most samples have few different ones.

    Raises:
        ParameterError: They are not a list of outputs.

    Example:
        >>> columns([(1, 2), (3,)]).number("coordinate 1").tolist()
        [2.0, nan]
    """
    places: dict[tuple[type, str], int] = {}
    which, tables = array("q"), _Tables()
    for output in _each(outputs):
        whole = label(output)
        known = len(places)
        place = places.setdefault((type(output), whole), known)
        if place == known:
            tables.add(read(output, whole), place)
        which.append(place)
    return Columns(np.array(which, dtype=np.int64), tables, len(places))


def _each(outputs: Any) -> Iterator[Any]:
    """Outputs as plain values, one at a time."""
    if not isinstance(outputs, Iterable) or getattr(outputs, "ndim", 1) == 0:
        raise ParameterError("outputs", outputs, "must be a list of outputs, one for each run")
    if not isinstance(outputs, np.ndarray):
        return map(plain, outputs)
    rows = outputs.tolist() if outputs.ndim == 1 else (row.tolist() for row in outputs)
    return (_without_dtype(plain(row)) for row in rows)


def _without_dtype(value: Any) -> Any:
    """Integral numbers as integers: NumPy gives all outputs of an array the dtype that the oddest one needs."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and (value != 0 or copysign(1, value) > 0) else value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list | tuple):
        return [_without_dtype(part) for part in value]
    return value


def without_clocks(names: list[str], first: Columns, second: Columns) -> tuple[list[str], tuple[str, ...]]:
    """The numbers that may depend on the database, and in words those that only show when a run was made.

    A number that only grows from run to run, such as a time, would look like the best event in the search, and say
    nothing about the runs of the test, which are all later.

    Args:
        names: The names of the numbers.
        first: The outputs of the earlier runs.
        second: The outputs of the later runs.

    Example:
        >>> without_clocks(["the answer"], columns(range(50)), columns(range(50, 100)))
        ([], ('the answer, which only grows from run to run',))
    """
    clocks = [name for name in names if _only_grows(first.number(name), second.number(name))]
    words = tuple(f"{name}, which only grows from run to run" for name in clocks)
    return [name for name in names if name not in clocks], words


def _only_grows(first: Column, second: Column) -> bool:
    sides = [side[~np.isnan(side)] for side in (first, second)]
    both = np.concatenate(sides)
    return bool((both[1:] >= both[:-1]).all()) and all(len(np.unique(side)) >= _FEWEST_STEPS for side in sides)


def _commonest_first(table: dict[str, _Sparse]) -> list[str]:
    return sorted(table, key=lambda name: -len(table[name].places))
