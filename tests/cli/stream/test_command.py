"""The options of `sfumato stream`: each reaches the run as it was typed, and help needs nothing that runs."""

import inspect
from dataclasses import fields

import pytest
from tests.cli.commands import run
from tests.cli.stream.defaults import DEFAULTS

from sfumato.cli.stream import running
from sfumato.cli.stream.command import stream
from sfumato.cli.stream.options import StreamOptions


def test_help_names_each_option():
    result = run("stream", "--help")
    assert result.exit_code == 0
    assert "one JSON object a line" in " ".join(result.stdout.split())


def test_each_option_reaches_the_run(monkeypatch):
    found = []
    monkeypatch.setattr(running, "run", lambda options, **how: found.append((options, how)))
    assert run("stream", "--every", "day", "--horizon", 9, "--epsilon", 1).exit_code == 0
    ((options, how),) = found
    assert {field.name: getattr(options, field.name) for field in fields(StreamOptions)} == DEFAULTS
    assert how == {"confidence": "0.95", "as_json": False}


@pytest.mark.parametrize("missing", ["--every", "--horizon"])
def test_a_tick_and_their_number_have_no_default(missing):
    given = {"--every": "day", "--horizon": "9"}
    del given[missing]
    (pair,) = given.items()
    result = run("stream", *pair, "--epsilon", "1")
    assert result.exit_code == 2
    assert missing in result.stderr


def test_options_are_all_of_the_command():
    named = set(inspect.signature(stream).parameters) - {"confidence", "as_json"}
    assert named == {field.name for field in fields(StreamOptions)}
