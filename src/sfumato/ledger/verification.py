"""Everything computed anew from the first record: hashes, decisions, prices, pointers, and what they add up to."""

from collections.abc import Callable
from functools import lru_cache

from sfumato.errors import BudgetError, LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger.entry import Entry, Reserved, Shared
from sfumato.ledger.follower import follow
from sfumato.ledger.journal import Record
from sfumato.ledger.key import LedgerKey
from sfumato.ledger.pointers import entry_at, names_of, pointer_to
from sfumato.ledger.replay import Paid, Replay
from sfumato.ledger.rules import require_price
from sfumato.ledger.snapshots import encode_snapshot
from sfumato.ledger.store import Batch, LedgerStore, Pointer

_MANY = 1_000


class StrictReplay(Replay):
    """A replay that decides everything again: what was never to be granted does not follow."""

    def __init__(self) -> None:
        super().__init__()
        self._requests: set[str] = set()

    def apply(self, entry: Entry) -> None:
        """Take one more entry into account, if it was rightly granted.

        Raises:
            ParameterError: It was not, or cannot follow the ones before.
        """
        if isinstance(entry, Reserved | Shared):
            self._require_granted(entry)
        super().apply(entry)

    def _require_granted(self, entry: Paid) -> None:
        if entry.request in self._requests:
            raise ParameterError("request", entry.request, "must be new")
        self._requests.add(entry.request)
        try:
            self.require_payable(entry)
            _require_price(entry.event, entry.charge, self.state(entry.account).opened.neighboring_relation)
            self._require_prices(entry)
        except (BudgetError, LedgerError) as error:
            raise ParameterError("charge", str(entry.charge), f"was never to be granted: {error}") from error

    def _require_prices(self, entry: Paid) -> None:
        source = entry.source if isinstance(entry, Shared) else None
        recorded = {price.account: price.amounts for price in entry.prices}
        for now in self.priced(entry.account, entry.event, entry.charge, source):
            if now.account not in recorded or not now.amounts.is_within(recorded[now.account]):
                raise ParameterError("prices", now.account, f"must cover the event, which costs {now.amounts}")


_require_price = lru_cache(maxsize=4096)(require_price)


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
    replay, pointers, taken = StrictReplay(), list[Pointer](), set[str]()

    def about(record: Record, entry: Entry) -> None:
        for name in names_of(entry, replay):
            if name not in taken:
                taken.add(name)
                pointers.append(pointer_to(record, name, key))

    with store.turn() as turn:
        follow(turn, replay, about)
        for start in range(0, len(pointers), _MANY):
            turn.append(Batch(pointers=tuple(pointers[start : start + _MANY])))
        turn.append(Batch(snapshot=encode_snapshot(replay, key)))
