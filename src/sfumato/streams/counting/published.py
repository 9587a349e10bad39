"""The public file of a counter: what it has released, a line a step, for whoever shows it.

Every line is what the counter let go, so anybody may read the file, and nothing can be continued from it. A line is
written after the commit of its step. Lines that are missing when a counter is published again, as after a crash, are
added from what it keeps.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from os import SEEK_END, PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from sfumato.errors import ParameterError, StateError
from sfumato.numeric.arguments import path_of, whole
from sfumato.privacy.codec import Json
from sfumato.session.releases.receipt import Receipt, receipt_from_dict

if TYPE_CHECKING:
    from sfumato.streams.counting.releases import CounterReleases

CONFIDENCE: Final = "0.95"
"""Of the intervals in a file."""

_FORMAT: Final = 1
_MOST_STEPS: Final = 1 << 20
_BLOCK: Final = 1 << 16
_LONGEST_HEADER: Final = 1 << 26


class PublicClock(Protocol):
    """Periods of public time, such as `Ticks`: a step ends when the next one begins."""

    @property
    def document(self) -> Mapping[str, str]:
        """The clock as text."""
        ...

    def moment(self, tick: int) -> datetime:
        """When a step begins."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedStep:
    """What was released at one step.

    Attributes:
        step: Its number, from 1.
        end: When it ended, in ISO 8601; empty without a clock.
        values: The noisy sums, one for each label.
        half_width: How far each may lie from the exact bounded sum, at 95%.
    """

    step: int
    end: str
    values: tuple[float, ...]
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSteps:
    """Some steps of a public file, and what all of it says.

    Attributes:
        account: The account that paid.
        horizon: How many steps there will be; None if that is not known.
        labels: The keys, bins or places of the numbers of a step; None where there is one number.
        clock: The public clock as text; empty without one.
        receipt: What was asked, and what it costs for all steps together.
        last_step: The last step in the file; 0 if there is none yet.
        steps: The steps that were asked for, in order.
    """

    account: str
    horizon: int | None
    labels: tuple[str, ...] | None
    clock: Mapping[str, str]
    receipt: Receipt = field(repr=False)
    last_step: int
    steps: tuple[PublishedStep, ...] = field(repr=False)


class PublicFile:
    """The lines of one counter, which are only added to.

    Args:
        path: The file, made if there is none.
        header: What the first line says of the counter.

    Raises:
        ParameterError: The file is of another counter.
        StateError: It cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Json]) -> None:
        self._path = path
        self._first = _line({"format": _FORMAT, **header})
        self.last_step = 0
        self.add(())

    def add(self, steps: Iterable[PublishedStep]) -> None:
        """Add the steps that follow the last one, behind the last whole line: one that was cut short is taken off.

        Raises:
            StateError: They cannot be written. They stay released, and are added with the next ones.
        """
        try:
            with self._path.open("a+b") as file:
                file.seek(0)
                if not self._first.startswith(file.read(len(self._first))):  # all of it, or what was cut short
                    raise ParameterError("path", str(self._path), "is of something else; name a new file")
                file.truncate(_end_of_lines(file))
                if file.seek(0, SEEK_END) == 0:
                    file.write(self._first)
                self.last_step = _last_step(file)
                new = [asdict(step) for step in steps if step.step > self.last_step]
                file.write(b"".join(map(_line, new)))
        except OSError:
            raise StateError(
                str(self._path), "cannot be written; the counter goes on, make room for its file"
            ) from None
        self.last_step = new[-1]["step"] if new else self.last_step


def steps_of(releases: "CounterReleases", clock: PublicClock | None) -> list[PublishedStep]:
    """The lines of releases."""
    steps, widths = releases.steps.tolist(), releases.half_widths(CONFIDENCE).tolist()
    values = releases.values.reshape(len(steps), len(releases.labels or ("",))).tolist()
    ends = ["" if clock is None else clock.moment(step + 1).isoformat() for step in steps]
    return [
        PublishedStep(step=step, end=end, values=tuple(own), half_width=width)
        for step, end, own, width in zip(steps, ends, values, widths, strict=True)
    ]


def read_published(path: str | PathLike[str], *, after: int | None = None, most: int = 1_000) -> PublishedSteps:
    """Read a part of the public file of a counter, also while the counter goes on.

    Args:
        path: The file.
        after: Steps after this one, the earliest first; None: the last ones.
        most: How many steps at most.

    Raises:
        ParameterError: It is no such file, or an argument is out of range.
    """
    found = path_of(path, "path")
    most = whole(most, "most", least=1, most=_MOST_STEPS)
    try:
        with found.open("rb") as file:
            header, last = _header(file), _last_step(file)
            begin = max(last - most, 0) if after is None else whole(after, "after")
            lines = _lines_after(file, begin, most)
        labels = header["labels"]
        return PublishedSteps(
            account=header["account"], horizon=header["horizon"], labels=None if labels is None else tuple(labels),
            clock=dict(header["clock"]), receipt=receipt_from_dict(header["receipt"]), last_step=last,
            steps=tuple(
                PublishedStep(**{**line, "values": tuple(line["values"])})
                for line in lines
            ),
        )  # fmt: skip
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        requirement = "is no public file of a counter; name the file that `publish` writes"
        raise ParameterError("path", str(found), requirement) from None


def _header(file: BinaryIO) -> dict[str, Any]:
    """The first line; nothing if it is none of this format."""
    file.seek(0)
    with suppress(ValueError):
        found = json.loads(file.readline(_LONGEST_HEADER))
        if isinstance(found, dict) and found.get("format") == _FORMAT:
            return found
    return {}


def _last_step(file: BinaryIO) -> int:
    """The last step that has a whole line; 0 if there is none."""
    start = _start_of_line(file, _end_of_lines(file) - 1)
    return _step(file) if file.seek(start) else 0


def _end_of_lines(file: BinaryIO) -> int:
    """Where the last whole line ends."""
    return _start_of_line(file, file.seek(0, SEEK_END))


def _start_of_line(file: BinaryIO, at: int) -> int:
    """Where the line begins that has a place."""
    while at > 0:
        start = max(at - _BLOCK, 0)
        file.seek(start)
        found = file.read(at - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def _step(file: BinaryIO) -> int:
    """The step of the line that begins here."""
    with suppress(ValueError, KeyError, TypeError):
        return int(json.loads(file.readline())["step"])
    return 0


def _lines_after(file: BinaryIO, step: int, most: int) -> list[dict[str, Any]]:
    """The lines of the steps after one: they are in order, so the first is found by halving."""
    file.seek(0)
    low = len(file.readline(_LONGEST_HEADER))
    end = high = _end_of_lines(file)
    while low < high:
        start = max(_start_of_line(file, (low + high) // 2), low)
        file.seek(start)
        if _step(file) <= step:
            low = file.tell()
        else:
            high = start
    file.seek(low)
    lines: list[dict[str, Any]] = []
    while len(lines) < most and file.tell() < end:
        lines.append(json.loads(file.readline()))
    return lines


def _line(content: Mapping[str, Json]) -> bytes:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode() + b"\n"
