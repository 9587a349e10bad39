"""The frozen value from which both sides derive: what a device does to its value, and what a collector counts."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Domain
from sfumato.local.core.reports import FINGERPRINT_BYTES, Payloads, Report, Reports
from sfumato.mechanisms.base import opened
from sfumato.privacy.secret import Secret

if TYPE_CHECKING:
    from sfumato.local.core.aggregator import Aggregator
    from sfumato.privacy.events import Event

FORMAT: Final = 1
"""The version of stored protocols; the fingerprint of a protocol covers it."""


class LocalProtocol(ABC):
    """A way to randomize one value on a person's device, and to count what the devices send.

    A subclass is a frozen dataclass of public parameters. It says how inputs become payloads, which payloads can be,
    and what is counted of them. Clients, reports, aggregators and stored forms are the same for all.

    **Guarantee**: one report has `realized_epsilon`-differential privacy in its person's value (which is replaced,
    REPLACE_ONE). Who learns reports of one person that were made afresh must compose their events.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the protocol where it is stored."""

    # What a report reveals.

    @property
    @abstractmethod
    def realized_epsilon(self) -> Fraction:
        """The ε of the exact probabilities, rounded up; at most the one that was asked for."""

    @property
    @abstractmethod
    def event(self) -> "Event":
        """What one report reveals about its person, for accountants."""

    # What a device does.

    @property
    @abstractmethod
    def payload_bytes(self) -> int:
        """The length of every payload."""

    @abstractmethod
    def inputs(self, values: Iterable[Any]) -> NDArray[Any]:
        """Values as numbers, one for each. Never an error that a value decides."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a file that hold the parts of a value; none if a value is one cell."""
        return ()

    @abstractmethod
    def parse(self, text: str) -> Any:
        """The value that a text in a file stands for; None if it is none."""

    @abstractmethod
    def randomize(self, inputs: NDArray[Any]) -> Payloads:
        """One payload for each input, with randomness from `sfumato.noise` alone."""

    # What a collector does.

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many whole numbers an aggregator keeps."""

    @abstractmethod
    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Which payloads `randomize` can return; the others are refused."""

    @abstractmethod
    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """What valid payloads add to the cells of an aggregator."""

    @abstractmethod
    def aggregator(self) -> "Aggregator[Any]":
        """An empty aggregator."""

    # What is stored: the fields of the dataclass, which are the arguments of its constructor too.

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as JSON; with the kind, they are the whole protocol."""
        return {name: _stored(getattr(self, name)) for name in self._names()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        """The protocol with these parameters.

        Raises:
            ParameterError: One is missing, unknown or out of range.
        """
        if set(parameters) != set(cls._names()):
            requirement = f"must have {', '.join(cls._names())} and nothing else"
            raise ParameterError("protocol", f"{cls.kind} with {', '.join(sorted(map(str, parameters)))}", requirement)
        given = {name: Domain.from_json(value) if name == "domain" else value for name, value in parameters.items()}
        return cls(**given)

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(entry.name for entry in fields(cls))  # type: ignore[arg-type] # subclasses are dataclasses

    def to_json(self) -> dict[str, Any]:
        """The whole protocol, for a file or a server; see `protocol_from_json`."""
        return {"version": FORMAT, "kind": self.kind, **self.parameters}

    @property
    def fingerprint(self) -> bytes:
        """The first bytes of the SHA-256 of the stored protocol: reports of any other are refused."""
        written = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return sha256(written.encode()).digest()[:FINGERPRINT_BYTES]

    def client(self) -> "LocalClient":
        """The device's side."""
        return LocalClient(self)


class LocalClient:
    """One person's side of a protocol: it holds the public parameters, and nothing of others.

    Each call draws fresh randomness, so each report costs the event of the protocol again.

    Args:
        protocol: What both sides agreed on.

    Example:
        >>> from sfumato.local import DirectEncoding
        >>> oracle = DirectEncoding(["tea", "coffee"], epsilon=1)
        >>> len(bytes(oracle.client().report("tea")))
        6
    """

    has_memory: ClassVar[bool] = False
    """Whether reports depend on earlier ones, and so show whether a value changed."""

    def __init__(self, protocol: LocalProtocol) -> None:
        self.protocol: Final = protocol
        self._fingerprint: Final = protocol.fingerprint

    def report(self, value: Any) -> Report:
        """One randomized report of a value."""
        (row,) = self.protocol.randomize(self.protocol.inputs([opened(value)]))
        return Report(self._fingerprint, row.tobytes())

    def report_many(self, values: Iterable[Any] | Secret[Any]) -> Reports:
        """One report for each of many people's values: for simulations, and for who randomizes on their behalf."""
        return Reports(self._fingerprint, self.protocol.randomize(self.protocol.inputs(opened(values))))


def _stored(value: object) -> Any:
    """A parameter as JSON: rationals as text, so that no reader rounds them."""
    match value:
        case Domain():
            return value.to_json()
        case Fraction():
            return str(value)
        case tuple():
            return [_stored(part) for part in value]
        case _:
            return value
