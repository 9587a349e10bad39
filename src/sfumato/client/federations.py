"""Federations over a server: owners train one network together, and the server passes on what it cannot read.

Proof: proofs/client/federations.md.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from sfumato.client.calls import Exchange
from sfumato.client.curator import TIMEOUT, RemoteCurator, address_of
from sfumato.client.problems import TRIES, Answer
from sfumato.client.relayed import FederationPlace
from sfumato.client.taking_part import FederationJournal, OwnersPart, PayingOwner, SharedPlan
from sfumato.client.tokens import token_for
from sfumato.errors import ParameterError
from sfumato.ledger.keeping.files import locked
from sfumato.local.parties.party_sum import PartySum
from sfumato.local.parties.secure_sum import SecureSum
from sfumato.numeric.arguments import listed, of_kind, path_of, whole
from sfumato.numeric.rationals import Number, nonnegative, positive

_STEPS: Final = 1 << 20
"""The largest number of an update in lattice steps, by its norm."""

_LONGEST: Final = 2_592_000
"""Seconds of 30 days."""

_PER_NUMBER, _PER_PARTY, _AROUND = 11, 256, 1_000
"""Characters of a message: 8 bytes in base64 for a number, parts of keys for a party, and what is around them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationNews:
    """A federation as its server shows it to one of its people.

    Attributes:
        parties: The people who take part, by their numbers.
        rounds: How many rounds there are.
        least: How many of them a sum needs.
        plan: What they agreed on.
        party: One's own number; None for who only looks.
        sent: What one has sent in the attempt under way.
        place: How far it is.
    """

    parties: tuple[str, ...]
    rounds: int
    least: int
    plan: Mapping[str, str]
    party: int | None
    sent: tuple[str, ...]
    place: FederationPlace


def open_federation(
    url: str,
    name: str,
    plan: SharedPlan,
    owners: Sequence[str],
    *,
    max_colluders: int = 1,
    seconds: Number = 600,
    token: str | None = None,
    timeout: Number = TIMEOUT,
    insecure: bool = False,
) -> FederationNews:
    """Have a server pass on the messages of a federation; for its admins.

    Args:
        url: The address of the server.
        name: What the federation is called there.
        plan: What owners agreed on, before its first round.
        owners: The people of the server who take part, each with an API key with the scopes `read` and `report`.
        max_colluders: How many of them may tell others, or the server, what they know. They count among the plan's
            `max_dropouts`.
        seconds: For how long a phase of a round waits for those who are missing.
        token: The API key of an admin; default: as for `connect`.
        timeout: Seconds that an answer may take.
        insecure: As for `connect`.

    Raises:
        ParameterError: The plan is none, has other numbers of owners, or cannot be kept secret so; or the name is
            taken.
        CuratorError: The server cannot be reached.
    """
    address = address_of(url, insecure=insecure)
    agreed = _agreed(plan, max_colluders)
    names = [of_kind(one, "owners", str, "the names of people") for one in listed(owners, "owners")]
    if len(names) != agreed.parties:
        raise ParameterError("owners", f"{len(names)} names", f"must be {agreed.parties}, as the plan says")
    longest = max(_PER_NUMBER * agreed.numbers, _PER_PARTY * agreed.parties) + _AROUND
    body: Any = {
        "name": of_kind(name, "name", str, "a text"), "parties": names, "rounds": plan.rounds,
        "least": agreed.least_shares, "seconds": _seconds(positive(seconds, "seconds"), "seconds"),
        "message_characters": longest, "plan": _document(plan, agreed),
    }  # fmt: skip
    curator = RemoteCurator(address, token_for(address, token), timeout=timeout)
    try:
        return curator.send(Exchange(path="federations", method="POST", body=body, read=_news))
    finally:
        curator.close()


