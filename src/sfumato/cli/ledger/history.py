"""`sfumato ledger history | export`: what happened, as a table or a chart, and all entries for other programs."""

import csv
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

import typer

from sfumato.cli.ledger.show import clock_lines, outlook
from sfumato.cli.show import cell, printable, table, wide_console
from sfumato.errors import ParameterError
from sfumato.ledger.core.store import Chain
from sfumato.ledger.core.windows import MICROSECONDS
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.reading.history import HistoryRow, Standstill, Standstills, history, time_text
from sfumato.ledger.reading.spending import Point, Projection, project, spending
from sfumato.plots.budgets import Course, burn_down
from sfumato.plots.panels import save

_SHOWN: Final = 20
_WIDTH: Final = 60  # characters of a query; the CSV has all of it


def show_history(
    location: str, *, account: str | None, limit: int | None, days: int, form: str, plot: str | None
) -> None:  # fmt: skip
    """Print the latest rows as a table, CSV or JSON; or draw the remaining budgets over time."""
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
    """The query on one line, shortened; before it has an answer, the beginning of its hash."""
    text = printable(" ".join(row.asked.split()))
    return row.question if not text else text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _standstills(ledger: Ledger) -> Sequence[Standstill]:
    found = Standstills()
    for entry in ledger.entries():
        found.take(entry)
    return found.found


def _print(rows: Sequence[HistoryRow]) -> None:
    header = ("time", "event", "account", "principal", "query", "state", "note", "cost")
    cells = [
        (
            time_text(row.at), row.kind, printable(row.account), printable(row.principal), _question(row), row.state,
            printable(row.note), "" if row.cost is None else str(row.cost),
        )
        for row in rows
    ]  # fmt: skip
    wide_console().print(table(header, cells, left=7))


FIELDS = ("time", "kind", "account", "principal", "question", "asked", "epsilon", "delta", "cost", "state", "note")


def export(location: str, *, as_json: bool) -> None:
    """Print each entry as a line of JSON, or the history as CSV."""
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
    """An entry with the number of its fingerprints of data in their place: only the ledger may know them."""
    entry = json.loads(text)["entry"]
    return entry | {field: len(entry[field]) for field in ("fingerprints", "sources") if field in entry}


_SIGNS = {"epsilon": "ε", "rho": "ρ"}


def draw(ledger: Ledger, names: Collection[str], *, days: int, path: str) -> Path:
    """Draw the budgets of some accounts into a file.

    Raises:
        ParameterError: No account has a budget and times, the file name has another ending, or matplotlib is missing.
    """
    found = spending(ledger.entries(), accounts=names, now=ledger.now())
    known = {
        name: tuple(point for point in every if point.at > 0 and point.allowed is not None)
        for name, every in found.items()
    }
    points = {name: of_known_time for name, of_known_time in known.items() if of_known_time}
    if not points:
        raise ParameterError("--plot", path, "needs an account with a budget, in a ledger that records times")
    number = _common_number(points)
    projections = {
        name: (course, until)
        for name, course in points.items()
        if (until := project(course, ledger.opened(name).window, days=days)) is not None
    }
    figure = burn_down(
        {
            name: ([point.at / MICROSECONDS for point in course], [_left(point, number) for point in course])
            for name, course in points.items()
        },
        projected_by_name={
            name: line
            for name, (course, until) in projections.items()
            if (line := _projected(course[-1], until, number)) is not None
        },
        budget=_budget(points, number),
        unit=None if number is None else _SIGNS[number],
    )
    return save(figure, path)


def _common_number(points: Mapping[str, tuple[Point, ...]]) -> str | None:
    """“epsilon” or “rho” if all budgets are in it alone; None if shares of budgets must be drawn."""
    limits = [point.allowed for course in points.values() for point in course if point.allowed is not None]
    kind, *others = {tuple(name for name, allowed in limit.numbers if allowed) for limit in limits}
    return kind[0] if not others and len(kind) == 1 and kind[0] in _SIGNS else None


def _left(point: Point, number: str | None) -> float:
    if number is None or point.left is None:
        return float(point.share_left)
    return max(float(point.left[number]), 0.0)


def _budget(points: Mapping[str, tuple[Point, ...]], number: str | None) -> float | None:
    """The whole budget, the largest of all accounts; 1 for shares."""
    if number is None:
        return 1
    heights = {last.allowed[number] for *_, last in points.values() if last.allowed is not None}
    return float(max(heights))


def _projected(last: Point, projection: Projection, number: str | None) -> Course | None:
    """A straight line to the end of the budget, or to the time when its window refills."""
    if projection.lasts_until is None:
        return None
    end = min(projection.lasts_until, projection.returns or projection.lasts_until)
    whole = projection.lasts_until - last.at
    rest = Fraction(projection.lasts_until - end, whole) if whole else Fraction(0)
    left = _left(last, number)
    return [last.at / MICROSECONDS, end / MICROSECONDS], [left, left * float(rest)]
