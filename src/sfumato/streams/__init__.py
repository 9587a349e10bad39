"""Continual release: counters that go on at every step of a public clock, charged once, and safe over a restart.

A `Counter` is fed events and releases a noisy sum at every step. The account of a `Session`, or of a `StreamSession`
for events that no table stores, is charged for all steps before the first event is read.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.streams.counting.counter import Counter
    from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount, Measure, VectorTotal
    from sfumato.streams.counting.releases import CounterReleases
    from sfumato.streams.keeping.account import StreamSession

_HOMES = {
    "BinCounts": "counting.measures",
    "ClampedSum": "counting.measures",
    "Counter": "counting.counter",
    "CounterReleases": "counting.releases",
    "EventCount": "counting.measures",
    "Measure": "counting.measures",
    "StreamSession": "keeping.account",
    "VectorTotal": "counting.measures",
}

__all__ = [
    "BinCounts",
    "ClampedSum",
    "Counter",
    "CounterReleases",
    "EventCount",
    "Measure",
    "StreamSession",
    "VectorTotal",
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
