"""`sfumato ledger open | budget | close | resume`: what an owner does with accounts."""

import typer

from sfumato.cli.ledger.texts import printable
from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.windows import Window
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import Budget


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
