"""A party's side of a secure sum: it masks its noisy numbers, and helps to take off the masks of the sum alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.local.parties.keys import PublicKeys, SumSession, private_key, public_key
from sfumato.local.parties.party_sum import PartySum, Ring
from sfumato.local.parties.splitting import PART_BYTES, split
from sfumato.numeric.arguments import of_kind, whole

_STEPS: Final = ("keys", "deal", "contribute", "reveal")


@dataclass(frozen=True, slots=True)
class Revealed:
    """What a party gives away at the end: for each party one part of one of its two secrets, never of both.

    Attributes:
        party: Who gives it away.
        own_keys: Parts of the keys of the own masks of those whose numbers are in the sum.
        pair_keys: Parts of the private keys, for masks of pairs, of those who dealt and then sent no numbers.
    """

    party: int
    own_keys: Mapping[int, bytes]
    pair_keys: Mapping[int, bytes]


class Party:
    """One party of one run of a secure sum. It takes four steps, each once and in this order.

    1. `keys` draws all keys of this run, and shows the public ones.
    2. `deal` splits the key of its own mask and the one for masks of pairs, and seals a part of each for every other.
    3. `contribute` adds noise and masks to the party's numbers.
    4. `reveal` gives away parts of keys of others, if enough parties sent their numbers.

    A party trusts the aggregator with nothing but to follow the protocol: it counts itself who takes part, and gives
    nothing away for a sum of fewer shares than were agreed, whatever the aggregator says.

    **Guarantee**: that of `SecureSum`. Proof: proofs/local/parties/secure_sum.md.

    Args:
        protocol: What all parties agreed on.
        number: Which party this is, from 0 to parties − 1.
        session: The 16 bytes of this run.

    Raises:
        ParameterError: An argument is out of range.

    References:
        [BIKMMPRSS17].
    """

    def __init__(self, protocol: PartySum, number: int, session: bytes) -> None:
        self.protocol: Final = of_kind(protocol, "protocol", PartySum, "a PartySum")
        self.number: Final = whole(number, "number", most=protocol.parties - 1)
        self._session: Final = SumSession(protocol, session)
        self._sealing: Final = private_key()
        self._pairs: Final = private_key()
        self._own: Final = private_key()
        self._taken = 0
        self._roster: dict[int, PublicKeys] = {}
        self._held: dict[int, tuple[bytes, bytes]] = {}

    def keys(self) -> PublicKeys:
        """The public keys of this party, for all others. They must arrive as they are: see `SecureSum`."""
        self._step("keys")
        return self._public()

    def deal(self, roster: Mapping[int, PublicKeys]) -> dict[int, bytes]:
        """For each other party a seal with its parts of this one's two keys of masks.

        Args:
            roster: The keys of all who take part, by their number.

        Raises:
            ParameterError: They are too few, this party is not among them, or two have the same keys.
        """
        self._step("deal")
        entries = dict(roster)
        self._enough(entries, "roster")
        numbers = range(self.protocol.parties)
        named = all(of_kind(keys, "roster", PublicKeys, "keys").party == at in numbers for at, keys in entries.items())
        if not named:
            raise ParameterError("roster", "some keys", "must stand at the number of their party")
        shown = [key for keys in entries.values() for key in (keys.sealing, keys.masking)]
        if entries.get(self.number) != self._public() or len(set(shown)) < len(shown):
            raise ParameterError("roster", "some keys", "must have this party's own, and different ones for each other")
        self._roster = entries
        least = self.protocol.least_shares
        own, pairs = (
            split(secret, parts=self.protocol.parties, threshold=least) for secret in (self._own, self._pairs)
        )
        self._held = {self.number: (own[self.number], pairs[self.number])}
        return {
            other: self._session.sealed(self._seal_key(self.number, other), own[other] + pairs[other])
            for other in entries
            if other != self.number
        }

    def contribute(self, value: Any, dealt: Mapping[int, bytes]) -> Ring:
        """This party's numbers with its share of the noise and all masks: uniform numbers for whoever lacks the keys.

        Args:
            value: Its whole number, or as many as were agreed; see `PartySum` for odd ones.
            dealt: What each other party sealed for this one, by the number of the sender. Who dealt nothing has
                dropped out.

        Raises:
            ParameterError: Too few have dealt, a seal is broken, or the value has another length.
        """
        self._step("contribute")
        if not dealt.keys() <= self._roster.keys() - {self.number}:
            raise ParameterError("dealt", "some messages", "must come from other parties of the roster")
        for sender, box in dealt.items():
            parts = self._session.opened(self._seal_key(sender, self.number), box, sender)
            self._held[sender] = (parts[:PART_BYTES], parts[PART_BYTES:])
        self._enough(self._held, "dealt")
        total = self.protocol.add(self.protocol.share(value), self._session.mask(self._own))
        for other in dealt:
            mask = self._session.pair_mask(self._pairs, self._roster[other].masking, is_first=self.number < other)
            total = self.protocol.add(total, mask)
        return total

    def reveal(self, senders: Iterable[int]) -> Revealed:
        """Parts of the secrets that take the masks off the sum of these parties, and off no other sum.

        Args:
            senders: The parties whose numbers arrived.

        Raises:
            ParameterError: They are fewer than were agreed, this party is not among them, or one has not dealt.
        """
        self._step("reveal")
        sent = set(senders)
        self._enough(sent, "senders")
        if self.number not in sent or not sent <= self._held.keys():
            raise ParameterError("senders", sorted(sent), "must be parties that dealt, with this one among them")
        own = {party: part for party, (part, _) in self._held.items() if party in sent}
        pairs = {party: part for party, (_, part) in self._held.items() if party not in sent}
        return Revealed(self.number, own, pairs)

    def __repr__(self) -> str:
        """Without its keys."""
        return f"Party(number={self.number})"

    def _public(self) -> PublicKeys:
        return PublicKeys(self.number, public_key(self._sealing), public_key(self._pairs))

    def _seal_key(self, sender: int, receiver: int) -> bytes:
        other = self._roster[receiver if sender == self.number else sender]
        return self._session.agreed(self._sealing, other.sealing, f"seal {sender} {receiver}")

    def _enough(self, parties: Iterable[int], name: str) -> None:
        """Refuses to go on with fewer parties than make the noise that is promised."""
        count, least = len(set(parties)), self.protocol.least_shares
        if count < least:
            raise ParameterError(name, f"{count} parties", f"must be at least {least}: fewer make too little noise")

    def _step(self, name: str) -> None:
        """Moves on, so that no step is taken twice, also if it fails: a second answer could take off a mask."""
        if self._taken >= len(_STEPS) or _STEPS[self._taken] != name:
            wanted = _STEPS[self._taken] if self._taken < len(_STEPS) else "a new Party, for another run"
            raise ParameterError("step", name, f"must be taken once and in order; next is {wanted}")
        self._taken += 1
