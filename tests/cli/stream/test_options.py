"""Options of `sfumato stream` that cannot be used: refused with a word on the fix, and nothing is charged."""

import pytest
from tests.cli.commands import refusal
from tests.cli.stream.defaults import options

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.counting.measures import ClampedSum, EventCount

MINIMAL = ("stream", "--every", "day", "--horizon", "9")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "give exactly one"),
        (("--epsilon", "1", "--rho", "1"), "give exactly one"),
        (("--epsilon", "-1"), "epsilon"),
        (("--epsilon", "1", "--every", "fortnight"), "15 minutes"),
        (("--epsilon", "1", "--zone", "Mars"), "time zone"),
        (("--epsilon", "1", "--start", "soon"), "a date or a moment"),
        (("--epsilon", "1", "--key", "ward"), "ward=north,south"),
        (("--epsilon", "1", "--value", "hours"), "hours=0:24"),
        (("--epsilon", "1", "--value", "hours=0"), "hours=0:24"),
        (("--epsilon", "1", "--value", "hours=9:1"), "at least lower"),
        (("--epsilon", "1", "--unit", "who"), "--participations is missing"),
        (("--epsilon", "1", "--participations", "3"), "needs --unit"),
        (("--epsilon", "1", "--separation", "3"), "needs --unit"),
        (("--epsilon", "1", "--mechanism", "guess"), "tree"),
        (("--epsilon", "1", "--replay"), "needs --time"),
        (("--epsilon", "1", "--state", "file"), "needs --ledger"),
        (("--epsilon", "1", "--budget-delta", "1e-6"), "needs --budget"),
        (("--epsilon", "1", "--ledger", "file"), "--budget is missing"),
        (("--epsilon", "1", "--confidence", "2"), "--confidence"),
        (("--rho", "1", "--delta", "2"), "--delta"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_each_is_refused_before_anything_is_made(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in refusal(*MINIMAL, *given)
    assert list(tmp_path.iterdir()) == []


def test_options_become_a_clock_a_measure_and_whom_to_protect():
    found = options(key="ward=a,b", value="hours=0:24:0.5", unit="who", participations=5, separation=7, lateness=90)
    assert found.measure == ClampedSum(0, 24, resolution="0.5", keys=("a", "b"))
    assert found.participation == Participation(most=5, separation=7)
    assert found.fields == {"key": "ward", "value": "hours", "unit": "who"}
    assert (found.waits.seconds, options().measure, options().participation) == (90, EventCount(), None)


def test_without_a_start_the_first_tick_begins_now_or_today():
    hours, days = options(every="hour").ticks, options(every="day", zone="Asia/Kathmandu").ticks
    assert hours.document["start"].endswith("+00:00")
    assert len(days.document["start"]) == len("2026-01-01")
    with pytest.raises(ParameterError, match="lateness"):
        _ = options(lateness=1e12).waits


def test_a_budget_is_stated_or_the_cost():
    assert str(options(budget="2").allowed) == "ε 2"
    assert str(options(budget_rho="2").allowed) == "ρ 2"
    assert str(options(rho="0.5", epsilon=None).allowed) == "ρ 0.5"
