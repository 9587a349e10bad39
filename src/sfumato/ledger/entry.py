"""What a ledger holds, as frozen values: an account opened, a cost reserved, an answer committed.

Compatibility: a class here is never renamed or removed and a field never changes meaning, because ledgers last for
ever. New fields get a default that keeps the old meaning.
"""

from dataclasses import dataclass
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, Guarantee, PureDP
from sfumato.privacy.neighbors import NeighboringRelation

Charge: TypeAlias = PureDP | ApproxDP


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a partition of people, of whom each lies in at most `max_parts_per_unit` parts.

    What is charged to a part must also cover a unit that enters or leaves it, whatever the neighboring relation:
    a replaced unit leaves one part for another.
    """

    partition: str
    value: str
    max_parts_per_unit: int = 1

    def __post_init__(self) -> None:
        _named(self.partition, "partition")
        positive_integer(self.max_parts_per_unit, "max_parts_per_unit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An account, and the promise that all answers charged to it keep together."""

    account: str
    budget: Guarantee
    neighboring_relation: NeighboringRelation
    privacy_unit: str

    def __post_init__(self) -> None:
        _named(self.account, "account")
        _named(self.privacy_unit, "privacy_unit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """A cost, charged before data is touched: from here on it counts as spent, whatever happens next."""

    account: str
    request: str
    question: str
    event: Event
    charge: Charge
    part: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The noisy answer that a reservation paid for, kept under a key so that asking again is free."""

    account: str
    request: str
    key: str
    answer: Json


Entry: TypeAlias = Opened | Reserved | Committed


def _named(value: object, name: str) -> None:
    if not isinstance(value, str) or not value:
        raise ParameterError(name, value, "must be text that is not empty")
