"""One attempt at a round of a federation, from the side of one owner: what it sends, and what it makes of the rest.

Whoever passes messages on can neither read them nor write others. Each has a code that only who knows the owners'
secret can make, of what the message says, whose it is and where it belongs. Before anything is revealed, owners tell
each other a digest of all that they were shown. So nobody who shows them different things learns another sum.

Proof: proofs/client/relayed.md.
"""

import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.parties.messages import SumMessages
from sfumato.local.parties.party import Party
from sfumato.local.parties.party_sum import PartySum
from sfumato.local.parties.secure_sum import SecureSum
from sfumato.numeric.arguments import of_kind

PHASES: Final = ("keys", "boxes", "numbers", "agreed", "revealed")
"""What is sent in a round, in this order."""

LEAST_BYTES: Final = 16
"""Of a secret that nobody can guess."""

_CODE: Final = 64
"""Characters of a code, which begins each message."""

_SESSION_BYTES: Final = 16
_WRONG: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationPlace:
    """Where a federation is, as its server says.

    Attributes:
        round: The round, from 0.
        attempt: How often it was tried before.
        phase: What is sent now, one of `PHASES`; "result" or "over" after that.
    """

    round: int
    attempt: int
    phase: str


class Sealing:
    """Codes of messages, which whoever knows the owners' secret can make and check, and nobody else.

    Args:
        secret: What owners know and the server does not: 16 random bytes or more.
        context: What the messages belong to.

    Raises:
        ParameterError: The secret is too short.

    Example:
        >>> sealing = Sealing(bytes(range(16)), b"a round")
        >>> sealing.opened("agreed", 3, sealing.sealed("agreed", 3, "yes"))
        'yes'
    """

    def __init__(self, secret: bytes, context: bytes) -> None:
        if len(of_kind(secret, "secret", bytes, "random bytes that the owners share")) < LEAST_BYTES:
            raise ParameterError("secret", "…", f"must have at least {LEAST_BYTES} random bytes; it is not shown")
        self._key: Final = hmac.digest(secret, b"sfumato-federation-1\n" + context, "sha256")

    def sealed(self, kind: str, sender: int, content: str) -> str:
        """A message with its code."""
        return self._code(kind, sender, content) + content

    def opened(self, kind: str, sender: int, message: str) -> str:
        """What a message says.

        Raises:
            ParameterError: It was not sent by an owner, or belongs elsewhere.
        """
        content = message[_CODE:]
        if not message.isascii() or not hmac.compare_digest(message[:_CODE], self._code(kind, sender, content)):
            requirement = "must come from an owner who knows the secret: the server changed it, or an owner has another"
            raise ParameterError("message", f"{kind} of party {sender}", requirement)
        return content

    def _code(self, kind: str, sender: int, content: str) -> str:
        return hmac.digest(self._key, json.dumps([kind, sender, content]).encode(), "sha256").hex()


