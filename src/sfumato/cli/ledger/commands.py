"""The options of `sfumato ledger`. Each command imports the module that runs it only when it is called."""

from typing import Annotated

import typer

ledger_app = typer.Typer(no_args_is_help=True, help="Read a ledger, keep it safe, and manage its accounts.")

Location = Annotated[
    str, typer.Argument(metavar="LEDGER", help="Ledger file, or postgresql://user@host/database?ledger=name.")
]
Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Account, e.g. hospital/ann.")]
Epsilon = Annotated[str | None, typer.Option(metavar="ε", help="Budget in ε; read exactly.")]
Delta = Annotated[str | None, typer.Option(metavar="δ", help="δ of the budget, with --epsilon or --rho.")]
Rho = Annotated[str | None, typer.Option(metavar="ρ", help="Budget in ρ instead (zero-concentrated privacy).")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Reason; it is recorded in the ledger.")]
Days = Annotated[int, typer.Option(metavar="N", min=1, help="Days from which the pace of spending is estimated.")]


@ledger_app.command("show")
def show(ledger: Location) -> None:
    """Show the tree of accounts: budgets, spent and remaining, and unanswered reservations."""
    from sfumato.cli.ledger.show import show as run  # keeps --help quick

    run(ledger)


@ledger_app.command("verify")
def verify(ledger: Location) -> None:
    """Recompute every hash, cost and decision, and check every file of an answer.

    Without the ledger's key it checks what needs no key, and lists what it did not check.
    """
    from sfumato.cli.ledger.upkeep import verify as run  # keeps --help quick

    run(ledger)


@ledger_app.command("label")
def label(
    ledger: Location,
    account: Account,
    *,
    delta: Annotated[str, typer.Option(metavar="δ", help="δ at which a budget in ρ is converted to ε.")] = "1e-6",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the privacy label of an account: the privacy unit, the guarantee and its period."""
    from sfumato.cli.ledger.show import label as run  # keeps --help quick

    run(ledger, account, delta=delta, as_json=as_json)


@ledger_app.command("history")
def history(
    ledger: Location,
    *,
    account: Annotated[
        str | None, typer.Option(metavar="ACCOUNT", help="Only this account and its descendants.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Most rows, the latest; default: 20 in a table, else all.")
    ] = None,
    days: Days = 30,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Draw the remaining budget over time, as .png, .svg or .pdf; needs matplotlib."
        ),
    ] = None,
) -> None:
    """Show what happened, how long budgets will last, and for about how many queries."""
    from sfumato.cli.ledger.history import show_history  # keeps --help quick

    form = "json" if as_json else "csv" if as_csv else "table"
    show_history(ledger, account=account, limit=limit, days=days, form=form, plot=plot)


@ledger_app.command("export")
def export(
    ledger: Location,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each entry, with its answer, as a line of JSON.")
    ] = False,
) -> None:
    """Print the history as CSV, or all entries as JSON lines, without fingerprints of data."""
    from sfumato.cli.ledger.history import export as run  # keeps --help quick

    run(ledger, as_json=as_json)


@ledger_app.command("checkpoint")
def checkpoint(
    ledger: Location,
    *,
    to: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="Also write the checkpoint there; a URL needs fsspec.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Also run this command with the checkpoint on its stdin.")
    ] = None,
) -> None:
    """Write a checkpoint, so that an older copy of the ledger is refused."""
    from sfumato.cli.ledger.upkeep import checkpoint as run  # keeps --help quick

    run(ledger, to=to, command=command)


@ledger_app.command("restored")
def restored(
    ledger: Location,
    *,
    reason: Reason,
    spent: Annotated[
        list[str] | None,
        typer.Option(metavar="ACCOUNT=ε[,δ]", help="Spending of an account since the backup. Repeat for each account."),
    ] = None,
) -> None:
    """Continue with a backup of a lost ledger, after declaring what was spent since the backup.

    Without --spent it prints what the checkpoint recorded as spent, and changes nothing.
    """
    from sfumato.cli.ledger.owner import restored as run  # keeps --help quick

    run(ledger, spent=tuple(spent or ()), reason=reason)


@ledger_app.command("migrate")
def migrate(
    ledger: Location,
    destination: Annotated[
        str, typer.Argument(metavar="DESTINATION", help="New place: a file, or a PostgreSQL server.")
    ],
    *,
    unsealed: Annotated[
        bool,
        typer.Option("--unsealed", help="Accept entries without a seal, of a version before there were seals."),
    ] = False,
) -> None:
    """Copy a ledger with its key and its large answers to another place, and verify both."""
    from sfumato.cli.ledger.upkeep import move  # keeps --help quick

    move(ledger, destination, is_unsealed=unsealed)


@ledger_app.command("rotate-key")
def rotate_key(
    ledger: Location,
    *,
    lost: Annotated[
        bool, typer.Option("--lost", help="The key is lost: close all accounts and continue with a new key.")
    ] = False,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Reason, with --lost; it is recorded in the ledger.")
    ] = "",
) -> None:
    """Seal a ledger with a new key, because others may know the old one.

    Replacing a lost key closes all accounts: without the key nobody can prove who wrote their entries.
    """
    from sfumato.cli.ledger.upkeep import rotate  # keeps --help quick

    rotate(ledger, is_lost=lost, reason=reason)


@ledger_app.command("sweep")
def sweep(
    ledger: Location,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Remove the files; otherwise they are only listed.")] = False,
) -> None:
    """Remove files of large answers that no entry names, left behind by killed processes."""
    from sfumato.cli.ledger.upkeep import sweep as run  # keeps --help quick

    run(ledger, is_sure=yes)


@ledger_app.command("open")
def open_account(
    ledger: Location,
    account: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new account, without a slash, e.g. ann.")],
    *,
    below: Annotated[str, typer.Option(metavar="ACCOUNT", help="Parent account, which is charged too, e.g. hospital.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="WINDOW", help="Window of the budget: day, week, month, quarter or year; or days, e.g. 30d."
        ),
    ] = None,
) -> None:
    """Open an account for a team, an analyst or a project, as a child of another account.

    Example: sfumato ledger open ledger.db ann --below hospital --epsilon 1 --window month
    """
    from sfumato.cli.ledger.owner import budget_of, window_of  # keeps --help quick
    from sfumato.cli.ledger.owner import open_account as run  # the same

    budget = budget_of(epsilon=epsilon, delta=delta, rho=rho)
    run(ledger, account, below=below, budget=budget, window=window_of(window))


@ledger_app.command("budget")
def budget(
    ledger: Location,
    account: Account,
    *,
    reason: Reason,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
) -> None:
    """Change the budget of an account, in the same measure; the spending stays."""
    from sfumato.cli.ledger.owner import (
        budget_of,  # keeps --help quick
        change_budget,  # the same
    )

    change_budget(ledger, account, budget=budget_of(epsilon=epsilon, delta=delta, rho=rho), reason=reason)


@ledger_app.command("close")
def close(ledger: Location, account: Account, *, reason: Reason) -> None:
    """Close an account and its descendants for good; stored answers are still returned."""
    from sfumato.cli.ledger.owner import close_account  # keeps --help quick

    close_account(ledger, account, reason=reason)


@ledger_app.command("resume")
def resume(ledger: Location, account: Account, *, reason: Reason) -> None:
    """Resume an account that a failed query suspended. Each time reveals up to one bit outside the guarantee."""
    from sfumato.cli.ledger.owner import resume_account  # keeps --help quick

    resume_account(ledger, account, reason=reason)
