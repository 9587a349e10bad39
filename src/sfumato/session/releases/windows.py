"""Windows over the rows of an answer, computed: which rows each reads, and what it makes of released values.

Where keys alone say which rows are read, they are the same whatever the noise was: then the error of a sum follows from
the noise of its parts, and that of a value from another row is the error there. Where released numbers decide, as in a
rank by counts, it is unknown.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final, TypeAlias

from sfumato.query.model.expressions import Expression
from sfumato.query.planning.windows import OrderKey, Window, WindowFunction
from sfumato.query.values.cells import Cell

Read: TypeAlias = Callable[[Expression], Sequence[Cell]]
"""The values of an expression in all rows of an answer."""

_COARSE_BITS: Final = 6
"""Numbers of rows of more bits are rounded up to so many of them, so that few sums of noise are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """What a window is in one row.

    Attributes:
        value: The value.
        source: The row whose value it is; None where it is no value of another row.
        summed: Of how many rows it is the sum.
        divisor: By what that sum is divided.
    """

    value: Cell
    source: int | None = None
    summed: int = 0
    divisor: int = 1


def windowed(window: Window, count: int, read: Read) -> list[Windowed]:
    """A window in each of so many rows, in their order."""
    found: list[Windowed] = [Windowed(value=None)] * count
    values = None if window.value is None else read(window.value)
    defaults = None if window.default is None else read(window.default)
    keys = [read(key.value) for key in window.order]
    for rows in _parts([read(part) for part in window.partition], count):
        ordered = _ordered(rows, list(zip(window.order, keys, strict=True)))
        same = [tuple(key[row] for key in keys) for row in ordered]
        made = _computed(window, ordered, same, values, defaults)
        for row, own in zip(ordered, made, strict=True):
            found[row] = own
    return found


