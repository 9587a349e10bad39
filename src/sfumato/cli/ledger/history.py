"""`sfumato ledger history`: what happened, in which order, and how it may go on."""

import json
from collections.abc import Sequence
from typing import Final

import typer

from sfumato.cli.ledger.export import in_fields, write_csv
from sfumato.cli.ledger.outlook import clock_lines, outlook
from sfumato.cli.ledger.picture import draw
from sfumato.cli.ledger.texts import console, printable
from sfumato.cli.show import table
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.reading.history import HistoryRow, Standstill, Standstills, history, time_text

_SHOWN: Final = 20
_WIDTH: Final = 60  # of a question; all of it is in the CSV


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
                for line in (*outlook(ledger, names, days=days), *clock_lines(ledger, _standstills(ledger))):
                    typer.echo(printable(line))


def _question(row: HistoryRow) -> str:
    """What was asked, on one line that fits; as long as nobody can tell, the beginning of its hash."""
    text = printable(" ".join(row.asked.split()))
    return row.question if not text else text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _standstills(ledger: Ledger) -> Sequence[Standstill]:
    found = Standstills()
    for entry in ledger.entries():
        found.take(entry)
    return found.found


def _print(rows: Sequence[HistoryRow]) -> None:
    header = ("time", "what", "account", "who", "question", "state", "note", "cost")
    cells = [
        (
            time_text(row.at), row.kind, printable(row.account), printable(row.principal), _question(row), row.state,
            printable(row.note), "" if row.cost is None else str(row.cost),
        )
        for row in rows
    ]  # fmt: skip
    console().print(table(header, cells, left=7))
