"""Running an audit with a bar, and telling what it found: on the terminal, as JSON, as a page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from sfumato.audit.auditor import audit
from sfumato.audit.documents import report_document
from sfumato.audit.findings import AuditReport
from sfumato.audit.laws import DeclaredLaw
from sfumato.audit.roles import Mechanism, NeighborPair
from sfumato.cli.ledger.bars import progress
from sfumato.cli.ledger.texts import printable
from sfumato.errors import ParameterError

_REFUTED: Final = 1
_RUNS_OF_A_SAMPLE: Final = 2  # on two databases


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the common options say: the claim, how hard to try, and where to tell."""

    epsilon: str
    delta: str
    samples: int
    significance: float
    html: str | None
    as_json: bool


def audit_and_tell(
    mechanism: Mechanism,
    pairs: Sequence[NeighborPair],
    *,
    title: str,
    wanted: Wanted,
    laws: tuple[DeclaredLaw, ...] = (),
    at_once: int | None = None,
) -> None:
    """Audit, tell, and exit with 1 if anything was refuted.

    Args:
        mechanism: What is audited.
        pairs: On what.
        title: What it is called.
        wanted: The common options.
        laws: Declared laws of noise.
        at_once: The most runs in one call, so that the bar moves; None for as many as the audit asks for.

    Raises:
        ParameterError: As `audit`; or the page needs packages that are not there, or cannot be written.
    """
    if wanted.html is not None:
        _page(AuditReport((), ()), title)  # whose packages may be missing, which is better known before the long work
    with progress() as bars:
        step = bars.add_task("runs", total=_RUNS_OF_A_SAMPLE * wanted.samples * len(pairs))
        report = audit(
            _heard(mechanism, lambda runs: bars.advance(step, runs), at_once), pairs, epsilon=wanted.epsilon,
            delta=wanted.delta, samples=wanted.samples, significance=wanted.significance, laws=laws,
        )  # fmt: skip
    if wanted.html is not None:
        _write(wanted.html, _page(report, title))
    if wanted.as_json:
        typer.echo(json.dumps({"title": title} | report_document(report), ensure_ascii=False, indent=2))
    else:
        typer.echo("\n".join([title, *map(_line, pairs), *map(printable, str(report).splitlines())]))
    raise typer.Exit(_REFUTED if report.is_refuted else 0)


def _line(pair: NeighborPair) -> str:
    return printable(f"  on two databases: {pair.description}")


def _heard(mechanism: Mechanism, heard: Any, at_once: int | None) -> Mechanism:
    """The same mechanism, which says how many runs are done."""

    def in_parts(database: Any, count: int, /) -> Any:
        if at_once is None or count <= at_once:
            outputs: Any = mechanism(database, count)
            heard(count)
            return outputs
        parts = [in_parts(database, min(at_once, count - start)) for start in range(0, count, at_once)]
        return [output for part in parts for output in part]

    return in_parts


def _page(report: AuditReport, title: str) -> str:
    """The page; what draws it is loaded where one is wanted."""
    from sfumato.audit.page import page

    return page(report, title=title)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise ParameterError("--html", path, f"cannot be written: {error.strerror}") from None
