"""`sfumato stream`: lines come in, and at every tick a noisy sum goes out."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import IO, Any, Final

from sfumato.cli.show import note
from sfumato.cli.stream.options import StreamOptions
from sfumato.cli.stream.shown import StreamDisplay, shown_by
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import open_probability
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.streams.counting.counter import Counter
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources.feed import ARRIVAL, Feed
from sfumato.streams.sources.following import follow
from sfumato.streams.sources.ticks import Ticks

_LONGEST: Final = 1 << 20
"""Bytes of a line; a longer one counts nothing, and is never held."""


def run(options: StreamOptions, *, confidence: str, as_json: bool) -> None:
    """Charge the horizon, then count until the input ends or somebody presses a key.

    Raises:
        ParameterError: An option cannot be used; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was charged.
        StateError: The state cannot be used.
    """
    measure, participation, kind = options.measure, options.participation, options.kind
    ticks, lateness, cost, allowed = options.ticks, options.waits, options.cost, options.allowed
    open_probability(confidence, "--confidence")
    if options.replay and options.time is None:
        raise ParameterError("--replay", True, "needs --time: the lines of a kept file came before now")
    if options.ledger is None:
        note("no --ledger was given, so the charge is not recorded")
        if options.budget is None and options.budget_rho is None:
            note(f"no --budget was given; the budget is the cost of this stream, {cost}")
    unit = EACH_ROW if options.unit is None else options.unit
    with (
        StreamSession(options.name, budget=allowed, unit=unit, ledger=options.ledger) as session,
        Counter(
            session=session, mechanism=kind, horizon=options.horizon, epsilon=options.epsilon,
            rho=options.rho, delta=options.delta, measure=measure, participation=participation, state=options.state,
        ) as counter,
    ):  # fmt: skip
        if options.start is None and counter.position is not None:
            ticks = _kept(counter.position)
        feed = Feed(counter, ticks=ticks, lateness=lateness, unique=options.id is not None)
        with shown_by(feed, confidence=confidence, as_json=as_json) as shown:
            _count(feed, options, shown)


def events_of(lines: IO[bytes], fields: Mapping[str, str]) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    r"""The time and the event of each line; of one that cannot be read, an event without a time, which counts nothing.

    Args:
        lines: One JSON object a line.
        fields: The names of the fields by what they say: time, value, key, unit, id.

    Example:
        >>> import io
        >>> lines = io.BytesIO(b'{"at": 7, "ward": "north"}\nno JSON\n')
        >>> list(events_of(lines, {"time": "at", "key": "ward"}))
        [(7, {'key': 'north'}), (None, None)]
    """
    while line := lines.readline(_LONGEST):
        event: Any = None
        is_whole = line.endswith(b"\n") or len(line) < _LONGEST
        while not is_whole and (rest := lines.readline(_LONGEST)):
            is_whole, line = rest.endswith(b"\n"), b""
        with suppress(ValueError, RecursionError):
            event = json.loads(line)
        if isinstance(event, dict):
            found = {name: event.get(field) for name, field in fields.items()}
            time = found.pop("time") if "time" in found else ARRIVAL
            if isinstance(found.get("key"), int | float):
                found["key"] = str(found["key"])  # keys are typed as text
            yield time, found
        else:
            yield None, None


def _count(feed: Feed, options: StreamOptions, shown: StreamDisplay) -> None:
    events = events_of(sys.stdin.buffer, options.fields)
    if feed.position is None:
        feed.commit()  # so that a restart knows when the first tick began
    try:
        if options.replay:
            _replay(feed, events)
            shown.add(feed.advance())
        else:
            for released in follow(feed, events, begins_again=False):
                shown.add(released)
    except KeyboardInterrupt:
        if not feed.counter.is_over:
            feed.commit()


def _replay(feed: Feed, events: Iterator[tuple[Any, dict[str, Any] | None]]) -> None:
    """Take all events behind those that were taken before."""
    taken = feed.position if isinstance(feed.position, int) else 0
    for number, (time, event) in enumerate(events, start=1):
        if number > taken:
            feed.add(time, **(event or {}), position=number)
    if not feed.closable() and not feed.counter.is_over:
        feed.commit()


def _kept(position: Any) -> Ticks:
    """The clock of a state that is continued."""
    try:
        return Ticks(**position["ticks"])
    except (TypeError, LookupError):
        raise ParameterError("--state", "its position", "must be one that `sfumato stream` has made") from None
