"""Who is charged for a stream: the account of a session, or an account of events that are stored in no table."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, isinf
from os import PathLike
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.ledger.core.entry import Charge, Opened
from sfumato.ledger.core.prices import DELTA_DIGITS, EPSILON_DIGITS, is_own_measure, price_of
from sfumato.ledger.core.reservations import Asked, Reservation
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import ExistingLedger, open_ledger
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, open_probability
from sfumato.privacy.budgets import Budget, as_budget
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    EachRow,
    NeighboringRelation,
    PrivacyUnit,
    UnitColumn,
    as_relation,
)
from sfumato.session.account import AccountView

USUAL_DELTA: Final = Fraction(1, 10**6)
"""At which a charge in ρ is also recorded as (ε, δ), where no account is kept in those."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """The account that a stream is charged to, and what its ledger says of it.

    Attributes:
        ledger: The ledger of the account.
        account: The name of the account; its parents pay too.
        neighboring_relation: What may change between neighboring streams: one unit with all of its events.
        privacy_unit: Whom the guarantee protects.
        is_each_row: Whether each event is a unit of its own.
        policy_version: The owner's version of the policy.
        data_version: The owner's version of the data.
    """

    ledger: Ledger = field(repr=False)
    account: str
    neighboring_relation: NeighboringRelation
    privacy_unit: str
    is_each_row: bool
    policy_version: str = ""
    data_version: str = ""

    def require_no_window(self) -> None:
        """Refuse an account whose budget refills: a stream goes on releasing after the window that it was charged in.

        Raises:
            ParameterError: The account, or a parent, has a window.
        """
        for name in self.ledger.path(self.account):
            window = self.ledger.opened(name).window
            if window is not None:
                requirement = (
                    f"has the window {window}, and a stream goes on after it; use an account whose budget never refills"
                )
                raise ParameterError("session", f"account {name}", requirement)

    def charge_of(self, event: Event, *, delta: Number | None, stated: Fraction = Fraction(0)) -> Charge:
        """The cost of an event in (ε, δ), rounded up to the digits that an account keeps.

        Args:
            event: What the stream will release in all.
            delta: The δ at which it is stated. May be left out if it has a pure ε, or if every paying account is kept
                in ρ or in Rényi divergences: then it is stated at 10⁻⁶.
            stated: A δ that the event has by itself, and that is added.

        Raises:
            ParameterError: δ is missing or out of range.
            UnsupportedEventError: It has no finite cost at this δ.
        """
        used = stated + (Fraction(0) if delta is None else open_probability(delta, "delta"))
        epsilon = self._epsilon(event, used, stated)
        if epsilon is None and delta is None:
            if not all(is_own_measure(self.ledger.budget(name)) for name in self.ledger.path(self.account)):
                requirement = "is missing: this noise has no pure ε, and an account is kept in (ε, δ)"
                raise ParameterError("delta", delta, requirement)
            used = stated + USUAL_DELTA
            epsilon = self._epsilon(event, used, stated)
        if epsilon is None:
            raise UnsupportedEventError(event, "this account")
        step, small = 10**EPSILON_DIGITS, 10**DELTA_DIGITS
        rounded, used = Fraction(ceil(epsilon * step), step), Fraction(ceil(used * small), small)
        return ApproxDP(rounded, used) if used else PureDP(rounded)

    def reserve(self, event: Event, charge: Charge, *, question: str, asked: Asked) -> Reservation:
        """Charge a stream once, for all that it will ever release.

        Raises:
            BudgetExceededError: Too little budget remains; nothing was spent.
        """
        self.require_no_window()
        return self.ledger.reserve(self.account, event=event, charge=charge, question=question, asked=asked)

    def _epsilon(self, event: Event, delta: Fraction, stated: Fraction) -> Fraction | None:
        try:
            found = price_of(event, delta=delta, neighboring_relation=self.neighboring_relation)
        except UnsupportedEventError:
            if delta > stated:
                raise
            return None
        return None if isinstance(found, float) and isinf(found) else Fraction(found)


class StreamSession:
    """An account for streams whose events are stored in no table, such as the lines of a message queue.

    It has a budget and a ledger as a `Session` has, and asks nothing: counters and monitors are charged to it.

    **Guarantee**: all that is charged to the account together costs at most its budget, for the privacy unit and the
    neighboring relation named here. They hold for the ledger's account for ever.

    Args:
        name: The name of the account. A `Session` on the same ledger and dataset name shares its budget.
        budget: The most that may be spent: ``PureDP(1)``, ``ApproxDP(3, "1e-6")``, ``ZCDP("0.5")``.
        unit: `EACH_ROW` if no person has two events; otherwise a name of what identifies a person.
        neighboring_relation: What may change between neighboring streams: a unit with all of its events, or its events
            for others.
        ledger: Where spending is recorded: a path or an address; None: in memory, until exit.

    Raises:
        ParameterError: A declaration cannot be used.
        LedgerError: The ledger is damaged, or has the account with other facts.

    Example:
        >>> from sfumato.privacy.budgets import ZCDP
        >>> with StreamSession("visits", budget=ZCDP(1)) as stream:
        ...     str(stream.remaining)
        'ρ 1'
    """

    def __init__(
        self,
        name: str,
        *,
        budget: Budget,
        unit: PrivacyUnit | str = EACH_ROW,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
        ledger: str | PathLike[str] | ExistingLedger | None = None,
    ) -> None:
        of_kind(name, "name", str, "the name of the account, as text")
        whom = UnitColumn(unit) if isinstance(unit, str) else of_kind(unit, "unit", (EachRow, UnitColumn), "a unit")
        if ledger is not None:
            of_kind(ledger, "ledger", (str, PathLike, ExistingLedger), "the path or address of a ledger")
        if "\0" in str(ledger):
            raise ParameterError("ledger", type(ledger).__name__, "must have no NUL")  # an address may hold a password
        opened = Opened(
            account=name, budget=as_budget(budget), neighboring_relation=as_relation(neighboring_relation),
            privacy_unit="row" if whom == EACH_ROW else str(whom),
        )  # fmt: skip
        kept = open_ledger(ledger)
        try:
            kept.open_account(opened)
        except BaseException:
            kept.close()
            raise
        self.payer = Payer(
            ledger=kept, account=name, neighboring_relation=opened.neighboring_relation,
            privacy_unit=opened.privacy_unit, is_each_row=whom == EACH_ROW,
        )  # fmt: skip

    @property
    def budget(self) -> Budget:
        """The most that may be spent."""
        return self.payer.ledger.budget(self.payer.account)

    @property
    def spent(self) -> Budget:
        """The spending, computed from the ledger's entries."""
        return self.payer.ledger.spent(self.payer.account)

    @property
    def remaining(self) -> Budget:
        """The remaining budget of the account."""
        return self.payer.ledger.remaining(self.payer.account)

    def close(self) -> None:
        """Close the ledger."""
        self.payer.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        account = self.payer.account
        return f"<StreamSession {account}: spent {self.spent} of {self.budget}, remaining {self.remaining}>"


StreamAccount: TypeAlias = AccountView | StreamSession
"""Whoever can be charged for a stream: a `Session`, a child account of one, or a `StreamSession`."""


def payer_of(session: Any) -> Payer:
    """Who is charged for a stream.

    Args:
        session: A `Session`, a child account of one, or a `StreamSession`.

    Raises:
        ParameterError: It is none of these.
    """
    if isinstance(session, StreamSession):
        return session.payer
    wanted = "a session of this process, a child account of one, or a StreamSession"
    planning = of_kind(session, "session", AccountView, wanted).planning
    policy = planning.policy
    people = [table for table in policy.tables.values() if not table.is_public]
    return Payer(
        ledger=planning.ledger, account=planning.account, neighboring_relation=policy.neighboring_relation,
        privacy_unit=policy.unit_name, is_each_row=all(isinstance(table.unit, EachRow) for table in people),
        policy_version=policy.version, data_version=policy.data_version,
    )  # fmt: skip