def join_federation(
    url: str, name: str, *, token: str | None = None, timeout: Number = TIMEOUT, insecure: bool = False
) -> "RemoteFederation":
    """A federation that a server knows, for one of its owners.

    Args:
        url: The address of the server: ``"https://curator.example.org"``.
        name: What the federation is called there.
        token: The API key of the owner; default: as for `connect`.
        timeout: Seconds that an answer may take.
        insecure: As for `connect`.

    Raises:
        ParameterError: The address or the key cannot be used.
    """
    address = address_of(url, insecure=insecure)
    called = of_kind(name, "name", str, "a text")
    return RemoteFederation(RemoteCurator(address, token_for(address, token), timeout=timeout), called)


class RemoteFederation:
    """A federation that a server passes messages for.

    The server sees who takes part when, and the noisy sums, which are public. It is trusted with neither samples nor
    updates, nor to follow the protocol.

    **Guarantee**: that of `SharedFederatedPlan`, whatever the server does, if nobody who has the owners' secret tells
    it to the server; see `take_part`. Proof: proofs/client/federations.md.

    Args:
        curator: The server.
        name: What the federation is called there.
    """

    def __init__(self, curator: RemoteCurator, name: str) -> None:
        self._curator, self.name = curator, name
        self._path: Final = f"federations/{quote(name, safe='')}"

    def news(self) -> FederationNews:
        """What was agreed on, and how far the federation is."""
        return self._curator.send(Exchange(path=self._path, read=_news, tries=TRIES))

    def take_part(
        self,
        plan: SharedPlan,
        owner: Any,
        *,
        secret: bytes,
        journal: str | Path,
        max_colluders: int = 1,
        training_seconds: Number = 0,
        pause: Number = 1,
    ) -> Any:
        """Take part in all rounds, and move the plan's model by each noisy sum; it returns after the last round.

        A program that was ended takes part again by a new plan with the same model at its start. It catches up with
        the rounds that are over, drops out of the one under way, and goes on with the next.

        Args:
            plan: What owners agreed on, whose model is as it was at the start.
            owner: Whose samples are trained on: an `Owner`, or a `SessionOwner`, whose account is charged for all
                rounds before anything is sent, once for each journal.
            secret: At least 16 random bytes that all owners know, and the server does not.
            journal: A file of this owner, in which each round is noted before anything is revealed in it. So none is
                released twice, also after a restart, whatever the server says. One program at a time has it.
            max_colluders: As it was opened.
            training_seconds: An owner's first message of a round is sent no sooner than this after it began: choose
                more than training takes, so that its time says nothing of the samples.
            pause: Seconds between two looks at what others have sent.

        Returns:
            What `plan.result()` says: the model, its rounds, its guarantee.

        Raises:
            ParameterError: The plan is not the one that was opened, or has run; whoever asks takes no part; or a
                message was changed.
            BudgetExceededError: The account of the owner has too little left; nothing was charged or sent.
            StateError: The journal is none of this federation, or the server repeats a round.
            CuratorError: The server cannot be reached, or does not know the federation.
        """
        agreed, news = _agreed(plan, max_colluders), self.news()
        if plan.public.rounds:
            raise ParameterError("plan", "one that ran", "must be as at its start; make it again, and take part again")
        if news.party is None:
            raise ParameterError("token", "…", "must be of one of the owners; it is not shown")
        _require_same(_document(plan, agreed), news)
        history = _start(self.name, news)
        path = path_of(journal, "journal")
        seconds = _seconds(nonnegative(training_seconds, "training_seconds"), "training_seconds")
        with _alone(path):
            noted = FederationJournal(path, history.hex())
            if isinstance(owner, PayingOwner):  # before anything is sent
                owner, _ = owner.admitted(plan, noted.name)
            OwnersPart(
                self, plan, owner, agreed=agreed, secret=secret, number=news.party, history=history,
                journal=noted, training_seconds=seconds,
                pause=_seconds(positive(pause, "pause"), "pause"),
            ).run()  # fmt: skip
        return plan.result()

    def send(self, place: FederationPlace, message: str) -> bool:
        """Send one's message of a phase; whether it was taken."""
        body = {"round": place.round, "attempt": place.attempt, "phase": place.phase, "message": message}
        return self._curator.send(self._posted("messages", body))

    def messages(self, place: FederationPlace) -> tuple[dict[int, str] | None, FederationPlace]:
        """The messages of a phase, if it is closed, and where the federation is."""
        parameters = {"round": str(place.round), "attempt": str(place.attempt), "phase": place.phase}
        return self._curator.send(
            Exchange(path=f"{self._path}/messages", parameters=parameters, read=_messages, tries=TRIES)
        )  # fmt: skip

    def finish(self, number: int, result: str) -> bool:
        """Send the noisy sum of a round; whether it was taken."""
        return self._curator.send(self._posted("results", {"round": number, "result": result}))

    def result(self, number: int) -> str | None:
        """The noisy sum of a round: None before it is over, empty if it ended without one."""
        return self._curator.send(Exchange(path=f"{self._path}/results/{number}", read=_result, tries=TRIES))

    def close(self) -> None:
        """Close all connections."""
        self._curator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteFederation {self.name} at {self._curator.address}>"

    def _posted(self, what: str, body: Any) -> Exchange[bool]:
        return Exchange(
            path=f"{self._path}/{what}", method="POST", body=body, tries=TRIES,
            read=lambda answer: bool(answer.document()["taken"]),
        )  # fmt: skip


