"""From records to what is spent: the only way spending is ever computed.

A reservation counts from the moment it is recorded, whether or not an answer was ever committed, in its own account
and in every account above. States here change in place, because a copy per entry would make a long ledger quadratic;
they belong to one `Replay` and never leave it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias, assert_never

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.errors import BudgetExceededError, LedgerCorruptError, LedgerError, ParameterError, UnavailableError
from sfumato.ledger.core.account import AccountState
from sfumato.ledger.core.codec import decode_entry
from sfumato.ledger.core.entry import (
    Abandoned,
    AccountPrice,
    Charge,
    Closed,
    Committed,
    Entry,
    Moved,
    Opened,
    PartitionPart,
    Protected,
    Rebudgeted,
    Recognized,
    Renewed,
    Reserved,
    Resumed,
    Shared,
    Suspended,
)
from sfumato.ledger.core.prices import in_words, is_own_measure, limits, price
from sfumato.ledger.core.reservations import Flight, OpenRequest
from sfumato.ledger.core.store import Chain, Record
from sfumato.privacy.budgets import Budget
from sfumato.privacy.events import Event

Paid: TypeAlias = Reserved | Shared


class Replay:
    """The accounts after a number of verified records; each record is followed once per process."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.at = 0
        self.accounts: dict[str, AccountState] = {}
        self._all_above: dict[str, tuple[AccountState, ...]] = {}  # by account, for which it never changes
        self.open_requests: dict[str, OpenRequest] = {}
        self.flights: dict[str, dict[str, str]] = {}
        self.lineage: dict[str, str] = {}
        self.units: dict[str, dict[str, str]] = {}
        self.moved_to: str | None = None

    def state(self, account: str) -> AccountState:
        """What is known of an account.

        Raises:
            LedgerError: It is not open.
        """
        state = self.accounts.get(account)
        if state is None:
            raise LedgerError(f"account {account!r}", "is not open in this ledger; open it first")
        return state

    def payers(self, account: str, source: str | None = None) -> tuple[AccountState, ...]:
        """The account and all above it; without those that a source has charged already."""
        if source is None:
            found = self._all_above.get(account)
            if found is None:
                found = tuple(self.accounts[name] for name in self.state(account).path)
                self._all_above[account] = found
            return found
        paid = self.state(source).path
        return tuple(self.accounts[name] for name in self.state(account).path if name not in paid)

    def priced(self, account: str, event: Event, charge: Charge, source: str | None = None) -> tuple[AccountPrice, ...]:
        """What a release costs those of its payers that keep another measure than (ε, δ).

        Raises:
            UnsupportedEventError: One of the payers cannot hold it.
        """
        payers = self.payers(account, source)
        has_delta = bool(charge.delta)  # without one, every account in (ε, δ) can hold it
        asked = [payer for payer in payers if has_delta or is_own_measure(payer.budget)]
        prices = {payer.opened.account: _price(payer, event, charge) for payer in asked}
        kept = sorted(payer.opened.account for payer in asked if is_own_measure(payer.budget))
        return tuple(AccountPrice(account=name, amounts=prices[name]) for name in kept)

    def require_payable(self, entry: Paid) -> None:
        """Refuse what one of its payers cannot pay.

        Raises:
            BudgetExceededError: There is too little left.
            LedgerError: An account is closed.
            UnavailableError: An account is suspended.
        """
        for above in self.payers(entry.account):
            if above.is_closed:
                raise LedgerError(
                    f"account {above.opened.account!r}", "was closed by its owner; it refuses all charges"
                )
        self.require_available(entry.account)
        charge, part = _in_amounts(entry.charge), _part(entry)
        for payer in self._payers_of(entry):
            cost = _cost(payer, entry, charge)
            if not payer.fits(cost, part, entry.at):
                asked = in_words(payer.increase(cost, part, entry.at), payer.budget)
                name = payer.opened.account
                raise BudgetExceededError(asked, payer.left(entry.at), None if name == entry.account else name)

    def require_available(self, account: str) -> None:
        """Refuse queries about data on which a query failed, until the owner acknowledges the failure.

        Raises:
            UnavailableError: The account, or a parent, is suspended.
        """
        for payer in self.payers(account):
            if payer.is_suspended:
                raise UnavailableError

    def roots(self, account: str) -> tuple[str, ...]:
        """Of an account and all above it those that have none above."""
        return tuple(payer.opened.account for payer in self.payers(account) if not payer.opened.parents)

    def begin(self, request: str, known: OpenRequest) -> None:
        """Take note of a reservation without an answer."""
        self.open_requests[request] = known
        if known.key:
            self.flights.setdefault(known.key, {})[known.account] = request

    def flight(self, account: str, key: str) -> Flight | None:
        """Who is at work on the answer of an account under a key."""
        request = self.flights.get(key, {}).get(account)
        return None if request is None else self.flight_of(request)

    def flight_of(self, request: str) -> Flight | None:
        """Who is at work on the answer to a reservation; None if it has one, or never will."""
        known = self.open_requests.get(request)
        if known is None:
            return None
        return Flight(account=known.account, request=request, lease=known.lease, renewals=known.renewals)

    def flights_before(self, request: str) -> tuple[Flight, ...]:
        """Who is at work on the same answer, for other accounts about the same data, and asked earlier; in order."""
        known = self.open_requests[request]
        found = []
        for account, other in self.flights.get(known.key, {}).items():
            if other == request:
                break
            if data_of(account) == data_of(known.account):
                found.append(self.flight_of(other))
        return tuple(flight for flight in found if flight is not None)

    def size(self) -> int:
        """About how much there is to write down: open reservations, seals of data, charges within windows, parts."""
        return len(self.open_requests) + len(self.units) + sum(state.size() for state in self.accounts.values())

    def follow(self, record: Record, about: Callable[[Record, Entry], None] | None = None) -> None:
        """Verify one more record and take its entry into account, which is told just before.

        Raises:
            LedgerCorruptError: The record does not follow, or says what no ledger of this version says.
            LedgerError: A newer version wrote it.
        """
        chain = self.chain.follow(record)
        try:
            entry = decode_entry(record.text)
            if about is not None:
                about(record, entry)
            self.apply(entry)
        except ParameterError as error:
            raise LedgerCorruptError(record.index, f"it verifies, but cannot follow here ({error})") from error
        self.chain = chain

    def apply(self, entry: Entry) -> None:
        """Take one more entry into account.

        Raises:
            ParameterError: The entry cannot follow the ones before.
        """
        if entry.at < self.at:
            raise ParameterError("at", entry.at, "must not be before the entry before it")
        if self.moved_to is not None:
            raise ParameterError("entry", type(entry).__name__, f"must not follow the move to {self.moved_to}")
        if entry.account not in self.accounts and not isinstance(entry, Opened | Moved):
            raise ParameterError("account", entry.account, "must be opened first")
        match entry:  # the most frequent first
            case Reserved() | Shared():
                self._reserve(entry)
            case Committed() | Abandoned():
                self._end(entry)
            case Opened():
                self._open(entry)
            case Rebudgeted():
                _require_same_measure(self.accounts[entry.account].budget, entry.budget)
                self.accounts[entry.account].budget = entry.budget
            case Closed():
                self.accounts[entry.account].is_closed = True
            case Suspended() | Resumed():
                self._interrupt(entry)
            case Recognized() | Protected():
                self._recognize(entry)
            case Renewed():
                self._renew(entry)
            case Moved():
                self.moved_to = entry.destination
            case _:
                assert_never(entry)
        self.at = entry.at

    def known_accounts(self, fingerprints: Iterable[str]) -> tuple[str, ...]:
        """The accounts that were first about data with these fingerprints."""
        return tuple(dict.fromkeys(self.lineage[one] for one in sorted(fingerprints) if one in self.lineage))

    def are_beside(self, first: str, second: str) -> bool:
        """Whether one of two accounts was opened beside the other, for other units of the same data."""
        states = (self.accounts.get(first), self.accounts.get(second))
        return any(state is not None and {first, second} & set(state.beside) for state in states)

    def path_of(self, opened: Opened) -> tuple[str, ...]:
        """The names of an account and of all above it.

        Raises:
            ParameterError: A parent is not open, or is about other units or other neighbors.
        """
        above = (name for parent in opened.parents for name in self._parent(opened, parent).path)
        # Of each name the last, so that what is above all others comes at the end.
        return tuple(reversed(dict.fromkeys(reversed((opened.account, *above)))))

    def _parent(self, opened: Opened, parent: str) -> AccountState:
        state = self.accounts.get(parent)
        if state is None:
            raise ParameterError("parents", parent, f"must be open before its child {opened.account!r} is opened")
        for name in ("neighboring_relation", "privacy_unit"):
            theirs, own = getattr(state.opened, name), getattr(opened, name)
            if theirs != own:
                requirement = (
                    f"has {name} {str(theirs)!r}, and its child {opened.account!r} must have the same, not {str(own)!r}"
                )
                raise ParameterError("parents", parent, requirement)
        return state

    def _open(self, entry: Opened) -> None:
        if entry.account in self.accounts:
            raise ParameterError("account", entry.account, "must be opened once")
        self.accounts[entry.account] = AccountState.of(entry, self.path_of(entry))

    def _recognize(self, entry: Recognized | Protected) -> None:
        if isinstance(entry, Protected):
            self._protect(entry)
        for fingerprint in entry.fingerprints:
            self.lineage.setdefault(fingerprint, entry.account)

    def _protect(self, entry: Protected) -> None:
        state, table = self.accounts[entry.account], entry.table.lower()
        if state.tables.get(table, entry.unit) != entry.unit:
            raise ParameterError("unit", entry.unit, f"must stay {state.tables[table]!r} in table {entry.table!r}")
        for other in entry.beside:
            if other not in self.accounts or other in state.path or entry.account in self.accounts[other].path:
                raise ParameterError(
                    "beside", other, f"must be open, and neither a parent nor a child of {entry.account!r}"
                )
        for seal in entry.sources:
            if self.units.get(seal, {}).get(entry.account, entry.unit) != entry.unit:
                raise ParameterError("unit", entry.unit, f"must stay as it was in the data of table {entry.table!r}")
        state.tables[table] = entry.unit
        state.beside = tuple(dict.fromkeys((*state.beside, *entry.beside)))
        for seal in (*entry.sources, *entry.fingerprints):
            self.units.setdefault(seal, {}).setdefault(entry.account, entry.unit)

    def _reserve(self, entry: Paid) -> None:
        if entry.request in self.open_requests:
            raise ParameterError("request", entry.request, "must be new")
        key = entry.key if isinstance(entry, Reserved) else ""
        if self.flight(entry.account, key) is not None:
            raise ParameterError("key", key, "must have no reservation without an answer in this account")
        self._charge(entry)
        self.begin(entry.request, OpenRequest(entry.account, bool(entry.idempotency_key), key))

    def _end(self, entry: Committed | Abandoned) -> None:
        known = self.open_requests.get(entry.request)
        if known is None or known.account != entry.account:
            raise ParameterError("request", entry.request, "must be reserved, and neither committed nor abandoned")
        del self.open_requests[entry.request]
        if known.key:
            flights = self.flights[known.key]
            del flights[known.account]
            if not flights:
                del self.flights[known.key]

    def _renew(self, entry: Renewed) -> None:
        known = self.open_requests.get(entry.request)
        if known is None or known.account != entry.account:
            raise ParameterError("request", entry.request, "must be reserved, and neither committed nor abandoned")
        self.open_requests[entry.request] = replace(known, lease=entry.lease, renewals=known.renewals + 1)

    def _interrupt(self, entry: Suspended | Resumed) -> None:
        if isinstance(entry, Suspended):
            self._suspend(entry)
        else:
            self._resume(entry)

    def _suspend(self, entry: Suspended) -> None:
        state = self.accounts[entry.account]
        if state.is_suspended or state.opened.parents:
            raise ParameterError("account", entry.account, "must have no parent, and not be suspended yet")
        state.is_suspended = True

    def _resume(self, entry: Resumed) -> None:
        state = self.accounts[entry.account]
        if not state.is_suspended:
            raise ParameterError("account", entry.account, "must be suspended")
        state.is_suspended = False
        state.acknowledged += 1

    def _charge(self, entry: Paid) -> None:
        charge, part = _in_amounts(entry.charge), _part(entry)
        costs = [(payer, _cost(payer, entry, charge)) for payer in self._payers_of(entry)]
        for payer, cost in costs:
            payer.lifetime.increase(cost, part)  # raises for whatever cannot be added, before anything is
        for payer, cost in costs:
            payer.charge(cost, part, entry.at)

    def _payers_of(self, entry: Paid) -> tuple[AccountState, ...]:
        source = entry.source if isinstance(entry, Shared) else None
        if source is not None and source not in self.accounts:
            raise ParameterError("source", source, "must be open")
        return self.payers(entry.account, source)


