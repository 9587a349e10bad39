"""`Ledger`: open an account, reserve before data is touched, commit the answer, and never refund."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar, cast
from weakref import finalize

from sfumato.errors import SfumatoError
from sfumato.ledger.core.account import AccountState
from sfumato.ledger.core.entry import (
    Abandoned,
    Charge,
    Closed,
    Committed,
    Opened,
    Part,
    Protected,
    Rebudgeted,
    Renewed,
    Reserved,
    Shared,
)
from sfumato.ledger.core.prices import admitted, in_words
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import NOBODY, Asked, Flight, Reservation
from sfumato.ledger.core.store import Chain, End, LedgerStore
from sfumato.ledger.core.windows import Clock, SystemClock
from sfumato.ledger.keeping.attachments import Attachments
from sfumato.ledger.keeping.checkpoints import Checkpoint, require_not_older
from sfumato.ledger.keeping.follower import encode_snapshot
from sfumato.ledger.keeping.key import LedgerKey, fresh_key
from sfumato.ledger.keeping.noting import Noting
from sfumato.ledger.keeping.seals import Seal, answer_name, asked_name, first_name
from sfumato.ledger.reading.readings import Readings
from sfumato.ledger.reading.verification import require_index
from sfumato.ledger.writing import rules
from sfumato.ledger.writing.draft import Draft
from sfumato.ledger.writing.group import Group, Job
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event

T = TypeVar("T")

SNAPSHOT_EVERY = 1_000
"""So many entries are followed at most when a ledger is opened."""
POINTERS_READ = 10_000
"""So many pointers are all looked at when a ledger is opened; of a ledger with more `verify` does."""


class Ledger(Readings):
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
        key: The ledger's secret, which seals every batch; one that nobody has if left out, for ledgers that go with
            this process.
        attachments: Where the files of large answers live; a folder that goes with this process if left out.
        clock: What time it is; for windows, and for people.
        checkpoint: Where it is noted how far the ledger was, after every batch; a ledger that is older is refused, and
            one whose checkpoint is gone.
        ignores_checkpoint: Whether it is neither read nor written; for the owner who writes another.

    Raises:
        LedgerError: The store cannot be read.
        LedgerCorruptError: A record does not verify or is not sealed, a pointer or the snapshot is gone, or the ledger
            is older than its checkpoint.

    Example:
        >>> from sfumato.ledger.stores.memory import MemoryStore
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
        checkpoint: Noting | None = None,
        ignores_checkpoint: bool = False,
    ) -> None:
        super().__init__(store, key or fresh_key(), clock or SystemClock())
        self.attachments = attachments or Attachments()
        self._where = None if checkpoint is None else checkpoint.file.where
        self._noting = None if ignores_checkpoint else checkpoint
        self._totals: tuple[tuple[str, str], ...] = ()
        if self._noting is not None:
            finalize(self, self._noting.finish)  # also of a ledger that is not closed, when the process ends
        self._group = Group(self._serve)
        self._has_written = False
        with self._exclusive():
            # Read first: others may write on and note it, and what was noted earlier is there later.
            noted = None if self._noting is None else self._noting.file.read(self._key)
            replay = self._follower.caught_up(store)
            self._require_not_older(replay, noted)
            self._require_remembered(replay)
            if self._follower.seal.index.count <= POINTERS_READ:
                require_index(store, self._follower.seal)

    def open_account(self, opened: Opened, *, tables: Iterable[Protected] = (), beside: tuple[str, ...] = ()) -> None:
        """Open an account; if it is open with the same facts, nothing happens, and nobody's transaction is waited for.

        Args:
            opened: Its facts; the time is the ledger's.
            tables: Who is protected in which data. What another account was about first has that account above.
            beside: Accounts that protect other units in the same data: neither pays for the other.

        Raises:
            LedgerError: It is open with other facts or units, or is about data of an account that is not above it.
            ParameterError: A parent is not open, or is about other units or neighbours.
        """
        found = tuple(tables)
        with self._exclusive():  # which waits for nobody's transaction
            if rules.is_open(self._caught_up(), opened, found, beside):
                return
        self._do(lambda draft: rules.open_account(draft, opened, found, beside))

    def change_budget(self, account: str, budget: Budget, *, reason: str) -> None:
        """Give an account another budget, in the same measure; for its owner. What was spent stays spent.

        Raises:
            ParameterError: The measure is another, or there is no reason.
            LedgerError: There is no such account.
        """
        rules.require_reason(reason)

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
        rules.require_reason(reason)

        def decide(draft: Draft) -> None:
            draft.replay.state(account)
            draft.keep(Closed(account=account, reason=reason, at=draft.at))

        self._do(decide)

    def suspend_account(self, reservation: Reservation) -> None:
        """Grant and show nothing more of the data that a question was about, which failed while it read rows.

        All accounts of the data are suspended by their root. One that is suspended already stays so.

        Args:
            reservation: Of the question; it has no answer, and is abandoned.

        Raises:
            ReservationError: It was never made, or has an answer.
        """
        self._do(lambda draft: rules.suspend(draft, reservation))

    def resume_account(self, account: str, *, reason: str) -> int:
        """Acknowledge that a question about the data of an account failed, and go on; for its owner.

        That it failed, and so that its account was suspended, may be a fact about one person. Each acknowledgement is
        therefore counted as one bit outside of the guarantee, which `acknowledged` and the privacy label show.

        Args:
            account: The account, or one below it.
            reason: Why the failure cannot happen again, for those who read the ledger later.

        Returns:
            How many bits are outside of the guarantee from now on.

        Raises:
            ParameterError: There is no reason, or the account is not suspended.
            LedgerError: There is no such account.
        """
        rules.require_reason(reason)
        self._do(lambda draft: rules.resume(draft, account, reason))
        return self.acknowledged(account)

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
            UnavailableError: An account is suspended.
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

    def fly(
        self,
        account: str,
        key: str,
        *,
        event: Event,
        charge: Charge,
        question: str,
        part: Part | None = None,
        asked: Asked = NOBODY,
        over: Flight | None = None,
    ) -> Reservation | Flight | None:
        """Reserve, unless the account has the answer under a key, or somebody is at work on it.

        **Guarantee**: an account has one reservation without an answer under a key, whoever asks at once, in any number
        of threads, processes and hosts. Who took over may commit, and who was taken over may not.

        Args:
            account: As of `reserve`, like event, charge, question, part and asked.
            key: What identifies the question and all that its answer depends on.
            event: As of `reserve`.
            charge: As of `reserve`.
            question: As of `reserve`.
            part: As of `reserve`.
            asked: As of `reserve`.
            over: The flight that was found before, if it stayed as it was for too long; then it is taken over.

        Returns:
            The reservation, which is charged; or who is at work, and nothing is charged; or None: the answer is there.

        Raises:
            The same as `reserve`.
        """
        admitted(charge)
        rules.require_price(event, charge, self.opened(account).neighboring_relation)
        entry = Reserved(
            account=account, request=random_bytes(16).hex(), question=question, event=event, charge=charge, part=part,
            principal=asked.principal, idempotency_key=asked.idempotency_key, body=asked.body, key=key,
        )  # fmt: skip
        return self._do(lambda draft: rules.fly(draft, entry, over))

    def renew(self, reservation: Reservation) -> None:
        """Say that somebody is still at work on the answer to a reservation, so that nobody takes it over.

        Raises:
            ReservationError: It has an answer, or was taken over.
        """

        def decide(draft: Draft) -> None:
            rules.require_open(draft.replay, reservation)
            draft.keep(
                Renewed(account=reservation.account, request=reservation.request, lease=reservation.lease, at=draft.at)
            )

        self._do(decide)

    def commit(self, reservation: Reservation, *, key: str, answer: Json) -> None:
        """Keep the noisy answer that a reservation paid for; the first answer under a key stays.

        Args:
            reservation: From `reserve`, in this process or another.
            key: What identifies the question and all that its answer depends on.
            answer: The release, as JSON.

        Raises:
            ReservationError: It was never made, or has an answer, or was abandoned.
            UnavailableError: Another question about the data failed meanwhile, so that none is answered.
            ParameterError: The answer is not JSON.
        """
        account, request = reservation.account, reservation.request

        def decide(draft: Draft) -> None:
            rules.require_open(draft.replay, reservation)
            draft.replay.require_available(account)
            draft.keep(Committed(account=account, request=request, key=key, answer=answer, at=draft.at))

        self._do(decide)

    def abandon(self, reservation: Reservation, *, reason: str) -> None:
        """Note that a reservation will have no answer. It stays charged, as data may have been read.

        Raises:
            ReservationError: It was never made, or has an answer, or was abandoned.
        """
        account, request = reservation.account, reservation.request

        def decide(draft: Draft) -> None:
            rules.require_open(draft.replay, reservation)
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
        """Give an account the answer that another one about the same data has under a key, and charge it.

        Accounts above both paid when it was made; those above this one alone pay now. Accounts are about the same data
        if their names begin alike, up to the first slash. None if nobody has one, if this account has one by now, or if
        something was charged under the key of the one who asks: then `reserve` has to say what became of it.

        Args:
            account: Who reads it and pays.
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
            first = draft.find(first_name(account, key))
            if not isinstance(first, Committed) or draft.find(answer_name(account, key)) is not None:
                return None
            if asked.idempotency_key and draft.find(asked_name(asked.principal, asked.idempotency_key)) is not None:
                return None
            entry = Shared(
                account=account, source=first.account, request=request, event=event, charge=charge,
                principal=asked.principal, idempotency_key=asked.idempotency_key, body=asked.body,
            )  # fmt: skip
            return rules.share(draft, entry, first, own)

        return self._do(decide)

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
            if self._noting is not None:
                self._noting.finish()
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
                with self._store.transaction() as transaction:
                    replay = self._follower.caught_up(transaction)
                    draft, kept = Draft(replay, transaction, self._key, self._now()), None
                    for job in take():
                        _decide(job, draft)
                    if draft.records:
                        seal = draft.seal_after(self._remembering())
                        kept = draft.batch(self._snapshot(replay), seal=seal)
                        transaction.append(kept)
                if kept is not None:
                    self._follower.wrote(End(chain=replay.chain, seal=kept.seal), seal)
                    self._written(replay)
            except BaseException:
                self._follower.forget()  # what was decided was perhaps not kept
                raise

    def _snapshot(self, replay: Replay) -> str | None:
        """The state so far, with the first batch and every now and then."""
        return encode_snapshot(replay, self._key) if self._is_due(replay) else None

    def _is_due(self, replay: Replay) -> bool:
        before = self._follower.snapshot_length
        new = replay.chain.length - before
        # A large state is written more rarely, so that writing it costs each entry the same.
        return before == 0 or (new >= SNAPSHOT_EVERY and new >= replay.size())

    def _written(self, replay: Replay) -> None:
        """A batch was kept: note how far the ledger is outside of it too."""
        self._has_written = True
        if self._is_due(replay):
            self._follower.snapshot_length = replay.chain.length
        if self._noting is not None:
            self._noted(replay, is_synced=self._noting.is_due())

    def _noted(self, replay: Replay, *, is_synced: bool = True) -> Checkpoint:
        if is_synced:  # else what was spent a second ago at most is told, which is no more than is spent now
            self._totals = tuple((name, str(_spent(state))) for name, state in replay.accounts.items())
        found = self._sealed(replay.chain)
        if self._noting is not None:
            self._noting.write(found, is_synced=is_synced)
        return found

    def _sealed(self, chain: Chain) -> Checkpoint:
        return Checkpoint.sealed(
            self._key, length=chain.length, head=chain.head, at=self._now(), totals=self._totals
        )  # fmt: skip

    def _remembering(self) -> Seal:
        """The seal before a batch, with the place of the checkpoint, which is there before a seal says so."""
        seal = self._follower.seal
        if self._where is None or seal.checkpoint == self._where:
            return seal
        if self._noting is not None:
            self._noting.write(self._sealed(seal.chain), is_synced=True)
        return replace(seal, checkpoint=self._where)

    def _require_remembered(self, replay: Replay) -> None:
        """Refuse a ledger whose checkpoint is gone from where it was, or says there that the ledger is older."""
        where = self._follower.seal.checkpoint
        if self._noting is None or where is None:
            return
        file = self._noting.file.at(where)
        file.require_there()
        if where != self._where:
            self._require_not_older(replay, file.read(self._key))

    def _require_not_older(self, replay: Replay, noted: Checkpoint | None) -> None:
        if noted is not None:
            require_not_older(noted, replay.chain.length, lambda index: self._store.read(index, limit=1)[0].hash)


def _decide(job: Job, draft: Draft) -> None:
    try:
        job.result = job.decide(draft)
    except SfumatoError as error:
        job.error = error


def _spent(state: AccountState) -> Budget:
    return in_words(state.lifetime.total(), state.budget)
