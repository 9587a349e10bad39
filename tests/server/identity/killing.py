"""A process that is killed while it counts a batch: before each statement, before it is committed, and after that."""

import os
import signal
from contextlib import closing
from itertools import count

from sqlalchemy import event
from tests.server.identity.databases import Clock

from sfumato.local import DirectEncoding
from sfumato.server.config import Collection
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import Database

ORACLE = DirectEncoding(3, epsilon=1)
VOTES = Collection("votes", ORACLE, is_public=False, readers=frozenset())
EACH = 2


def kill_everywhere(place, wire):
    """Kill at one point after the other until none is left, and tell what became of the batch each time.

    Args:
        place: Where the database is.
        wire: Where it is told: whether somebody died, how many reports there were before, after the death and after
            the batch was sent again, and whether that was heard to be a repetition.
    """
    for point in count(1):
        reports = [bytes(ORACLE.client().report(1)) for _ in range(EACH)]
        before = counted(place)
        child = os.fork()
        if not child:
            send(place, point, reports, dies_at=point)
            os._exit(0)
        is_dead = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        after = counted(place)
        again = send(place, point, reports)
        wire.send((is_dead, before, after, counted(place), again.is_repeated))
        if not is_dead:
            return


def counted(place):
    with closing(Database(place, now=Clock())) as database:
        return len(Collections(database).counted(VOTES))


def send(place, number, reports, dies_at=0):
    """Send a batch; at a point of it the process is killed, as the system does: it can finish nothing."""
    with closing(Database(place, now=Clock())) as database:
        passed = count(1)

        def pass_by(*_):
            if next(passed) == dies_at:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(database._writer, "before_cursor_execute", pass_by)
        event.listen(database._writer, "commit", pass_by)
        batch = f"2026-11-27.batch-number-{number:04}"
        received = Collections(database).receive(VOTES, reports, batch=batch, body=b"".join(reports))
        pass_by()
        return received
