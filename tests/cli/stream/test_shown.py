"""What `sfumato stream` shows: a chart that is drawn anew when a tick closes, and lines that cannot move a cursor."""

import io
import json

import pytest
from rich.console import Console
from tests.streams.feeding import SetClock, counter_of, day, feed_of

from sfumato.cli.stream import shown
from sfumato.cli.stream.shown import Chart, Lines, shown_by
from sfumato.streams.counting.measures import ClampedSum, EventCount


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 80 by 12."""
    out = io.StringIO()
    fixed = {"width": 80, "height": 12, "highlight": False, "markup": False, "emoji": False}
    monkeypatch.setattr(shown, "console", lambda: Console(file=out, force_terminal=True, **fixed))
    return out


def text_of(chart):
    out = io.StringIO()
    Console(file=out, width=80).print(chart.drawn())
    return out.getvalue()


def fed(*numbers, measure=None, **event):
    clock = SetClock(day(1))
    feed = feed_of(clock, counter_of(measure=EventCount() if measure is None else measure), ahead=9)
    for number in numbers:
        feed.add(day(number), **event)
    clock.set(day(max(numbers, default=1) + 1))
    return feed


def test_a_chart_has_a_bar_for_each_of_the_last_ticks(terminal):
    feed = fed(1, 2, 2, 3)
    with shown_by(feed, confidence="0.95", as_json=False) as chart:
        assert "no tick has ended yet" in text_of(chart)
        chart.add(feed.advance())
    title, *bars, guarantee = text_of(chart).splitlines()
    assert title.startswith("tick 3, 2026-01-03 00:00+00:00: noisy totals with 95% intervals")
    assert [line.count("█") for line in bars] == [8, 24, 32]
    assert bars[-1].rstrip().endswith("4 ± 0")
    assert "for all ticks together" in guarantee
    assert "2026-01-02" in terminal.getvalue()


def test_a_chart_with_keys_has_a_bar_for_each_key_and_none_below_0(terminal):
    feed = fed(1, measure=ClampedSum(-5, 5, keys=("a\x1b[2J", "b")), key="b", value=-4)
    chart = Chart(feed, confidence="0.5")
    chart.add(feed.advance())
    drawn = text_of(chart)
    assert "\x1b[2J" not in drawn
    assert "█" not in drawn
    assert "-4 ± 0" in drawn
    assert terminal.getvalue() == ""


def test_a_chart_begins_with_what_was_released_before(terminal):
    feed = fed(1, 2)
    feed.advance()
    with shown_by(feed, confidence="0.95", as_json=False) as chart:
        assert "tick 2," in text_of(chart)
    assert terminal.getvalue()


def test_nothing_is_drawn_for_an_event(terminal):
    feed = fed(1)
    with shown_by(feed, confidence="0.95", as_json=False):
        before = terminal.getvalue()
        feed.add(day(2))
        assert terminal.getvalue() == before


def test_elsewhere_there_are_lines(capsys):
    feed = fed(1, measure=EventCount(keys=("a\x1b[2J", "b")), key="b")
    with shown_by(feed, confidence="0.95", as_json=False) as lines:
        lines.add(feed.advance())
    assert capsys.readouterr().out == "2026-01-01 00:00+00:00  a\\x1b[2J 0, b 1 ± 0\n"
    Lines(feed, confidence="0.95", as_json=True).add(feed.counter.releases)
    assert json.loads(capsys.readouterr().out)["value"] == {"a\x1b[2J": 0, "b": 1}
