"""Run an audit with a progress bar, and report it on the terminal, as JSON or as a page."""

import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import typer

from sfumato.audit.auditor import audit
from sfumato.audit.core.findings import AuditReport
from sfumato.audit.core.roles import AuditedMechanism, NeighborPair
from sfumato.audit.distributions import DeclaredLaw
from sfumato.audit.reports.documents import report_document
from sfumato.cli.show import printable, progress
from sfumato.errors import ParameterError

_REFUTED: Final = 1
_RUNS_OF_A_SAMPLE: Final = 2  # on two databases


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """The common options: the claim, the runs, and the form of the report."""

    epsilon: str
    delta: str
    samples: int
    significance: float
    html: str | None
    as_json: bool


def audit_and_report(
    mechanism: AuditedMechanism,
    pairs: Sequence[NeighborPair],
    *,
    title: str,
    wanted: AuditOptions,
    laws: tuple[DeclaredLaw, ...] = (),
    at_once: int | None = None,
) -> None:
    """Audit, report, and exit with 1 if anything was refuted.

    What the audited code prints goes to stderr, so that stdout has the report alone.

    Args:
        mechanism: The audited mechanism.
        pairs: The neighbors to run it on.
        title: The title of the report.
        wanted: The common options.
        laws: Noise and its declared distributions.
        at_once: The most runs in one call, so that the bar moves; None has no limit.

    Raises:
        ParameterError: As `audit`; or the page needs packages that are not installed, or cannot be written.
    """
    if wanted.html is not None:  # fail before the long work
        _page(AuditReport((), ()), title)
        _require_place(Path(wanted.html))
    with progress() as bars, redirect_stdout(sys.stderr):
        step = bars.add_task("runs", total=_RUNS_OF_A_SAMPLE * wanted.samples * len(pairs))
        report = audit(
            _counted(mechanism, lambda runs: bars.advance(step, runs), at_once), pairs, epsilon=wanted.epsilon,
            delta=wanted.delta, samples=wanted.samples, significance=wanted.significance, laws=laws,
        )  # fmt: skip
    if wanted.as_json:
        typer.echo(json.dumps({"title": title} | report_document(report), ensure_ascii=False, indent=2))
    else:
        databases = [printable(f"  on two databases: {pair.description}") for pair in pairs]
        typer.echo("\n".join([printable(title), *databases, *map(printable, str(report).splitlines())]))
    if wanted.html is not None:  # last, so that a full disk does not lose the report above
        _write(wanted.html, _page(report, title))
    raise typer.Exit(_REFUTED if report.is_refuted else 0)


def _counted(mechanism: AuditedMechanism, count_runs: Any, at_once: int | None) -> AuditedMechanism:
    """The same mechanism, which also reports how many runs are done."""

    @wraps(mechanism)
    def in_parts(database: Any, count: int, /) -> Any:
        if at_once is None or count <= at_once:
            outputs: Any = mechanism(database, count)
            count_runs(count)
            return outputs
        parts = [in_parts(database, min(at_once, count - start)) for start in range(0, count, at_once)]
        return [output for part in parts for output in part]

    return in_parts


def _page(report: AuditReport, title: str) -> str:
    """The page; matplotlib and jinja2 are imported only for it."""
    from sfumato.audit.reports.page import page

    return page(report, title=title)


def _require_place(path: Path) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise ParameterError("--html", str(path), "must be a file in a folder that exists")


def _write(path: str, text: str) -> None:
    """Write the whole page or nothing; an invalid character of a description becomes a question mark."""
    target = Path(path).resolve()
    is_device = target.exists() and not target.is_file()  # such as /dev/stdout, whose place no file may take
    draft = target if is_device else target.with_name(f"{target.name}.draft")
    try:
        draft.write_text(text, "utf-8", errors="replace")
        if not is_device:
            draft.replace(target)
    except OSError as error:
        if draft.is_file():
            draft.unlink()
        raise ParameterError("--html", path, f"cannot be written: {error.strerror}") from None
