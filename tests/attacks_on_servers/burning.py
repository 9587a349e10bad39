"""Serves as `sfumato serve` does, in processes that kill one of themselves, where and once a test has said so.

`python -m tests.attacks_on_servers.burning CURATOR.TOML` is the supervisor, which starts this file as its gateways and
its worker; and the worker's server of forks loads it, so that the processes that read data have it too.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from functools import wraps
from pathlib import Path

from tests.attacks_on_servers.substituting import GATEWAY, WORKER, be, preload

FOLDER = "SFUMATO_TEST_OF_KILLS"
"""The variable with the folder where the fuse lies, and the numbers of the processes."""

POINTS = (
    "before it reserves",
    "after it reserved",
    "before it sends the ticket",
    "before it reads data",
    "after it read data",
    "after it committed",
    "before it keeps the response",
    "before it sends the response",
)
VICTIMS = ("gateway", "worker", "child")
LEASE = 1.0
"""Seconds, after which a gateway that says nothing is taken for gone."""


def lay(folder, point, victim):
    """Say where a process is to be killed, and which."""
    draft = folder / "draft of a fuse"
    draft.write_text(json.dumps([point, victim]))
    draft.replace(folder / "fuse")


def is_burnt(folder):
    """Whether it was killed."""
    return not (folder / "fuse").exists()


def burn(point):
    """Kill whoever is to be killed, if this is where."""
    folder = Path(os.environ[FOLDER])
    with suppress(OSError):
        where, victim = json.loads((folder / "fuse").read_text())
        if where == point:
            (folder / "fuse").rename(folder / "burnt fuse")  # which one process alone can do
            os.kill(int((folder / victim).read_text()), signal.SIGKILL)


def note(name):
    """Write down the number of this process."""
    (Path(os.environ[FOLDER]) / name).write_text(str(os.getpid()))


def burning(owner, name, *, before=None, after=None):
    """Have a function burn the fuse at some points."""
    function = getattr(owner, name)

    @wraps(function)
    def burnt(*args, **kwargs):
        if before is not None:
            burn(before)
        found = function(*args, **kwargs)
        if after is not None:
            burn(after)
        return found

    setattr(owner, name, burnt)


def prepare_gateway():
    """Before a gateway starts: what burns in it."""
    from sfumato.ledger.ledger import Ledger
    from sfumato.server.gateway.answering import Shown
    from sfumato.server.identity.releases import ReleaseRegistry
    from sfumato.server.work.channel import Line
    from sfumato.session.asking import planning

    planning.LEASE = LEASE
    burning(Ledger, "fly", before=POINTS[0], after=POINTS[1])
    burning(Line, "run", before=POINTS[2])
    burning(ReleaseRegistry, "keep", before=POINTS[6])
    burning(Shown, "response", before=POINTS[7])
    note("gateway")


def prepare_worker():
    """Before a worker starts: what its server of forks loads."""
    preload(__spec__.name)
    note("worker")


def prepare_children():
    """In the server of forks: what its children do."""
    from sfumato.server.work import child
    from sfumato.session.asking import execution, planning

    planning.LEASE = LEASE
    burning(execution, "_drawn", before=POINTS[3], after=POINTS[4])
    burning(execution, "_committed", after=POINTS[5])
    run_child = child.run_child

    def noted(*args):
        note("child")
        run_child(*args)

    child.run_child = noted


if __name__ == "__main__":
    if sys.argv[1] not in {GATEWAY, WORKER}:
        os.environ[FOLDER] = str(Path(sys.argv[1]).absolute().parent)
    be(__spec__.name, sys.argv[1:], {GATEWAY: prepare_gateway, WORKER: prepare_worker})
elif FOLDER in os.environ:
    prepare_children()
