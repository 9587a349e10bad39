"""`Ledger`: open an account, reserve before data is read, commit the answer, and never refund."""

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from sfumato.ledger.core.entry import (
    Abandoned,
    Charge,
    Closed,
    Committed,
    Opened,
    PartitionPart,
    Protected,
    Rebudgeted,
    Reserved,
    Shared,
)
from sfumato.ledger.core.prices import require_price
from sfumato.ledger.core.reservations import NOBODY, Asked, Flight, Reservation
from sfumato.ledger.core.store import LedgerStore
from sfumato.ledger.core.windows import Clock, SystemClock
from sfumato.ledger.keeping.attachments import Attachments
from sfumato.ledger.keeping.key import LedgerKey, fresh_key
from sfumato.ledger.keeping.noting import CheckpointNotes
from sfumato.ledger.keeping.seals import answer_name, asked_name, first_name
from sfumato.ledger.writes import LedgerWriter
from sfumato.ledger.writing import rules
from sfumato.ledger.writing.batch import PendingBatch
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event


class Ledger(LedgerWriter):
    """Accounts over one store, for any number of threads and, where the store allows it, processes and hosts.

    Definition: a reservation is granted iff `spent` + cost ≤ budget in its account and in every ancestor, each in its
        own measure, decided on the whole ledger at the moment of the append.

    Guarantee: under an account's neighboring relation, all answers ever committed to it and to its descendants together
        cost at most its budget, however adaptively the queries were chosen and wherever a process was killed. This is
        basic composition as a filter [RRUV16] for (ε, δ), and the filters of [FZ21] and [WRRW23] for ρ and Rényi
        divergences. With a window it holds within each window. Charges are exact rationals: nothing is rounded down.

    Edge cases: a charge of 0 is granted unless the budget is exceeded; `NO_GUARANTEE` as a budget refuses nothing and
    still counts. A forked child must open the ledger again. Time never goes back.

    Args:
        store: The store of the records.
        key: The secret key that seals every batch; default: a new key, for ledgers that exist only in this process.
        attachments: The folder of large answers; default: a temporary folder.
        clock: The clock for windows and times of entries.
        checkpoint: Where the ledger's length and hash are recorded after every batch. An older ledger is refused, and
            one whose checkpoint is missing.
        ignores_checkpoint: Whether the checkpoint is neither read nor written; for the owner who writes a new one.

    Raises:
        LedgerError: The store cannot be read.
        LedgerCorruptError: A record does not verify or is not sealed, an index entry or the snapshot is missing, or the
            ledger is older than its checkpoint.

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
        42
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
        checkpoint: CheckpointNotes | None = None,
        ignores_checkpoint: bool = False,
    ) -> None:
        super().__init__(
            store, key or fresh_key(), clock or SystemClock(), checkpoint, ignores_checkpoint=ignores_checkpoint
        )
        self.attachments = attachments or Attachments()

    def open_account(self, opened: Opened, *, tables: Iterable[Protected] = (), beside: tuple[str, ...] = ()) -> None:
        """Open an account; if it is open with the same facts, nothing happens, without waiting for other writers.

        Args:
            opened: The account; the ledger sets the time.
            tables: The unit of each table. Data that another account had first makes that account a parent.
            beside: Accounts that protect other units in the same data: neither is charged for the other.

        Raises:
            LedgerError: It is open with other facts or units, or has data of an account that is not its ancestor.
            ParameterError: A parent is not open, or has another unit or neighboring relation.
        """
        found = tuple(tables)
        with self._exclusive():  # which waits for no transaction
            if rules.is_open(self._caught_up(), opened, found, beside):
                return
        self._do(lambda pending: rules.open_account(pending, opened, found, beside))

    def change_budget(self, account: str, budget: Budget, *, reason: str) -> None:
        """Change the budget of an account, in the same measure; for its owner. The spending stays.

        Raises:
            ParameterError: The measure differs, or there is no reason.
            LedgerError: There is no such account.
        """
        rules.require_reason(reason)

        def decide(pending: PendingBatch) -> None:
            pending.replay.state(account)
            pending.keep(Rebudgeted(account=account, budget=budget, reason=reason, at=pending.at))

        self._do(decide)

    def close_account(self, account: str, *, reason: str) -> None:
        """Refuse all further charges to an account and its descendants; for its owner. Its entries and its name stay.

        Raises:
            ParameterError: There is no reason.
            LedgerError: There is no such account.
        """
        rules.require_reason(reason)

        def decide(pending: PendingBatch) -> None:
            pending.replay.state(account)
            pending.keep(Closed(account=account, reason=reason, at=pending.at))

        self._do(decide)

    def suspend_account(self, reservation: Reservation) -> None:
        """Suspend the data of a query that failed while it read rows.

        All accounts of the data are suspended through their root account, until the owner acknowledges the failure.

        Args:
            reservation: The reservation of the query; it has no answer, and is abandoned.

        Raises:
            ReservationError: It was never made, or has an answer.
        """
        self._do(lambda pending: rules.suspend(pending, reservation))

    def resume_account(self, account: str, *, reason: str) -> int:
        """Acknowledge a failure on the data of an account, and resume it; for its owner.

        The failure may depend on one person. Each acknowledgment is therefore counted as one bit outside of the
        guarantee, which `acknowledged` and the privacy label show.

        Args:
            account: The account, or a descendant.
            reason: Why the failure cannot happen again; the ledger records it.

        Returns:
            How many bits are outside of the guarantee from now on.

        Raises:
            ParameterError: There is no reason, or the account is not suspended.
            LedgerError: There is no such account.
        """
        rules.require_reason(reason)
        self._do(lambda pending: rules.resume(pending, account, reason))
        return self.acknowledged(account)

    def reserve(
        self,
        account: str,
        *,
        event: Event,
        charge: Charge,
        question: str,
        part: PartitionPart | None = None,
        asked: Asked = NOBODY,
    ) -> Reservation:
        """Charge a cost, without refund, before data is read: to the account and all its ancestors, or to none.

        Args:
            account: The charged account.
            event: What will be released; its cost must be within the charge.
            charge: The cost in (ε, δ). Accounts in another measure compute the cost of the event.
            question: A hash of the query, for the record.
            part: The part of a partition that the query reads; None: all people.
            asked: Who sent the query, and with which idempotency key.

        Raises:
            BudgetExceededError: Too little budget remains; nothing was spent.
            ReservationError: The key was used for another query, or for one that failed.
            LedgerError: There is no such account, it is closed, or the store failed; then it may have been charged.
            UnavailableError: An account is suspended.
            ParameterError: The charge is below the event's cost, or the partition was declared differently.
            UnsupportedEventError: The event has no cost, or none in the measure of an account.
        """
        entry = self._reserved(account, event=event, charge=charge, question=question, part=part, asked=asked)
        return self._do(lambda pending: rules.reserve(pending, entry))

    def fly(
        self,
        account: str,
        key: str,
        *,
        event: Event,
        charge: Charge,
        question: str,
        part: PartitionPart | None = None,
        asked: Asked = NOBODY,
        over: Flight | None = None,
    ) -> Reservation | Flight | None:
        """Reserve, unless the account has the answer under a key, or another process is computing it.

        **Guarantee**: an account has at most one unanswered reservation per key, however many threads, processes and
        hosts ask at once. A process that took over may commit; the one that was taken over may not.

        Args:
            account: As of `reserve`, like event, charge, question, part and asked.
            key: What identifies the query and all that its answer depends on.
            event: As of `reserve`.
            charge: As of `reserve`.
            question: As of `reserve`.
            part: As of `reserve`.
            asked: As of `reserve`.
            over: The flight found before, if it did not change for too long; it is then taken over.

        Returns:
            The reservation, which is charged; or the flight of another process, and nothing is charged; or None if the
            answer exists.

        Raises:
            The errors of `reserve`.
        """
        entry = self._reserved(account, event=event, charge=charge, question=question, part=part, asked=asked, key=key)
        return self._do(lambda pending: rules.fly(pending, entry, over))

    def renew(self, reservation: Reservation, *, lease: str | None = None) -> Reservation:
        """Record that the answer to a reservation is still being computed, so nobody takes it over.

        Args:
            reservation: As the ledger has it: with the lease that it recorded last.
            lease: What names the work from now on, such as the fingerprint of a state that lasts; None: as before.

        Returns:
            The reservation with its lease; the one before it is refused from now on.

        Raises:
            ReservationError: The reservation has an answer, or was taken over.
            UnavailableError: A lease is given, and the account is suspended.
        """
        return self._do(lambda pending: rules.renew(pending, reservation, lease))

    def commit(self, reservation: Reservation, *, key: str, answer: Json) -> Json:
        """Store the noisy answer of a reservation; the first answer under a key stays.

        Args:
            reservation: From `reserve`, in this process or another.
            key: What identifies the query and all that its answer depends on.
            answer: The release, as JSON.

        Returns:
            The stored answer under the key: this one, or an earlier one.

        Raises:
            ReservationError: The reservation was never made, has an answer, or was abandoned.
            UnavailableError: Another query about the data failed meanwhile.
            ParameterError: The answer is not JSON.
        """
        account, request = reservation.account, reservation.request

        def decide(pending: PendingBatch) -> Json:
            rules.require_open(pending.replay, reservation)
            pending.replay.require_available(account)
            pending.keep(Committed(account=account, request=request, key=key, answer=answer, at=pending.at))
            first = pending.find(answer_name(account, key))
            return first.answer if isinstance(first, Committed) else answer

        return self._do(decide)

    def abandon(self, reservation: Reservation, *, reason: str) -> None:
        """Record that a reservation will have no answer. It stays charged, because data may have been read.

        Raises:
            ReservationError: The reservation was never made, has an answer, or was abandoned.
        """
        account, request = reservation.account, reservation.request

        def decide(pending: PendingBatch) -> None:
            rules.require_open(pending.replay, reservation)
            pending.keep(Abandoned(account=account, request=request, reason=reason, at=pending.at))

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
        """Charge an account for the answer that another account of the same data has under a key, and return it.

        Common ancestors were charged when the answer was made; the other ancestors of this account are charged now.
        Accounts have the same data if their names agree up to the first slash. The result is None if no account has an
        answer, if this account has one by now, or if the idempotency key was used: then `reserve` says for what.

        Args:
            account: The account that reads the answer and is charged.
            key: The key of the answer.
            event: What was released.
            charge: Its cost in (ε, δ).
            own: A function of the answer and the new reservation that returns the answer as stored for this account.
            asked: Who sent the query, and with which idempotency key.

        Raises:
            BudgetExceededError: Too little budget remains; nothing was spent.
        """
        require_price(event, charge, self.opened(account).neighboring_relation)
        request = random_bytes(16).hex()

        def decide(pending: PendingBatch) -> Reservation | None:
            first = pending.find(first_name(account, key))
            if not isinstance(first, Committed) or pending.find(answer_name(account, key)) is not None:
                return None
            if asked.idempotency_key and pending.find(asked_name(asked.principal, asked.idempotency_key)) is not None:
                return None
            entry = Shared(
                account=account, source=first.account, request=request, event=event, charge=charge,
                principal=asked.principal, idempotency_key=asked.idempotency_key, body=asked.body,
            )  # fmt: skip
            return rules.share(pending, entry, first, own)

        return self._do(decide)

    def close(self) -> None:
        """Write the checkpoint, if there is a place for it, and close the store."""
        try:
            if self._has_written:
                self.checkpoint()
        finally:
            self._has_written = False
            self._writer.stop()
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

    def _reserved(
        self,
        account: str,
        *,
        event: Event,
        charge: Charge,
        question: str,
        part: PartitionPart | None,
        asked: Asked,
        key: str = "",
    ) -> Reserved:
        """What is recorded of a reservation, of which the charge covers the cost of its event."""
        require_price(event, charge, self.opened(account).neighboring_relation)
        return Reserved(
            account=account, request=random_bytes(16).hex(), question=question, event=event, charge=charge, part=part,
            principal=asked.principal, idempotency_key=asked.idempotency_key, body=asked.body, key=key,
        )  # fmt: skip
