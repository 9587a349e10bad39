"""An owner's part in a federation: round by round it sends, waits, and moves its own copy of the public model.

Proof: proofs/client/federations.md.
"""

import os
import re
import time
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from sfumato.client.relayed import PHASES, FederationPlace, RelayedRun, Sealing, read_result, written_result
from sfumato.errors import ParameterError, StateError
from sfumato.local.parties.party_sum import PartySum
from sfumato.noise.entropy import random_bytes

_LINE: Final = re.compile(r"(began [0-9]+|revealed) [0-9]+")

_EVERYBODY: Final = -1
"""The sender of a result, which is the same from everybody."""


@runtime_checkable
class SharedPlan(Protocol):
    """What is asked of a `SharedFederatedPlan`, whose room needs torch."""

    @property
    def noise(self) -> Any:
        """The noise of a round, in shares."""

    @property
    def rounds(self) -> int:
        """How many rounds there are."""

    @property
    def public(self) -> Any:
        """The public model."""

    def document(self) -> dict[str, str]:
        """All that owners have to agree on."""

    def contribution(self, owner: Any) -> Any:
        """What an owner adds to a round."""

    def move(self, total: Any, *, shares: int) -> None:
        """Move the public model."""

    def result(self) -> Any:
        """What was released."""


@runtime_checkable
class PayingOwner(Protocol):
    """An owner whose account is charged before it takes part, as `SessionOwner` is."""

    def admitted(self, plan: Any, participation: str) -> tuple[Any, Any]:
        """Charge the account, once for each participation, and give the owner with its samples."""


class Relay(Protocol):
    """What passes messages on."""

    def news(self) -> Any:
        """How far the federation is, and what this owner has sent."""

    def send(self, place: FederationPlace, message: str) -> bool:
        """Send one's message of a phase; whether it was taken."""

    def messages(self, place: FederationPlace) -> tuple[dict[int, str] | None, FederationPlace]:
        """The messages of a phase, if it is closed, and where the federation is."""

    def finish(self, number: int, result: str) -> bool:
        """Send the noisy sum of a round; whether it was taken."""

    def result(self, number: int) -> str | None:
        """The noisy sum of a round."""


class FederationJournal:
    """What an owner has begun and revealed in a federation, on its disk before it does.

    Args:
        path: The file; it is made if it is missing.
        federation: What tells the federation from all others.

    Attributes:
        name: What tells this journal from all others, as that of the same federation on another disk.

    Raises:
        ParameterError: The file cannot be read or made.
        StateError: It is of another federation, or no journal.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "hospitals.journal"
        ...     FederationJournal(path, "hospitals").reveals(0)
        ...     FederationJournal(path, "hospitals").may_begin(0, 1)
        False
    """

    def __init__(self, path: Path, federation: str) -> None:
        self._path, self._lines = path, set[str]()
        try:
            lines = path.read_text("utf-8").splitlines() if path.exists() else []
            if not lines:
                lines = [f"{federation} {random_bytes(16).hex()}"]
                self._append(lines[0])
        except (OSError, UnicodeError):
            raise ParameterError("journal", str(path), "must be a file that can be read and written") from None
        self.name = lines[0]
        if self.name.rpartition(" ")[0] != federation or not all(_LINE.fullmatch(line) for line in lines[1:]):
            raise StateError(str(path), "is of another federation, or damaged; each federation has a file of its own")
        self._lines = set(lines[1:])

    def may_begin(self, number: int, attempt: int) -> bool:
        """Whether nothing was sent in an attempt at a round, and nothing revealed in the round."""
        return not {f"revealed {number}", f"began {number} {attempt}"} & self._lines

    def begins(self, number: int, attempt: int) -> None:
        """Note an attempt, before anything is sent in it."""
        self._append(f"began {number} {attempt}")

    def reveals(self, number: int) -> None:
        """Note a round, before anything is revealed in it.

        Raises:
            StateError: It was noted before: a second sum would not be paid for.
        """
        if f"revealed {number}" in self._lines:
            requirement = f"says that round {number} was revealed before; a second sum would not be paid for"
            raise StateError(str(self._path), requirement)
        self._append(f"revealed {number}")

    def _append(self, line: str) -> None:
        self._lines.add(line)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())


