import io
import sys

import pytest

from sfumato.cli.ledger.bars import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "is_shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_a_bar_is_shown_to_people_alone(monkeypatch, stream, is_shown):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with progress() as bars:
        bars.update(bars.add_task("entries", total=10), completed=10)
    assert ("entries" in stream.getvalue()) == is_shown