def rounded_up(count: int) -> int:
    """A number of rows, or a slightly larger one.

    Example:
        >>> rounded_up(63), rounded_up(1000)
        (63, 1008)
    """
    step = 1 << max(count.bit_length() - _COARSE_BITS, 0)
    return -(-count // step) * step


def in_order(rows: Iterable[int], key: OrderKey, values: Sequence[Cell]) -> list[int]:
    """Rows by a key; stable, and NULL after all else, as in PostgreSQL's ascending order."""
    listed = list(rows)
    present: list[Any] = [row for row in listed if values[row] is not None]
    missing = [row for row in listed if values[row] is None]
    ordered: list[int] = sorted(present, key=lambda row: values[row], reverse=key.descending)  # type: ignore[arg-type,return-value] # cells of one kind are ordered
    return missing + ordered if key.descending else ordered + missing


def _parts(keys: Sequence[Sequence[Cell]], count: int) -> Iterable[list[int]]:
    parts: dict[tuple[Cell, ...], list[int]] = {}
    for row in range(count):
        parts.setdefault(tuple(key[row] for key in keys), []).append(row)
    return parts.values()


def _ordered(rows: list[int], keys: Sequence[tuple[OrderKey, Sequence[Cell]]]) -> list[int]:
    for key, values in reversed(keys):
        rows = in_order(rows, key, values)
    return rows


def _computed(
    window: Window,
    rows: Sequence[int],
    same: Sequence[tuple[Cell, ...]],
    values: Sequence[Cell] | None,
    defaults: Sequence[Cell] | None,
) -> list[Windowed]:
    """One part: its rows in order, what they are ordered by, and the values of all rows."""
    count, function = len(rows), window.function
    first, ends = _peers(same)
    match function:
        case WindowFunction.ROW_NUMBER:
            return [Windowed(value=place + 1) for place in range(count)]
        case WindowFunction.RANK:
            return [Windowed(value=place + 1) for place in first]
        case WindowFunction.DENSE_RANK:
            starts = sorted(set(first))
            return [Windowed(value=bisect_left(starts, place) + 1) for place in first]
        case WindowFunction.PERCENT_RANK:
            return [Windowed(value=place / max(count - 1, 1)) for place in first]
        case WindowFunction.CUME_DIST:
            return [Windowed(value=end / count) for end in ends]
        case WindowFunction.NTILE:
            return [Windowed(value=_tile(place, count, window.number) + 1) for place in range(count)]
        case WindowFunction.LAG | WindowFunction.LEAD:
            step = -window.number if function is WindowFunction.LAG else window.number
            return [_moved(rows, place, place + step, values, defaults) for place in range(count)]
        case _:
            frames = _frames(window, ends)
            return _of_frames(function, rows, frames, values)


def _peers(same: Sequence[tuple[Cell, ...]]) -> tuple[list[int], list[int]]:
    """For each row the first that is equal by the order, and the place behind the last."""
    count = len(same)
    first, ends = list(range(count)), list(range(1, count + 1))
    for place in range(1, count):
        if same[place] == same[place - 1]:
            first[place] = first[place - 1]
    for place in range(count - 2, -1, -1):
        if same[place] == same[place + 1]:
            ends[place] = ends[place + 1]
    return first, ends


def _tile(place: int, count: int, number: int) -> int:
    """Parts of equal size, the first ones larger by one row where they cannot be."""
    size, larger = divmod(count, number)
    in_larger = larger * (size + 1)
    return place // (size + 1) if place < in_larger else larger + (place - in_larger) // max(size, 1)


def _moved(
    rows: Sequence[int],
    place: int,
    other: int,
    values: Sequence[Cell] | None,
    defaults: Sequence[Cell] | None,
) -> Windowed:
    """The value some rows away."""
    if values is not None and 0 <= other < len(rows):
        return Windowed(value=values[rows[other]], source=rows[other])
    return Windowed(value=None if defaults is None else defaults[rows[place]])


def _frames(window: Window, ends: Sequence[int]) -> list[tuple[int, int]]:
    """Where the frame of each row begins, and the place behind its end."""
    count, frame = len(ends), window.frame
    if frame is None:
        return [(0, end) for end in ends]
    befores = [0 if frame.before is None else max(place - frame.before, 0) for place in range(count)]
    afters = [count if frame.after is None else min(place + frame.after + 1, count) for place in range(count)]
    return list(zip(befores, afters, strict=True))


def _of_frames(
    function: WindowFunction, rows: Sequence[int], frames: Sequence[tuple[int, int]], values: Sequence[Cell] | None
) -> list[Windowed]:  # fmt: skip
    own: list[Any] = [1 if values is None else values[row] for row in rows]
    match function:
        case WindowFunction.FIRST_VALUE:
            return [Windowed(value=own[start], source=rows[start]) for start, _ in frames]
        case WindowFunction.LAST_VALUE:
            return [Windowed(value=own[end - 1], source=rows[end - 1]) for _, end in frames]
        case WindowFunction.MIN | WindowFunction.MAX:
            return [Windowed(value=value) for value in _extremes(function, own, frames)]
        case _:
            return _sums(function, own, frames)


def _extremes(function: WindowFunction, own: list[Any], frames: Sequence[tuple[int, int]]) -> list[Cell]:
    """Frames that begin at the first row, or end at the last, are extended by a row at a time."""
    choose = min if function is WindowFunction.MIN else max

    def better(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else choose(one, other)

    if all(start == 0 for start, _ in frames):
        running = list(accumulate(own, better))
        return [running[end - 1] for _, end in frames]
    if all(end == len(own) for _, end in frames):
        running = list(accumulate(reversed(own), better))[::-1]
        return [running[start] for start, _ in frames]
    return [choose((value for value in own[start:end] if value is not None), default=None) for start, end in frames]


def _sums(function: WindowFunction, own: list[Any], frames: Sequence[tuple[int, int]]) -> list[Windowed]:
    """Sums of the values that are not NULL, exactly; NULL of none."""
    counts = [0, *accumulate(value is not None for value in own)]
    if function is WindowFunction.COUNT:
        return [Windowed(value=counts[end] - counts[start]) for start, end in frames]
    totals = [Fraction(0), *accumulate(Fraction(0 if value is None else value) for value in own)]
    made = []
    for start, end in frames:
        count = counts[end] - counts[start]
        if not count:
            made.append(Windowed(value=None))
        else:
            divisor = count if function is WindowFunction.AVG else 1
            exact = (totals[end] - totals[start]) / divisor
            made.append(Windowed(value=float(exact), summed=count, divisor=divisor))
    return made
