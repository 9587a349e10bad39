import os
import signal
import time

import pytest
from tests.ledger.processes import ended, started, wire
from tests.ledger.writers import in_slots

from sfumato.ledger.keeping.slots import BLOCK, file_of, slots_in, write_beside


@pytest.fixture
def path(tmp_path):
    return tmp_path / "slots"


@pytest.mark.parametrize("text", ["", "a text", "{}", "x" * 10_000])
def test_a_text_is_found_in_a_file_that_was_made_with_it(text):
    content = file_of(text)
    assert [slot.text for slot in slots_in(content)] == [text]
    assert len(content) % (2 * BLOCK) == 0


@pytest.mark.parametrize("content", [b"", b"a text", b"0" * 10_000, b"\n" * 10_000])
def test_what_is_no_file_of_slots_has_none(content):
    assert slots_in(content) == ()


def test_texts_are_written_by_turns_as_long_as_there_is_room(path):
    path.write_bytes(file_of("0"))
    for number in range(1, 5):
        last = max(slots_in(path.read_bytes()), key=lambda slot: int(slot.text))
        assert write_beside(path, path.read_bytes(), last, str(number))
        assert sorted(slot.text for slot in slots_in(path.read_bytes())) == [str(number - 1), str(number)]
    assert not write_beside(path, path.read_bytes(), last, "5" * BLOCK)
    assert sorted(slot.text for slot in slots_in(path.read_bytes())) == ["3", "4"]


def test_a_file_that_was_cut_is_not_written_in_place(path):
    content = file_of("0")[:-1]
    path.write_bytes(content)
    assert not write_beside(path, content, slots_in(content)[0], "1")


def test_a_write_that_is_cut_short_is_an_error(path, monkeypatch):
    content = file_of("0")
    path.write_bytes(content)
    monkeypatch.setattr(os, "pwrite", lambda *_: 100)
    with pytest.raises(OSError, match="100 of 4096"):
        write_beside(path, content, slots_in(content)[0], "1")


@pytest.mark.parametrize("round_", range(3))
def test_a_process_that_is_killed_while_it_writes_leaves_a_whole_slot(path, round_):
    path.write_bytes(file_of("0 " + "x" * 9_000))
    own, other = wire()
    writer = started(in_slots, path, other)
    own.recv()
    time.sleep(0.02 + 0.007 * round_)
    os.kill(writer.pid, signal.SIGKILL)
    assert ended(writer) == -signal.SIGKILL
    assert max(int(slot.text.split()[0]) for slot in slots_in(path.read_bytes())) > 0
