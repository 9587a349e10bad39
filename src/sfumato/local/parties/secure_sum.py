"""The aggregator's side of a secure sum: it learns the sum of the parties' noisy numbers, and nothing of each."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.local.parties.keys import PublicKeys, SumSession, public_key
from sfumato.local.parties.party import Revealed
from sfumato.local.parties.party_sum import PartyEstimate, PartySum, Ring
from sfumato.local.parties.splitting import joined
from sfumato.local.parties.trusted_sum import TrustedSum
from sfumato.noise import entropy
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.rationals import Number


class SecureSum:
    """One run of secure aggregation: each party's numbers arrive under masks, which cancel in the sum.

    Each pair of parties agrees on a mask that one adds and the other subtracts, and each party adds a mask of its own.
    The keys of all masks are split among the parties. At the end they give away the parts of the keys of own masks of
    those whose numbers arrived, and of the keys for pairs of those that dropped out. Of no party do they give away
    both.

    It hides from the aggregator, from the network and from up to `max_colluders` parties together what the other
    parties sent, except for the sum. It hides neither who takes part nor who drops out.

    **Guarantee**: that of `PartySum`, against adversaries of bounded computing power, if the aggregator and the
    parties follow the protocol, up to curiosity; if the public keys that parties receive are each other's; and if
    `cryptography` does what it says. Proof: proofs/local/parties/secure_sum.md.

    It does not protect against an aggregator that hands out keys of its own in the names of parties, or tells parties
    different lists of senders. Neither against parties that send wrong numbers: one can make the sum worthless.

    Args:
        protocol: What all parties agreed on; more than twice as many as may drop out, and the colluders, must take
            part: n > 2d + c.
        session: 16 bytes of this run alone, where several add up what all of them see; default: random ones.

    Raises:
        ParameterError: Too many parties may drop out for that.

    Example:
        >>> from sfumato.local import Party, PartySum
        >>> from sfumato.mechanisms import DistributedLaplace
        >>> noise = DistributedLaplace(parties=5, l1_sensitivity=1, epsilon=20, max_dropouts=2)
        >>> run = SecureSum(PartySum(noise, low=0, high=100))
        >>> parties = [Party(run.protocol, number, run.session) for number in range(5)]
        >>> for party in parties:
        ...     run.join(party.keys())
        >>> roster = run.roster()
        >>> for party in parties:
        ...     run.deal(party.number, party.deal(roster))
        >>> sending = parties[:4]  # the last one drops out
        >>> for party in sending:
        ...     run.add(party.number, party.contribute(10, run.dealt_to(party.number)))
        >>> senders = run.senders()
        >>> for party in sending:
        ...     run.reveal(party.reveal(senders))
        >>> abs(run.estimate().total - 40) < 5
        True

    References:
        [BIKMMPRSS17].
    """

    trust: Final = (
        "Aggregator and parties may be curious, but follow the protocol. The public keys of the parties are authentic."
        " Nobody breaks X25519, HKDF, ChaCha20 or Poly1305."
    )

    def __init__(self, protocol: PartySum, *, session: bytes | None = None) -> None:
        of_kind(protocol, "protocol", PartySum, "a PartySum")
        missing = protocol.parties - protocol.least_shares
        if protocol.parties <= 2 * missing + protocol.max_colluders:
            requirement = "must be smaller: with n > 2d + c nobody can gather both secrets of a party"
            raise ParameterError("max_dropouts", protocol.noise.max_dropouts, requirement)
        self.protocol: Final = protocol
        self.session: Final = entropy.random_bytes(16) if session is None else session
        self._session: Final = SumSession(protocol, self.session)
        self._received: Final = TrustedSum(protocol)  # of masked numbers
        self._keys: dict[int, PublicKeys] = {}
        self._is_joining = self._is_dealing = True
        self._dealt: dict[int, dict[int, bytes]] = {}
        self._revealed: dict[int, Revealed] = {}
        self._masked: Ring | None = None

    def join(self, keys: PublicKeys) -> None:
        """Take the public keys of one party.

        Raises:
            ParameterError: It joined before, is none of the parties, or the roster is complete.
        """
        party = whole(of_kind(keys, "keys", PublicKeys, "public keys").party, "party", most=self.protocol.parties - 1)
        if party in self._keys or not self._is_joining:
            raise ParameterError("party", party, "must join once, before the roster is handed out")
        self._keys[party] = keys

    def roster(self) -> dict[int, PublicKeys]:
        """The keys of all who joined, for each of them; nobody can join any more.

        Raises:
            ParameterError: They are too few; more may still join.
        """
        self._enough(len(self._keys), "parties")
        self._is_joining = False
        return dict(self._keys)

    def deal(self, sender: int, boxes: Mapping[int, bytes]) -> None:
        """Take the seals of one party for all others.

        Raises:
            ParameterError: It dealt before, is not in the roster, or left somebody out; or others have theirs already.
        """
        if sender in self._dealt or self._is_joining or not self._is_dealing:
            raise ParameterError("sender", sender, "must deal once, after the roster and before numbers are sent")
        if sender not in self._keys or boxes.keys() != self._keys.keys() - {sender}:
            raise ParameterError("boxes", f"those of party {sender}", "must be for all others of the roster")
        self._dealt[sender] = dict(boxes)

    def dealt_to(self, party: int) -> dict[int, bytes]:
        """What the others sealed for one party; nobody can deal any more.

        Raises:
            ParameterError: Too few dealt; more may still do so. Or this party did not.
        """
        self._enough(len(self._dealt), "parties")
        self._is_dealing = False
        if party not in self._dealt:
            raise ParameterError("party", party, "must have dealt to take part")
        return {sender: boxes[party] for sender, boxes in self._dealt.items() if sender != party}

    def add(self, sender: int, masked: Any) -> None:
        """Take the masked numbers of one party.

        Raises:
            ParameterError: It sent some before, did not deal, or sent something else; or it is too late.
        """
        if self._is_dealing or sender not in self._dealt:
            raise ParameterError("sender", sender, "must have dealt before it sends numbers")
        self._received.add(sender, masked)

    def senders(self) -> frozenset[int]:
        """Whose numbers arrived, for each of them; no more are taken.

        Raises:
            ParameterError: They are too few; more may still come.
        """
        self._masked = self._received.close()
        return self._received.senders

    def reveal(self, revealed: Revealed) -> None:
        """Take what one of the senders gives away.

        Raises:
            ParameterError: It gave something away before, is no sender, or gives parts of others than it was asked for.
        """
        sent, dealt = self._received.senders, self._dealt.keys()
        if self._masked is None or revealed.party not in sent or revealed.party in self._revealed:
            raise ParameterError("party", revealed.party, "must be a sender that gave nothing away yet")
        if revealed.own_keys.keys() != sent or revealed.pair_keys.keys() != dealt - sent:
            requirement = "must have a part of the own key of each sender, and of the pair key of each other that dealt"
            raise ParameterError("revealed", f"those of party {revealed.party}", requirement)
        self._revealed[revealed.party] = revealed

    def estimate(self, confidence: Number = "0.95") -> PartyEstimate:
        """The sum with its interval, once enough senders gave their parts away.

        Raises:
            ParameterError: They are too few, or some part is wrong.
        """
        if self._masked is None:
            raise ParameterError("senders", None, "is missing: call senders() before parties reveal anything")
        self._enough(len(self._revealed), "revealed")
        sent = self._received.senders
        total = reduce(
            self.protocol.subtract, (self._session.mask(self._joined("own_keys", at)) for at in sent), self._masked
        )
        for lost in sorted(self._dealt.keys() - sent):
            private = self._joined("pair_keys", lost)
            if public_key(private) != self._keys[lost].masking:
                raise ParameterError("revealed", f"the key of party {lost}", "must be the one that it showed")
            for at in sent:  # what this one added for the lost one, which the lost one did not take off
                mask = self._session.pair_mask(private, self._keys[at].masking, is_first=at < lost)
                total = self.protocol.subtract(total, mask)
        return self.protocol.estimate(total, shares=len(sent), confidence=confidence)

    def _joined(self, kind: str, party: int) -> bytes:
        parts = {giver: getattr(given, kind)[party] for giver, given in self._revealed.items()}
        return joined(parts, threshold=self.protocol.least_shares)

    def _enough(self, count: int, name: str) -> None:
        least = self.protocol.least_shares
        if count < least:
            raise ParameterError(name, count, f"must be at least {least}: fewer do not make the noise that is promised")
