import sys

import pytest

from sfumato.errors import LedgerError
from sfumato.ledger.keeping.sinks import send


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
