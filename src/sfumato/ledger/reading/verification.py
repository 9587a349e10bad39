"""Everything computed anew from the first record: hashes, decisions, prices, index entries, and their sums."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from operator import lt
from typing import Final, TypeAlias

from sfumato.errors import (
    BudgetError,
    LedgerCorruptError,
    LedgerError,
    ParameterError,
    UnavailableError,
    UnitChangedError,
    UnsupportedEventError,
)
from sfumato.ledger.core.entry import Charge, Committed, Entry, Protected, Reserved, Shared
from sfumato.ledger.core.prices import price_of
from sfumato.ledger.core.replay import Paid, Replay
from sfumato.ledger.core.store import (
    Chain,
    IndexEntry,
    LedgerStore,
    ReadableStore,
    Record,
)
from sfumato.ledger.keeping.follower import PAGE, encode_snapshot, follow
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.seals import IndexDigest, Seal, entry_at, index_entry_to, names_of
from sfumato.ledger.writing.protection import others
from sfumato.privacy.events import Event

Cost: TypeAlias = tuple[Event, Charge]
"""The charge for an answer."""

_MANY = 1_000


class StrictReplay(Replay):
    """A replay that decides everything again: what was never to be granted does not follow."""

    def __init__(self) -> None:
        super().__init__()
        self._paid: dict[str, tuple[Cost, str | None]] = {}
        self._answers: dict[tuple[str, str], Cost] = {}
        self._covered = set[tuple[object, ...]]()  # see `_require_prices`

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
            case Protected() if entry.account in self.accounts:
                self._require_unit(entry)
            case _:
                pass
        super().apply(entry)

    def _require_granted(self, entry: Paid) -> None:
        if entry.request in self._paid:
            raise ParameterError("request", entry.request, "must be new")
        self._paid[entry.request] = (entry.event, entry.charge), _source_of(entry)
        try:
            self.require_payable(entry)
            self._require_prices(entry)
        except (BudgetError, LedgerError, UnavailableError, UnsupportedEventError) as error:
            raise ParameterError("charge", str(entry.charge), f"should have been refused: {error}") from error

    def _require_unit(self, entry: Protected) -> None:
        try:
            others(self, self.state(entry.account).opened, entry, entry.beside, {})
        except UnitChangedError as error:
            raise ParameterError("unit", entry.unit, f"should not have been bound: {error}") from error

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
        cost, source = paid
        if source is not None and self._answers.get((source, entry.key)) != cost:
            raise ParameterError("source", source, "must have the answer, for the same charge")
        self._answers.setdefault((entry.account, entry.key), cost)

    def _require_prices(self, entry: Paid) -> None:
        relation = self.state(entry.account).opened.neighboring_relation
        # Events and charges that are equal are mostly the same values, and all of them are kept in `_paid`.
        pair = id(entry.event), id(entry.charge), relation
        if pair not in self._covered:
            price = _price_of(entry.event, delta=entry.charge.delta, neighboring_relation=relation)
            if price > entry.charge.epsilon * _AS_GOOD_AS:
                raise ParameterError("charge", str(entry.charge), f"must cover the event, whose ε at this δ is {price}")
            self._covered.add(pair)
        recorded = {price.account: price.amounts.times(_AS_GOOD_AS) for price in entry.prices}
        for now in self.priced(entry.account, entry.event, entry.charge, _source_of(entry)):
            if now.account not in recorded or not now.amounts.is_within(recorded[now.account]):
                raise ParameterError("prices", now.account, f"must cover the event, which costs {now.amounts}")


def _source_of(entry: Paid) -> str | None:
    """Who asked first, if the answer is that of another account."""
    return entry.source if isinstance(entry, Shared) else None


_price_of = lru_cache(maxsize=4096)(price_of)
_AS_GOOD_AS: Final = 1 + Fraction(1, 10**9)
"""Prices that come from floats differ in their last bits between machines; what was recorded is what was paid."""


def verified(
    store: LedgerStore,
    key: LedgerKey,
    current: Replay,
    seal: Seal,
    at: int,
    told: Callable[[int], None] | None = None,
    *,
    about: Callable[[Entry], None] | None = None,
) -> Replay:
    """The replay of a whole store, which at a time agrees with the one that is in use, and with all index entries.

    Args:
        store: Where the records are.
        key: The ledger's key.
        current: The replay that is in use.
        seal: The seal at its end.
        at: What time it is.
        told: Hears now and then how many records were followed.
        about: Hears of each entry; whether it is true is only known at the end.

    Raises:
        LedgerCorruptError: At the first entry that does not follow; or where index entries or the snapshot disagree.
    """
    replay, wanted = StrictReplay(), dict[str, IndexEntry]()

    def hear(record: Record, entry: Entry) -> None:
        _tell(told, record)
        for name in names_of(entry, replay):
            if name not in wanted:
                wanted[name] = index_entry_to(record, name, key)
        if about is not None:
            about(entry)

    follow(store, replay, hear, until=current.chain.length)
    _require_index_entries(store, seal, key, wanted)
    for state in (*replay.accounts.values(), *current.accounts.values()):
        state.spent(at)  # drops what has left its window, in both
    if encode_snapshot(replay, key) != encode_snapshot(current, key):
        raise LedgerCorruptError(replay.chain.length, "its snapshot does not match its entries")
    return replay


def audited(store: LedgerStore, told: Callable[[int], None] | None = None) -> Chain:
    """All that whoever does not have the key can verify: that entries follow each other, and were rightly granted.

    Not that the ledger wrote them, nor that index entries, snapshot and answers are its own.

    Raises:
        LedgerCorruptError: At the first entry that does not follow, or was never to be granted.
    """
    replay = StrictReplay()
    store.check()
    follow(store, replay, lambda record, _: _tell(told, record), until=store.end().chain.length)
    return replay.chain


def require_index(store: ReadableStore, seal: Seal) -> None:
    """Refuse index entries that are others, more or fewer than those that were sealed; reads all of them.

    Raises:
        LedgerCorruptError: They are.
    """
    index = _index_of(store, seal.chain.length)
    if index != seal.index:
        raise _changed(seal, index)


def _require_index_entries(store: ReadableStore, seal: Seal, key: LedgerKey, wanted: dict[str, IndexEntry]) -> None:
    """Refuse index entries of which one is not as the key made it, leads to another record, or is missing; reads all.

    That costs one pass in the order of names. To find each name on its own, and its record once more, took longer than
    all the rest of a verification.
    """

    def about(index_entry: IndexEntry) -> None:
        made = wanted.pop(index_entry.name, None)
        if made is None or made == index_entry:
            return
        if index_entry.index > made.index:
            raise _lost(made)
        entry_at(store, index_entry, key)

    index = _index_of(store, seal.chain.length, about)
    if wanted:
        raise _lost(min(wanted.values(), key=lambda index_entry: index_entry.index))
    if index != seal.index:
        raise _changed(seal, index)


def _index_of(store: ReadableStore, length: int, about: Callable[[IndexEntry], None] | None = None) -> IndexDigest:
    """All index entries in short to the first records of a store; `about` hears of those to later records too."""
    index, after, is_sorted = IndexDigest(), "", True
    while is_sorted and (page := store.index_entries(after=after, limit=PAGE)):
        if about is not None:
            for index_entry in page:
                about(index_entry)
        # Whoever writes meanwhile has given names to later records only.
        index = index.plus(one for one in page if one.index < length)
        names = [after.encode(), *(one.name.encode() for one in page)]
        after, is_sorted = page[-1].name, all(map(lt, names, names[1:]))  # else a damaged table would be read for ever
    return index if is_sorted else IndexDigest(count=index.count, total=-1)  # which nothing was sealed with


def _lost(index_entry: IndexEntry) -> LedgerCorruptError:
    return LedgerCorruptError(index_entry.index, "its index entry is missing; migrate the ledger")


def _changed(seal: Seal, index: IndexDigest) -> LedgerCorruptError:
    requirement = (
        f"index entries were changed or are missing: {seal.index.count} were sealed, {index.count} exist;"
        " `sfumato ledger migrate` makes them again"
    )
    return LedgerCorruptError(max(seal.chain.length - 1, 0), requirement)


def _tell(told: Callable[[int], None] | None, record: Record) -> None:
    if told is not None and record.index % _MANY == 0:
        told(record.index)
