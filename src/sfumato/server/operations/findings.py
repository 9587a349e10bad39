"""What a check of a server finds: a subject, what was seen, and what to do about it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters, from nothing on."""

    FINE = "fine"
    ADVICE = "advice"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found.

    Attributes:
        level: How much it matters.
        subject: What was checked.
        seen: What was seen there.
        fix: What to do; empty if it is fine.
    """

    level: Level
    subject: str
    seen: str
    fix: str = ""

    def document(self) -> dict[str, str]:
        """As JSON."""
        return {name: str(value) for name, value in asdict(self).items()}


def fine(subject: str, seen: str) -> Finding:
    """There is nothing to do."""
    return Finding(level=Level.FINE, subject=subject, seen=seen)


def advice(subject: str, seen: str, fix: str) -> Finding:
    """It could be better."""
    return Finding(level=Level.ADVICE, subject=subject, seen=seen, fix=fix)


def warning(subject: str, seen: str, fix: str) -> Finding:
    """It may harm one day."""
    return Finding(level=Level.WARNING, subject=subject, seen=seen, fix=fix)


def failure(subject: str, seen: str, fix: str) -> Finding:
    """It breaks a promise of the server, or soon will."""
    return Finding(level=Level.FAILURE, subject=subject, seen=seen, fix=fix)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order in which somebody should read them."""
    order = {level: place for place, level in enumerate(reversed(Level))}
    return tuple(sorted(findings, key=lambda finding: order[finding.level]))


def has_failed(findings: Iterable[Finding]) -> bool:
    """Whether something has to be done before the server is to be used."""
    return any(finding.level is Level.FAILURE for finding in findings)
