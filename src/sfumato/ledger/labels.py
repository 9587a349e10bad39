"""The privacy label of an account: who is protected, how well, for how long, and how much of it is spent."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.divergence_filters import RDPFilter
from sfumato.accounting.core.printed import text_up
from sfumato.accounting.gaussian.zcdp import zcdp_epsilon_up
from sfumato.ledger.core.prices import in_words, is_own_measure, limits
from sfumato.ledger.core.windows import Window
from sfumato.ledger.ledger import Ledger
from sfumato.numeric.rationals import Number, open_probability
from sfumato.numeric.rounding import float_up
from sfumato.privacy.budgets import ZCDP, Budget, RenyiDP
from sfumato.privacy.codec import Json, encode_budget
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, NoGuarantee, PureDP
from sfumato.privacy.neighbors import NeighboringRelation

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountBound:
    """What one account bounds, of itself and of all accounts below it.

    Attributes:
        account: The name of the account.
        window: How often its budget comes back; None for never.
        budget: What it may spend, in all or in a window.
        promise: Its budget, or what is spent where the owner lowered the budget below that.
        epsilon: The ε that follows from the promise, rounded up; infinite where it promises nothing.
        delta: The δ at which it does.
        spent: What was spent, with a window within it.
        spent_in_all: What was ever spent.
    """

    account: str
    window: Window | None
    budget: Budget
    promise: Budget
    epsilon: Fraction | float
    delta: Fraction
    spent: Budget
    spent_in_all: Budget

    @property
    def is_total(self) -> bool:
        """Whether it bounds everything, for ever."""
        return self.window is None and self.epsilon != math.inf

    @property
    def measure(self) -> str:
        """The measure of the bound: bounds in different measures do not replace each other."""
        return type(self.promise).__name__ if is_own_measure(self.promise) else "DP"

    def __str__(self) -> str:
        if not is_own_measure(self.promise):
            return str(self.promise)
        return f"{self.promise}, so ε {text_up(self.epsilon)} at δ {text_up(self.delta)}"

    @property
    def stated(self) -> str:
        """The budget as text; it says if more was spent before the budget was lowered."""
        return (
            str(self)
            if self.budget == self.promise
            else f"{self.budget}, and {self.promise} was spent before it was lowered"
        )

    def to_dict(self) -> dict[str, Json]:
        """All of it as JSON values; ε and δ rounded up to floats beside the exact promise."""
        return {
            "account": self.account,
            "window": None if self.window is None else str(self.window),
            "budget": encode_budget(self.budget),
            "promise": encode_budget(self.promise),
            "epsilon": "infinite" if self.epsilon == math.inf else float_up(Fraction(self.epsilon)),
            "delta": float_up(self.delta),
            "spent": encode_budget(self.spent),
            "spent_in_all": encode_budget(self.spent_in_all),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyLabel:
    """The guarantee of an account for the people in its data; safe to show to anybody.

    Attributes:
        account: The name of the account.
        privacy_unit: Whom the guarantee protects.
        neighboring_relation: What may change between neighboring databases.
        bounds: The bound of the account, then those of all its ancestors, which are charged whatever it is charged.
        is_closed: Whether all further charges are refused.
        is_suspended: Whether charges are refused until the owner acknowledges a failure.
        acknowledged: How many failures the owner acknowledged: as many bits are outside of the guarantee.
        beside: Accounts that protect other units in the same data; their spending is outside of the guarantee.
    """

    account: str
    privacy_unit: str
    neighboring_relation: NeighboringRelation
    bounds: tuple[AccountBound, ...]
    is_closed: bool
    is_suspended: bool = False
    acknowledged: int = 0
    beside: tuple[str, ...] = ()

    @property
    def guarantee(self) -> tuple[AccountBound, ...]:
        """The bounds on everything ever released: the tightest of each measure, the smallest ε first."""
        totals = [bound for bound in self.bounds if bound.is_total]
        return _tightest(totals, {bound.measure: None for bound in totals})

    @property
    def window(self) -> str:
        """The period of the budget, and the bound on all windows together."""
        window = self.bounds[0].window
        if window is None:
            return "never refills"
        if not self.guarantee:
            return f"{window}; per window, unbounded in total"
        return f"{window}, at most {self.guarantee[0]} for life"

    def __str__(self) -> str:
        own, *above = self.bounds
        in_all = "; ".join(f"{bound} (by {bound.account})" for bound in self.guarantee) or "none"
        ever = "" if own.window is None else f" in this window, {own.spent_in_all} in total"
        lines = [
            f"Privacy label of {self.account}",
            f"protects one {self.privacy_unit}, under {self.neighboring_relation}",
            f"total guarantee: {in_all}",
            f"budget: {own.stated}, {self.window}",
            f"spent: {own.spent}{ever}",
            f"state: {self._state}",
        ]
        if self.acknowledged:
            lines.append(f"outside of the guarantee: one bit for each acknowledged failure, {self.acknowledged} in all")
        if self.beside:
            accounts = ", ".join(self.beside)
            lines.append(f"outside of the guarantee: the same data with other units, under account {accounts}")
        if above:
            lines += ["also charged:", *(f"  {_of_one_above(bound)}" for bound in above)]
        return "\n".join(lines)

    @property
    def _state(self) -> str:
        return "closed" if self.is_closed else "suspended" if self.is_suspended else "open"

    def to_dict(self) -> dict[str, Json]:
        """The label as JSON values, with the version of their form."""
        return {
            "version": VERSION,
            "account": self.account,
            "privacy_unit": self.privacy_unit,
            "neighboring_relation": str(self.neighboring_relation),
            "window": self.window,
            "state": self._state,
            "acknowledged_failures": self.acknowledged,
            "beside": list(self.beside),
            "guarantee": [bound.to_dict() for bound in self.guarantee],
            "bounds": [bound.to_dict() for bound in self.bounds],
        }

    def to_json(self) -> str:
        """The label as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def label_of(ledger: Ledger, account: str, *, delta: Number = "1e-6") -> PrivacyLabel:
    """The privacy label of an account as it stands now.

    **Guarantee**: everything that was and will be released on the account is together within each bound of
    `PrivacyLabel.guarantee`, under its neighboring relation, unless the owner raises a budget. ε is rounded up. Proof:
    proofs/ledger/labels.md.

    Args:
        ledger: Where it is.
        account: The name of the account.
        delta: The δ at which the ε of a budget in ρ or in Rényi divergences is stated.

    Raises:
        LedgerError: There is no such account.
        ParameterError: δ is not between 0 and 1, both excluded.

    Example:
        >>> from sfumato.ledger.core.entry import Opened
        >>> from sfumato.ledger.stores.memory import MemoryStore
        >>> from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
        >>> ledger = Ledger(MemoryStore())
        >>> ledger.open_account(
        ...     Opened(account="census", budget=ZCDP("0.5"), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="row")
        ... )
        >>> print(label_of(ledger, "census"))
        Privacy label of census
        protects one row, under add_or_remove_one
        total guarantee: ρ 0.5, so ε 5.22154 at δ 1e-6 (by census)
        budget: ρ 0.5, so ε 5.22154 at δ 1e-6, never refills
        spent: ρ 0
        state: open
    """
    opened, stated = ledger.opened(account), open_probability(delta, "delta")
    return PrivacyLabel(
        account=account,
        privacy_unit=opened.privacy_unit,
        neighboring_relation=opened.neighboring_relation,
        bounds=tuple(_bound(ledger, name, stated) for name in ledger.path(account)),
        is_closed=ledger.is_closed(account),
        is_suspended=ledger.is_suspended(account),
        acknowledged=ledger.acknowledged(account),
        beside=ledger.beside(account),
    )


