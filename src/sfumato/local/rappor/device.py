"""A device with a memory: all of its reports of one value are made of one permanent response, which it never sends."""

from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.odds import epsilon_of
from sfumato.local.core.protocol import LocalClient, LocalProtocol
from sfumato.local.core.reports import Payloads, Report
from sfumato.local.rappor.permanent import cohort_of, permanent_response, realized_f, reported_probabilities
from sfumato.mechanisms.base import opened
from sfumato.noise.entropy import random_bytes
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.rationals import Number, probability
from sfumato.privacy.events import FiniteEvent

_SHORTEST_SECRET: Final = 16
_SECRET_BYTES: Final = 32


class RandomizedTwice(LocalProtocol):
    """A protocol whose values set bits, which are randomized once for good and again in each report.

    A bit of the permanent response is uniform with probability f. A report has a 1 with probability q where it has a 1,
    and with probability p where it has a 0.
    """

    __slots__ = ()

    f: Fraction
    p: Fraction
    q: Fraction
    cohorts: int
    metric: str

    @property
    @abstractmethod
    def bits(self) -> int:
        """How many bits a value may set."""

    @abstractmethod
    def remembered(self, value: Any, secret: bytes) -> Any:
        """A value as an input, the same one for as long as the secret lasts, whatever the value is."""

    @abstractmethod
    def set_bits(self, value: Any, cohort: int) -> list[int]:
        """The numbers of the bits that an input sets in a cohort."""

    @abstractmethod
    def payloads_of(self, cohorts: NDArray[np.int64], bits: Booleans) -> Payloads:
        """Cohorts and rows of bits as bytes."""

    @property
    @abstractmethod
    def lifetime_event(self) -> FiniteEvent:
        """What all reports of one value by one device reveal together."""

    @property
    def lifetime_epsilon(self) -> Fraction:
        """ε∞, rounded up: for each value that a device ever reports, however often."""
        return epsilon_of(self.lifetime_event)

    @property
    def reported(self) -> tuple[Fraction, Fraction]:
        """q* and p*: how often a report has a 1 where the value sets a bit, and where it does not."""
        return reported_probabilities(self.f, self.p, self.q)

    def instantaneous(self, permanent: Booleans) -> Booleans:
        """A fresh report of a permanent response: a 1 with probability q where it has one, else with p."""
        ones_if_unset, ones_if_set = bernoulli(self.p, len(permanent)), bernoulli(self.q, len(permanent))
        report: Booleans = np.where(permanent, ones_if_set, ones_if_unset)
        return report

    def client(self, *, secret: bytes | None = None, cohort: int | None = None) -> "RapporClient":
        """A device with a memory.

        Args:
            secret: What the device keeps; a fresh one is drawn if it has none yet.
            cohort: Where the person is counted; it follows from the secret if it is not given.
        """
        return RapporClient(self, secret=secret, cohort=cohort)


class RapporClient(LocalClient):
    """One device: it holds a secret, from which its cohort and all of its permanent responses follow.

    Keep `secret` for as long as the device lives. Reports of one value then reveal `lifetime_epsilon` together. Whoever
    knows the secret knows the permanent responses, and then each report has only its instantaneous noise.

    `report_many` makes first reports of many devices, each with a secret of its own.

    Args:
        protocol: What both sides agreed on.
        secret: At least 16 random bytes; 32 fresh ones if none are given.
        cohort: Where the person is counted, drawn without regard to what the person holds.

    Raises:
        ParameterError: The secret is too short, or the cohort out of range.

    Example:
        >>> from sfumato.local import Rappor
        >>> homepages = Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")
        >>> device = homepages.client()
        >>> same = homepages.client(secret=device.secret)
        >>> same.cohort == device.cohort, len(device.report("example.org").payload)
        (True, 17)
    """

    has_memory: ClassVar[bool] = True

    def __init__(self, protocol: RandomizedTwice, *, secret: bytes | None = None, cohort: int | None = None) -> None:
        super().__init__(protocol)
        self._protocol: Final = protocol
        self.secret: Final = (
            random_bytes(_SECRET_BYTES) if secret is None else of_kind(secret, "secret", bytes, "bytes")
        )
        if len(self.secret) < _SHORTEST_SECRET:
            raise ParameterError("secret", f"{len(self.secret)} bytes", f"must have at least {_SHORTEST_SECRET} bytes")
        if cohort is None:
            cohort = cohort_of(self.secret, cohorts=protocol.cohorts, bits=protocol.bits)
        self.cohort: Final = whole(cohort, "cohort", most=protocol.cohorts - 1)

    def report(self, value: Any) -> Report:
        """The permanent response to a value, randomized once more."""
        bits = self._protocol.instantaneous(self.permanent(value))
        (row,) = self._protocol.payloads_of(np.array([self.cohort]), bits[None, :])
        return Report(self._fingerprint, row.tobytes())

    def permanent(self, value: Any) -> Booleans:
        """The response of which all reports of this value are made. It must not leave the device."""
        held = self._protocol
        set_bits = held.set_bits(held.remembered(opened(value), self.secret), self.cohort)
        return permanent_response(self.secret, set_bits, bits=held.bits, f=held.f, metric=held.metric)


def checked_probabilities(f: Number, p: Number, q: Number) -> tuple[Fraction, Fraction, Fraction]:
    """f, p and q of a protocol.

    Raises:
        ParameterError: One is no probability, f is 0 or 1, or p is not below q.
    """
    low, high = probability(p, "p"), probability(q, "q")
    if low >= high:
        raise ParameterError("p", p, "must be below q")
    return realized_f(f), low, high
