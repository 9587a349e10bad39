"""`Ledger`: open an account, reserve before data is touched, commit the answer, and never refund."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

from sfumato.accounting.adaptive.filters import fits, remaining
from sfumato.errors import (
    BudgetExceededError,
    LedgerConflictError,
    LedgerCorruptError,
    LedgerError,
    ParameterError,
    ReservationError,
)
from sfumato.ledger.attachments import Attachments
from sfumato.ledger.codec import decode_entry, encode_entry
from sfumato.ledger.entry import Charge, Committed, Entry, Opened, Part, Reserved
from sfumato.ledger.event_prices import price_of
from sfumato.ledger.journal import Chain
from sfumato.ledger.prices import admitted
from sfumato.ledger.replay import AccountState, Replay
from sfumato.ledger.store import LedgerStore
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import Guarantee
from sfumato.privacy.neighbors import NeighboringRelation

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The right to touch data once; its cost is already spent."""

    account: str
    request: str


class Ledger:
    """Accounts over one store, for any number of threads and, where the store allows it, processes.

    Definition: a reservation of charge c is granted iff `spent` + c ≤ budget, decided on the whole ledger as it stands
    at the moment of the append.

    Guarantee: under the account's neighboring relation, all that was ever committed to an account is together
    within its budget, however adaptively the questions were chosen and wherever a process was killed (basic
    composition as a filter [RRUV16]). Charges are exact rationals: nothing is rounded.

    Edge cases: a charge of 0 is granted as long as the budget is not overrun; `NO_GUARANTEE` as a budget refuses
    nothing and still counts. A forked child must open the ledger for itself.

    Args:
        store: Where the records live; everything in it is verified now.
        attachments: Where the files of large answers live; a folder that goes with this process if left out.

    Raises:
        LedgerError: The store cannot be read.
        LedgerCorruptError: A record does not verify.

    Example:
        >>> from sfumato.ledger.memory import MemoryStore
        >>> from sfumato.privacy.events import PureEvent
        >>> from sfumato.privacy.guarantees import PureDP
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> ledger = Ledger(MemoryStore())
        >>> people = Opened(
        ...     account="people", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="each row"
        ... )
        >>> ledger.open_account(people)
        >>> reservation = ledger.reserve(
        ...     "people", event=PureEvent("0.1"), charge=PureDP("0.1"), question="how many?"
        ... )
        >>> ledger.commit(reservation, key="how many?", answer=42)
        >>> ledger.answer("people", "how many?"), str(ledger.remaining("people"))
        (42, 'ε 0.9')

    References:
        [RRUV16]; [McS09] for partitions.
    """

    def __init__(self, store: LedgerStore, attachments: Attachments | None = None) -> None:
        self._store = store
        self.attachments = attachments or Attachments()
        self._process = os.getpid()
        self._lock = Lock()
        self._replay = Replay()
        with self._exclusive():
            self._caught_up()

    def open_account(self, opened: Opened) -> None:
        """Open an account; if it is open with the same facts, nothing happens.

        Raises:
            LedgerError: It is open with other facts.
        """

        def decide(replay: Replay) -> Opened | None:
            state = replay.accounts.get(opened.account)
            if state is None:
                return opened
            _require_same(state.opened, opened)
            return None

        self._append(decide)

    def reserve(
        self, account: str, *, event: Event, charge: Charge, question: str, part: Part | None = None
    ) -> Reservation:
        """Charge a cost, for good, before data is touched.

        Args:
            account: The account that pays.
            event: What will be released; its price must be within the charge.
            charge: What the account pays.
            question: A hash of what is asked, for the record.
            part: The part of a partition of people that the question reads, if it reads no other.

        Raises:
            BudgetExceededError: The account cannot pay; nothing was spent.
            LedgerError: There is no such account, or the store failed; the charge may have been recorded.
            ParameterError: The charge is below the event's price, or the partition was declared otherwise.
            UnsupportedEventError: The event has no price.
        """
        admitted(charge)
        request = random_bytes(16).hex()
        entry = Reserved(account=account, request=request, question=question, event=event, charge=charge, part=part)
        _require_price(event, charge, self.opened(account).neighboring_relation)

        def decide(replay: Replay) -> Reserved:
            _require_fit(_state(replay, account), charge, part)
            return entry

        self._append(decide)
        return Reservation(account=account, request=request)

    def commit(self, reservation: Reservation, *, key: str, answer: Json) -> None:
        """Keep the noisy answer that a reservation paid for; the first answer under a key stays.

        Args:
            reservation: From `reserve`, in this process or another.
            key: What identifies the question and all that its answer depends on.
            answer: The release, as JSON.

        Raises:
            ReservationError: It was never made, or is already committed.
            ParameterError: The answer is not JSON.
        """
        entry = Committed(account=reservation.account, request=reservation.request, key=key, answer=answer)

        def decide(replay: Replay) -> Committed:
            state = _state(replay, entry.account)
            if entry.request not in state.open_requests:
                known = entry.request in state.closed_requests
                raise ReservationError(entry.request, "already committed" if known else "unknown")
            return entry

        self._append(decide)

    def answer(self, account: str, key: str) -> Json:
        """The stored answer to a question, which costs nothing; None if there is none."""
        return self._read(account, lambda state: state.answers.get(key))

    def opened(self, account: str) -> Opened:
        """The facts with which an account was opened."""
        return self._read(account, lambda state: state.opened)

    def budget(self, account: str) -> Guarantee:
        """All that an account may ever spend."""
        return self.opened(account).budget

    def spent(self, account: str) -> Guarantee:
        """All that an account has reserved, committed or not."""
        return self._read(account, AccountState.spent)

    def remaining(self, account: str) -> Guarantee:
        """What an account can still pay outside partitions."""
        return self._read(account, lambda state: remaining(budget=state.opened.budget, spent=state.spent()))

    def accounts(self) -> tuple[str, ...]:
        """The names of all accounts, in the order in which they were opened."""
        with self._exclusive():
            return tuple(self._caught_up().accounts)

    def entries(self) -> tuple[Entry, ...]:
        """Everything that was ever recorded, in order, verified."""
        with self._exclusive():
            self._caught_up()
            return tuple(decode_entry(record.text) for record in self._store.read(0))

    def verify(self) -> Chain:
        """Compute every hash and every account anew, from the first record.

        Returns:
            The number of records and the last hash: noted elsewhere, they tell later whether the end was lost.

        Raises:
            LedgerCorruptError: At the first record that does not follow.
        """
        with self._exclusive():
            self._caught_up()
            replay = Replay()
            for record in self._store.read(0):
                replay.follow(record)
            return replay.chain

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()
        self.attachments.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, account: str, view: Callable[[AccountState], T]) -> T:
        with self._exclusive():
            return view(_state(self._caught_up(), account))

    def _append(self, decide: Callable[[Replay], Entry | None]) -> None:
        """Decide on the ledger as it stands and append, anew whenever another writer came first."""
        with self._exclusive():
            while True:
                replay = self._caught_up()
                entry = decide(replay)
                if entry is None:
                    return
                record = replay.chain.link(encode_entry(entry))
                try:
                    self._store.append(record, expected_head=replay.chain.head)
                except LedgerConflictError:
                    continue  # a conflict means that someone else got on, so this ends
                return

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        # Asked before the lock: a fork may copy it while it is held. A forked memory ledger would pay twice.
        if os.getpid() != self._process:
            raise LedgerError("of another process", "was opened before a fork; open it again in this process")
        with self._lock:
            yield

    def _caught_up(self) -> Replay:
        """Follow what was appended since; what is spent comes from the store alone, our own appends included."""
        chain = self._replay.chain
        records = self._store.read(max(0, chain.length - 1))
        if chain.length > 0:
            if not records or records[0].hash != chain.head:
                raise LedgerCorruptError(chain.length - 1, "it was there before and is gone, or is another")
            records = records[1:]
        # Taken out while it changes: whatever interrupts, a replay that is half done is dropped, never used.
        replay, self._replay = self._replay, Replay()
        for record in records:
            replay.follow(record)
        self._replay = replay
        return replay


def _state(replay: Replay, account: str) -> AccountState:
    state = replay.accounts.get(account)
    if state is None:
        raise LedgerError(f"account {account!r}", "is not open in this ledger; open it first")
    return state


def _require_same(first: Opened, second: Opened) -> None:
    for name in (field.name for field in fields(Opened)):
        was, is_now = getattr(first, name), getattr(second, name)
        if was != is_now:
            requirement = f"was opened with {name} {was}, not {is_now}; keep to it, or let the owner start a new ledger"
            raise LedgerError(f"account {first.account!r}", requirement)


def _require_price(event: Event, charge: Charge, relation: NeighboringRelation) -> None:
    price = price_of(event, delta=charge.delta, neighboring_relation=relation)
    if price > charge.epsilon:
        raise ParameterError("charge", charge, f"must cover the event, whose ε at this δ is {price}")


def _require_fit(state: AccountState, charge: Charge, part: Part | None) -> None:
    spent, request = state.spent(), state.increase(charge, part)
    if not fits(spent=spent, request=request, budget=state.opened.budget):
        raise BudgetExceededError(request, remaining(budget=state.opened.budget, spent=spent))
