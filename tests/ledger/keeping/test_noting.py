import os
import sys

import pytest
from tests.ledger.checkpoints import KEY, noted

from sfumato.errors import LedgerError
from sfumato.ledger.keeping import noting as noting_module
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.checkpoints import encode_checkpoint
from sfumato.ledger.keeping.noting import CheckpointNotes, send


@pytest.fixture
def file(tmp_path):
    return CheckpointFile(tmp_path / "ledger.checkpoint")


def test_a_command_reads_the_checkpoint_on_its_standard_input(tmp_path):
    send(f"tee {tmp_path}/received", "a checkpoint\n")
    assert (tmp_path / "received").read_text("ascii") == "a checkpoint\n"


@pytest.mark.parametrize("command", ["false", "/no/such/command", "tee 'unclosed"])
def test_a_command_that_fails_is_told(command):
    with pytest.raises(LedgerError, match="was not accepted there"):
        send(command, "a checkpoint")


def test_a_url_without_its_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(LedgerError, match="needs the package fsspec"):
        send("s3://bucket/checkpoint", "a checkpoint")


def test_a_url_is_written(tmp_path):
    send(f"file://{tmp_path}/received", "a checkpoint")
    assert (tmp_path / "received").read_text("ascii") == "a checkpoint"


def test_a_note_is_sent_once_a_minute_and_at_the_end_and_by_no_fork(file, monkeypatch):
    sent = []
    monkeypatch.setattr(noting_module, "send", lambda sink, text: sent.append((sink, text)))
    noting = CheckpointNotes(file, sink="elsewhere")
    noting.write(noted(3), is_synced=True)
    noting.write(noted(4), is_synced=True)
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        noting.finish()
    assert sent == [("elsewhere", f"{encode_checkpoint(noted(3))}\n")]
    noting.finish()
    noting.finish()
    assert sent[1:] == [("elsewhere", f"{encode_checkpoint(noted(4))}\n")]


def test_what_a_sink_does_not_accept_is_logged_and_stops_nobody(file, monkeypatch, caplog):
    def refuse(sink, _):
        raise LedgerError(sink, "was not accepted there")

    monkeypatch.setattr(noting_module, "send", refuse)
    CheckpointNotes(file, sink="elsewhere").write(noted(3), is_synced=True)
    assert file.read(KEY) == noted(3)
    assert "elsewhere: was not accepted there" in caplog.text
