"""The state of a stream that outlives its process, of which the ledger knows the one live copy.

A ledger's reservation has a lease, a text that it records with each renewal. Here it is the fingerprint of the live
state, made with the ledger's key. A state is on the disk first, with the fingerprint of the one before it; then the
ledger passes the lease on, from that one to this one, or refuses; only then does a value leave. So whoever holds a copy
that is older than what left finds that the ledger names another state.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Final

from sfumato.errors import ReservationError, SfumatoError, StateError, UnavailableError
from sfumato.ledger.core.entry import Charge
from sfumato.ledger.core.reservations import Asked, Reservation
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event
from sfumato.streams.keeping.account import Payer
from sfumato.streams.keeping.state_file import LiveState, StateFile, make_state_file

_STATE: Final = "state"
_PRINCIPAL: Final = "sfumato.streams"
_OLD: Final = (
    "is not the state that the ledger names: it is an old copy, was changed, or another process went on with it."
    " Only the last state goes on; restore the file that was used last"
)

_ELSEWHERE: Final = "is of another ledger; use a session on the ledger that was charged for it"
_ENDED: Final = "was changed, or ended when its data was suspended; make a new one, at its own cost"


class StreamState(ABC):
    """What a stream keeps from one commit to the next, and the reservation that it was charged under.

    Attributes:
        payer: Who was charged.
        reservation: The charge, for all that the stream will ever release.
        content: The committed content; empty before the first commit.
        is_finished: Whether nothing more will be committed.
        is_lasting: Whether it outlives the process, so that a commit is worth what it costs.
    """

    is_lasting: ClassVar[bool] = False
    payer: Payer
    reservation: Reservation
    content: bytes = b""
    is_finished: bool = False

    @abstractmethod
    def rows(self) -> Iterator[bytes]:
        """The rows of all commits, in order; verified where they come from a file."""

    @abstractmethod
    def commit(self, content: bytes, row: bytes = b"") -> None:
        """Keep a content, and a row behind those before. What depends on it may leave afterwards, and not before.

        Raises:
            StateError: Another process went on with the state, or it cannot be written.
            UnavailableError: The account is suspended; nothing was kept.
            LedgerError: The ledger failed.
        """

    def finish(self, answer: dict[str, Json]) -> None:
        """Record in the ledger that nothing more will be released: the reservation has its answer."""
        key = f"stream {self.reservation.request}"
        self.payer.ledger.commit(self.reservation, key=key, answer={**answer, _STATE: self.reservation.lease})
        self.is_finished = True

    def suspend(self) -> None:
        """Suspend the data of the account, because reading events failed; its owner has to acknowledge that.

        The reservation ends with it: the stream releases nothing more.
        """
        self.payer.ledger.suspend_account(self.reservation)

    @abstractmethod
    def close(self) -> None:
        """Let go of the state; it may be opened again if it lasts."""

    def require_available(self) -> None:
        """Refuse to go on while the account is suspended, before anything is drawn.

        Raises:
            UnavailableError: The account, or a parent, is suspended.
        """
        if self.payer.ledger.is_suspended(self.payer.account):
            raise UnavailableError


class PassingState(StreamState):
    """A state that ends with its process: nothing is written, and nothing can be restored.

    Args:
        payer: Who is charged.
        event: What the stream will release in all.
        charge: Its cost.
        parameters: The stream in full, for the record.
    """

    def __init__(self, payer: Payer, *, event: Event, charge: Charge, parameters: Json) -> None:
        self.payer = payer
        question = _hashed(json.dumps(parameters, sort_keys=True))
        self.reservation = payer.reserve(event, charge, question=question, asked=Asked())
        self._is_over = False

    def rows(self) -> Iterator[bytes]:
        """None: rows are for who opens the state again."""
        return iter(())

    def commit(self, content: bytes, row: bytes = b"") -> None:  # noqa: ARG002 # nobody opens it again
        """Keep a content in memory."""
        self.require_available()
        self.content = content

    def close(self) -> None:
        """Record in the ledger that nothing more will be released; it stays charged."""
        if not self._is_over and not self.is_finished:
            self._is_over = True
            with suppress(SfumatoError):  # the ledger is closed, or the account was suspended for this stream
                self.payer.ledger.abandon(self.reservation, reason="it was closed before its last release")


class DurableState(StreamState):
    """A state in a file, which any process can go on with, and only one at a time.

    If there is no file it is made, and the stream is charged, once, wherever a process stops on the way. If there is
    one it is continued: nothing is charged.

    **Guarantee**: no content that was committed is ever continued twice, and none is lost once something that depends
    on it could leave: an old copy, a changed file and a second process are refused.
    Proof: proofs/streams/counting/counter.md.

    Args:
        path: The file.
        payer: Who is charged; its ledger lasts as the file does.
        event: What the stream will release in all.
        charge: Its cost.
        parameters: The stream in full: a file of another one is refused.
        must_exist: Whether a missing file is an error, so that a mistyped path charges nothing.

    Raises:
        StateError: It is of another stream or ledger, an old copy, damaged, or open elsewhere.
        BudgetExceededError: Too little budget remains for a new one; nothing was spent.
    """

    is_lasting: ClassVar[bool] = True

    def __init__(
        self, path: Path, payer: Payer, *, event: Event, charge: Charge, parameters: Json, must_exist: bool = False
    ) -> None:
        self.payer, self._path = payer, path
        self._is_over = False
        if not path.exists() and not must_exist:
            payer.require_no_window()
            make_state_file(path, json.dumps({"name": random_bytes(16).hex(), "stream": parameters}, sort_keys=True))
        self._file = StateFile(path)
        try:
            self._require_same(parameters)
            self._live = self._file.read()
            self.reservation = self._reserved(event, charge)
            self._take_over()
        except BaseException:
            self._file.close()
            raise

    def rows(self) -> Iterator[bytes]:
        """The rows of all commits.

        Raises:
            StateError: The log is not as it was written.
        """
        head = ""
        for row in self._file.rows():
            head = _hashed(head, row)
            yield row
        if head != self._live.head:
            raise StateError(str(self._path), "its log is damaged or was changed; the stream cannot go on")

    def commit(self, content: bytes, row: bytes = b"") -> None:
        """Keep a content: on the disk first, then in the ledger."""
        if self._is_over:
            raise StateError(str(self._path), "a commit failed before; open the stream again")
        self.require_available()
        before = self._live
        head = _hashed(before.head, row) if row else before.head
        self._pass_on(self._next(head=head, content=content), row)
        self.content = content

    def close(self) -> None:
        """Let go of the file."""
        self._is_over = True
        self._file.close()

    def _require_same(self, parameters: Json) -> None:
        if json.loads(self._file.header)["stream"] != json.loads(json.dumps(parameters)):
            raise StateError(str(self._path), "is of another stream; give the parameters that it was made with")

    def _reserved(self, event: Event, charge: Charge) -> Reservation:
        """The charge of this state: made now if it is new, else found."""
        header = self._file.header
        asked = Asked(principal=_PRINCIPAL, idempotency_key=json.loads(header)["name"], body=_hashed(header))
        try:
            if self._live.number and self.payer.ledger.asked_before(asked) is None:
                raise StateError(str(self._path), _ELSEWHERE)
            return self.payer.reserve(event, charge, question=_hashed(header), asked=asked)
        except ReservationError:
            raise StateError(str(self._path), _ENDED) from None

    def _take_over(self) -> None:
        """Make this process the owner: whoever had the state before, or has a copy of it, is refused from now on."""
        ledger, fingerprint = self.payer.ledger, self._fingerprint(self._live)
        flight = ledger.flight_of(self.reservation.request)
        if flight is None:
            answer = ledger.answer_of(self.reservation)
            lease = answer.get(_STATE) if isinstance(answer, dict) else None
        else:
            lease = flight.lease
            self.reservation = replace(self.reservation, lease=flight.lease)
            if self._live.number and lease == self._live.previous:  # it stopped between the disk and the ledger
                self._renew(fingerprint)
                lease = fingerprint
        if lease != fingerprint:
            raise StateError(str(self._path), _OLD)
        self.is_finished = flight is None
        if not self.is_finished:
            self._pass_on(self._next(owner=random_bytes(16).hex()), b"")
        self.content = self._live.content

    def _next(self, **changes: Any) -> LiveState:
        """The state after the live one."""
        live = self._live
        return replace(live, number=live.number + 1, previous=self._fingerprint(live), **changes)

    def _pass_on(self, state: LiveState, row: bytes) -> None:
        """Put a state in the place of the live one: on the disk, then in the ledger."""
        self._is_over = True  # until all of it is done: what stops half-way is found out when the file is opened again
        self._file.write(state, row)
        self._renew(self._fingerprint(state))
        self._live = state
        self._is_over = False

    def _renew(self, fingerprint: str) -> None:
        try:
            self.reservation = self.payer.ledger.renew(self.reservation, lease=fingerprint)
        except ReservationError:
            raise StateError(str(self._path), _OLD) from None

    def _fingerprint(self, state: LiveState) -> str:
        """What the ledger calls a state by; of the one that a file is made with, nothing yet."""
        if not state.number:
            return ""
        content = _hashed(state.content)
        parts = (self._file.header, state.number, state.owner, state.previous, state.head, content)
        return self.payer.ledger.key.fingerprint("stream", *parts)


def _hashed(*parts: str | bytes) -> str:
    """SHA-256 of the hashes of some parts, in hex."""
    encoded = (part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts)
    return sha256(b"".join(sha256(part).digest() for part in encoded)).hexdigest()
