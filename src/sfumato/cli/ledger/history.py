"""`sfumato ledger history`: what happened, in which order, and how it may go on."""

import json
from collections.abc import Sequence

import typer

from sfumato.cli.ledger.export import in_fields, write_csv
from sfumato.cli.ledger.outlook import outlook
from sfumato.cli.ledger.picture import draw
from sfumato.cli.ledger.texts import console, printable
from sfumato.cli.show import table
from sfumato.ledger.history import HistoryRow, history, time_text
from sfumato.ledger.locations import open_ledger

_SHOWN = 20


def show_history(
    location: str, *, account: str | None, limit: int | None, days: int, form: str, plot: str | None
) -> None:  # fmt: skip
    """Print the last rows, as a table, as CSV or as JSON; or draw what was left by when."""
    with open_ledger(location, must_exist=True) as ledger:
        names = ledger.accounts() if account is None else ledger.path(account)
        if plot is not None:
            typer.echo(f"drawn: {draw(ledger, names, days=days, path=plot)}")
            return
        rows = history(ledger.entries(), account=account, limit=limit or (_SHOWN if form == "table" else None))
        match form:
            case "csv":
                write_csv(rows)
            case "json":
                typer.echo(json.dumps([in_fields(row) for row in rows], ensure_ascii=False, indent=2))
            case _:
                _print(rows)
                for line in outlook(ledger, names, days=days):
                    typer.echo(printable(line))


def _print(rows: Sequence[HistoryRow]) -> None:
    header = ("time", "what", "account", "who", "question", "state", "note", "cost")
    cells = [
        (
            time_text(row.at), row.kind, printable(row.account), printable(row.principal), row.question, row.state,
            printable(row.note), "" if row.charge is None else str(row.charge),
        )
        for row in rows
    ]  # fmt: skip
    console().print(table(header, cells, left=7))
