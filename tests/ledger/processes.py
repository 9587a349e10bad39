"""Processes of tests: forked from one that has imported the ledger and opened none, each begins within milliseconds."""

import os
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

from sfumato.ledger.locations import FOLDER, open_ledger

PATIENCE = 120  # seconds, after which a process that should have ended is stuck
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["sfumato.ledger.locations", "sfumato.ledger.stores.postgres", "httpx"])


@dataclass(frozen=True, slots=True)
class Home:
    """Where a ledger is, for any process: its location, and the folder of what lies beside it."""

    location: str
    folder: Path

    def opened(self, **options):
        """The ledger."""
        with patch.dict(os.environ, {FOLDER: str(self.folder)}):
            return open_ledger(self.location, **options)


def home(store, folder):
    """The home of a ledger that does not exist yet, in a file of a folder or on the server of the tests."""
    if store == "sqlite":
        return Home(str(folder / "ledger.db"), folder)
    from tests.ledger.postgres_ledgers import location

    return Home(location(), folder)


def started(work, *arguments):
    """A process that does some work, which is a function of a module that is no test."""
    process = _CONTEXT.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


def ended(process):
    """How a process ended: 0, or minus the number of the signal that killed it."""
    process.join(PATIENCE)
    code = process.exitcode
    process.kill()
    process.join()
    process.close()
    return code


def wire():
    """Two ends to talk through, of which one goes to a process."""
    return _CONTEXT.Pipe()
