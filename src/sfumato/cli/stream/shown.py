"""What `sfumato stream` shows: a live chart on a terminal, else a line a tick, as text or JSON."""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sfumato.cli.show import console, printable
from sfumato.streams.counting.releases import CounterReleases
from sfumato.streams.sources.feed import Feed

_FRAME: Final = 4  # lines of the chart that are no bars
_LEAST_ROWS: Final = 5
_LABELS: Final = 28  # columns beside a bar
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


class StreamDisplay(Protocol):
    """Somewhere to show releases."""

    def add(self, released: CounterReleases) -> None:
        """Show the releases of ticks that closed together."""


@contextmanager
def shown_by(feed: Feed, *, confidence: str, as_json: bool) -> Iterator[StreamDisplay]:
    """Where releases are shown; a chart begins with those of a state that is continued."""
    if as_json or not console().is_terminal:
        shown: StreamDisplay = Lines(feed, confidence=confidence, as_json=as_json)
        yield shown
        return
    chart = Chart(feed, confidence=confidence)
    chart.add(feed.counter.releases)
    with Live(chart.drawn(), console=console(), auto_refresh=False) as live:
        chart.live = live
        yield chart


class Lines:
    """A line a tick.

    Args:
        feed: Whose ticks.
        confidence: Of each interval.
        as_json: Whether each line is a JSON object.
    """

    def __init__(self, feed: Feed, *, confidence: str, as_json: bool) -> None:
        self._feed, self._confidence, self._as_json = feed, confidence, as_json

    def add(self, released: CounterReleases) -> None:
        """Print them."""
        for tick, values, width in _rows(released, self._confidence):
            begin = self._feed.ticks.moment(tick)
            if self._as_json:
                shown = values[0] if released.labels is None else dict(zip(released.labels, values, strict=True))
                end = self._feed.ticks.moment(tick + 1)
                document = {
                    "tick": tick, "begin": begin.isoformat(), "end": end.isoformat(), "value": shown,
                    "half_width": width, "confidence": self._confidence,
                }  # fmt: skip
                typer.echo(json.dumps(document, ensure_ascii=False))
            else:
                typer.echo(f"{_moment(begin)}  {_numbers(released.labels, values)} ± {width:,.4g}")


class Chart:
    """Bars of the last ticks, or of all keys at the last tick; drawn anew when a tick closes, and never in between.

    Args:
        feed: Whose ticks.
        confidence: Of each interval.
    """

    live: Live | None = None

    def __init__(self, feed: Feed, *, confidence: str) -> None:
        self._feed, self._confidence = feed, confidence
        self._rows: deque[tuple[str, float, float]] = deque(maxlen=max(_LEAST_ROWS, console().height - _FRAME))
        self._last = "no tick has ended yet"

    def add(self, released: CounterReleases) -> None:
        """Draw them."""
        for tick, values, width in _rows(released, self._confidence):
            moment = _moment(self._feed.ticks.moment(tick))
            self._last = f"tick {tick:,}, {moment}"
            if released.labels is None:
                self._rows.append((moment, values[0], width))
            else:
                self._rows.clear()
                self._rows.extend(
                    (str(label), value, width) for label, value in zip(released.labels, values, strict=True)
                )
        if self.live is not None:
            self.live.update(self.drawn(), refresh=True)

    def drawn(self) -> Group:
        """The chart."""
        guarantee = self._feed.counter.receipt.guarantee
        longest = max((abs(value) + width for _, value, width in self._rows), default=1.0) or 1.0
        space = max(10, console().width - _LABELS - 20)
        table = Table.grid(padding=(0, 1))
        for label, value, width in self._rows:
            table.add_row(
                Text(printable(label)), Text(_bar(value / longest * space), style="cyan"),
                Text(f"{value:,.10g} ± {width:,.4g}"),
            )  # fmt: skip
        title = Text(f"{self._last}: noisy totals with {float(self._confidence):.0%} intervals", style="bold")
        return Group(title, table, Text(f"{guarantee} for all ticks together"))


def _rows(released: CounterReleases, confidence: str) -> Iterator[tuple[int, list[Any], float]]:
    """The tick, the numbers and the half-width of each release."""
    numbers = released.values.reshape(len(released), -1).tolist() if len(released) else []
    widths = released.half_widths(confidence).tolist()
    return zip(released.steps.tolist(), numbers, widths, strict=True)


def _moment(moment: Any) -> str:
    return str(moment.isoformat(" ", "minutes" if not moment.second else "seconds"))


def _numbers(labels: Any, values: list[Any]) -> str:
    if labels is None:
        return f"{values[0]:,.10g}"
    return ", ".join(f"{printable(str(label))} {value:,.10g}" for label, value in zip(labels, values, strict=True))


def _bar(length: float) -> str:
    """A bar in eighths of a column; none below 0."""
    eighths = max(0, round(length * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
