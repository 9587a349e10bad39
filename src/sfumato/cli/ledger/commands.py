"""`sfumato ledger`, option by option. What a command does is in a module of its own, loaded when it is called."""

from typing import Annotated

import typer

ledger_app = typer.Typer(no_args_is_help=True, help="Read a ledger, keep it safe, and manage its accounts.")

Location = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A ledger file, or postgresql://user@host/database?ledger=name.")
]
Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="An account, such as hospital/ann.")]
Epsilon = Annotated[str | None, typer.Option(metavar="ε", help="The budget in ε; taken exactly.")]
Delta = Annotated[str | None, typer.Option(metavar="δ", help="Beside --epsilon or --rho.")]
Rho = Annotated[str | None, typer.Option(metavar="ρ", help="The budget in ρ instead (zero-concentrated privacy).")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; it stays in the ledger.")]
Days = Annotated[int, typer.Option(metavar="N", min=1, help="From how many days the pace is taken.")]


@ledger_app.command("show")
def show(ledger: Location) -> None:
    """Show the tree of accounts: budgets, what is spent and left, and reservations without an answer."""
    from sfumato.cli.ledger.show import show as run  # keeps --help quick

    run(ledger)


@ledger_app.command("verify")
def verify(ledger: Location) -> None:
    """Compute every hash, every price and every decision anew, and look at every file of an answer.

    Without the ledger's key it checks what needs none, and says what it cannot check.
    """
    from sfumato.cli.ledger.upkeep import verify as run  # keeps --help quick

    run(ledger)


@ledger_app.command("label")
def label(
    ledger: Location,
    account: Account,
    *,
    delta: Annotated[str, typer.Option(metavar="δ", help="Where the ε of a budget in ρ is stated.")] = "1e-6",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the privacy label of an account: who is protected, how well, and for how long."""
    from sfumato.cli.ledger.show import label as run  # keeps --help quick

    run(ledger, account, delta=delta, as_json=as_json)


@ledger_app.command("history")
def history(
    ledger: Location,
    *,
    account: Annotated[
        str | None, typer.Option(metavar="ACCOUNT", help="Only this account and those below it.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the last so many; 20 in a table, else all.")
    ] = None,
    days: Days = 30,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw what was left by when, into a .png, .svg or .pdf; needs the plots."),
    ] = None,
) -> None:
    """Show what happened, how long budgets last at this pace, and for how many more questions."""
    from sfumato.cli.ledger.history import show_history  # keeps --help quick

    form = "json" if as_json else "csv" if as_csv else "table"
    show_history(ledger, account=account, limit=limit, days=days, form=form, plot=plot)


@ledger_app.command("export")
def export(
    ledger: Location,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print each entry, with answers, as a line of JSON.")] = False,
) -> None:
    """Print all that happened as CSV, or all entries as JSON lines, without fingerprints of data."""
    from sfumato.cli.ledger.history import export as run  # keeps --help quick

    run(ledger, as_json=as_json)


@ledger_app.command("checkpoint")
def checkpoint(
    ledger: Location,
    *,
    to: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="Write it there as well; a URL needs fsspec.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run this too, with the checkpoint on its standard input.")
    ] = None,
) -> None:
    """Note how far the ledger is, so that an older copy in its place is refused."""
    from sfumato.cli.ledger.upkeep import checkpoint as run  # keeps --help quick

    run(ledger, to=to, command=command)


@ledger_app.command("restored")
def restored(
    ledger: Location,
    *,
    reason: Reason,
    spent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACCOUNT=ε[,δ]", help="What an account spent since the copy was made. Repeat for each account."
        ),
    ] = None,
) -> None:
    """Go on with an older copy of a ledger that was lost, once it is declared what was spent since.

    Without --spent it says what was noted as spent, and changes nothing.
    """
    from sfumato.cli.ledger.owner import restored as run  # keeps --help quick

    run(ledger, spent=tuple(spent or ()), reason=reason)


@ledger_app.command("migrate")
def migrate(
    ledger: Location,
    destination: Annotated[
        str, typer.Argument(metavar="DESTINATION", help="Where it goes on: a file, or a PostgreSQL server.")
    ],
    *,
    unsealed: Annotated[
        bool,
        typer.Option("--unsealed", help="Take entries that no seal covers: of a version before there were seals."),
    ] = False,
) -> None:
    """Copy a ledger with its key and its large answers to another place, verified at both ends."""
    from sfumato.cli.ledger.upkeep import move  # keeps --help quick

    move(ledger, destination, is_unsealed=unsealed)


@ledger_app.command("rotate-key")
def rotate_key(
    ledger: Location,
    *,
    lost: Annotated[
        bool, typer.Option("--lost", help="The key is gone for good: close all accounts, and go on with another.")
    ] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="With --lost: how; it stays in the ledger.")] = "",
) -> None:
    """Seal a ledger with a new key, because others may know the old one.

    A lost key is replaced only by closing all accounts: nobody can tell any more who wrote their entries.
    """
    from sfumato.cli.ledger.upkeep import rotate  # keeps --help quick

    rotate(ledger, is_lost=lost, reason=reason)


@ledger_app.command("sweep")
def sweep(
    ledger: Location,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without, they are listed.")] = False,
) -> None:
    """Remove files of large answers that no entry names, which a process left that was killed."""
    from sfumato.cli.ledger.upkeep import sweep as run  # keeps --help quick

    run(ledger, is_sure=yes)


@ledger_app.command("open")
def open_account(
    ledger: Location,
    account: Annotated[str, typer.Argument(metavar="NAME", help="Its name there, without a slash: ann.")],
    *,
    below: Annotated[str, typer.Option(metavar="ACCOUNT", help="Which account pays with it: hospital.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    window: Annotated[
        str | None,
        typer.Option(metavar="WINDOW", help="How often it comes back: day, week, month, quarter, year; or 30d."),
    ] = None,
) -> None:
    """Open an account for a team, an analyst or a project, below another one.

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
    """Give an account another budget in the same measure; what was spent stays spent."""
    from sfumato.cli.ledger.owner import (
        budget_of,  # keeps --help quick
        change_budget,  # the same
    )

    change_budget(ledger, account, budget=budget_of(epsilon=epsilon, delta=delta, rho=rho), reason=reason)


@ledger_app.command("close")
def close(ledger: Location, account: Account, *, reason: Reason) -> None:
    """Grant an account, and those below it, nothing more; stored answers are given again."""
    from sfumato.cli.ledger.owner import close_account  # keeps --help quick

    close_account(ledger, account, reason=reason)


@ledger_app.command("resume")
def resume(ledger: Location, account: Account, *, reason: Reason) -> None:
    """Acknowledge that a query failed on data, and go on; each time counts as one bit outside of the guarantee."""
    from sfumato.cli.ledger.owner import resume_account  # keeps --help quick

    resume_account(ledger, account, reason=reason)
