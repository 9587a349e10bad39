"""What the tests of the ledger's parts share: a key, a clock set by hand, accounts, charges, and their records."""

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import TypeVar

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import AccountPrice, Committed, Entry, Opened, PartitionPart, Protected, Reserved
from sfumato.ledger.core.prices import in_words
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import Reservation
from sfumato.ledger.core.store import LedgerStore, Record
from sfumato.ledger.keeping.follower import Follower, encode_snapshot
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.writing import rules
from sfumato.ledger.writing.batch import PendingBatch
from sfumato.privacy.budgets import Budget
from sfumato.privacy.events import ApproxEvent, Event, PureEvent
from sfumato.privacy.guarantees import PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

T = TypeVar("T")
KEY, OTHER_KEY = LedgerKey(bytes(32)), LedgerKey(bytes(range(32)))


def time(text: str) -> int:
    """Microseconds since 1970 of a time in UTC, such as 2024-02-29T12:00."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**6


NOON = time("2024-11-21T12:00")


class HandClock:
    """A clock that says what it was set to."""

    def __init__(self, at: int = NOON) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at


def account(name: str = "people", budget: object = None, **facts: object) -> Opened:
    """An account, of ε 1 if nothing else is said."""
    standard = {"neighboring_relation": ADD_OR_REMOVE_ONE, "privacy_unit": "each row"}
    return Opened(account=name, budget=PureDP(1) if budget is None else budget, **standard | facts)


def held(name: str, *fingerprints: str, unit: str = "each row", **facts: object) -> Protected:
    """The table of an account, with these fingerprints."""
    return Protected(**{"account": name, "table": "people", "unit": unit, "fingerprints": fingerprints} | facts)


def release(epsilon: object = "0.1", delta: object = 0) -> dict[str, object]:
    """An event and what it is charged as."""
    charge = guarantee(epsilon, delta)
    event = ApproxEvent(charge.epsilon, charge.delta) if charge.delta else PureEvent(charge.epsilon)
    return {"event": event, "charge": charge}


def gaussian(event: Event, epsilon: object = 100, delta: object = "1e-6") -> dict[str, object]:
    """An event and a charge that covers it."""
    return {"event": event, "charge": guarantee(epsilon, delta)}


def reserved(request: str = "r", payer: str = "people", epsilon: object = "0.1", **facts: object) -> Reserved:
    return Reserved(account=payer, request=request, question="q", **release(epsilon) | facts)


def committed(request: str = "r", owner: str = "people", key: str = "k", answer: object = 42) -> Committed:
    return Committed(account=owner, request=request, key=key, answer=answer)


def ward(value: str, max_parts_per_unit: int = 1) -> PartitionPart:
    return PartitionPart(partition="ward", value=value, max_parts_per_unit=max_parts_per_unit)


def amounts(**numbers: object) -> Amounts:
    return Amounts(tuple((name, Fraction(number)) for name, number in numbers.items()))


def rho(name: str, number: object, delta: object = 0) -> tuple[AccountPrice, ...]:
    """What an account in ρ pays."""
    return (AccountPrice(account=name, amounts=amounts(delta=delta, rho=number)),)


def told(replay: Replay, *entries: Entry) -> tuple[Record, ...]:
    """Let a replay follow entries; gives their records."""
    records = []
    for entry in entries:
        records.append(replay.chain.link(encode_entry(entry)))
        replay.follow(records[-1])
    return tuple(records)


def replayed(*entries: Entry) -> Replay:
    """A replay that has followed entries."""
    replay = Replay()
    told(replay, *entries)
    return replay


TREE = (
    account("dataset"),
    account("team", parents=("dataset",)),
    account("ann", parents=("team",)),
    account("bob", parents=("team",)),
)


def decided(store: LedgerStore, rule: Callable[[PendingBatch], T], *, at: int = NOON, with_snapshot: bool = False) -> T:
    """A transaction in which one rule decides on a store; what it refuses leaves nothing."""
    with store.transaction() as transaction:
        follower = Follower(KEY)
        pending = PendingBatch(follower.caught_up(transaction), transaction, KEY, at)
        result = rule(pending)
        is_first = transaction.snapshot() is None
        snapshot = encode_snapshot(pending.replay, KEY) if with_snapshot or is_first else None
        transaction.append(pending.batch(snapshot, seal=pending.seal_after(follower.seal)))
        return result


def kept(store: LedgerStore, *entries: Entry, with_snapshot: bool = False) -> Replay:
    """Put entries at the end of a store, whatever the budgets say; gives the replay of all of it."""

    def rule(pending: PendingBatch) -> Replay:
        for entry in entries:
            pending.keep(entry)
        return pending.replay

    return decided(store, rule, with_snapshot=with_snapshot)


def state(replay: Replay) -> str:
    """All that a replay knows, to be compared."""
    return encode_snapshot(replay, KEY)


def of(*entries: Entry, with_snapshot: bool = False) -> MemoryStore:
    """A store with these entries."""
    store = MemoryStore()
    kept(store, *entries, with_snapshot=with_snapshot)
    return store


def reserve(store: LedgerStore, entry: Reserved, *, at: int = NOON) -> Reservation:
    """A reservation by the rules."""
    return decided(store, lambda pending: rules.reserve(pending, entry), at=at)


def spent(store: LedgerStore, *, at: int = NOON) -> dict[str, Budget]:
    """What each account has spent, in its own words."""
    accounts = Follower(KEY).caught_up(store).accounts
    return {name: in_words(state.spent(at), state.budget) for name, state in accounts.items()}
