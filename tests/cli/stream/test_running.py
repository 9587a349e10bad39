"""`sfumato stream`: lines in, a noisy total at every tick out, and of a line that cannot be read not a word."""

import io
import json

import pytest
from tests.cli.commands import spent
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.cli.stream import running
from sfumato.cli.stream.running import events_of
from sfumato.streams.sources.feed import ARRIVAL

DAYS = ("stream", "--every", "day", "--start", "2026-01-01", "--time", "at", "--replay", "--epsilon", "500")
VISITS = [
    {"at": "2026-01-01T09:30", "ward": "north", "hours": 2.5, "who": "ann", "n": 1},
    {"at": "2026-01-01T10:00", "ward": "south", "hours": 99, "who": "bob", "n": 2},
    {"at": "2026-01-01T10:00", "ward": "south", "hours": 99, "who": "bob", "n": 2},
    {"at": "2026-01-03", "ward": 7, "hours": None, "who": "ann", "n": 3},
]
NO_EVENTS = [
    "no JSON",
    "[1]",
    "7",
    "null",
    "",
    '{"at": "soon"}',
    '{"at": {}}',
    "[" * 100_000,
    '{"at": ' + "9" * 5000 + "}",
]


def stream(*options, lines=VISITS, horizon=3):
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    result = CliRunner().invoke(app, [*DAYS, "--horizon", str(horizon), *options], input=text)
    assert result.exit_code == 0, result.output
    return result


def totals(*options, **given):
    found = [json.loads(line) for line in stream("--json", *options, **given).stdout.splitlines()]
    return [one["value"] for one in found]


def test_each_tick_is_a_line():
    result = stream()
    assert result.stdout.splitlines() == [
        f"2026-01-0{day} 00:00+00:00  {total} ± 0" for day, total in ((1, 3), (2, 3), (3, 4))
    ]
    assert "no --ledger was given" in result.stderr


def test_as_json_a_line_says_all_of_its_tick():
    first = json.loads(stream("--json", "--confidence", "0.5").stdout.splitlines()[0])
    assert first == {
        "tick": 1, "begin": "2026-01-01T00:00:00+00:00", "end": "2026-01-02T00:00:00+00:00", "value": 3,
        "half_width": 0.0, "confidence": "0.5",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--key", "ward=north,south"), [{"north": 1, "south": 2}] * 3),
        (("--key", "ward=7,8"), [{"7": 0, "8": 0}] * 2 + [{"7": 1, "8": 0}]),
        (("--value", "hours=0:10:0.5"), [22.5, 22.5, 22.5]),
        (("--value", "hours=0:10", "--key", "ward=south"), [{"south": 20}] * 3),
        (("--unit", "who", "--participations", "9"), [2, 2, 3]),
        (("--unit", "who", "--participations", "9", "--separation", "3"), [2, 2, 2]),
        (("--id", "n"), [2, 2, 3]),
        (("--zone", "America/New_York"), [3, 3, 4]),
        (("--mechanism", "tree"), [3, 3, 4]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_options_say_what_counts(options, expected):
    assert totals(*options) == expected


def test_lines_that_cannot_be_read_count_nothing_and_are_not_mentioned():
    plain, strange = stream(), stream(lines=[*NO_EVENTS, *VISITS, *NO_EVENTS])
    assert (strange.stdout, strange.stderr) == (plain.stdout, plain.stderr)


def test_a_line_that_is_too_long_counts_nothing_wherever_it_ends(monkeypatch):
    monkeypatch.setattr(running, "_LONGEST", 16)
    text = b'{"a": 1}\n' + b" " * 30 + b'{"a": 2}\n{"a": 3}\n' + b"x" * 16 + b'\n{"a": 4}\n' + b" " * 20 + b'{"a": 5}'
    found = [event for _, event in events_of(io.BytesIO(text), {"value": "a"})]
    assert found == [{"value": 1}, None, {"value": 3}, None, {"value": 4}, None]


def test_an_event_without_a_field_of_time_happens_when_it_is_read():
    assert list(events_of(io.BytesIO(b'{"ward": 1}\n'), {"key": "ward"})) == [(ARRIVAL, {"key": "1"})]


def test_a_kept_file_that_grows_is_counted_once_and_charged_once(tmp_path):
    ledger, state = tmp_path / "ledger.db", tmp_path / "state"
    options = ("--ledger", ledger, "--state", state)
    assert totals(*map(str, options), "--budget", "500", horizon=400, lines=VISITS[:2])[-1] == 2
    kept = [str(option) for option in options]
    assert totals(*kept, horizon=400, lines=VISITS) == []  # all ticks of the past are closed
    assert spent(ledger, "stream") == "ε 500"


def test_a_stream_goes_on_with_the_clock_that_it_began_with(tmp_path):
    kept = ("--ledger", tmp_path / "ledger.db", "--state", tmp_path / "state")
    minutes = ["stream", "--every", "hour", "--horizon", "24", "--epsilon", "500", *map(str, kept)]
    for more in (["--budget", "500"], []):
        result = CliRunner().invoke(app, [*minutes, *more], input="{}\n")
        assert (result.exit_code, result.stdout) == (0, ""), result.output
    result = CliRunner().invoke(app, [*minutes, "--start", "2026-01-01"], input="{}\n")
    assert result.exit_code == 2
    assert "as the counter was fed with before" in result.stderr


def test_a_key_that_is_pressed_ends_it_and_loses_nothing(monkeypatch):
    committed = []

    def pressed(feed, _, **__):
        committed.append(feed)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(running, "follow", pressed)
    result = CliRunner().invoke(app, ["stream", "--every", "day", "--horizon", "9", "--epsilon", "500"], input="{}\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert committed[0].counter.position is not None


def test_live_lines_are_followed(monkeypatch):
    found = []

    def followed(_, events, **options):
        found.extend([*events, options])
        return []

    monkeypatch.setattr(running, "follow", followed)
    CliRunner().invoke(app, ["stream", "--every", "day", "--horizon", "9", "--epsilon", "500"], input='{"a": 1}\nx\n')
    assert found == [(ARRIVAL, {}), (None, None), {"begins_again": False}]
