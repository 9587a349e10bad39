"""Permanent responses: a device randomizes a value once, remembers that, and makes every report of the value of it."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import UNKNOWN, Indexes
from sfumato.local.core.odds import epsilon_of, local_epsilon
from sfumato.local.core.protocol import LocalClient, LocalProtocol
from sfumato.local.core.reports import Payloads, Report
from sfumato.local.frequency.oracle import DomainLike, FrequencyOracle
from sfumato.mechanisms.base import opened
from sfumato.numeric.rationals import Number, probability, set_fields
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import FiniteEvent

_NOTHING: Final = "unknown"
"""Where a device remembers which input stands for its unknown values."""


class Remembering(LocalProtocol):
    """A protocol of two steps: a device keeps a permanent response to each value, and makes reports of it.

    **Guarantee**: one report has `realized_epsilon`-differential privacy in its value. All reports of a device whose
    value does not change have `lifetime_epsilon`; of one that held d different values, d·`lifetime_epsilon`, compared
    with histories that change at the same times. When values change is not protected. Proof:
    proofs/local/longitudinal/memory.md.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def permanent_event(self) -> FiniteEvent:
        """What a permanent response reveals, and so all reports of one value together."""

    @property
    @abstractmethod
    def most_remembered(self) -> int:
        """How many permanent responses a device can ever have."""

    @abstractmethod
    def known(self, value: Any) -> int:
        """The number of a value; `UNKNOWN` for one that `inputs` would replace by a random one."""

    @abstractmethod
    def remembered(self, indexes: Indexes, devices: NDArray[Any]) -> Indexes:
        """What devices remember their responses by: the values, or what they make of them."""

    @abstractmethod
    def permanent(self, remembered: NDArray[np.int64]) -> NDArray[Any]:
        """A permanent response for each of these, with fresh coins."""

    @abstractmethod
    def instantaneous(self, permanent: NDArray[Any], devices: NDArray[Any]) -> Payloads:
        """A report of each permanent response, with fresh coins."""

    def devices(self, count: int) -> NDArray[Any]:
        """What so many devices draw once, before they know any value; nothing, for most."""
        return np.empty((count, 0), dtype=np.uint32)

    @property
    def lifetime_epsilon(self) -> Fraction:
        """That of all reports of one value, rounded up."""
        return epsilon_of(self.permanent_event)

    def randomize(self, inputs: Indexes) -> Payloads:
        """First reports of devices of their own."""
        devices = self.devices(len(inputs))
        return self.instantaneous(self.permanent(self.remembered(inputs, devices)), devices)

    def client(self, *, memory: Mapping[str, Any] | None = None) -> "MemoryClient":
        """A device with a memory.

        Args:
            memory: What `MemoryClient.memory` was when the device was last used; a new device has none.
        """
        return MemoryClient(self, memory=memory)


@dataclass(frozen=True, slots=True, init=False)
class LongitudinalOracle(Remembering, FrequencyOracle):
    """A frequency oracle of two steps: a permanent response to a value, and an instantaneous one to that.

    **Guarantee**: one report has `realized_epsilon`-differential privacy in its value. All reports of a device whose
    value does not change have `lifetime_epsilon`; of one that held d different values, d·`lifetime_epsilon`, compared
    with histories that change at the same times. When values change is not protected. Proof:
    proofs/local/longitudinal/memory.md.

    Args:
        domain: The values.
        epsilon: The most that one report may reveal; below `permanent_epsilon`.
        permanent_epsilon: The most that all reports of one value may reveal.

    Raises:
        ParameterError: An argument is out of range.
    """

    permanent_epsilon: Fraction

    def __init__(self, domain: DomainLike, *, epsilon: Number, permanent_epsilon: Number) -> None:
        FrequencyOracle.__init__(self, domain, epsilon=epsilon)
        set_fields(self, permanent_epsilon=local_epsilon(permanent_epsilon))
        if self.epsilon >= self.permanent_epsilon:
            raise ParameterError("epsilon", epsilon, "must be below permanent_epsilon")

    @property
    @abstractmethod
    def event(self) -> FiniteEvent:
        """What one report reveals."""

    @property
    def realized_epsilon(self) -> Fraction:
        """That of one report, rounded up."""
        return epsilon_of(self.event)

    @property
    def most_remembered(self) -> int:
        """One for each value."""
        return len(self.domain)

    def known(self, value: Any) -> int:
        """Its number in the domain."""
        return int(self.domain.indexes([value])[0])


