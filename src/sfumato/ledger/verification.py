"""Everything computed anew from the first record: hashes, decisions, prices, pointers, and what they add up to."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from sfumato.errors import (
    BudgetError,
    LedgerCorruptError,
    LedgerError,
    ParameterError,
    UnavailableError,
    UnsupportedEventError,
)
from sfumato.ledger.entry import Charge, Committed, Entry, Reserved, Shared
from sfumato.ledger.event_prices import price_of
from sfumato.ledger.follower import follow
from sfumato.ledger.journal import Record
from sfumato.ledger.key import LedgerKey
from sfumato.ledger.pointers import entry_at, names_of, pointer_to
from sfumato.ledger.replay import Paid, Replay
from sfumato.ledger.snapshots import encode_snapshot
from sfumato.ledger.store import Batch, LedgerStore, Pointer
from sfumato.privacy.events import Event

Cost: TypeAlias = tuple[Event, Charge]
"""What an answer was paid with."""

_MANY = 1_000


class StrictReplay(Replay):
    """A replay that decides everything again: what was never to be granted does not follow."""

    def __init__(self) -> None:
        super().__init__()
        self._paid: dict[str, Paid] = {}
        self._answers: dict[tuple[str, str], Cost] = {}

    def apply(self, entry: Entry) -> None:
        """Take one more entry into account, if it was rightly granted.

        Raises:
            ParameterError: It was not, or cannot follow the ones before.
        """
        match entry:
            case Reserved() | Shared():
                self._require_granted(entry)
            case Committed():
                self._require_its_own(entry)
                self._require_available(entry)
            case _:
                pass
        super().apply(entry)

    def _require_granted(self, entry: Paid) -> None:
        if entry.request in self._paid:
            raise ParameterError("request", entry.request, "must be new")
        self._paid[entry.request] = entry
        try:
            self.require_payable(entry)
            self._require_prices(entry)
        except (BudgetError, LedgerError, UnavailableError, UnsupportedEventError) as error:
            raise ParameterError("charge", str(entry.charge), f"was never to be granted: {error}") from error

    def _require_available(self, entry: Committed) -> None:
        try:
            self.require_available(entry.account)
        except UnavailableError as error:
            raise ParameterError("account", entry.account, "must not be suspended while it is answered") from error

    def _require_its_own(self, entry: Committed) -> None:
        """An answer that was shared is one that its source had, and cost the same."""
        paid = self._paid.get(entry.request)
        if paid is None:
            return  # which cannot follow anyway
        cost = (paid.event, paid.charge)
        if isinstance(paid, Shared) and self._answers.get((paid.source, entry.key)) != cost:
            raise ParameterError("source", paid.source, "must have the answer, for the same charge")
        self._answers.setdefault((entry.account, entry.key), cost)

    def _require_prices(self, entry: Paid) -> None:
        relation = self.state(entry.account).opened.neighboring_relation
        price = _price_of(entry.event, delta=entry.charge.delta, neighboring_relation=relation)
        if price > entry.charge.epsilon * _AS_GOOD_AS:
            raise ParameterError("charge", str(entry.charge), f"must cover the event, whose ε at this δ is {price}")
        source = entry.source if isinstance(entry, Shared) else None
        recorded = {price.account: price.amounts.times(_AS_GOOD_AS) for price in entry.prices}
        for now in self.priced(entry.account, entry.event, entry.charge, source):
            if now.account not in recorded or not now.amounts.is_within(recorded[now.account]):
                raise ParameterError("prices", now.account, f"must cover the event, which costs {now.amounts}")


_price_of = lru_cache(maxsize=4096)(price_of)
_AS_GOOD_AS: Final = 1 + Fraction(1, 10**9)
"""Prices that come from floats differ in their last bits between machines; what was recorded is what was paid."""


def verified(
    store: LedgerStore, key: LedgerKey, current: Replay, at: int, told: Callable[[int], None] | None = None
) -> Replay:
    """The replay of a whole store, which at a time agrees with the one that is in use, and with all pointers.

    Args:
        store: Where the records are.
        key: The ledger's key.
        current: The replay that is in use.
        at: What time it is.
        told: Hears now and then how many records were followed.

    Raises:
        LedgerCorruptError: At the first entry that does not follow; or pointers or the snapshot say something else.
    """
    replay = StrictReplay()

    def about(record: Record, entry: Entry) -> None:
        if told is not None and record.index % _MANY == 0:
            told(record.index)
        for name in names_of(entry, replay):
            pointer = store.find(name)
            if pointer is None or pointer.index > record.index:
                raise LedgerCorruptError(record.index, "the pointer by which it is found is gone; migrate the ledger")
            entry_at(store, pointer, key)

    follow(store, replay, about, until=current.chain.length)
    for state in (*replay.accounts.values(), *current.accounts.values()):
        state.spent(at)  # drops what has left its window, in both
    if encode_snapshot(replay, key) != encode_snapshot(current, key):
        raise LedgerCorruptError(replay.chain.length, "its snapshot says something else than its entries")
    return replay


def indexed(store: LedgerStore, key: LedgerKey) -> None:
    """Make the pointers and the snapshot of a store that has none."""
    # Not a strict one: an old ledger is read for ever, also where its prices are not those of today.
    replay, pointers, taken = Replay(), list[Pointer](), set[str]()

    with store.turn() as turn:
        if turn.snapshot() is not None:
            return  # another process was quicker

        def about(record: Record, entry: Entry) -> None:
            for name in names_of(entry, replay):
                if name not in taken:
                    taken.add(name)
                    known = turn.find(name)
                    if known is None:
                        pointers.append(pointer_to(record, name, key))
                    else:
                        entry_at(turn, known, key)  # of a ledger that merely lost its snapshot

        follow(turn, replay, about)
        for start in range(0, len(pointers), _MANY):
            turn.append(Batch(pointers=tuple(pointers[start : start + _MANY])))
        turn.append(Batch(snapshot=encode_snapshot(replay, key)))
