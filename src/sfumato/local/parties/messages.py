"""Messages of a secure sum as JSON, so that its parties and its aggregator can be on different machines."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.parties.keys import PublicKeys, SumSession
from sfumato.local.parties.party import Revealed
from sfumato.local.parties.party_sum import PartySum
from sfumato.local.parties.splitting import PART_BYTES
from sfumato.numeric.arguments import of_kind, one_of

KINDS: Final = ("keys", "roster", "boxes", "numbers", "senders", "revealed")
"""What is sent: keys of a party, of all, seals, masked numbers, who sent, and parts of keys, in this order."""


class SumMessages:
    """Writes what the methods of `Party` and `SecureSum` give and take as bytes, and reads it again.

    Each message names its run, by a digest of the protocol and the session, and one of another run is refused. It does
    not say who sent it: whoever passes it on has to know, as by a key of the curator. What is in a message is what the
    method gave, so masked numbers stay masked, and seals sealed.

    ============  ====================================  ================================
    Kind          Given by                              Taken by
    ============  ====================================  ================================
    "keys"        `Party.keys`                          `SecureSum.join`
    "roster"      `SecureSum.roster`                    `Party.deal`
    "boxes"       `Party.deal`, `SecureSum.dealt_to`    `SecureSum.deal`, `Party.contribute`
    "numbers"     `Party.contribute`                    `SecureSum.add`
    "senders"     `SecureSum.senders`                   `Party.reveal`
    "revealed"    `Party.reveal`                        `SecureSum.reveal`
    ============  ====================================  ================================

    Args:
        protocol: What all parties agreed on.
        session: The 16 bytes of the run.

    Raises:
        ParameterError: They are no protocol and session.

    Example:
        >>> from sfumato.local import PartySum, SecureSum, Party
        >>> from sfumato.mechanisms import DistributedLaplace
        >>> noise = DistributedLaplace(parties=5, l1_sensitivity=1, epsilon=1, max_dropouts=2)
        >>> run = SecureSum(PartySum(noise, low=0, high=100))
        >>> messages = SumMessages(run.protocol, run.session)
        >>> sent = messages.write("keys", Party(run.protocol, 3, run.session).keys())
        >>> run.join(messages.read("keys", sent))
    """

    def __init__(self, protocol: PartySum, session: bytes) -> None:
        run = SumSession(of_kind(protocol, "protocol", PartySum, "a PartySum"), session)
        self._protocol: Final = protocol
        self._run: Final = sha256(b"sfumato-parties-1 messages\n" + protocol.fingerprint + run.name).hexdigest()

    def write(self, kind: str, value: Any) -> bytes:
        """A message.

        Args:
            kind: One of `KINDS`.
            value: What the method gave.

        Raises:
            ParameterError: It is another kind of value.
        """
        write, read = self._coding(kind)
        try:
            written = write(value)
            read(written)
        except _WRONG:
            raise ParameterError("value", type(value).__name__, f"must be what is sent as {kind}") from None
        return json.dumps({"run": self._run, "kind": kind, "value": written}, separators=(",", ":")).encode()

    def read(self, kind: str, message: bytes | str) -> Any:
        """What a message holds, ready for the method that takes it.

        Args:
            kind: Which one is awaited.
            message: As it was written.

        Raises:
            ParameterError: It is another message, of another run, or none. The error shows nothing of it.
        """
        _, read = self._coding(kind)
        requirement = f"must be a message of kind {kind} of this run, as SumMessages writes it"
        try:
            found = json.loads(message)
            if found.keys() == {"run", "kind", "value"} and (found["run"], found["kind"]) == (self._run, kind):
                return read(found["value"])
        except _WRONG:
            pass
        raise ParameterError("message", "another one", requirement)

    def _coding(self, kind: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """How values of a kind are written as JSON, and read."""
        codings: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
            "keys": (_keys, self._read_keys),
            "roster": (lambda roster: _named(roster, _keys), lambda found: self._by_party(found, self._read_keys)),
            "boxes": (lambda boxes: _named(boxes, _text), lambda found: self._by_party(found, _bytes)),
            "numbers": (lambda ring: _text(np.asarray(ring).astype("<u8").tobytes()), self._read_numbers),
            "senders": (sorted, lambda found: frozenset(self._party(one) for one in found)),
            "revealed": (_revealed, self._read_revealed),
        }
        return codings[one_of(kind, "kind", KINDS)]

    def _party(self, number: Any) -> int:
        if type(number) is not int or not 0 <= number < self._protocol.parties:
            raise ValueError
        return number

    def _by_party(self, found: Any, read: Callable[[Any], Any]) -> dict[int, Any]:
        return {self._party(int(number)): read(value) for number, value in found.items()}

    def _read_keys(self, found: Any) -> PublicKeys:
        return PublicKeys(self._party(found["party"]), _bytes(found["sealing"]), _bytes(found["masking"]))

    def _read_numbers(self, found: Any) -> Any:
        return self._protocol.checked(np.frombuffer(_bytes(found), dtype="<u8").astype(np.uint64), "numbers")

    def _read_revealed(self, found: Any) -> Revealed:
        own, pairs = (self._by_party(found[kind], _part) for kind in ("own_keys", "pair_keys"))
        return Revealed(self._party(found["party"]), own, pairs)


_WRONG: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading something else raises; a `ParameterError` is a ValueError."""


def _text(value: bytes) -> str:
    return b64encode(value).decode()


def _bytes(text: Any) -> bytes:
    return b64decode(text.encode(), validate=True)


def _part(text: Any) -> bytes:
    found = _bytes(text)
    if len(found) != PART_BYTES:
        raise ValueError
    return found


def _named(values: Mapping[int, Any], write: Callable[[Any], Any]) -> dict[str, Any]:
    return {str(party): write(value) for party, value in sorted(values.items())}


def _keys(keys: PublicKeys) -> dict[str, Any]:
    return {"party": keys.party, "sealing": _text(keys.sealing), "masking": _text(keys.masking)}


def _revealed(given: Revealed) -> dict[str, Any]:
    return {
        "party": given.party, "own_keys": _named(given.own_keys, _text), "pair_keys": _named(given.pair_keys, _text),
    }  # fmt: skip