def _seconds(value: Fraction, name: str) -> float:
    if value > _LONGEST:
        raise ParameterError(name, "a long time", f"must be at most {_LONGEST:,} seconds")
    return float(value)


@contextmanager
def _alone(journal: Path) -> Iterator[None]:
    """Inside, no other program has the journal.

    Raises:
        ParameterError: Another one has it, or it cannot be made.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(journal.with_name(f"{journal.name}.lock"), patience=0))
        except (OSError, TimeoutError):
            requirement = "must be a file that can be written, and that no other program has"
            raise ParameterError("journal", str(journal), requirement) from None
        yield


def _agreed(plan: SharedPlan, max_colluders: int) -> PartySum:
    """The sum of a round.

    Raises:
        ParameterError: The plan is none, or too many may be missing for nobody to learn more than the sum.
    """
    of_kind(plan, "plan", SharedPlan, "a plan of shared_federation")
    colluders = whole(max_colluders, "max_colluders")
    found = PartySum(
        plan.noise, low=-_STEPS, high=_STEPS, numbers=plan.public.width, max_colluders=colluders
    )  # fmt: skip
    SecureSum(found)
    return found


def _document(plan: SharedPlan, agreed: PartySum) -> dict[str, str]:
    """What owners agreed on, in words."""
    return {**plan.document(), "sum": agreed.fingerprint.hex(), "max_colluders": str(agreed.max_colluders)}


def _require_same(document: Mapping[str, str], news: FederationNews) -> None:
    for name in sorted(document.keys() | news.plan.keys()):
        if document.get(name) != news.plan.get(name):
            requirement = f"must be the one that was opened; there {name} is {news.plan.get(name)}"
            raise ParameterError("plan", f"{name} {document.get(name)}", requirement)


def _start(name: str, news: FederationNews) -> bytes:
    """What all messages of a federation belong to, before its first round."""
    said = [name, list(news.parties), news.rounds, news.least, dict(news.plan)]
    return sha256(b"sfumato-federation-1\n" + json.dumps(said, sort_keys=True).encode()).digest()


def _news(answer: Answer) -> FederationNews:
    found = answer.document()
    party = found["party"]
    return FederationNews(
        parties=tuple(map(str, found["parties"])), rounds=int(found["rounds"]), least=int(found["least"]),
        plan={str(name): str(value) for name, value in found["plan"].items()},
        party=None if party is None else int(party), sent=tuple(map(str, found["sent"])), place=_place(found),
    )  # fmt: skip


def _messages(answer: Answer) -> tuple[dict[int, str] | None, FederationPlace]:
    document = answer.document()
    found = document["messages"]
    read = None if found is None else {int(number): str(message) for number, message in found.items()}
    return read, _place(document)


def _result(answer: Answer) -> str | None:
    found = answer.document()["result"]
    return None if found is None else str(found)


def _place(found: Any) -> FederationPlace:
    return FederationPlace(round=int(found["round"]), attempt=int(found["attempt"]), phase=str(found["phase"]))
