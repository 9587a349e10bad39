"""`Feed`: events with times go in, each once; ticks of a public clock come out of a counter."""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import blake2b
from math import inf
from threading import RLock
from typing import Any, Final, cast

import numpy as np

from sfumato.errors import ParameterError, StateError
from sfumato.ledger.core.windows import Clock, SystemClock
from sfumato.numeric.arguments import called, of_kind, whole
from sfumato.numeric.rationals import flag
from sfumato.privacy.codec import Json
from sfumato.streams.counting.counter import Counter
from sfumato.streams.counting.intake import cell_of, column_of, rows_of
from sfumato.streams.counting.measures import EventCount
from sfumato.streams.counting.participation import unit_of
from sfumato.streams.counting.releases import CounterReleases
from sfumato.streams.counting.selection import key_of
from sfumato.streams.sources.ticks import (
    MOST_TICKS,
    NO_TICK,
    Moments,
    Ticks,
    moment_of,
    moments_of,
)

ARRIVAL: Final = object()
"""The time of an event that happened when it was taken."""

_FORMAT: Final = 1
_DIGEST: Final = 16
"""Bytes of a remembered id."""

SAME: Final = object()
"""No position was given: the last one stays."""

_MICROSECOND: Final = timedelta(microseconds=1)
_SECOND: Final = 10**6
_MOST_AT_ONCE: Final = 2**20
"""Ticks that close in one commit; of more that have ended, the rest closes with the next."""
_BEFORE: Final = -(2**63)


