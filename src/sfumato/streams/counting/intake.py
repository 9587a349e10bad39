"""How events come into a counter: placed by its measure, kept to their unit's participations, held for their steps.

Nothing about a single event is an error or leaves here: one that does not count is dropped.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.arguments import whole
from sfumato.privacy.codec import Json
from sfumato.streams.counting.measures import EventCount, Measure
from sfumato.streams.counting.participation import ParticipationMemory
from sfumato.streams.counting.selection import CounterKeys

_LAST: Final = (1 << 62) - 1
_SAFE: Final = 1 << 62


class EventIntake:
    """The events of the steps that are still open.

    Args:
        measure: What each event adds to which number.
        participation: How often a unit may take part; None: each event is a unit.
        horizon: The last step; None where there is none.
        selection: The keys so far, where they are selected.
    """

    def __init__(
        self,
        measure: Measure,
        participation: Participation | None,
        horizon: int | None,
        selection: CounterKeys | None = None,
    ) -> None:
        self._measure, self._last = measure, _LAST if horizon is None else horizon
        self.pending = PendingSums(measure.numbers)
        self._selection = selection
        self.memory = None if participation is None else ParticipationMemory(participation)
        self._is_plain = self.memory is None and measure == EventCount()

    def add(self, next_step: int, value: Any, key: Any, unit: Any, step: int | None) -> None:
        """One event; see `Counter.add`."""
        if self._is_plain and value is key is unit is step is None:
            if next_step <= self._last:
                self.pending.add(next_step, 0, 1)
            return
        values, keys = (None if value is None else [value]), (None if key is None else [key])
        places, amounts = self._measure.placed(values, keys, 1)
        self._require_wanted(unit)
        at = next_step if step is None else whole(step, "step", least=-_LAST, most=_LAST)
        if places.flat[0] < 0 or not next_step <= at <= self._last:
            return
        if self.memory is None or self.memory.accepts(unit, at):
            self.pending.add_many(at, self._selected(places, keys), amounts)

    def add_many(
        self,
        next_step: int,
        *,
        values: Iterable[Any] | None,
        keys: Iterable[Any] | None,
        units: Iterable[Any] | None,
        steps: Iterable[int] | None,
        count: int | None,
    ) -> None:
        """Many events; see `Counter.add_many`."""
        size = _size_of({"values": values, "keys": keys, "units": units, "steps": steps}, count)
        self._require_wanted(units)
        if self._is_plain and values is keys is steps is None:
            if next_step <= self._last and size:
                self.pending.add(next_step, 0, size)
            return
        places, amounts = self._measure.placed(values, keys, size)
        at = np.full(size, next_step, dtype=np.int64) if steps is None else _steps_of(steps)
        is_kept = (places if places.ndim == 1 else places[:, 0]) >= 0
        is_kept &= (at >= next_step) & (at <= self._last)
        if self.memory is not None:
            self._keep_to(self.memory, [None] * size if units is None else units, at, is_kept)
        if not is_kept.all():
            places, amounts, at = places[is_kept], amounts[is_kept], at[is_kept]
        places = self._selected(places, keys, is_kept)
        if steps is None:
            self.pending.add_many(next_step, places, amounts)
        else:
            self.pending.add_many(
                np.broadcast_to(at.reshape(-1, *(1,) * (places.ndim - 1)), places.shape), places, amounts
            )

    def _selected(
        self, places: NDArray[np.int64], keys: Any, is_kept: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """The places of events that count: only these make a key known, as many of a unit as it may have."""
        if self._selection is None:
            return places
        items = keys.tolist() if hasattr(keys, "tolist") else keys
        found = self._selection.places_of(items if is_kept is None else compress(items, is_kept.tolist()))
        self.pending.numbers = self._selection.numbers
        return found

    @staticmethod
    def _keep_to(
        memory: ParticipationMemory, units: Iterable[Any], at: NDArray[np.int64], is_kept: NDArray[np.bool_]
    ) -> None:
        """Drop what units may not have, in the order of steps, and of arrival within a step."""
        order = np.flatnonzero(is_kept)
        order = order[np.argsort(at[order], kind="stable")]
        is_kept[order[~memory.accept_many(units, order.tolist(), at[order].tolist())]] = False

    def _require_wanted(self, units: object) -> None:
        if units is not None and self.memory is None:
            raise ParameterError("units", "units", "are not wanted: without participation= each event is a unit")


class PendingSums:
    """What events add to steps that are still open: exact sums of any size, without gaps for quiet steps.

    Args:
        numbers: How many numbers a step has.

    Example:
        >>> pending = PendingSums(2)
        >>> pending.add(3, 1, 5)
        >>> pending.taken(1, 3).tolist(), pending.taken(4, 1).tolist()
        ([[0, 0], [0, 0], [0, 5]], [[0, 0]])
    """

    def __init__(self, numbers: int) -> None:
        self.numbers = numbers
        self._steps: dict[int, dict[int, int]] = {}

    def add(self, step: int, place: int, amount: int) -> None:
        """One event that adds to one number."""
        sums = self._steps.setdefault(step, {})
        sums[place] = sums.get(place, 0) + amount

    def add_many(self, steps: NDArray[np.int64] | int, places: NDArray[np.int64], amounts: NDArray[np.int64]) -> None:
        """Many of them: steps, places and amounts in arrays of one shape, or one step for all."""
        if isinstance(steps, int):
            self._add_to(steps, places, amounts)
            return
        order = np.argsort(steps, axis=None, kind="stable")
        ordered, flat, added = (column.ravel()[order] for column in (steps, places, amounts))
        ends = np.flatnonzero(np.diff(ordered, append=np.iinfo(np.int64).max)) + 1
        for first, end in zip((0, *ends[:-1].tolist()), ends.tolist(), strict=False):
            self._add_to(int(ordered[first]), flat[first:end], added[first:end])

    def taken(self, first: int, count: int) -> Integers:
        """The sums of some steps, count × numbers, of which nothing is kept."""
        found = np.zeros((count, self.numbers), dtype=np.int64)
        for step in range(first, first + count) if count < len(self._steps) else tuple(self._steps):
            if first <= step < first + count and (sums := self._steps.pop(step, None)):
                if max(map(abs, sums.values())) >= _SAFE:
                    found = found.astype(object)
                found[step - first, list(sums)] = list(sums.values())
        return found

    def saved(self) -> Json:
        """All sums, as JSON values; secret."""
        return [[step, *(number for pair in sums.items() for number in pair)] for step, sums in self._steps.items()]

    def restore(self, saved: Iterable[Any]) -> None:
        """Take `saved` over."""
        self._steps = {step: dict(zip(rest[::2], rest[1::2], strict=True)) for step, *rest in saved}

    def _add_to(self, step: int, places: NDArray[np.int64], amounts: NDArray[np.int64]) -> None:
        if not places.size:
            return
        sums = self._steps.setdefault(step, {})
        flat, added = places.ravel(), amounts.ravel()
        if int(np.abs(added).max()) * added.size >= _SAFE:
            for place, amount in zip(flat.tolist(), added.tolist(), strict=True):
                sums[place] = sums.get(place, 0) + amount
            return
        if self.numbers == 1:
            sums[0] = sums.get(0, 0) + int(added.sum())
            return
        totals = np.zeros(self.numbers, dtype=np.int64)
        np.add.at(totals, flat, added)
        for place in np.flatnonzero(totals).tolist():
            sums[place] = sums.get(place, 0) + int(totals[place])


def _size_of(columns: dict[str, Any], count: int | None) -> int:
    """How many events there are, as all columns say.

    Raises:
        ParameterError: They say different things, or nothing does.
    """
    sizes = {}
    for name, column in columns.items():
        if column is not None:
            if isinstance(column, str | bytes | dict) or not hasattr(column, "__len__"):
                raise ParameterError(name, type(column).__name__, "must be a column: a list, an array or a series")
            sizes[name] = len(column)
    if count is not None:
        sizes["count"] = whole(count, "count", most=1 << 40)
    if len(set(sizes.values())) != 1:
        requirement = "must have one entry for each event, all of the same number" if sizes else "is missing"
        raise ParameterError("count", count, requirement)
    return next(iter(sizes.values()))


def _steps_of(steps: Any) -> NDArray[np.int64]:
    """A column of steps."""
    found = np.asarray(steps)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ParameterError("steps", f"{found.dtype}", "must be whole numbers, one for each event")
    return found.astype(np.int64)


def cell_of(column: Sequence[Any] | None, row: int) -> Any:
    """One cell, as Python has it: an id is the same id in a list and in an array."""
    value = None if column is None else column[row]
    return value.item() if isinstance(value, np.generic) else value


def column_of(column: Any, name: str) -> Any:
    """A column as an array or a list, of which each place has one cell."""
    if column is None or isinstance(column, np.ndarray | list | tuple):
        return column
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise ParameterError(name, type(column), "must be an array or a list")
    return list(column)


def rows_of(column: Any, rows: NDArray[np.int64]) -> Any:
    """Some cells of a column."""
    if column is None:
        return None
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]