class RelayedRun:
    """One attempt at a round.

    Args:
        protocol: What all parties agreed on.
        number: Which party this is.
        secret: What owners know and the server does not.
        context: What tells this attempt from all others: the terms, all results before, and the attempt.

    Example:
        >>> from sfumato.mechanisms import DistributedLaplace
        >>> noise = DistributedLaplace(parties=3, l1_sensitivity=0, epsilon=1, max_dropouts=1)
        >>> protocol = PartySum(noise, low=0, high=9, max_colluders=0)
        >>> runs = [RelayedRun(protocol, number, bytes(16), b"round 0") for number in range(3)]
        >>> for phase in PHASES:
        ...     sent = {number: run.message(phase, 4) for number, run in enumerate(runs)}
        ...     for run in runs:
        ...         run.take(phase, sent)
        >>> runs[0].total()
        ((12,), 3)
    """

    def __init__(self, protocol: PartySum, number: int, secret: bytes, context: bytes) -> None:
        session = sha256(b"sfumato-federation-1 session\n" + context).digest()[:_SESSION_BYTES]
        self._protocol: Final = protocol
        self._sealing: Final = Sealing(secret, context)
        self._messages: Final = SumMessages(protocol, session)
        self._party: Final = Party(protocol, number, session)
        self._sum: Final = SecureSum(protocol, session=session)
        self._seen: list[Any] = []
        self._is_agreed = False

    def message(self, phase: str, value: Any = None) -> str:
        """What this party sends in a phase, once those before were taken.

        Args:
            phase: One of `PHASES`.
            value: This party's numbers.

        Raises:
            ParameterError: Too few are left.
        """
        return self._sealing.sealed(phase, self._party.number, self._content(phase, value))

    def take(self, phase: str, found: Mapping[int, str]) -> None:
        """Take the messages of a phase that is closed.

        Raises:
            ParameterError: One is none of an owner, they are too few, or owners were shown different ones.
        """
        contents = {sender: self._sealing.opened(phase, sender, text) for sender, text in sorted(found.items())}
        if phase == "agreed":
            alike = sum(content == self._digest for content in contents.values())
            if alike < self._protocol.least_shares:
                requirement = f"must be the same for at least {self._protocol.least_shares} owners; nothing is revealed"
                raise ParameterError("messages", f"those that {alike} owners were shown", requirement)
            self._is_agreed = True
            return
        for sender, content in contents.items():
            # What was revealed cannot be taken back: a wrong part is left out, and others may be enough.
            with suppress(*([ParameterError] if phase == "revealed" else [])):
                self._take_one(phase, sender, content)
        if phase == "keys":
            self._sum.roster()
        elif phase == "boxes":
            self._sum.dealt_to(next(iter(contents), 0))
        elif phase == "numbers":
            self._sum.senders()
        self._seen.append([phase, sorted(found.items())])

    def total(self) -> tuple[tuple[int, ...], int] | None:
        """The noisy sum and how many shares are in it; None if shares were wrong, so that there is none."""
        try:
            found = self._sum.estimate()
        except ParameterError:
            return None
        return found.totals, found.shares

    @property
    def _digest(self) -> str:
        return sha256(json.dumps(self._seen).encode()).hexdigest()

    def _content(self, phase: str, value: Any) -> str:
        party, run = self._party, self._sum
        match phase:
            case "keys":
                given: Any = party.keys()
            case "boxes":
                given = party.deal(run.roster())
            case "numbers":
                given = party.contribute(value, run.dealt_to(party.number))
            case "agreed":
                return self._digest
            case _:
                if not self._is_agreed:
                    raise ParameterError("phase", phase, "must come after owners agreed on what they were shown")
                given = party.reveal(run.senders())
        return self._messages.write(phase, given).decode()

    def _take_one(self, phase: str, sender: int, content: str) -> None:
        value = self._messages.read(phase, content)
        if getattr(value, "party", sender) != sender:
            raise ParameterError("message", f"{phase} of party {sender}", "must be its own")
        match phase:
            case "keys":
                self._sum.join(value)
            case "boxes":
                self._sum.deal(sender, value)
            case "numbers":
                self._sum.add(sender, value)
            case _:
                self._sum.reveal(value)


def written_result(total: tuple[tuple[int, ...], int] | None) -> str:
    """A noisy sum as text; the same for all who have the same."""
    if total is None:
        return json.dumps({"shares": 0, "totals": ""})
    totals, shares = total
    numbers = np.array(totals, dtype="<i8").tobytes()
    return json.dumps({"shares": shares, "totals": b64encode(numbers).decode()})


def read_result(text: str) -> tuple[tuple[int, ...], int] | None:
    """A noisy sum that was written; None if there is none.

    Raises:
        ParameterError: It is something else.

    Example:
        >>> read_result(written_result(((3, -5), 4)))
        ((3, -5), 4)
    """
    try:
        found = json.loads(text)
        numbers = np.frombuffer(b64decode(found["totals"], validate=True), dtype="<i8")
        return (tuple(numbers.tolist()), int(found["shares"])) if found["shares"] else None
    except _WRONG:
        raise ParameterError("result", "another one", "must be a noisy sum, as owners write it") from None
