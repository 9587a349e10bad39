"""The decisions of a ledger, each on the ledger as it stands: what may be opened, reserved, shared."""

from collections.abc import Callable
from dataclasses import replace

from sfumato.accounting.adaptive.amounts import NOTHING, Amounts
from sfumato.errors import LedgerError, ParameterError, ReservationError
from sfumato.ledger.core.account import AccountState
from sfumato.ledger.core.entry import (
    Abandoned,
    Charge,
    Committed,
    Opened,
    Protected,
    Renewed,
    Reserved,
    Resumed,
    Shared,
    Suspended,
)
from sfumato.ledger.core.prices import in_words, limits, times_within
from sfumato.ledger.core.replay import Paid, Replay
from sfumato.ledger.core.reservations import Flight, Reservation
from sfumato.ledger.keeping.seals import answer_name, asked_name, request_name
from sfumato.ledger.writing.batch import PendingBatch
from sfumato.ledger.writing.protection import require_beside, require_units, unwritten
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event

TAKEN_OVER = "nothing was heard of it for long, and another one took its place"
_FACTS = ("budget", "neighboring_relation", "privacy_unit", "window")


def open_account(pending: PendingBatch, opened: Opened, tables: tuple[Protected, ...], beside: tuple[str, ...]) -> None:
    """Open an account, or find it open with the same facts; data that is known has its account above.

    All is decided before anything is kept.

    Raises:
        UnitChangedError: A table has another unit.
        LedgerError: It is open with other facts, or is about data of an account that is not above it.
        ParameterError: A parent is not open, or is about other people.
    """
    replay, state = pending.replay, pending.replay.accounts.get(opened.account)
    if state is not None:
        _require_same(state, opened)
    require_units(replay, opened, tables, beside)
    known = _paying(replay, opened, tables, beside)
    if state is None:
        parents = tuple(dict.fromkeys((*opened.parents, *(name for name in known if name != opened.account))))
        opened = replace(opened, parents=_topmost(replay, parents), at=pending.at)
        require_beside(replay, opened, beside)
        pending.keep(opened)
    else:
        require_beside(replay, state.opened, beside)
    path = replay.state(opened.account).path
    for name in known:
        if name not in path and opened.account not in replay.state(name).path:
            requirement = f"has the data of account {name!r}, which is not its parent; open it under a new name"
            raise LedgerError(f"account {opened.account!r}", requirement)
    for entry in unwritten(replay, tables, beside):
        pending.keep(replace(entry, at=pending.at))


def is_open(replay: Replay, opened: Opened, tables: tuple[Protected, ...], beside: tuple[str, ...]) -> bool:
    """Whether an account is open with these facts, tables and data, so that nothing has to be written.

    Raises:
        UnitChangedError: A table has another unit.
        LedgerError: It is open with other facts.
    """
    state = replay.accounts.get(opened.account)
    if state is None or any(unwritten(replay, tables, beside)):
        return False
    _require_same(state, opened)
    require_units(replay, opened, tables, beside)
    others = (replay.state(name) for name in _paying(replay, opened, tables, beside))
    return all(other.opened.account in state.path or opened.account in other.path for other in others)


def _paying(
    replay: Replay, opened: Opened, tables: tuple[Protected, ...], beside: tuple[str, ...]
) -> tuple[str, ...]:  # fmt: skip
    """The accounts that had the data of tables first, but for those beside."""
    known = replay.known_accounts(seal for table in tables for seal in table.fingerprints)
    return tuple(name for name in known if name not in beside and not replay.are_beside(name, opened.account))


def reserve(pending: PendingBatch, entry: Reserved) -> Reservation:
    """Charge a cost; or find that it was charged before, under the same key.

    Raises:
        BudgetExceededError: Too little budget remains; nothing was spent.
        ReservationError: The key was used for something else, or what was asked under it failed.
        LedgerError: An account is not open, or closed.
        UnsupportedEventError: An account has no measure for it.
    """
    before = pending.find(asked_name(entry.principal, entry.idempotency_key)) if entry.idempotency_key else None
    if isinstance(before, Reserved | Shared):
        return _repeated(pending, before, entry)
    return _charged(pending, entry)


