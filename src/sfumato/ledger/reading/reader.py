"""What can be read of a ledger: accounts, answers, entries, and whether all of it is true."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Final, TypeVar

from sfumato.errors import LedgerCorruptError, LedgerError, ReservationError
from sfumato.ledger.core.account import AccountState
from sfumato.ledger.core.codec import decode_entry
from sfumato.ledger.core.entry import Charge, Committed, Entry, Opened, Reserved, Shared
from sfumato.ledger.core.prices import in_words, is_spent
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import Asked, Flight, Reservation
from sfumato.ledger.core.store import Chain, LedgerStore, Record
from sfumato.ledger.core.windows import Clock
from sfumato.ledger.keeping.follower import PAGE, Follower
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.seals import answer_name, asked_name, entry_at, first_name, request_name
from sfumato.ledger.reading.verification import verified
from sfumato.ledger.writing import rules
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event

T = TypeVar("T")

_LATEST: Final = 64
"""How many entries are read at once from the end on."""


class LedgerReader:
    """A store, followed up to now whenever something is asked; nothing here changes it.

    Args:
        store: Where the records live.
        key: The ledger's secret.
        clock: What time it is.
    """

    def __init__(self, store: LedgerStore, key: LedgerKey, clock: Clock) -> None:
        self._store, self._key, self._clock = store, key, clock
        self._process = os.getpid()
        self._lock = Lock()
        self._follower = Follower(key)
        self._at = 0
        self._opened: dict[str, Opened] = {}
        self._oldest_key: str | None = None

    @property
    def key(self) -> LedgerKey:
        """The ledger's secret, for what else is to be sealed with it."""
        return self._key

    def now(self) -> int:
        """What time it is, never before a time that was recorded, or that this process has seen."""
        with self._exclusive():
            return self._now()

    def ahead(self) -> int:
        """By how many microseconds the last entry is later than the clock of this machine; 0 if it is not.

        So long no window comes back. Either this clock is slow, or that of whoever wrote the entry was fast.
        """
        with self._exclusive():
            return max(self._caught_up().at - self._clock(), 0)

    def asked_before(self, asked: Asked) -> Reserved | Shared | None:
        """The reservation that somebody made under a key; None if there is none, or no key.

        Raises:
            ReservationError: The key was used for something else.
        """
        if not asked.idempotency_key:
            return None
        found = self._named(asked_name(asked.principal, asked.idempotency_key))
        if not isinstance(found, Reserved | Shared):
            return None
        if found.body != asked.body:
            raise rules.other_question(asked.idempotency_key)
        return found

    def answer(self, account: str, key: str) -> Json:
        """The stored answer to a query, which costs nothing; None if there is none.

        Raises:
            LedgerCorruptError: It is not as it was written.
        """
        found = self._named(answer_name(account, key))
        return found.answer if isinstance(found, Committed) else None

    @property
    def oldest_key(self) -> str | None:
        """The key of the first answer that any account stored; None if there is none."""
        if self._oldest_key is None:
            for entry in self.entries():
                if isinstance(entry, Committed):
                    self._oldest_key = entry.key
                    break
        return self._oldest_key

    def answer_of(self, reservation: Reservation) -> Json:
        """The answer that a reservation under a key has, byte for byte; None if it has none.

        Raises:
            LedgerCorruptError: It is not as it was written.
        """
        found = self._named(request_name(reservation.request))
        return found.answer if isinstance(found, Committed) else None

    def charged(self, request: str) -> Reserved | None:
        """What a reservation was charged for, as long as it waits for its answer; else None, or if there is none.

        Raises:
            LedgerCorruptError: It is not as it was written.
        """
        with self._exclusive():
            replay = self._caught_up()
            return self._charge_of(request, replay.chain) if request in replay.open_requests else None

    def flight(self, account: str, key: str) -> Flight | None:
        """Who is at work on the answer of an account under a key."""
        with self._exclusive():
            return self._caught_up().flight(account, key)

    def flight_of(self, request: str) -> Flight | None:
        """Who is at work on the answer to a reservation; None if it has one, or never will."""
        with self._exclusive():
            return self._caught_up().flight_of(request)

    def flights_before(self, request: str) -> tuple[Flight, ...]:
        """Who is at work on the same answer as a reservation, for other accounts about the same data, and was earlier.

        Raises:
            ReservationError: The reservation has an answer, or never will have one.
        """
        with self._exclusive():
            replay = self._caught_up()
            if request not in replay.open_requests:
                raise ReservationError(request, "unknown here, or already committed or abandoned")
            return replay.flights_before(request)

    def first_answer(self, account: str, key: str) -> Json:
        """The first answer under a key of all accounts about the same data; None if there is none."""
        found = self._named(first_name(account, key))
        return found.answer if isinstance(found, Committed) else None

    def opened(self, account: str) -> Opened:
        """The facts with which an account was opened."""
        self._require_same_process()
        known = self._opened.get(account)  # without waiting for a turn: what is opened never changes
        if known is None:
            known = self._opened[account] = self._read(account, lambda state, _: state.opened)
        return known

    def budget(self, account: str) -> Budget:
        """All that an account may spend, in all or in a window."""
        return self._read(account, lambda state, _: state.budget)

    def spent(self, account: str) -> Budget:
        """What an account has reserved, committed or not, itself and below; with a window, within it."""
        return self._read(account, lambda state, at: in_words(state.spent(at), state.budget))

    def spent_in_all(self, account: str) -> Budget:
        """What an account has ever reserved, in all windows together."""
        return self._read(account, lambda state, _: in_words(state.lifetime.total(), state.budget))

    def remaining(self, account: str) -> Budget:
        """What an account can still pay outside partitions, as far as it depends on itself; see `path`."""
        return self._read(account, lambda state, at: state.left(at))

    def path(self, account: str) -> tuple[str, ...]:
        """An account and all above it, which pay with it."""
        return self._read(account, lambda state, _: state.path)

    def units(self, account: str) -> Mapping[str, str]:
        """Whose the rows of an account's tables are, by the tables' names in lower case."""
        return self._read(account, lambda state, _: dict(state.tables))

    def beside(self, account: str) -> tuple[str, ...]:
        """Accounts that protect other units in the same data: what they spend is not in this one's budget."""
        with self._exclusive():
            accounts = self._caught_up().accounts
            pairs = [(name, other) for name, state in accounts.items() for other in state.beside]
            both = [pair for first, second in pairs for pair in ((first, second), (second, first))]
            path = self._caught_up().state(account).path
            return tuple(dict.fromkeys(other for one, other in both if one in path or account in accounts[one].path))

    def is_closed(self, account: str) -> bool:
        """Whether an account grants nothing more, for itself or because of one above."""
        with self._exclusive():
            return any(payer.is_closed for payer in self._caught_up().payers(account))

    def is_suspended(self, account: str) -> bool:
        """Whether an account grants nothing until its owner, or that of one above, has acknowledged a failure."""
        with self._exclusive():
            return any(payer.is_suspended for payer in self._caught_up().payers(account))

    def acknowledged(self, account: str) -> int:
        """How many failures were acknowledged for an account and all above it.

        As many bits are outside of the guarantee.
        """
        with self._exclusive():
            return sum(payer.acknowledged for payer in self._caught_up().payers(account))

    def accounts(self) -> tuple[str, ...]:
        """The names of all accounts, in the order in which they were opened."""
        with self._exclusive():
            return tuple(self._caught_up().accounts)

    def questions_left(self, account: str, *, event: Event, charge: Charge) -> int | None:
        """How many more releases like one an account can pay, and all above it; None where nothing limits them."""
        with self._exclusive():
            return rules.questions_left(self._caught_up(), account, event, charge, self._now())

    def limiting(self, account: str, *, event: Event, charge: Charge) -> str | None:
        """Which account above grants fewer more releases like one than an account itself would; None if none does."""
        with self._exclusive():
            return rules.limiting(self._caught_up(), account, event, charge, self._now())

    def is_spent(self, account: str) -> bool:
        """Whether nothing is left of an account's own budget; with a window, until some of it comes back."""
        return self._read(account, lambda state, at: is_spent(state.budget, state.spent(at)))

    def pending(self, account: str) -> int:
        """How many reservations of an account have no answer, and may never have one."""
        with self._exclusive():
            return sum(request.account == account for request in self._caught_up().open_requests.values())

    def __len__(self) -> int:
        """How many entries there are."""
        with self._exclusive():
            return self._caught_up().chain.length

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """What was recorded from an index on, in order; the chain is followed on the way.

        Raises:
            LedgerCorruptError: A record does not follow.
        """
        chain: Chain | None = None
        for record in self.records(start):
            chain = (chain or Chain(length=start, head=record.previous)).follow(record)
            yield decode_entry(record.text)

    def records(self, start: int = 0) -> Iterator[Record]:
        """The same as records, for copies and exports."""
        while True:
            with self._exclusive():
                records = self._store.read(start, limit=PAGE)
            if not records:
                return
            yield from records
            start += len(records)

    def verify(
        self, told: Callable[[int], None] | None = None, *, about: Callable[[Entry], None] | None = None
    ) -> Chain:  # fmt: skip
        """Compute every hash, every account, every price and every decision anew, from the first record.

        Args:
            told: Hears now and then how many records were followed.
            about: Hears of each entry, for who wants more of it than that it is true.

        Returns:
            The number of records and the last hash: noted elsewhere, they tell later whether the end was lost.

        Raises:
            LedgerCorruptError: At the first record that does not follow, or was never to be granted.
        """
        with self._exclusive():
            self._store.check()
            current = self._caught_up()
            seal, at = self._follower.seal, self._now()
            return verified(self._store, self._key, current, seal, at, told, about=about).chain

    def _charge_of(self, request: str, end: Chain) -> Reserved | None:
        """What was charged for a reservation; looked for from the end on, as those without an answer are new."""
        while end.length:
            start = max(end.length - _LATEST, 0)
            records = self._store.read(start, limit=end.length - start)
            chain = Chain(length=start, head=records[0].previous if records else "")
            for record in records:
                chain = chain.follow(record)
            if chain != end:
                raise LedgerCorruptError(start)
            for record in reversed(records):
                entry = decode_entry(record.text) if request in record.text else None
                if isinstance(entry, Reserved) and entry.request == request:
                    return entry
            end = Chain(length=start, head=records[0].previous)
        return None

    def _read(self, account: str, view: Callable[[AccountState, int], T]) -> T:
        with self._exclusive():
            return view(self._caught_up().state(account), self._now())

    def _named(self, name: str) -> Entry | None:
        with self._exclusive():
            index_entry = self._store.find(name)
            return None if index_entry is None else entry_at(self._store, index_entry, self._key)

    def _caught_up(self) -> Replay:
        return self._follower.caught_up(self._store)

    def _now(self) -> int:
        replay = self._follower.replay
        self._at = max(self._at, self._clock(), 0 if replay is None else replay.at)
        return self._at

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        self._require_same_process()
        with self._lock:
            yield

    def _require_same_process(self) -> None:
        # Asked before the lock: a fork may copy it while it is held. A forked memory ledger would pay twice.
        if os.getpid() != self._process:
            raise LedgerError("of another process", "was opened before a fork; open it again in this process")