class MemoryClient(LocalClient):
    """One device: it remembers its permanent responses, and makes all reports of a value of the response to it.

    Keep `memory` on the disk before a report of a new value leaves the device. A device that forgets spends anew.

    Args:
        protocol: What both sides agreed on.
        memory: What the device remembers; nothing yet, if it is not given.

    Raises:
        ParameterError: The memory is none of this protocol.

    Example:
        >>> from sfumato.local import LongitudinalUnary
        >>> drinks = LongitudinalUnary(["tea", "coffee"], epsilon=1, permanent_epsilon=2)
        >>> device = drinks.client()
        >>> sent = [device.report("tea") for _ in range(100)]
        >>> device.responses, device.spent == drinks.lifetime_epsilon
        (1, True)
    """

    has_memory: ClassVar[bool] = True

    def __init__(self, protocol: Remembering, *, memory: Mapping[str, Any] | None = None) -> None:
        super().__init__(protocol)
        self._protocol: Final = protocol
        known = {} if memory is None else dict(memory)
        try:
            drawn = known["device"] if known else protocol.devices(1)[0].tolist()
            self._device: Final = np.array(drawn, dtype=protocol.devices(0).dtype)
            self._responses: Final = {int(key): int(row) for key, row in known.get("responses", {}).items()}
            self._unknown: int | None = known.get(_NOTHING)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise ParameterError("memory", "a mapping", "must be the memory of a device of this protocol") from None
        if self._device.shape != protocol.devices(0).shape[1:] or known.get("protocol", self._named) != self._named:
            raise ParameterError("memory", "a mapping", "must be the memory of a device of this protocol")

    @property
    def memory(self) -> dict[str, Any]:
        """All that the device must keep, as JSON. It must not leave the device."""
        responses = {str(key): row for key, row in self._responses.items()}
        return {
            "protocol": self._named, "device": self._device.tolist(), "responses": responses, _NOTHING: self._unknown
        }  # fmt: skip

    @property
    def responses(self) -> int:
        """How many permanent responses the device has drawn."""
        return len(self._responses)

    @property
    def spent(self) -> Fraction:
        """The ε of all reports so far, compared with histories that change at the same times."""
        return self.responses * self._protocol.lifetime_epsilon

    def report(self, value: Any) -> Report:
        """The permanent response to a value, randomized once more."""
        held = self._protocol
        device = self._device[None, :]
        (key,) = held.remembered(np.array([self._index(opened(value))]), device).tolist()
        if key not in self._responses:
            self._responses[key] = int(held.permanent(np.array([key]))[0])
        rows = np.array([self._responses[key]], dtype=object)
        (payload,) = held.instantaneous(rows, device)
        return Report(self._fingerprint, payload.tobytes())

    def _index(self, value: Any) -> int:
        """The number of a value; that of an unknown one is drawn once."""
        index = self._protocol.known(value)
        if index != UNKNOWN:
            return index
        if self._unknown is None:
            self._unknown = int(self._protocol.inputs([value])[0])
        return self._unknown

    @property
    def _named(self) -> str:
        return self._protocol.fingerprint.hex()


def flip_share(flipped: Number) -> Fraction:
    """How often a report flips each bit of a permanent response, exactly as written.

    Raises:
        ParameterError: It is not from 0 to below 1/2, where reports say nothing.
    """
    share = probability(flipped, "flipped")
    if share >= Fraction(1, 2):
        raise ParameterError("flipped", flipped, "must be from 0 to below 1/2")
    return share


def epsilon_of_change(flipped: Fraction, bits: int) -> Fraction | None:
    """ln(((1 − γ)/γ)^bits), rounded up: how far a report can show of which of two responses of so many bits it is.

    None where nothing is flipped, as no number bounds it.

    Example:
        >>> epsilon_of_change(Fraction(0), 3) is None, round(float(epsilon_of_change(Fraction(1, 4), 1)), 4)
        (True, 1.0986)
    """
    return log_up(((1 - flipped) / flipped) ** bits) if flipped else None