class Feed:
    """Brings events with times to a counter: each once, at the tick of its own time, whatever order they come in.

    A tick is *open* until `advance` has closed it, which it does once public time has passed its end by `lateness`.
    What happens depends on public time and on an event alone, never on other events:

    * Out of order: an event counts at the tick of its own time, if that tick is open.
    * Late: an event of a closed tick is dropped.
    * Early: an event of a tick more than `ahead` after the one that public time is in is dropped.
    * No time, a time that cannot be read, a value that is no number, no id where ids are unique: dropped.
    * Duplicates: with `unique`, events of one tick that agree in unit, id, key and value are one event.
    * Empty ticks are released like all others.
    * The clock is set back: no tick opens again, and the next one closes when the clock has come as far again.
    * The clock is set forward: all ticks that it skips close, empty or not. `most_ticks` refuses a jump over more.

    Nothing of a dropped event leaves, not even how many there were: no error, no number, no text.

    **Guarantee**: that of the counter. One event more changes what `Counter.add` is given by at most that event; all
    events of a unit change it by events of that unit alone. Duplicates that differ in key or value all count.

    **Exactly once**: events, releases and `position` become durable in one commit of the counter. A source that starts
    again behind `feed.position` counts nothing twice and leaves nothing out. A feed that is interrupted while it takes
    an event, as by Ctrl-C, refuses everything afterwards: the counter has to be opened again.

    Args:
        counter: The counter; its steps are the ticks.
        ticks: The public clock.
        lateness: How long after its end a tick stays open, a `timedelta`.
        ahead: How many ticks after that of public time are open.
        unique: Whether events have ids, by which duplicates are known. 16 bytes are kept of each in an open tick.
        most_ticks: The most ticks that one `advance` closes; None for no limit.
        now: Public time in microseconds since 1970; default: the machine's clock, which no jump moves forward.

    Raises:
        ParameterError: A parameter that cannot be used, or another one than the counter was fed with before.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.streams.StreamSession("visits", budget=sf.PureDP(1), unit=sf.EACH_ROW)
        >>> counter = sf.streams.Counter(session=visits, mechanism=sf.mechanisms.BinaryTree, horizon=365, epsilon=1)
        >>> feed = Feed(counter, ticks=Ticks(start="2026-01-01", every="day"), now=lambda: 1767265200_000000)
        >>> feed.add("2026-01-01T09:30")
        >>> len(feed.advance("2026-01-02").steps)
        1
    """

    def __init__(
        self, counter: Counter, *, ticks: Ticks, lateness: timedelta = timedelta(0), ahead: int = 1,
        unique: bool = False, most_ticks: int | None = None, now: Clock | None = None,
    ) -> None:  # fmt: skip
        self.counter = of_kind(counter, "counter", Counter, "a Counter")
        self.ticks = of_kind(ticks, "ticks", Ticks, 'Ticks(start="2026-01-01", every="day")')
        self.lateness = of_kind(lateness, "lateness", timedelta, "a timedelta")
        if lateness < timedelta(0):
            raise ParameterError("lateness", lateness, "must be at least nothing")
        self._ahead = whole(ahead, "ahead", most=MOST_TICKS)
        self._most_ticks = None if most_ticks is None else whole(most_ticks, "most_ticks", least=1)
        self.unique = flag(unique, "unique")
        self._now: Clock = SystemClock() if now is None else called(now, "now", "a function that gives public time")
        self.lock = RLock()
        self._position: Json = None
        self._is_torn = False  # whether an event may be in whose position is not, or the other way round
        self._seen: dict[int, set[bytes]] = {}
        self._stated = 0
        measure = counter.measure
        self._takes = {
            "values": not isinstance(measure, EventCount), "keys": getattr(measure, "keys", None) is not None,
            "units": counter.participation is not None, "ids": self.unique,
        }  # fmt: skip
        self._edges: Moments = np.zeros(0, dtype=np.int64)
        self._edge: tuple[int, float] = (0, 0)
        self._window = (0, 0, 0)  # the step for which the edges are, and between which moments
        self._continue(counter.position)

    @property
    def position(self) -> Json:
        """How far the source has been read, as it was last stated; after a restart, as it was last committed."""
        return self._position

    @property
    def seconds(self) -> float:
        """How many seconds of public time remain until the next tick can be closed; 0 if one can be."""
        return max(0.0, (self._closing() - self._time()) / _SECOND)

    def add(
        self, time: Any, value: Any = None, *, key: Any = None, unit: Any = None, id: Any = None,  # noqa: A002 # an event's id
        position: object = SAME,
    ) -> None:  # fmt: skip
        """Take one event; it never raises, whatever the event is.

        Args:
            time: When it happened: a `datetime`, a date, ISO text of either, or seconds since 1970; or `ARRIVAL`, for
                now. Without a zone it is in UTC, and a date begins in the zone of the ticks.
            value: The number that it adds; None where the counter counts events.
            key: Which of the counter's keys it is of.
            unit: Whose it is.
            id: What tells it from others of the unit, if they are unique.
            position: How far the source is read with it.

        Raises:
            StateError: The feed was interrupted while it took another event.
        """
        with self.lock:
            moment = self._time() if time is ARRIVAL else moment_of(time, self.ticks.calendar)
            step = self._step_of(moment)
            self._require_whole()
            self._is_torn = True
            if step != NO_TICK:
                self._add(step, value, key, unit, id)
            if position is not SAME:
                self._position = cast("Json", position)
            self._is_torn = False

    def add_many(
        self, times: Any, values: Any = None, *, keys: Sequence[Any] | None = None,
        units: Sequence[Any] | None = None, ids: Sequence[Any] | None = None, position: object = SAME,
    ) -> None:  # fmt: skip
        """Take many events, as arrays or lists of one length; which of them count is decided for each as by `add`.

        Args:
            times: When they happened: an array of `datetime64`, or a list of what `add` takes.
            values: The number that each adds; None where the counter counts events.
            keys: The key of each; None if the counter has none.
            units: Whose each is; None if they have no units.
            ids: The id of each; needed if they are unique.
            position: How far the source is read with them.

        Raises:
            ParameterError: Lengths that differ, a column that the counter does not take or one that is missing, or
                something that is no array and no list; nothing was taken.
            StateError: The feed was interrupted while it took another event.
        """
        moments = moments_of(times, self.ticks.calendar)
        given = {"values": values, "keys": keys, "units": units, "ids": ids}
        columns = {name: column_of(column, name) for name, column in given.items()}
        for name, column in columns.items():
            if column is not None and len(column) != len(moments):
                raise ParameterError(name, type(column), "must be as long as times")
        self._require({name: column is not None for name, column in columns.items()})
        with self.lock:
            steps = self._steps_of(moments)
            self._require_whole()
            self._is_torn = True
            self._add_all(columns, steps)
            if position is not SAME:
                self._position = cast("Json", position)
            self._is_torn = False

    def closable(self, now: datetime | str | None = None) -> range:
        """The ticks that can be closed, by the clock alone.

        Args:
            now: Public time; None for what the clock says.

        Raises:
            ParameterError: `now` is no moment, or more than `most_ticks` ticks would be closed.
        """
        moment = self._time() if now is None else moment_of(now, self.ticks.calendar)
        if moment is None:
            raise ParameterError("now", now, 'must be a moment of public time, such as "2026-01-31"')
        step = self.counter.next_step
        found = range(step, step)
        if moment >= self._closing():
            current = self.ticks.at(moment - self.lateness // _MICROSECOND)
            found = range(step, max(step, min(current, self._horizon + 1, step + _MOST_AT_ONCE)))
        if self._most_ticks is not None and len(found) > self._most_ticks:
            raise ParameterError(
                "most_ticks", self._most_ticks,
                f"is less than the {len(found):,} ticks that the clock has passed; check the clock, then raise it",
            )  # fmt: skip
        if now is not None:  # and only now, as a time that was refused never was
            self._stated = max(self._stated, moment)
        return found

    def advance(self, now: datetime | str | None = None) -> CounterReleases:
        """Close the ticks that have ended, empty or not, in one commit; gives their releases, of none if none has.

        Args:
            now: Public time; None for what the clock says.

        Raises:
            ParameterError: As of `closable`.
            StateError: The state cannot be written, or another process has it; nothing was released.
        """
        with self.lock:
            return self.close(self.closable(now))

    def close(self, steps: range) -> CounterReleases:
        """Close ticks that `closable` gave, empty or not, in one commit; as `advance` does.

        Raises:
            ParameterError: They are not the next ones.
            StateError: The state cannot be written, or another process has it; nothing was released.
        """
        with self.lock:
            first = self.counter.next_step
            if steps.start != first or steps.step != 1:
                raise ParameterError("steps", steps, f"must be a range that begins with {first}, the open one")
            if not steps:
                return self.counter.releases[len(self.counter.releases) :]
            self._require_whole()
            released = self.counter.tick(len(steps), position=self._document(steps.stop))
            self._forget()
            return released

    def commit(self) -> None:
        """Make what was taken so far durable, with its position; closes no tick.

        Raises:
            StateError: The state cannot be written, or another process has it.
        """
        with self.lock:
            self._require_whole()
            self.counter.commit(position=self._document(self.counter.next_step))

    @property
    def _horizon(self) -> int:
        return MOST_TICKS if self.counter.horizon is None else self.counter.horizon

    def _closing(self) -> float:
        """When the next tick can be closed; never, if there is none."""
        step = self.counter.next_step
        if self._edge[0] != step:
            is_over = step > self._horizon
            self._edge = (step, inf if is_over else self.ticks.begin(step + 1) + self.lateness // _MICROSECOND)
        return self._edge[1]

    def _time(self) -> int:
        """Public time: that of the clock, or a later one that was stated."""
        return max(self._now(), self._stated)

    def _document(self, first_open: int) -> Json:
        """What has to be known after a restart."""
        kept: dict[str, Json] = {
            str(step): b64encode(b"".join(sorted(ids))).decode()
            for step, ids in self._seen.items()
            if step >= first_open
        }
        return {"format": _FORMAT, **self._declared(), "seen": kept, "position": self._position}

    def _declared(self) -> dict[str, Json]:
        return {"ticks": {**self.ticks.document}, "lateness": self.lateness // _MICROSECOND, "unique": self.unique}

    def _continue(self, document: Json) -> None:
        if document is None:
            return
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise ParameterError("counter", "its position", "must be one that a Feed has committed, or none")
        for name, value in self._declared().items():
            if document.get(name) != value:
                raise ParameterError(name, value, f"must be {document.get(name)!r}, as the counter was fed with before")
        seen = document["seen"]
        self._position = document["position"]
        if isinstance(seen, dict):
            self._seen = {int(step): set(_digests(str(ids))) for step, ids in seen.items()}

    def _forget(self) -> None:
        for step in [step for step in self._seen if step < self.counter.next_step]:
            del self._seen[step]

    def _require_whole(self) -> None:
        if self._is_torn:
            raise StateError("of the feed", "was interrupted while it took an event; open the counter again")

    def _is_first(self, step: int, value: Any, key: Any, unit: Any, id: Any) -> bool:  # noqa: A002 # an event's id
        """Whether no event with this unit and id did the same to this tick before; from now on one has."""
        if not self.unique:
            return True
        if id is None:
            return False
        measure, whose = self.counter.measure, unit_of(unit) if self._takes["units"] else unit
        places, amounts = measure.placed(None if value is None else [value], None if key is None else [key], 1)
        named = key_of(key) if measure.selected else None  # whose place is found when it is taken
        digest = blake2b(repr((whose, id, named)).encode("utf-8", "backslashreplace"), digest_size=_DIGEST)
        digest.update(places.tobytes() + amounts.tobytes())
        seen, found = self._seen.setdefault(step, set()), digest.digest()
        is_first = found not in seen
        seen.add(found)
        return is_first

    def _add(self, step: int, value: Any, key: Any, unit: Any, id: Any) -> None:  # noqa: A002 # an event's id
        """One event of an open tick; nothing happens if it cannot be read."""
        takes = self._takes
        if takes["values"] and value is None:
            return
        number, place = value if takes["values"] else None, key if takes["keys"] else None
        with suppress(Exception):  # whatever is in an event, even if it fails when it is looked at
            if self._is_first(step, number, place, unit, id):
                self.counter.add(number, key=place, unit=unit if takes["units"] else None, step=step)

    def _add_all(self, columns: Mapping[str, Any], steps: Moments) -> None:
        kept = np.flatnonzero(steps != NO_TICK)
        if self.unique or not self._add_at_once(columns, steps, kept):
            in_order = kept[np.argsort(steps[kept], kind="stable")]  # as the counter takes them at once
            self._add_each(columns, steps, in_order)

    def _add_at_once(self, columns: Mapping[str, Any], steps: Moments, kept: Moments) -> bool:
        """Give all of them to the counter; whether it can read them, and otherwise none is in."""
        rows = {name: rows_of(column, kept) for name, column in columns.items()}
        owners = rows["units"] if self._takes["units"] else None
        try:
            self.counter.add_many(rows["values"], keys=rows["keys"], units=owners, steps=steps[kept])
        except MemoryError:  # some of them may be in
            raise
        except Exception:  # noqa: BLE001 # because of some event, of which the others must not know
            return False
        return True

    def _add_each(self, columns: Mapping[str, Any], steps: Moments, kept: Moments) -> None:
        for row in kept.tolist():
            value, key, unit, own_id = (cell_of(columns[name], row) for name in ("values", "keys", "units", "ids"))
            self._add(int(steps[row]), value, key, unit, own_id)

    def _require(self, given: Mapping[str, bool]) -> None:
        """Refuse columns that the counter does not take, and ask for those that it does."""
        for name, is_taken in self._takes.items():
            is_extra = given[name] and not is_taken and name != "units"  # with ids, they say whose id it is
            if is_extra or (is_taken and not given[name]):
                requirement = "is missing: the counter takes it" if is_taken else "must be left out of this counter"
                raise ParameterError(name, "a column" if given[name] else None, requirement)

    def _step_of(self, moment: int | None) -> int:
        """The open step of a moment, or `NO_TICK`."""
        if moment is None:
            return NO_TICK
        edges = self._open_edges()
        place = int(np.searchsorted(edges, moment, side="right")) - 1
        return self.counter.next_step + place if 0 <= place < len(edges) - 1 else NO_TICK

    def _steps_of(self, moments: Moments) -> Moments:
        edges = self._open_edges()
        places = np.searchsorted(edges, moments, side="right") - 1
        return np.where((places >= 0) & (places < len(edges) - 1), places + self.counter.next_step, NO_TICK)

    def _open_edges(self) -> Moments:
        """When the open ticks begin, and when the last of them ends."""
        now, first = self._time(), self.counter.next_step
        step, since, until = self._window
        if step != first or not since <= now < until:
            current = self.ticks.at(now)
            last = min(max(current, first) + self._ahead, self._horizon)
            self._edges = self.ticks.edges(first, max(0, last + 1 - first))
            since = self.ticks.begin(current) if current != NO_TICK else _BEFORE
            self._window = (first, since, self.ticks.begin(current + 1))
        return self._edges


def _digests(text: str) -> Iterator[bytes]:
    whole_text = b64decode(text)
    return (whole_text[start : start + _DIGEST] for start in range(0, len(whole_text), _DIGEST))
