"""Plans of fits, made by another process: this one never loads what models need, and nothing holds it up.

What is planned there is no more than a claim: the ledger charges a fit by its event and its cost, which has to cover
that event, and the process with the data plans the order again before it reads a row.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from threading import Lock, Timer
from typing import Any, Final

from sfumato.errors import BusyError, ParameterError, TicketError
from sfumato.session.training.ordered import DeclaredRows, FitOrder, OrderedFit
from sfumato.session.wire.fits import decode_fit, encode_rows

SECONDS: Final = 20.0
"""For so long one fit may be planned."""

SECONDS_TO_START: Final = 120.0
"""For so long that process may load what it needs."""

_RETRY_AFTER: Final = 5
_COMMAND: Final = (sys.executable, "-m", "sfumato.learn.ordering.planner")


class Planner:
    """A process that plans fits: started when it is needed, and again after it died or took too long.

    Args:
        seconds: For so long one fit may be planned.
        command: What is started.
    """

    def __init__(self, *, seconds: float = SECONDS, command: tuple[str, ...] = _COMMAND) -> None:
        self._seconds, self._command = seconds, command
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def plan(self, order: FitOrder, rows: DeclaredRows) -> OrderedFit:
        """The fit of an order, for rows that are declared so.

        Raises:
            ParameterError: The order cannot be planned, or not in time; or models are not installed here.
            BusyError: Others are planned, or the process ended.
        """
        if find_spec("sklearn") is None:
            raise ParameterError("fit", order.estimator, "needs the extra `learn` on the server; tell its operators")
        if not self._lock.acquire(timeout=SECONDS_TO_START):
            raise BusyError("fits are planned", _RETRY_AFTER)
        try:
            asked = json.dumps([order.estimator, order.arguments, encode_rows(rows)])
            found = _read(json.loads(self._heard(f"{asked}\n")))
        except (ValueError, TypeError, LookupError, OSError, TicketError):  # it ended, by itself or as it took too long
            self._end()
            requirement = f"takes more than {self._seconds:g} s or too much memory to plan; ask for a smaller model"
            raise ParameterError("fit", order.estimator, requirement) from None
        finally:
            self._lock.release()
        if isinstance(found, ParameterError):
            raise found
        if found.order != order:
            raise ParameterError("fit", order.estimator, "was planned for another order")
        return found

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _heard(self, line: str) -> str:
        """What the process answers to a line; it is started first where there is none.

        Raises:
            ValueError: It ended.
        """
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(  # noqa: S603 # this package
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
            _line(self._process, SECONDS_TO_START)  # which says that it is ready
        if self._process.stdin is None:
            raise ValueError("a process without an input")
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return _line(self._process, self._seconds)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _read(answer: Any) -> OrderedFit | ParameterError:
    """What an answer says: a fit, or what is wrong with its order."""
    if not isinstance(answer, dict):
        raise TypeError("an answer is an object")
    if "fit" in answer:
        return decode_fit(answer["fit"])
    return ParameterError(*(str(answer[part]) for part in ("name", "value", "requirement")))


def _line(process: "subprocess.Popen[str]", seconds: float) -> str:
    """The next line of a process, which is ended if it takes longer.

    Raises:
        ValueError: It ended.
    """
    if process.stdout is None:
        raise ValueError("a process without an output")
    late = Timer(seconds, process.kill)
    late.start()
    try:
        line = process.stdout.readline()
    finally:
        late.cancel()
    if not line:
        raise ValueError("it ended")
    return line
