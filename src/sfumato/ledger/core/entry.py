"""The entries of a ledger as frozen values: an account opened, a cost reserved, an answer committed, and so on.

Compatibility: the stored form of a class here never changes, because ledgers last for ever: its tag, the names of its
fields (both in `codec`), and their meaning. New fields get a default that keeps the old meaning. Times are microseconds
since 1970 in UTC; 0 where an old ledger recorded none.
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
    """One part of a partition of people; each person is in at most `max_parts_per_unit` parts.

    A charge to a part must also cover a unit that enters or leaves it, under any neighboring relation, because a
    replaced unit leaves one part for another.
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
    """The owner changed the budget of an account. The spending stays; below it, nothing remains."""

    account: str
    budget: Budget
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """An account that refuses all charges, with its descendants; it stays in the ledger, under its name."""

    account: str
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognized:
    """Data of an account, by fingerprints that only the ledger's key can make; `Protected` replaced it."""

    account: str
    fingerprints: tuple[str, ...]
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """The privacy unit of a table of an account, for as long as the ledger exists.

    Attributes:
        account: The account of the data.
        table: The table, as the policy calls it.
        unit: The owner of its rows, as `Table.owner_text` writes it.
        sources: Seals of where its rows are and, for a file or a frame, of its rows: none of them has another unit.
        fingerprints: Seals of the data that it reads, as in `Recognized`; a public table has none.
        beside: Accounts that protect other units in the same data. Neither is charged for the other.
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
    """The cost for an account in its own measure, where that differs from the charge in (ε, δ)."""

    account: str
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """A cost, charged before data is read: from here on it counts as spent, whatever happens next.

    Attributes:
        account: The charged account; its ancestors are charged too.
        request: The id of the reservation.
        question: A hash of the query.
        event: What will be released.
        charge: Its cost in (ε, δ).
        part: The part of a partition that it reads; None: all people.
        prices: Its cost for accounts in another measure.
        principal: Who sent the query.
        idempotency_key: The key with which the query can be sent again without a second charge; empty: none.
        body: A hash of everything sent under this key.
        key: The key of the answer being computed, as in `Committed`; an account has one such reservation per key.
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
    """The answer to a reservation is still being computed, perhaps by another process that took it over.

    Attributes:
        account: The charged account.
        request: The reservation.
        lease: Names the process that computes it; empty: the one that reserved.
        at: The time, in microseconds since 1970.
    """

    account: str
    request: str
    lease: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The noisy answer of a reservation, stored under a key so that an equivalent query is free."""

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
    """A cost, charged for an answer of another account; common ancestors were charged already.

    Attributes:
        account: The account that reads the answer.
        source: The account that was charged first.
        request: The id of the reservation; the answer that follows is that of the source.
        event: What was released.
        charge: Its cost in (ε, δ).
        prices: Its cost for accounts in another measure.
        principal: Who sent the query.
        idempotency_key: As in `Reserved`.
        body: As in `Reserved`.
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
    """A query failed while rows were read: charges and answers are refused until the owner acknowledges it.

    Attributes:
        account: The root account of the data, which has no parent.
        request: The reservation of the query that failed.
        at: The time, in microseconds since 1970.
    """

    account: str
    request: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The owner acknowledged a failure and resumed the account: one bit outside of the guarantee."""

    account: str
    reason: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The last entry of a ledger that was moved: this copy refuses all charges.

    Attributes:
        destination: The new place, as text.
        at: The time, in microseconds since 1970.
    """

    destination: str
    at: int = 0

    @property
    def account(self) -> str:
        """Empty text, because the entry concerns all accounts."""
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