def data_of(account: str) -> str:
    """What the accounts about the same data have in common: how their names begin, up to the first slash."""
    return account.partition("/")[0]


def _part(entry: Paid) -> PartitionPart | None:
    return entry.part if isinstance(entry, Reserved) else None


def _price(payer: AccountState, event: Event, charge: Charge) -> Amounts:
    opened = payer.opened
    return price(
        event, charge, account=opened.account, budget=payer.budget, relation=opened.neighboring_relation
    )  # fmt: skip


def _in_amounts(charge: Charge) -> Amounts:
    return Amounts((("epsilon", charge.epsilon), ("delta", charge.delta)))


def _cost(payer: AccountState, entry: Paid, charge: Amounts) -> Amounts:
    """What an entry costs an account: the cost that was recorded for it, or the charge."""
    if not is_own_measure(payer.budget):
        return charge
    for recorded in entry.prices:
        if recorded.account == payer.opened.account:
            return recorded.amounts
    raise ParameterError("prices", payer.opened.account, "must have a cost in the measure of this account")


def _require_same_measure(first: Budget, second: Budget) -> None:
    was, is_now = (
        {name for name, _ in allowed.numbers} if (allowed := limits(one)) else None for one in (first, second)
    )
    if is_own_measure(first) != is_own_measure(second) or (is_own_measure(first) and was != is_now):
        raise ParameterError("budget", str(second), f"must be in the measure of the one before, {first}")
