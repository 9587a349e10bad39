"""The readings of many outputs, side by side: a column for each name, with an entry for each run."""

from array import array
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass, field
from math import copysign
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.core.labels import label, plain
from sfumato.audit.core.reading import Reading, read
from sfumato.errors import ParameterError

Outputs: TypeAlias = Sequence[Any] | NDArray[Any]
"""Outputs of independent runs, one after the other; an array of several dimensions holds one output in each row."""

Column: TypeAlias = NDArray[np.float64]

_FEWEST_STEPS: Final = 20  # of a number in order on each side, which noise comes out in with a chance of 1e-18

MISSING: Final = ""
"""The text of an output that shows none by that name; no label is empty."""


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

    def add(self, reading: Reading, place: int) -> None:
        for name, number in reading.values.items():
            _append(self.values, name, place, number)
        for name, number in reading.derived.items():
            _append(self.derived, name, place, number)
        for name, text in reading.texts.items():
            _append(self.texts, name, place, text)


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
        found = self._tables.texts.get(name)
        if found is not None:
            for place, entry in zip(found.places, found.entries, strict=True):
                different[place] = entry
        return [different[place] for place in self._which.tolist()]


def columns(outputs: Outputs) -> Columns:
    """Read every output; equal ones only once, since most samples repeat few.

    Raises:
        ParameterError: They are not one output after the other.

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


def without_clocks(names: list[str], first: Columns, second: Columns) -> tuple[list[str], tuple[str, ...]]:
    """The numbers that tell something of databases, and in words those that only tell when a run was made.

    A number that only grows from run to run, such as a time or a count of requests, would look like the best of all
    events where it is searched for, and then say nothing of the runs of the test, which are all later.

    Args:
        names: Of numbers.
        first: Of the runs that were made first.
        second: Of those after them.

    Example:
        >>> without_clocks(["the answer"], columns(range(50)), columns(range(50, 100)))
        ([], ('the answer, which only grows from run to run',))
    """
    clocks = [name for name in names if _only_grows(first.number(name), second.number(name))]
    kept = [name for name in names if name not in clocks]
    return kept, tuple(f"{name}, which only grows from run to run" for name in clocks)


def _only_grows(first: Column, second: Column) -> bool:
    sides = [side[~np.isnan(side)] for side in (first, second)]
    both = np.concatenate(sides)
    return bool((both[1:] >= both[:-1]).all()) and all(len(np.unique(side)) >= _FEWEST_STEPS for side in sides)


def _append(table: dict[str, _Sparse], name: str, place: int, entry: float | str) -> None:
    column = table.get(name)
    if column is None:
        column = table[name] = _Sparse([] if isinstance(entry, str) else array("d"))
    column.places.append(place)
    column.entries.append(entry)


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


def _commonest_first(table: dict[str, _Sparse]) -> list[str]:
    return sorted(table, key=lambda name: -len(table[name].places))
