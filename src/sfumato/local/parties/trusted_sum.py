"""A trusted adder: the ideal that secure aggregation stands in for, and the box in which shares arrive."""

from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.parties.party_sum import PartyEstimate, PartySum, Ring
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.rationals import Number


class TrustedSum:
    """Adds up the shares of parties that trust it to forget each of them.

    It sees every share, which hides next to nothing of the party's numbers. Use it where such a place exists, as a
    notary or a sealed machine, and in tests and simulations, where it answers what `SecureSum` answers.

    **Guarantee**: that of `PartySum` for whoever sees its answers, and none against whoever runs it.

    Args:
        protocol: What all parties agreed on.

    Example:
        >>> from sfumato.local import PartySum
        >>> from sfumato.mechanisms import DistributedLaplace
        >>> noise = DistributedLaplace(parties=5, l1_sensitivity=1, epsilon=20, max_dropouts=2)
        >>> box = TrustedSum(PartySum(noise, low=0, high=100))
        >>> for number, value in enumerate([10, 20, 30, 40]):
        ...     box.add(number, box.protocol.share(value))
        >>> abs(box.estimate().total - 100) < 5, box.estimate().shares
        (True, 4)
    """

    trust: Final = "Whoever runs the adder sees each share, and is trusted to forget it and to publish one sum alone."

    def __init__(self, protocol: PartySum) -> None:
        self.protocol: Final = of_kind(protocol, "protocol", PartySum, "a PartySum")
        self._total: Ring = np.zeros(protocol.numbers, dtype=np.uint64)
        self._senders: set[int] = set()
        self._is_open = True

    @property
    def senders(self) -> frozenset[int]:
        """The parties whose shares arrived."""
        return frozenset(self._senders)

    def add(self, sender: int, share: Any) -> None:
        """Take the share of one party.

        Raises:
            ParameterError: The party sent one before, is not one of the parties, or sent something else; or a sum was
                published, after which another one would reveal the difference.
        """
        if not self._is_open:
            raise ParameterError("sender", sender, "is late: the sum was published; it is left out")
        if whole(sender, "sender", most=self.protocol.parties - 1) in self._senders:
            raise ParameterError("sender", sender, "must send once: its share is counted already")
        self._total = self.protocol.add(self._total, self.protocol.checked(share, "share"))
        self._senders.add(int(sender))

    def close(self) -> Ring:
        """The sum of what arrived, modulo 2^b; nothing is taken any more.

        Raises:
            ParameterError: There are too few shares; more may still come.
        """
        if len(self._senders) < self.protocol.least_shares:
            requirement = f"must be at least {self.protocol.least_shares}: fewer do not make the noise that is promised"
            raise ParameterError("shares", len(self._senders), requirement)
        self._is_open = False
        return self._total.copy()

    def estimate(self, confidence: Number = "0.95") -> PartyEstimate:
        """The sum with its interval.

        Raises:
            ParameterError: There are too few shares, or what was sent is no share.
        """
        return self.protocol.estimate(self.close(), shares=len(self._senders), confidence=confidence)