def _bound(ledger: Ledger, account: str, stated: Fraction) -> AccountBound:
    window, relation = ledger.opened(account).window, ledger.opened(account).neighboring_relation
    spent, in_all = ledger.spent(account), ledger.spent_in_all(account)
    budget = ledger.budget(account)
    promise = _promise(budget, in_all if window is None else spent)
    epsilon, delta = _in_epsilon(promise, relation, stated)
    return AccountBound(
        account=account, window=window, budget=budget, promise=promise, epsilon=epsilon, delta=delta, spent=spent,
        spent_in_all=in_all,
    )  # fmt: skip


def _promise(budget: Budget, spent: Budget) -> Budget:
    """In each number the larger of what may be spent and what is: an owner may lower a budget below what is spent."""
    allowed, used = limits(budget), limits(spent)
    if allowed is None or used is None:
        return NO_GUARANTEE
    names = dict.fromkeys(name for name, _ in (*allowed.numbers, *used.numbers))
    return in_words(Amounts(tuple((name, max(allowed[name], used[name])) for name in names)), budget)


def _in_epsilon(promise: Budget, relation: NeighboringRelation, stated: Fraction) -> tuple[Fraction | float, Fraction]:
    """An ε and a δ that follow: at the stated δ in all, unless the budget's own δ is as large as that."""
    match promise:
        case PureDP() | ApproxDP():
            return promise.epsilon, promise.delta
        case NoGuarantee():
            return math.inf, Fraction(1)
        case ZCDP():
            rest = _rest(promise.delta, stated)
            return zcdp_epsilon_up(rho=promise.rho, delta=rest), promise.delta + rest
        case RenyiDP():
            rest = _rest(promise.delta, stated)
            run = RDPFilter(promise.orders, promise.bounds, rest, neighboring_relation=relation).event.budget
            return run.epsilon if isinstance(run, ApproxEvent) else math.inf, promise.delta + rest
        case _:
            assert_never(promise)


def _rest(own: Fraction, stated: Fraction) -> Fraction:
    return stated - own if own < stated else stated


def _tightest(bounds: list[AccountBound], measures: Iterable[str]) -> tuple[AccountBound, ...]:
    best = (min((one for one in bounds if one.measure == measure), key=_order) for measure in measures)
    return tuple(sorted(best, key=_order))


def _order(bound: AccountBound) -> tuple[Fraction | float, Fraction]:
    return bound.epsilon, bound.delta


def _of_one_above(bound: AccountBound) -> str:
    often = "for life" if bound.window is None else str(bound.window)
    return f"{bound.account}: {bound} {often}, spent {bound.spent}"
