"""A process that counts, keeps, and shows what it released, and is killed at a point on this way."""

import json
import os
import signal
from contextlib import ExitStack, contextmanager
from itertools import count
from unittest.mock import patch

from tests.streams.accounts import counter, stream
from tests.streams.one_draw import OneDraw

from sfumato.ledger.stores.transactions import OpenTransaction
from sfumato.mechanisms.continual.base import RunningCounter
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.keeping.state import DurableState
from sfumato.streams.keeping.state_file import StateFile

HORIZON = 5
POINTS = (
    "before it is charged",
    "within the transaction that charges",
    "before the state is taken over",
    "after the noise was drawn",
    "within the transaction of the state",
    "before the ledger is told",
    "within the transaction that tells the ledger",
    "before it shows",
    "while it shows",
    "within the transaction that ends",
)
"""Where a process is killed; within a transaction is after what it writes and before its end."""

_KINDS = {
    "within the transaction that charges": '"type":"Reserved"',
    "within the transaction that tells the ledger": '"type":"Renewed"',
    "within the transaction that ends": '"type":"Committed"',
}


def parent(connection):
    """The work of a process that has imported everything: fork one curator after the other, and tell how it ended."""
    while told := connection.recv():
        child = os.fork()
        if not child:
            try:
                curator(*told)
            finally:  # an error too
                os._exit(1)
        connection.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def curator(folder, point, survived, seen):
    """Go on with a counter until its horizon or its end; each step has as many events as its number."""
    with _dying(point, count(-survived)) as at, seen.open("ab", buffering=0) as file:
        session = stream(folder)
        at("before it is charged")
        options = {"mechanism": OneDraw, "horizon": HORIZON, "participation": Participation(2)}
        visits = counter(session, state=folder / "state", **options)
        show(visits, file, at)
        while not visits.is_over:
            step = visits.next_step
            if visits.position != step:  # else these events are in, and their step was not closed yet
                visits.add_many(units=[f"{step} {number}" for number in range(step)])
                visits.add(unit="ann")  # who may take part twice
                visits.commit(position=step)
            visits.tick()
            at("before it shows")
            show(visits, file, at)
    os._exit(0)


def show(visits, file, at):
    """Write all that was released to a file, which stands for whoever reads it."""
    for released in zip(visits.releases.steps.tolist(), visits.releases.values.tolist(), strict=True):
        line = json.dumps(released).encode() + b"\n"
        file.write(line[: len(line) // 2])
        at("while it shows")
        file.write(line[len(line) // 2 :])


def shown(seen):
    """All that came whole, as pairs of a step and what was released at it."""
    pairs = set()
    for line in seen.read_bytes().split(b"\n"):
        try:
            pairs.add(tuple(json.loads(line)))
        except ValueError:
            continue  # half of a line, and what the next process wrote behind it
    return pairs


@contextmanager
def _dying(point, passes):
    def at(here):
        if here == point and next(passes) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def after(function, here):
        def called(*arguments, **options):
            found = function(*arguments, **options)
            at(here)
            return found

        return called

    def before(function, here):
        def called(*arguments, **options):
            at(here)
            return function(*arguments, **options)

        return called

    def appended(transaction, batch, append=OpenTransaction.append):
        append(transaction, batch)
        for here, kind in _KINDS.items():
            if any(kind in record.text for record in batch.records):
                at(here)

    with ExitStack() as held:
        for owner, name, function in (
            (OpenTransaction, "append", appended),
            (DurableState, "_take_over", before(DurableState._take_over, "before the state is taken over")),
            (DurableState, "_renew", before(DurableState._renew, "before the ledger is told")),
            (RunningCounter, "release_block", after(RunningCounter.release_block, "after the noise was drawn")),
            (StateFile, "_update", after(StateFile._update, "within the transaction of the state")),
        ):
            held.enter_context(patch.object(owner, name, function))
        yield at