def fly(pending: PendingBatch, entry: Reserved, over: Flight | None) -> Reservation | Flight | None:
    """Charge a cost, unless somebody is at work on the very answer, or it is there.

    Args:
        pending: The ledger as it stands.
        entry: The reservation, with the key of its answer.
        over: A flight of which nothing was heard for long: if nothing was meanwhile, it is taken over.

    Returns:
        The reservation of who is to work; or who is at work; or None, as the answer is there.

    Raises:
        As `reserve`.
    """
    before = pending.find(asked_name(entry.principal, entry.idempotency_key)) if entry.idempotency_key else None
    if isinstance(before, Reserved | Shared):
        own = pending.replay.flight_of(before.request)
        if own is not None or pending.find(request_name(before.request)) is not None:
            return _taken_over(pending, own, _repeated(pending, before, entry), over)
    if pending.find(answer_name(entry.account, entry.key)) is not None:
        return None
    flight = pending.replay.flight(entry.account, entry.key)
    if flight is not None and flight != over:
        return flight
    if isinstance(before, Reserved | Shared):
        return _repeated(pending, before, entry)  # which refuses it, as it failed
    return _charged(pending, entry, instead_of=flight)


def _charged(pending: PendingBatch, entry: Paid, *, instead_of: Flight | None = None) -> Reservation:
    """The reservation that charges a cost, if all who pay can; then a flight that it takes the place of is over."""
    source = entry.source if isinstance(entry, Shared) else None
    prices = pending.replay.priced(entry.account, entry.event, entry.charge, source)
    priced = replace(entry, prices=prices, at=pending.at)
    pending.replay.require_payable(priced)
    if instead_of is not None:
        over = Abandoned(account=instead_of.account, request=instead_of.request, reason=TAKEN_OVER, at=pending.at)
        pending.keep(over)
    pending.keep(priced)
    return _reservation(pending, priced)


def _taken_over(
    pending: PendingBatch, flight: Flight | None, reservation: Reservation, over: Flight | None
) -> Reservation | Flight:
    """A reservation that was charged before: its answer, or who is at work on it, or the right to be that."""
    if flight is None:
        return reservation
    if flight != over:
        return flight
    lease = random_bytes(16).hex()
    pending.keep(Renewed(account=flight.account, request=flight.request, lease=lease, at=pending.at))
    return replace(reservation, lease=lease)


def share(
    pending: PendingBatch, entry: Shared, first: Committed, own: Callable[[Json, Reservation], Json]
) -> Reservation:
    """Charge an account for an answer of another account, and store that answer for it, in one step.

    Raises:
        BudgetExceededError: Too little budget remains; nothing was spent.
    """
    reservation = _charged(pending, entry)
    answer = own(first.answer, reservation)
    pending.keep(replace(first, account=entry.account, request=entry.request, answer=answer, at=pending.at))
    return reservation


def other_question(idempotency_key: str) -> ReservationError:
    """The refusal of a key that was used before."""
    return ReservationError(repr(idempotency_key), "for another query; choose a new key for a new query")


def _repeated(pending: PendingBatch, before: Paid, now: Reserved) -> Reservation:
    # What was shared keeps neither question nor part; the body has them both.
    same = ("account", "event", "charge", "body", *(("question", "part") if isinstance(before, Reserved) else ()))
    if any(getattr(before, name) != getattr(now, name) for name in same):
        raise other_question(now.idempotency_key)
    reservation = replace(_reservation(pending, before), is_repeated=True)
    if before.request in pending.replay.open_requests:
        return reservation
    if pending.find(request_name(before.request)) is None:
        raise ReservationError(repr(now.idempotency_key), "for a query that failed and stays charged; choose a new key")
    return replace(reservation, is_answered=True)


def _reservation(pending: PendingBatch, entry: Paid) -> Reservation:
    state = pending.replay.state(entry.account)
    spent = in_words(state.spent(pending.at), state.budget)
    return Reservation(account=entry.account, request=entry.request, spent=spent, left=state.left(pending.at))


def _topmost(replay: Replay, parents: tuple[str, ...]) -> tuple[str, ...]:
    """Without those that are above another one of them."""
    above = {name for parent in parents if parent in replay.accounts for name in replay.accounts[parent].path[1:]}
    return tuple(name for name in parents if name not in above)


