"""What a ledger holds, as frozen values: an account opened, a cost reserved, an answer committed, and so on.

Compatibility: what is stored of a class here never changes, because ledgers last for ever: its tag and the names of its
fields, which `codec` has, and what they mean. New fields get a default that keeps the old meaning. Times are
microseconds since 1970 in UTC; 0 where an old ledger told none.
"""

from dataclasses import dataclass
from typing import TypeAlias

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.errors import ParameterError
from sfumato.ledger.core.windows import Window
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation

Charge: TypeAlias = PureDP | ApproxDP


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPart:
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
    """An opened account, and the guarantee that all answers charged to it keep together.

    Attributes:
        account: The name of the account.
        budget: The most that may be spent, in the measure of the account: in total, or in each window.
        neighboring_relation: What may change between neighboring databases.
        privacy_unit: Whom the guarantee protects.
        parents: The accounts that are charged whatever this one is charged: the analyst of a project, the team of an
            analyst, the dataset of a team; for a dataset, other datasets with the same people.
        window: The period of the budget; None: it never refills.
        at: The time, in microseconds since 1970.
    """

    account: str
    budget: Budget
    neighboring_relation: NeighboringRelation
    privacy_unit: str
    parents: tuple[str, ...] = ()
    window: Window | None = None
    at: int = 0

    def __post_init__(self) -> None:
        _named(self.account, "account")
        _named(self.privacy_unit, "privacy_unit")
        if len(set(self.parents)) < len(self.parents) or self.account in self.parents:
            raise ParameterError("parents", self.parents, f"must be other accounts than {self.account!r}, each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebudgeted:
    """The owner gave an account another budget. What was spent stays spent; below that, nothing is left."""

    account: str
    budget: Budget
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """An account that grants nothing more, nor does any below it; it stays in the ledger, under its name."""

    account: str
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognized:
    """Data that an account is about, by fingerprints that only the ledger's key can make; `Protected` replaced it."""

    account: str
    fingerprints: tuple[str, ...]
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """Who is protected in a table of an account: as long as the ledger lasts.

    Attributes:
        account: The account of the data.
        table: The table, as the policy calls it.
        unit: Whose its rows are, as `Table.owner_text` writes it.
        sources: Seals of where its rows are and, of a file or a frame, of its rows: none of them has another unit.
        fingerprints: Seals of the data that it reads, as of `Recognized`; a public table has none.
        beside: Accounts that protect other units in the same data. Neither pays for the other.
        at: The time, in microseconds since 1970.
    """

    account: str
    table: str
    unit: str
    sources: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPrice:
    """What an account pays in its own measure, where that is more than the charge in (ε, δ)."""

    account: str
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """A cost, charged before data is read: from here on it counts as spent, whatever happens next.

    Attributes:
        account: Who pays, and with it all accounts above.
        request: The reservation's name.
        question: A hash of what is asked.
        event: What will be released.
        charge: Its cost in (ε, δ).
        part: The part of a partition of people that it reads, if it reads no other.
        prices: Its cost for accounts that keep another measure.
        principal: Who sent the query.
        idempotency_key: By which the one who asks can ask again without being charged again; empty for none.
        body: A hash of all that was sent under this key.
        key: Of the answer that it flies for, as that of `Committed`; an account has one such flight under a key.
        at: The time, in microseconds since 1970.
    """

    account: str
    request: str
    question: str
    event: Event
    charge: Charge
    part: PartitionPart | None = None
    prices: tuple[AccountPrice, ...] = ()
    principal: str = ""
    idempotency_key: str = ""
    body: str = ""
    key: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """Somebody is still at work on the answer to a reservation; or somebody else took it over, and is now.

    Attributes:
        account: The charged account.
        request: The reservation.
        lease: Names the one who is at work; empty for the one who reserved.
        at: The time, in microseconds since 1970.
    """

    account: str
    request: str
    lease: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The noisy answer that a reservation paid for, kept under a key so that asking again is free."""

    account: str
    request: str
    key: str
    answer: Json
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandoned:
    """A reservation that will never have an answer. It stays charged, as data may have been read."""

    account: str
    request: str
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A cost, charged for an answer that another account paid for; accounts above both paid already.

    Attributes:
        account: Who reads it.
        source: Who asked first.
        request: The reservation's name; the answer that follows is that of the source.
        event: What was released.
        charge: Its cost in (ε, δ).
        prices: Its cost for accounts that keep another measure.
        principal: Who sent the query.
        idempotency_key: As of `Reserved`.
        body: As of `Reserved`.
        at: The time, in microseconds since 1970.
    """

    account: str
    source: str
    request: str
    event: Event
    charge: Charge
    prices: tuple[AccountPrice, ...] = ()
    principal: str = ""
    idempotency_key: str = ""
    body: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended:
    """A query failed while rows were read: nothing more is granted or shown until the owner has acknowledged that.

    Attributes:
        account: The root account of the data, which has none above.
        request: The reservation of the query that failed.
        at: The time, in microseconds since 1970.
    """

    account: str
    request: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The owner acknowledged a failure, so that its account goes on: one bit outside of the guarantee."""

    account: str
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The last entry of a ledger that goes on elsewhere: this one grants nothing any more.

    Attributes:
        destination: Where it goes on, as people read it.
        at: The time, in microseconds since 1970.
    """

    destination: str
    at: int = 0

    @property
    def account(self) -> str:
        """None of them: it concerns all."""
        return ""


Entry: TypeAlias = (
    Opened
    | Rebudgeted
    | Closed
    | Recognized
    | Protected
    | Reserved
    | Renewed
    | Committed
    | Abandoned
    | Shared
    | Suspended
    | Resumed
    | Moved
)


def _named(value: object, name: str) -> None:
    if not isinstance(value, str) or not value:
        raise ParameterError(name, value, "must be text that is not empty")
