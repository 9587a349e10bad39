"""`sfumato ledger export`: all entries for other programs, without what only the ledger itself is to know."""

import csv
import json
import sys
from collections.abc import Iterable

import typer

from sfumato.cli.ledger.texts import cell
from sfumato.ledger.core.journal import Chain
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.reading.history import HistoryRow, history, time_text

FIELDS = ("time", "kind", "account", "principal", "question", "asked", "epsilon", "delta", "cost", "state", "note")


def export(location: str, *, as_json: bool) -> None:
    """Print each entry as a line of JSON, or what happened as CSV."""
    with open_ledger(location, must_exist=True) as ledger:
        if not as_json:
            write_csv(history(ledger.entries()))
            return
        chain = Chain()
        for record in ledger.records():
            chain = chain.follow(record)
            line = {"index": record.index, "previous": record.previous, "hash": record.hash}
            typer.echo(json.dumps(line | {"entry": _entry(record.text)}, separators=(",", ":")))


def write_csv(rows: Iterable[HistoryRow]) -> None:
    """Rows of history as CSV on stdout."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows([cell(str(value)) for value in in_fields(row).values()] for row in rows)


def in_fields(row: HistoryRow) -> dict[str, str]:
    """A row of history as text by field; rationals exactly."""
    charge = row.charge
    return {
        "time": time_text(row.at), "kind": row.kind, "account": row.account, "principal": row.principal,
        "question": row.question, "asked": row.asked, "epsilon": "" if charge is None else str(charge.epsilon),
        "delta": "" if charge is None else str(charge.delta), "cost": "" if row.cost is None else str(row.cost),
        "state": row.state, "note": row.note,
    }  # fmt: skip


def _entry(text: str) -> object:
    """An entry without fingerprints of data, which are nobody's but the ledger's: their number instead."""
    entry = json.loads(text)["entry"]
    return entry | {field: len(entry[field]) for field in ("fingerprints", "sources") if field in entry}
