"""`follow` and `ticking`: ticks that close at their time, whether or not an event comes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, Full, Queue
from threading import Event as Signal
from threading import Thread
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind
from sfumato.numeric.rationals import flag
from sfumato.streams.counting.releases import CounterReleases
from sfumato.streams.sources.feed import Feed

_LONGEST_WAIT: Final = 1.0
"""Seconds after which whoever waits looks at the clock again, which may have been set."""

_WAITING: Final = 10_000
"""How many events wait to be taken before no more are read."""

_FIELDS: Final = ("value", "key", "unit", "id")


def follow(feed: Feed, events: Iterable[tuple[Any, Any]], *, begins_again: bool = True) -> Iterator[CounterReleases]:
    """Take events as they come, and give releases as ticks close: at their time, also while no event comes.

    Events are read in a thread of their own, so that a source that is silent keeps no tick open, and the time of a
    release says nothing of events. Each commit has the number of events taken, as `feed.position`. After a restart, a
    source that begins again is read past as many, and so counts each event once.

    Args:
        feed: Where they go.
        events: Pairs of a time, as `Feed.add` takes it, and an event: None for one to count, a number for its value,
            or a mapping with any of ``value``, ``key``, ``unit`` and ``id``. Anything else counts nothing.

        begins_again: Whether the source begins again at its start, as a log does that is kept. Otherwise hand over only
            what follows: an event that comes again is counted again.

    Yields:
        The releases of the ticks that closed together.

    Raises:
        ParameterError: The feed has read another source.
        StateError: The state cannot be written, or another process has it.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.streams.StreamSession("visits", budget=sf.PureDP(1), unit=sf.EACH_ROW)
        >>> counter = sf.streams.Counter(session=visits, mechanism=sf.mechanisms.BinaryTree, horizon=365, epsilon=1)
        >>> feed = sf.streams.Feed(counter, ticks=sf.streams.Ticks(start="2026-01-01"), now=lambda: 1767265200_000000)
        >>> list(follow(feed, [("2026-01-01T09:30", None), ("2026-01-01T09:31", None)])), feed.position
        ([], 2)
    """
    of_kind(feed, "feed", Feed, "a Feed")
    taken = 0 if feed.position is None else feed.position
    if not isinstance(taken, int):
        raise ParameterError("feed", "its position", "must be a number of events, as follow commits it")
    waiting: Queue[tuple[Any, ...]] = Queue(maxsize=_WAITING)
    is_over = Signal()
    rest = islice(events, taken if flag(begins_again, "begins_again") else 0, None)
    Thread(target=_read, args=(rest, waiting, is_over), name="sfumato-events", daemon=True).start()
    try:
        is_ended = False
        while not is_ended:
            item: tuple[Any, ...] | None = None
            with suppress(Empty):
                item = waiting.get(timeout=min(feed.seconds, _LONGEST_WAIT))
            if steps := feed.closable():  # before the event, which came when they had ended
                yield feed.close(steps)
            if item is not None and not _is_end(item):
                taken += 1
                _take(feed, *item, position=taken)
            is_ended = feed.counter.is_over or (item is not None and _is_end(item))
        if not feed.counter.is_over:
            feed.commit()
    finally:
        is_over.set()


@contextmanager
def ticking(feed: Feed, on_release: Callable[[CounterReleases], object]) -> Iterator[None]:
    """Inside, ticks close at their time, in a thread of their own, whatever else is done with the feed.

    Args:
        feed: Whose ticks.
        on_release: What is called with the releases of ticks that closed together; they are durable by then.

    Raises:
        StateError: The state could not be written, or another process has it: raised at the end.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.streams.StreamSession("visits", budget=sf.PureDP(1), unit=sf.EACH_ROW)
        >>> counter = sf.streams.Counter(session=visits, mechanism=sf.mechanisms.BinaryTree, horizon=2, epsilon=1)
        >>> feed = sf.streams.Feed(counter, ticks=sf.streams.Ticks(start="2026-01-01"))
        >>> done = Signal()
        >>> with ticking(feed, lambda releases: done.set()):
        ...     _ = done.wait()
        >>> counter.is_over
        True
    """
    called(on_release, "on_release", "a function of releases")
    is_over, failures = Signal(), list[BaseException]()

    def work() -> None:
        try:
            while not is_over.wait(min(feed.seconds, _LONGEST_WAIT)) and not feed.counter.is_over:
                with feed.lock:
                    steps = feed.closable()
                    released = feed.close(steps) if steps else None
                if released is not None:
                    on_release(released)
        except BaseException as error:  # noqa: BLE001 # it is raised in the thread that asked for this one
            failures.append(error)

    thread = Thread(target=work, name="sfumato-ticks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    if failures:
        raise failures[0]


def _read(events: Iterable[Any], waiting: "Queue[tuple[Any, ...]]", is_over: Signal) -> None:
    """Hand events on, and behind them an empty one, or one with what the source failed with."""
    last: tuple[Any, ...] = ()
    try:
        for event in events:
            if is_over.is_set():
                return
            pair = event if isinstance(event, tuple) and len(event) == 2 else (None, None)  # noqa: PLR2004 # time, event
            _hand(pair, waiting, is_over)
    except BaseException as error:  # noqa: BLE001 # it is raised in the thread that asked for this one
        last = (error,)
    _hand(last, waiting, is_over)


def _hand(item: tuple[Any, ...], waiting: "Queue[tuple[Any, ...]]", is_over: Signal) -> None:
    """Have an item wait to be taken, unless nobody takes any more."""
    while not is_over.is_set():
        with suppress(Full):
            waiting.put(item, timeout=_LONGEST_WAIT)
            return


def _is_end(item: tuple[Any, ...]) -> bool:
    if len(item) == 1:
        raise item[0]
    return not item


def _take(feed: Feed, time: Any, event: Any, *, position: int) -> None:
    given = event if isinstance(event, Mapping) else {"value": event}
    fields = {name: given[name] for name in _FIELDS if name in given}
    feed.add(time, **fields, position=position)
