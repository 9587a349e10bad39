"""Which query a process is running, for whoever opens the data next: if it died, that may have been because of a row.

Whoever can make a process die can read rows, so a death is told from no other failure: the data is suspended, at the
end of a time class. The mark is in a file, which outlives the process, its worker and their supervisor, however they
end. The file is locked meanwhile, which the system undoes at a death: so of all processes with one dataset, also those
whose worker is gone, one runs queries at a time.
"""

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sfumato.errors import SfumatoError
from sfumato.ledger.core.reservations import Reservation
from sfumato.ledger.keeping.files import locked
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.server.work.pacing import OverlongError, Pace

_LOG: Final = logging.getLogger("sfumato.owner")
_LENGTH: Final = 200
"""How many bytes a mark has: more than its text, and few enough to be written at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A query that a process is running.

    Attributes:
        request: The name of its reservation.
        seconds: Its time class.
        since: When it was begun, by the clock of the system.
    """

    request: str
    seconds: float
    since: float


class Mark:
    """The file that says what is being run on a dataset.

    Args:
        path: The file; it is made, and stays.
        longest: How many seconds a query may take.
    """

    def __init__(self, path: Path, *, longest: float) -> None:
        self._path, self._longest = path, longest

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other process runs anything on the dataset."""
        with locked(self._path):
            yield

    @contextmanager
    def of(self, request: str, seconds: float) -> Iterator[None]:
        """Inside, which has to be alone, a query is marked as running.

        The mark is taken away if it was answered, or failed as a query fails; whatever else ends it is as a death.
        """
        running = Running(request=request, seconds=seconds, since=time.time())
        self._write(json.dumps(asdict(running)))
        try:
            yield
        except SfumatoError:
            self._write("")
            raise
        self._write("")

    def settle(self, ledger: str) -> None:
        """Suspend the data of a query that was running when its process died, if there is one without an answer.

        Args:
            ledger: Where the ledger is.

        Raises:
            SfumatoError: The ledger cannot be written; then nothing may be run.
        """
        with self.alone():
            running = self._left()
            if running is not None:
                with open_ledger(ledger, must_exist=True) as opened:
                    self._suspend(opened, running)
                self._write("")

    def _suspend(self, ledger: Ledger, running: Running) -> None:
        flight = ledger.flight_of(running.request)
        if flight is None:  # it was answered, or failed as queries fail
            return
        self._wait(running)
        account = flight.account
        reservation = Reservation(
            account=account, request=running.request, lease=flight.lease, spent=ledger.spent(account),
            left=ledger.remaining(account),
        )  # fmt: skip
        ledger.suspend_account(reservation)
        _LOG.error("account %s is suspended: the process that ran a query died", account)

    def _left(self) -> Running | None:
        """What a process has left here; what is no whole mark was left before anything was run."""
        try:
            return Running(**json.loads(self._path.read_text("ascii")))
        except (ValueError, TypeError):
            return None

    def _wait(self, running: Running) -> None:
        """Wait until an answer could have been there."""
        elapsed = max(0.0, time.time() - running.since)
        try:
            Pace(running.seconds, longest=self._longest, elapsed=elapsed).wait()
        except OverlongError:
            return

    def _write(self, text: str) -> None:
        """Write over what is there: a file that is cut first can wait for the disk."""
        descriptor = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(descriptor, text.encode("ascii").ljust(_LENGTH), 0)
        finally:
            os.close(descriptor)
