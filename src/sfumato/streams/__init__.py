"""Continual release: counters that go on at every step of a public clock, charged once, and safe over a restart.

A `Counter` is fed events and releases a noisy sum at every step. The account of a `Session`, or of a `StreamSession`
for events that no table stores, is charged for all steps before the first event is read. `Ticks` are a clock, and
a `Feed` brings events with times to a counter, each once: one by one, from a table, or from batches of Spark.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.streams.counting.counter import Counter
    from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount, Measure, VectorTotal
    from sfumato.streams.counting.releases import CounterReleases
    from sfumato.streams.counting.selected import SelectedReleases
    from sfumato.streams.counting.selection import SelectedKeys
    from sfumato.streams.keeping.account import StreamSession
    from sfumato.streams.monitoring.monitor import Monitor
    from sfumato.streams.sources.feed import ARRIVAL, Feed
    from sfumato.streams.sources.following import follow, ticking
    from sfumato.streams.sources.spark import SparkSink
    from sfumato.streams.sources.tables import TableSource
    from sfumato.streams.sources.ticks import Ticks

_HOMES = {
    "ARRIVAL": "sources.feed",
    "BinCounts": "counting.measures",
    "ClampedSum": "counting.measures",
    "Counter": "counting.counter",
    "CounterReleases": "counting.releases",
    "EventCount": "counting.measures",
    "Feed": "sources.feed",
    "Measure": "counting.measures",
    "Monitor": "monitoring.monitor",
    "SelectedKeys": "counting.selection",
    "SelectedReleases": "counting.selected",
    "SparkSink": "sources.spark",
    "StreamSession": "keeping.account",
    "TableSource": "sources.tables",
    "Ticks": "sources.ticks",
    "VectorTotal": "counting.measures",
    "follow": "sources.following",
    "ticking": "sources.following",
}

__all__ = [
    "ARRIVAL",
    "BinCounts",
    "ClampedSum",
    "Counter",
    "CounterReleases",
    "EventCount",
    "Feed",
    "Measure",
    "Monitor",
    "SelectedKeys",
    "SelectedReleases",
    "SparkSink",
    "StreamSession",
    "TableSource",
    "Ticks",
    "VectorTotal",
    "follow",
    "ticking",
]


def __getattr__(name: str) -> Any:
    """Load a name at its first use (PEP 562)."""
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
