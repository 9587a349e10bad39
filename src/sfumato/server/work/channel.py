"""What gateways and the process with the data say to each other, over a socket that only their user may open.

A gateway first enters the queue of a dataset, and charges only once it is in: so nothing is charged that nobody will
run. Then it hands over one ticket, and hears only that its answer is in the ledger, or why there is none. A message is
a line of JSON. Tickets are sealed with the ledger's key, which the process that runs them verifies.
"""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sfumato.errors import (
    BusyError,
    EngineError,
    LedgerError,
    ReservationError,
    SfumatoError,
    TicketError,
    UnavailableError,
)
from sfumato.ledger.keeping.key import LedgerKey

if TYPE_CHECKING:
    Pipe: TypeAlias = Connection[Any, Any]
else:  # which takes no arguments when it runs
    Pipe = Connection

MAX_MESSAGE: Final = 2**24
"""How many bytes a message may have; plans of a thousand columns have some hundred thousand."""

RETRY_AFTER: Final = 2
"""After how many seconds whoever found a queue full may try again."""

_FIRST_PAUSE: Final = 0.01
PATIENCE: Final = 3.0
"""For how many seconds a worker that does not listen may just be starting again."""

_ERRORS: Final[Mapping[str, tuple[Callable[..., SfumatoError], tuple[str, ...]]]] = {
    "UnavailableError": (UnavailableError, ()),
    "EngineError": (EngineError, ("engine", "phase")),
    "TicketError": (TicketError, ("part", "requirement")),
    "ReservationError": (ReservationError, ("reservation", "state")),
    "LedgerError": (LedgerError, ("ledger", "requirement")),
}
"""The errors that cross, with what they say; their texts are made of that anew."""


def written(message: Mapping[str, Any]) -> bytes:
    """A message as bytes."""
    return json.dumps(message).encode()


def read(content: bytes) -> dict[str, Any]:
    """The message in some bytes.

    Raises:
        TicketError: They hold none.
    """
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise TicketError("message", "must be an object of JSON")
    return message


def sealed(key: LedgerKey, purpose: str, *parts: str) -> dict[str, Any]:
    """A message that only who has the ledger's key can write."""
    return {"purpose": purpose, "parts": list(parts), "seal": key.seal(f"worker: {purpose}", *parts)}


def opened(message: Mapping[str, Any], key: LedgerKey) -> tuple[str, tuple[str, ...]]:
    """The purpose and the parts of a message that `sealed` made.

    Raises:
        TicketError: Somebody else made it.
    """
    purpose, parts, seal = message.get("purpose"), message.get("parts"), message.get("seal")
    texts = tuple(parts) if isinstance(parts, list) and all(isinstance(one, str) for one in parts) else None
    if texts is None or not isinstance(purpose, str) or not isinstance(seal, str):
        raise TicketError("message", "must have a purpose, parts and a seal")
    if not key.verifies(seal, f"worker: {purpose}", *texts):
        raise TicketError("seal", "must be made with the key of this ledger")
    return purpose, texts


def failure(error: SfumatoError) -> dict[str, Any]:
    """An error as a message; of a class that does not cross only that the data is unavailable."""
    for name, (kind, attributes) in _ERRORS.items():
        if type(error) is kind:
            return {"failed": name, **{attribute: str(getattr(error, attribute)) for attribute in attributes}}
    if isinstance(error, LedgerError):
        return {"failed": "LedgerError", "ledger": error.ledger, "requirement": error.requirement}
    return {"failed": "UnavailableError"}


class Line:
    """One gateway's way to the process with the data, for one query.

    Args:
        socket: Where that process listens.
        dataset: The dataset that is asked.
        patience: For how many seconds a socket that nobody listens on is tried again.
    """

    def __init__(self, socket: Path, dataset: str, *, patience: float = PATIENCE) -> None:
        self._socket, self._dataset, self._patience = socket, dataset, patience
        self._connection: Pipe | None = None

    def enter(self) -> None:
        """Take a place in the queue of the dataset; nothing happens if this line has one.

        Raises:
            BusyError: Too many wait.
            UnavailableError: The process with the data is not there, or cannot open the dataset.
        """
        if self._connection is not None:
            return
        self._connection = self._connected()
        answer = self._heard({"enter": self._dataset})
        if answer.get("in") is True:
            return
        self.close()
        if answer.get("busy") is True:
            raise BusyError("queries wait for this dataset", RETRY_AFTER)
        raise UnavailableError

    def run(
        self, message: Mapping[str, Any], *, meanwhile: Callable[[], object] = lambda: None, every: float | None = None
    ) -> dict[str, Any]:
        """Hand over a sealed message, and wait for what came of it.

        Args:
            message: The message.
            meanwhile: Called again and again as long as nothing came.
            every: After how many seconds each time; None for never.

        Raises:
            SfumatoError: It failed there, or that process is gone; what was charged stays charged.
        """
        self.enter()
        answer = self._heard(message, meanwhile, every)
        failed = _ERRORS.get(str(answer.get("failed")))
        if failed is None:
            return answer
        kind, attributes = failed
        raise kind(*(str(answer.get(name)) for name in attributes))

    def close(self) -> None:
        """Leave the queue."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.close()
            self._connection = None

    def _connected(self) -> Pipe:
        end, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            try:
                return Client(str(self._socket), family="AF_UNIX")
            except OSError:
                if time.monotonic() >= end:
                    raise UnavailableError from None
            time.sleep(pause)
            pause *= 2

    def _heard(
        self, message: Mapping[str, Any], meanwhile: Callable[[], object] = lambda: None, every: float | None = None
    ) -> dict[str, Any]:
        """What the process with the data says to a message."""
        if self._connection is None:
            raise UnavailableError
        try:
            self._connection.send_bytes(written(message))
            while not self._connection.poll(every):
                meanwhile()
            return read(self._connection.recv_bytes(MAX_MESSAGE))
        except (EOFError, OSError):
            self.close()
            raise UnavailableError from None
