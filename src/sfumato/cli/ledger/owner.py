"""`sfumato ledger open | budget | close | resume | restored`: what an owner does with accounts, as options say it."""

from collections.abc import Sequence
from dataclasses import dataclass

import typer

from sfumato.cli.show import printable
from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow, Window
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.checkpoints import Checkpoint
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.privacy.budgets import ZCDP, Budget
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee


def budget_of(*, epsilon: str | None, delta: str | None, rho: str | None) -> Budget:
    """The budget of some options.

    Raises:
        ParameterError: Not exactly one of ε and ρ was stated, or a number lies outside.

    Example:
        >>> str(budget_of(epsilon="1", delta=None, rho=None)), str(budget_of(epsilon=None, delta="1e-6", rho="0.5"))
        ('ε 1', 'ρ 0.5, δ 1e-06')
    """
    if epsilon is not None and rho is None:
        return guarantee(epsilon, delta or 0)
    if rho is not None and epsilon is None:
        return ZCDP(rho, delta or 0)
    raise ParameterError("--epsilon, --rho", (epsilon, rho), "exactly one must be stated: in what the budget is kept")


def window_of(text: str | None) -> Window | None:
    """The window of an option: ``month``, ``30d``; None for never.

    Raises:
        ParameterError: It is neither a period nor a number of days.

    Example:
        >>> str(window_of("month")), str(window_of("30d"))
        ('per calendar month (UTC)', 'per any 30 days')
    """
    if text is None:
        return None
    days = text.removesuffix("d")
    if text.endswith("d") and days.isascii() and days.isdigit():
        return RollingWindow(int(days[:6]))
    try:
        return CalendarWindow(text)
    except ParameterError as error:
        raise ParameterError("--window", text, f"{error.requirement}; or days, such as 30d") from None


def open_account(location: str, name: str, *, below: str, budget: Budget, window: Window | None) -> None:
    """Open an account below another one, as a session would name it."""
    if not name or "/" in name:
        raise ParameterError("ACCOUNT", name, "must be text without a slash; --below says what comes before it")
    account = f"{below}/{name}"
    with open_ledger(location, must_exist=True) as ledger:
        above = ledger.opened(below)
        ledger.open_account(
            Opened(
                account=account, budget=budget, neighboring_relation=above.neighboring_relation,
                privacy_unit=above.privacy_unit, parents=(below,), window=window,
            )
        )  # fmt: skip
    typer.echo(printable(f"{account}: {budget}, {'never refills' if window is None else window}, below {below}"))


def change_budget(location: str, account: str, *, budget: Budget, reason: str) -> None:
    """Give an account another budget."""
    with open_ledger(location, must_exist=True) as ledger:
        before = ledger.budget(account)
        ledger.change_budget(account, budget, reason=reason)
        left = ledger.remaining(account)
    typer.echo(printable(f"{account}: {budget} instead of {before}, left {left}"))


def close_account(location: str, account: str, *, reason: str) -> None:
    """Grant an account nothing more."""
    with open_ledger(location, must_exist=True) as ledger:
        ledger.close_account(account, reason=reason)
    typer.echo(printable(f"{account}: closed; its answers stay, and are given again"))


def resume_account(location: str, account: str, *, reason: str) -> None:
    """Acknowledge a failure."""
    with open_ledger(location, must_exist=True) as ledger:
        bits = ledger.resume_account(account, reason=reason)
    told = f"outside of the guarantee: one bit for each acknowledged failure, {bits} in all"
    typer.echo(printable(f"{account}: resumed; {told}"))


_QUESTION = "spent before a restore"


@dataclass(frozen=True, slots=True)
class Declared:
    """What an account spent after the copy was made."""

    account: str
    spent: PureDP | ApproxDP

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """The same as an event."""
        if isinstance(self.spent, PureDP):
            return PureEvent(self.spent.epsilon)
        return ApproxEvent(self.spent.epsilon, self.spent.delta)


def restored(location: str, *, spent: Sequence[str], reason: str) -> None:
    """Charge what is declared, and note the ledger as the one that counts."""
    if not reason.strip():
        raise ParameterError("--reason", reason, "must say why an older copy is in use")
    declared = [_declaration(text) for text in spent]
    place = place_of(location)
    with open_ledger(location, must_exist=True, ignoring_checkpoint=True) as ledger:
        noted = _noted(place.checkpoint(), ledger)
        for account, total in () if noted is None else noted.totals:
            typer.echo(printable(f"{account}: {total} was noted as spent, {_spent_here(ledger, account)} is here"))
        if not declared:
            raise ParameterError("--spent", None, "must say for each account what it spent since: --spent ann=0.3")
        for one in declared:
            _require_payable(ledger, one)
        for one in declared:
            _charge(ledger, one, reason)
        place.checkpoint().write(ledger.checkpoint(), although_shorter=True)
        for name in dict.fromkeys(one.account for one in declared):
            typer.echo(printable(f"{name}: {ledger.spent_in_all(name)} is spent now, {ledger.remaining(name)} is left"))


def _noted(file: CheckpointFile, ledger: Ledger) -> Checkpoint | None:
    """What was noted; None if that is gone or damaged, which is told."""
    try:
        noted = file.read(ledger.key)
    except LedgerError as error:
        typer.echo(printable(f"{error.requirement.partition(';')[0]}: what was noted as spent is not known"))
        return None
    if noted is None:
        typer.echo("no checkpoint is there: what was noted as spent is not known")
    return noted


def _declaration(text: str) -> Declared:
    account, equals, amount = text.rpartition("=")
    if not account or not equals:
        raise ParameterError("--spent", text, "must be an account and what it spent: ann=0.3, or ann=0.3,1e-6")
    epsilon, _, delta = amount.partition(",")
    return Declared(account, guarantee(epsilon, delta or 0))


def _spent_here(ledger: Ledger, account: str) -> str:
    return str(ledger.spent_in_all(account)) if account in ledger.accounts() else "no such account"


def _require_payable(ledger: Ledger, declared: Declared) -> None:
    if declared.account not in ledger.accounts():
        requirement = "is not in this copy; declare what it spent on the account above it"
        raise LedgerError(f"account {declared.account!r}", requirement)
    if ledger.questions_left(declared.account, event=declared.event, charge=declared.spent) == 0:
        requirement = f"has less than {declared.spent} left; declare what is left, and the rest on an account above"
        raise LedgerError(f"account {declared.account!r}", requirement)


def _charge(ledger: Ledger, declared: Declared, reason: str) -> None:
    reservation = ledger.reserve(
        declared.account, event=declared.event, charge=declared.spent, question=_QUESTION
    )  # fmt: skip
    ledger.abandon(reservation, reason=reason)