def _require_same(state: AccountState, second: Opened) -> None:
    first = replace(state.opened, budget=state.budget)
    for name in _FACTS:
        was, is_now = getattr(first, name), getattr(second, name)
        if was != is_now:
            told = f"was opened with {name} {was}, not {is_now}"
            requirement = f"{told}; use the same, or let the owner change it"
            raise LedgerError(f"account {first.account!r}", requirement)
    if missing := set(second.parents) - set(state.path):
        requirement = f"was not opened as a child of {', '.join(sorted(missing))}; open it under a new name"
        raise LedgerError(f"account {first.account!r}", requirement)


def questions_left(replay: Replay, account: str, event: Event, charge: Charge, at: int) -> int | None:
    """How many more releases like one an account can pay, and all above it; None where nothing limits them."""
    counts = _counts(replay, account, event, charge, at).values()
    return min((count for count in counts if count is not None), default=None)


def limiting(replay: Replay, account: str, event: Event, charge: Charge, at: int) -> str | None:
    """The account above that grants fewer more releases like one than an account itself would; None if there is none.

    Raises:
        UnsupportedEventError: One of them is in a measure that cannot hold the release.
    """
    counts = _counts(replay, account, event, charge, at)
    limited = {name: count for name, count in counts.items() if count is not None}
    least = min(limited, key=lambda name: limited[name], default=None)  # of several the nearest
    return None if least == account else least


def _counts(replay: Replay, account: str, event: Event, charge: Charge, at: int) -> dict[str, int | None]:
    """How many more releases each payer grants, the account itself first; None where nothing limits them."""
    prices = {price.account: price.amounts for price in replay.priced(account, event, charge)}
    in_epsilon = Amounts((("epsilon", charge.epsilon), ("delta", charge.delta)))
    return {
        payer.opened.account: 0
        if payer.is_closed or payer.is_suspended or not payer.fits(NOTHING, None, at)
        else times_within(limits(payer.left(at)), prices.get(payer.opened.account, in_epsilon))
        for payer in replay.payers(account)
    }


def suspend(pending: PendingBatch, reservation: Reservation) -> None:
    """Abandon a reservation of which the query failed, and suspend all accounts of its data by their roots.

    Raises:
        ReservationError: It was never made, or has an answer.
    """
    account, request = reservation.account, reservation.request
    require_open(pending.replay, reservation)
    pending.keep(Abandoned(account=account, request=request, reason="it failed after it was charged", at=pending.at))
    for root in pending.replay.roots(account):
        if not pending.replay.state(root).is_suspended:
            pending.keep(Suspended(account=root, request=request, at=pending.at))


def resume(pending: PendingBatch, account: str, reason: str) -> None:
    """Acknowledge a failure for an account and all above it that are suspended.

    Raises:
        ParameterError: None of them is.
    """
    suspended = [payer.opened.account for payer in pending.replay.payers(account) if payer.is_suspended]
    if not suspended:
        raise ParameterError("account", account, "is not suspended, and neither is a parent")
    for name in suspended:
        pending.keep(Resumed(account=name, reason=reason, at=pending.at))


def renew(pending: PendingBatch, reservation: Reservation, lease: str | None) -> Reservation:
    """Record that somebody is at work on a reservation, perhaps under a new lease.

    Raises:
        ReservationError: It has an answer, or was taken over.
        UnavailableError: A lease is given, and an account is suspended.
    """
    require_open(pending.replay, reservation)
    renewed = reservation
    if lease is not None:
        pending.replay.require_available(reservation.account)
        renewed = replace(reservation, lease=lease)
    pending.keep(Renewed(account=renewed.account, request=renewed.request, lease=renewed.lease, at=pending.at))
    return renewed


def require_open(replay: Replay, reservation: Reservation) -> None:
    """Refuse a reservation that was never made, has ended, or was taken over."""
    replay.state(reservation.account)
    known = replay.open_requests.get(reservation.request)
    if known is None or known.account != reservation.account:
        raise ReservationError(reservation.request, "unknown here, or already committed or abandoned")
    if known.lease != reservation.lease:
        raise ReservationError(reservation.request, "taken over, because its process did not respond for long")


def require_reason(reason: object) -> None:
    """Refuse an act of the owner that does not say why."""
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError("reason", reason, "is missing: the ledger records why")