class _GoneError(Exception):
    """The attempt is over."""


class OwnersPart:
    """What one owner does in all rounds; see `RemoteFederation.take_part`, whose arguments these are.

    Args:
        relay: What passes messages on.
        plan: What owners agreed on.
        owner: Whose samples are trained on.
        agreed: The sum of a round.
        secret: What owners know and the server does not.
        number: Which party this is.
        history: What tells the federation from all others.
        journal: What this owner has begun and revealed.
        training_seconds: A first message is sent no sooner than this after its round began.
        pause: Seconds between two looks.
    """

    def __init__(
        self,
        relay: Relay,
        plan: SharedPlan,
        owner: Any,
        *,
        agreed: PartySum,
        secret: bytes,
        number: int,
        history: bytes,
        journal: FederationJournal,
        training_seconds: float,
        pause: float,
    ) -> None:
        Sealing(secret, history)  # refuses a short one
        self._relay, self._plan, self._owner, self._agreed = relay, plan, owner, agreed
        self._secret, self._number, self._history, self._journal = secret, number, history, journal
        self._training_seconds, self._pause = training_seconds, pause
        self._value: Any = None

    def run(self) -> None:
        """All rounds, those that are over first."""
        at = 0
        while at < self._plan.rounds:
            result = self._relay.result(at)
            if result is None:
                self._try_round(at)
                continue
            if result:  # else it was given up
                found = read_result(Sealing(self._secret, self._history).opened("result", _EVERYBODY, result))
                if found is not None:
                    totals, shares = found
                    self._plan.move(totals, shares=shares)
            self._history = sha256(self._history + result.encode()).digest()
            self._value = None
            at += 1

    def _try_round(self, at: int) -> None:
        """One attempt at a round, or the rest of one that is under way."""
        news = self._relay.news()
        place: FederationPlace = news.place
        if place.round != at:
            return
        is_there = place.phase == PHASES[0] and not news.sent and self._journal.may_begin(at, place.attempt)
        if is_there:
            self._value = self._trained() if self._value is None else self._value
            self._journal.begins(at, place.attempt)
        run = RelayedRun(
            self._agreed, self._number, self._secret, self._history + place.attempt.to_bytes(8)
        )  # fmt: skip
        try:
            for phase in PHASES:
                here = FederationPlace(round=at, attempt=place.attempt, phase=phase)
                if is_there:
                    is_there = self._send(run, here)
                run.take(phase, self._received(here))
        except _GoneError:
            return
        written = written_result(run.total())
        self._relay.finish(at, Sealing(self._secret, self._history).sealed("result", _EVERYBODY, written))

    def _trained(self) -> Any:
        """What this owner adds, once so much time has passed as was agreed on."""
        began = time.monotonic()
        value = self._plan.contribution(self._owner)
        time.sleep(max(0.0, began + self._training_seconds - time.monotonic()))
        return value

    def _send(self, run: RelayedRun, here: FederationPlace) -> bool:
        """Send this owner's message; False where it comes too late, so that the owner has dropped out."""
        if here.phase == PHASES[-1]:
            self._journal.reveals(here.round)
        return self._relay.send(here, run.message(here.phase, self._value))

    def _received(self, here: FederationPlace) -> dict[int, str]:
        """The messages of a phase, once it is closed.

        Raises:
            _GoneError: The attempt is over.
        """
        while True:
            found, now = self._relay.messages(here)
            if found is not None:
                return found
            if (now.round, now.attempt) != (here.round, here.attempt):
                raise _GoneError
            time.sleep(self._pause)
