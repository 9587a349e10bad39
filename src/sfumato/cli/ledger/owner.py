"""`sfumato ledger open | budget | close | resume | restored`: what an owner does with accounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import typer

from sfumato.cli.show import counted, printable
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

_QUESTION: Final = "spent before a restore"


def budget_of(*, epsilon: str | None, delta: str | None, rho: str | None) -> Budget:
    """The budget from options.

    Raises:
        ParameterError: Not exactly one of ε and ρ was given, or a number is out of range.

    Example:
        >>> str(budget_of(epsilon="1", delta=None, rho=None)), str(budget_of(epsilon=None, delta="1e-6", rho="0.5"))
        ('ε 1', 'ρ 0.5, δ 1e-06')
    """
    if epsilon is not None and rho is None:
        return guarantee(epsilon, delta or 0)
    if rho is not None and epsilon is None:
        return ZCDP(rho, delta or 0)
    raise ParameterError("--epsilon, --rho", (epsilon, rho), "give exactly one: the measure of the budget")


def window_of(text: str | None) -> Window | None:
    """The window from an option: ``month``, ``30d``; None if the budget never refills.

    Raises:
        ParameterError: The text is neither a period nor a number of days.

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
        raise ParameterError("--window", text, f"{error.requirement}; or days, e.g. 30d") from None


def open_account(location: str, name: str, *, below: str, budget: Budget, window: Window | None) -> None:
    """Open a child of an account, named as a session would name it."""
    if not name or "/" in name:
        raise ParameterError("ACCOUNT", name, "must be text without a slash; --below names the parent")
    account = f"{below}/{name}"
    with open_ledger(location, must_exist=True) as ledger:
        parent = ledger.opened(below)
        ledger.open_account(
            Opened(
                account=account, budget=budget, neighboring_relation=parent.neighboring_relation,
                privacy_unit=parent.privacy_unit, parents=(below,), window=window,
            )
        )  # fmt: skip
    typer.echo(printable(f"{account}: {budget}, {'never refills' if window is None else window}, child of {below}"))


def change_budget(location: str, account: str, *, budget: Budget, reason: str) -> None:
    """Change the budget of an account."""
    with open_ledger(location, must_exist=True) as ledger:
        before = ledger.budget(account)
        ledger.change_budget(account, budget, reason=reason)
        remaining = ledger.remaining(account)
    typer.echo(printable(f"{account}: budget changed from {before} to {budget}; remaining: {remaining}"))


def close_account(location: str, account: str, *, reason: str) -> None:
    """Close an account for good."""
    with open_ledger(location, must_exist=True) as ledger:
        ledger.close_account(account, reason=reason)
    typer.echo(printable(f"{account}: closed; stored answers are still returned"))


def resume_account(location: str, account: str, *, reason: str) -> None:
    """Resume a suspended account."""
    with open_ledger(location, must_exist=True) as ledger:
        bits = ledger.resume_account(account, reason=reason)
    typer.echo(
        printable(
            f"{account}: resumed; failures may have revealed {counted(bits, 'bit')} in total, outside the guarantee"
        )
    )


@dataclass(frozen=True, slots=True)
class DeclaredSpending:
    """The spending of an account since the backup."""

    account: str
    spent: PureDP | ApproxDP

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """The spending as an event."""
        if isinstance(self.spent, PureDP):
            return PureEvent(self.spent.epsilon)
        return ApproxEvent(self.spent.epsilon, self.spent.delta)


def declarations(spent: Sequence[str]) -> dict[str, PureDP | ApproxDP]:
    """What was spent by each account since a backup, from options.

    Raises:
        ParameterError: One is no account with an amount.

    Example:
        >>> {account: str(cost) for account, cost in declarations(["ann=0.3", "ann=0.2", "bob=1,1e-6"]).items()}
        {'ann': 'ε 0.5', 'bob': 'ε 1, δ 1e-06'}
    """
    found: dict[str, PureDP | ApproxDP] = {}
    for one in map(_declaration, spent):
        before = found.get(one.account, PureDP(0))
        found[one.account] = guarantee(before.epsilon + one.spent.epsilon, before.delta + one.spent.delta)
    return found


def restored(location: str, *, spent: Sequence[str], reason: str) -> None:
    """Charge the declared spending, and write a checkpoint of this copy."""
    if not reason.strip():
        raise ParameterError("--reason", reason, "is missing: say why a backup is used")
    declared = [_declaration(text) for text in spent]
    place = place_of(location)
    with open_ledger(location, must_exist=True, ignoring_checkpoint=True) as ledger:
        noted = _noted(place.checkpoint(), ledger)
        for account, total in () if noted is None else noted.totals:
            here = ledger.spent_in_all(account) if account in ledger.accounts() else "there is no such account"
            typer.echo(printable(f"{account}: spent {total} by the checkpoint, {here} in this copy"))
        if not declared:
            raise ParameterError(
                "--spent", None, "is missing: give each account's spending since the backup, e.g. --spent ann=0.3"
            )
        for one in declared:
            _require_payable(ledger, one)
        for one in declared:
            _charge(ledger, one, reason)
        place.checkpoint().write(ledger.checkpoint(), although_shorter=True)
        for name in dict.fromkeys(one.account for one in declared):
            typer.echo(printable(f"{name}: spent {ledger.spent_in_all(name)}, remaining {ledger.remaining(name)}"))


def _noted(file: CheckpointFile, ledger: Ledger) -> Checkpoint | None:
    """The checkpoint; None, with a message, if it is missing or damaged."""
    try:
        noted = file.read(ledger.key)
    except LedgerError as error:
        typer.echo(printable(f"{error.requirement.partition(';')[0]}: the recorded spending is unknown"))
        return None
    if noted is None:
        typer.echo("there is no checkpoint: the recorded spending is unknown")
    return noted


def _declaration(text: str) -> DeclaredSpending:
    account, equals, amount = text.rpartition("=")
    if not account or not equals:
        raise ParameterError("--spent", text, "must be an account and its spending: ann=0.3, or ann=0.3,1e-6")
    epsilon, _, delta = amount.partition(",")
    return DeclaredSpending(account, guarantee(epsilon, delta or 0))


def _require_payable(ledger: Ledger, declared: DeclaredSpending) -> None:
    if declared.account not in ledger.accounts():
        requirement = "is not in this copy; declare its spending for its parent"
        raise LedgerError(f"account {declared.account!r}", requirement)
    if ledger.questions_left(declared.account, event=declared.event, charge=declared.spent) == 0:
        requirement = (
            f"has less than {declared.spent} remaining; declare the remaining budget, and the rest for its parent"
        )
        raise LedgerError(f"account {declared.account!r}", requirement)


def _charge(ledger: Ledger, declared: DeclaredSpending, reason: str) -> None:
    reservation = ledger.reserve(
        declared.account, event=declared.event, charge=declared.spent, question=_QUESTION
    )  # fmt: skip
    ledger.abandon(reservation, reason=reason)
