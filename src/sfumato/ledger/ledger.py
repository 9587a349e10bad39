"""`Ledger`: open an account, reserve before data is touched, commit the answer, and never refund."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar, cast

from sfumato.errors import LedgerError, ParameterError, ReservationError, SfumatoError
from sfumato.ledger import rules
from sfumato.ledger.account import AccountState
from sfumato.ledger.attachments import Attachments
from sfumato.ledger.checkpoints import Checkpoint, CheckpointFile, require_not_older
from sfumato.ledger.clock import Clock, SystemClock
from sfumato.ledger.codec import decode_entry
from sfumato.ledger.draft import Draft
from sfumato.ledger.entry import (
    Abandoned,
    Charge,
    Closed,
    Committed,
    Entry,
    Opened,
    Part,
    Rebudgeted,
    Reserved,
    Shared,
)
from sfumato.ledger.follower import PAGE, Follower
from sfumato.ledger.group import Group, Job
from sfumato.ledger.journal import Chain, Record
from sfumato.ledger.key import LedgerKey, fresh_key
from sfumato.ledger.measures import in_words
from sfumato.ledger.pointers import answer_name, asked_name, entry_at, first_name, request_name
from sfumato.ledger.prices import admitted
from sfumato.ledger.replay import Replay
from sfumato.ledger.reservations import NOBODY, Asked, Reservation
from sfumato.ledger.snapshots import encode_snapshot
from sfumato.ledger.store import LedgerStore
from sfumato.ledger.verification import indexed, verified
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event

T = TypeVar("T")

SNAPSHOT_EVERY = 1_000
"""So many entries are followed at most when a ledger is opened; and a checkpoint is written as often."""


class Ledger:
    """Accounts over one store, for any number of threads and, where the store allows it, processes and hosts.

    Definition: a reservation is granted iff in its account, and in every account above, `spent` + price ≤ budget in the
    account's own measure, decided on the whole ledger as it stands at the moment of the append.

    Guarantee: under an account's neighboring relation, all that was ever committed to it and to accounts below is
    together within its budget, however adaptively the questions were chosen and wherever a process was killed: basic
    composition as a filter [RRUV16] for (ε, δ), the filters of [FZ21] and [WRRW23] for ρ and Rényi divergences. With a
    window it is so within each window. Charges are exact rationals: nothing is rounded down.

    Edge cases: a charge of 0 is granted as long as the budget is not overrun; `NO_GUARANTEE` as a budget refuses
    nothing and still counts. A forked child must open the ledger for itself. Time never goes back.

    Args:
        store: Where the records live.
        key: The ledger's secret; one that nobody has if left out, for ledgers that go with this process.
        attachments: Where the files of large answers live; a folder that goes with this process if left out.
        clock: What time it is; for windows, and for people.
        checkpoint: Where it is noted how far the ledger was; a ledger that is older is refused.

    Raises:
        LedgerError: The store cannot be read.
        LedgerCorruptError: A record does not verify, or the ledger is older than its checkpoint.

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
        [RRUV16]; [FZ21]; [WRRW23]; [McS09] for partitions.
    """

    def __init__(
        self,
        store: LedgerStore,
        *,
        key: LedgerKey | None = None,
        attachments: Attachments | None = None,
        clock: Clock | None = None,
        checkpoint: CheckpointFile | None = None,
    ) -> None:
        self._store = store
        self._key = key or fresh_key()
        self.attachments = attachments or Attachments()
        self._clock = clock or SystemClock()
        self._checkpoint = checkpoint
        self._process = os.getpid()
        self._lock = Lock()
        self._group = Group(self._serve)
        self._follower = Follower(self._key)
        self._at = 0
        self._has_written = False
        with self._exclusive():
            replay = self._follower.caught_up(store)
            self._require_not_older(replay)
            if replay.chain.length and store.snapshot() is None:
                indexed(store, self._key)  # written by a version that had no pointers

    @property
    def key(self) -> LedgerKey:
        """The ledger's secret, for what else is to be sealed with it."""
        return self._key

    def open_account(self, opened: Opened, *, fingerprints: Iterable[str] = ()) -> None:
        """Open an account; if it is open with the same facts, nothing happens.

        Args:
            opened: Its facts; the time is the ledger's.
            fingerprints: Of the data that it is about. What another account was about first has that account above.

        Raises:
            LedgerError: It is open with other facts, or is about data of an account that is not above it.
            ParameterError: A parent is not open, or is about other units or neighbours.
        """
        found = tuple(fingerprints)
        self._do(lambda draft: rules.open_account(draft, opened, found))

    def change_budget(self, account: str, budget: Budget, *, reason: str) -> None:
        """Give an account another budget, in the same measure; for its owner. What was spent stays spent.

        Raises:
            ParameterError: The measure is another, or there is no reason.
            LedgerError: There is no such account.
        """
        _require_reason(reason)

        def decide(draft: Draft) -> None:
            draft.replay.state(account)
            draft.keep(Rebudgeted(account=account, budget=budget, reason=reason, at=draft.at))

        self._do(decide)

    def close_account(self, account: str, *, reason: str) -> None:
        """Grant nothing more to an account, and to those below it; for its owner. Its entries and its name stay.

        Raises:
            ParameterError: There is no reason.
            LedgerError: There is no such account.
        """
        _require_reason(reason)

        def decide(draft: Draft) -> None:
            draft.replay.state(account)
            draft.keep(Closed(account=account, reason=reason, at=draft.at))

        self._do(decide)

    def reserve(
        self,
        account: str,
        *,
        event: Event,
        charge: Charge,
        question: str,
        part: Part | None = None,
        asked: Asked = NOBODY,
    ) -> Reservation:
        """Charge a cost, for good, before data is touched: to the account and to every account above, or to none.

        Args:
            account: The account that pays.
            event: What will be released; its price must be within the charge.
            charge: What it costs in (ε, δ). Accounts in another measure price the event.
            question: A hash of what is asked, for the record.
            part: The part of a partition of people that the question reads, if it reads no other.
            asked: Who asks, and under which key they may ask again.

        Raises:
            BudgetExceededError: An account cannot pay; nothing was spent.
            ReservationError: The key was used for something else, or what was asked under it failed.
            LedgerError: There is no such account, it is closed, or the store failed; then it may have been charged.
            ParameterError: The charge is below the event's price, or the partition was declared otherwise.
            UnsupportedEventError: The event has no price, or none in the measure of an account.
        """
        admitted(charge)
        rules.require_price(event, charge, self.opened(account).neighboring_relation)
        entry = Reserved(
            account=account, request=random_bytes(16).hex(), question=question, event=event, charge=charge, part=part,
            principal=asked.principal, idempotency_key=asked.idempotency_key, body=asked.body,
        )  # fmt: skip
        return self._do(lambda draft: rules.reserve(draft, entry))

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

    def commit(self, reservation: Reservation, *, key: str, answer: Json) -> None:
        """Keep the noisy answer that a reservation paid for; the first answer under a key stays.

        Args:
            reservation: From `reserve`, in this process or another.
            key: What identifies the question and all that its answer depends on.
            answer: The release, as JSON.

        Raises:
            ReservationError: It was never made, or has an answer, or was abandoned.
            ParameterError: The answer is not JSON.
        """
        account, request = reservation.account, reservation.request

        def decide(draft: Draft) -> None:
            _require_open(draft.replay, reservation)
            draft.keep(Committed(account=account, request=request, key=key, answer=answer, at=draft.at))

        self._do(decide)

    def abandon(self, reservation: Reservation, *, reason: str) -> None:
        """Note that a reservation will have no answer. It stays charged, as data may have been read.

        Raises:
            ReservationError: It was never made, or has an answer, or was abandoned.
        """
        account, request = reservation.account, reservation.request

        def decide(draft: Draft) -> None:
            _require_open(draft.replay, reservation)
            draft.keep(Abandoned(account=account, request=request, reason=reason, at=draft.at))

        self._do(decide)

    def share(
        self,
        account: str,
        key: str,
        *,
        event: Event,
        charge: Charge,
        own: Callable[[Json, Reservation], Json],
        asked: Asked = NOBODY,
    ) -> Reservation | None:
        """Give an account the answer that another one has under a key, and charge it; None if nobody has one.

        Accounts above both paid when it was made; those above this one alone pay now.

        Args:
            account: Who reads it and pays; it must have no answer under this key.
            key: Of the answer.
            event: What was released.
            charge: Its cost in (ε, δ).
            own: From the answer and this reading's reservation, the answer as it is kept for this account.
            asked: Who asks, and under which key they may ask again.

        Raises:
            BudgetExceededError: An account cannot pay; nothing was spent.
        """
        admitted(charge)
        rules.require_price(event, charge, self.opened(account).neighboring_relation)
        request = random_bytes(16).hex()

        def decide(draft: Draft) -> Reservation | None:
            first = draft.find(first_name(draft.replay.state(account).path[-1], key))
            if not isinstance(first, Committed):
                return None
            entry = Shared(
                account=account, source=first.account, request=request, event=event, charge=charge,
                principal=asked.principal, idempotency_key=asked.idempotency_key, body=asked.body,
            )  # fmt: skip
            return rules.share(draft, entry, first, own)

        return self._do(decide)

    def answer(self, account: str, key: str) -> Json:
        """The stored answer to a question, which costs nothing; None if there is none.

        Raises:
            LedgerCorruptError: It is not as it was written.
        """
        found = self._named(answer_name(account, key))
        return found.answer if isinstance(found, Committed) else None

    def answer_of(self, reservation: Reservation) -> Json:
        """The answer that a reservation under a key has, byte for byte; None if it has none.

        Raises:
            LedgerCorruptError: It is not as it was written.
        """
        found = self._named(request_name(reservation.request))
        return found.answer if isinstance(found, Committed) else None

    def opened(self, account: str) -> Opened:
        """The facts with which an account was opened."""
        return self._read(account, lambda state, _: state.opened)

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

    def is_closed(self, account: str) -> bool:
        """Whether an account grants nothing more, for itself or because of one above."""
        with self._exclusive():
            return any(payer.is_closed for payer in self._caught_up().payers(account))

    def accounts(self) -> tuple[str, ...]:
        """The names of all accounts, in the order in which they were opened."""
        with self._exclusive():
            return tuple(self._caught_up().accounts)

    def questions_left(self, account: str, *, event: Event, charge: Charge) -> int | None:
        """How many more releases like one an account can pay, and all above it; None where nothing limits them."""
        with self._exclusive():
            return rules.questions_left(self._caught_up(), account, event, charge, self._now())

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

    def verify(self, told: Callable[[int], None] | None = None) -> Chain:
        """Compute every hash, every account, every price and every decision anew, from the first record.

        Args:
            told: Hears now and then how many records were followed.

        Returns:
            The number of records and the last hash: noted elsewhere, they tell later whether the end was lost.

        Raises:
            LedgerCorruptError: At the first record that does not follow, or was never to be granted.
        """
        with self._exclusive():
            self._store.check()
            return verified(self._store, self._key, self._caught_up(), self._now(), told).chain

    def checkpoint(self) -> Checkpoint:
        """How far the ledger is, sealed; and noted where it was opened with a place for that."""
        with self._exclusive():
            return self._noted(self._caught_up())

    def close(self) -> None:
        """Note how far the ledger is, where there is a place for that, and let go of the store."""
        try:
            if self._has_written:
                self.checkpoint()
        finally:
            self._has_written = False
            self._store.close()
            self.attachments.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, decide: Callable[[Draft], T]) -> T:
        self._require_same_process()
        return cast("T", self._group.do(decide))

    def _serve(self, take: Callable[[], list[Job]]) -> None:
        """Decide all that is waiting on the ledger as it stands, and append it at once."""
        with self._exclusive():
            try:
                with self._store.turn() as turn:
                    replay = self._follower.caught_up(turn)
                    draft = Draft(replay, turn, self._key, self._now())
                    for job in take():
                        _decide(job, draft)
                    if draft.records:
                        turn.append(draft.batch(self._snapshot(replay)))
                if draft.records:
                    self._written(replay)
            except BaseException:
                self._follower.forget()  # what was decided was perhaps not kept
                raise

    def _snapshot(self, replay: Replay) -> str | None:
        """The state so far, with the first batch and every now and then."""
        return encode_snapshot(replay, self._key) if self._is_due(replay) else None

    def _is_due(self, replay: Replay) -> bool:
        before = self._follower.snapshot_length
        return before == 0 or replay.chain.length - before >= SNAPSHOT_EVERY

    def _written(self, replay: Replay) -> None:
        """A batch was kept: if with a snapshot, note how far the ledger is outside of it too."""
        self._has_written = True
        if self._is_due(replay):
            self._follower.snapshot_length = replay.chain.length
            self._noted(replay)

    def _noted(self, replay: Replay) -> Checkpoint:
        totals = tuple((name, str(_spent(state))) for name, state in replay.accounts.items())
        chain = replay.chain
        found = Checkpoint.sealed(self._key, length=chain.length, head=chain.head, at=self._now(), totals=totals)
        if self._checkpoint is not None:
            self._checkpoint.write(found)
        return found

    def _read(self, account: str, view: Callable[[AccountState, int], T]) -> T:
        with self._exclusive():
            return view(self._caught_up().state(account), self._now())

    def _named(self, name: str) -> Entry | None:
        with self._exclusive():
            pointer = self._store.find(name)
            return None if pointer is None else entry_at(self._store, pointer, self._key)

    def _caught_up(self) -> Replay:
        return self._follower.caught_up(self._store)

    def _now(self) -> int:
        """What time it is, but never before a time that was recorded, or that this process has seen."""
        replay = self._follower.replay
        self._at = max(self._at, self._clock(), 0 if replay is None else replay.at)
        return self._at

    def _require_not_older(self, replay: Replay) -> None:
        noted = None if self._checkpoint is None else self._checkpoint.read(self._key)
        if noted is not None:
            require_not_older(noted, replay.chain.length, lambda index: self._store.read(index, limit=1)[0].hash)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        self._require_same_process()
        with self._lock:
            yield

    def _require_same_process(self) -> None:
        # Asked before the lock: a fork may copy it while it is held. A forked memory ledger would pay twice.
        if os.getpid() != self._process:
            raise LedgerError("of another process", "was opened before a fork; open it again in this process")


def _decide(job: Job, draft: Draft) -> None:
    try:
        job.result = job.decide(draft)
    except SfumatoError as error:
        job.error = error


def _spent(state: AccountState) -> Budget:
    return in_words(state.lifetime.total(), state.budget)


def _require_open(replay: Replay, reservation: Reservation) -> None:
    replay.state(reservation.account)
    known = replay.open_requests.get(reservation.request)
    if known is None or known.account != reservation.account:
        raise ReservationError(reservation.request, "unknown here, or already committed or abandoned")


def _require_reason(reason: object) -> None:
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError("reason", reason, "must say why, for those who read the ledger later")
