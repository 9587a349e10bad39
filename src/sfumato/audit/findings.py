"""What an audit says, in kinds that are never mixed: a broken promise, noise that can be repeated, a wrong law."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sfumato.privacy.guarantees import ApproxDP

CAVEAT: Final = (
    "A pass proves nothing: other databases, other events or more samples may show what these did not; "
    "only a proof shows that there is nothing to be found."
)


class Verdict(StrEnum):
    """What a finding means."""

    PRIVACY_VIOLATION = "privacy violation"
    """Outputs on two neighbours contradict the claimed ε and δ."""

    REPRODUCIBLE_NOISE = "reproducible noise"
    """The same runs were given twice: whoever knows how the noise was seeded can subtract it, so no ε holds."""

    CALIBRATION_BUG = "calibration bug"
    """The noise does not follow its declared law; whether that harms privacy is another question."""

    NOTHING_FOUND = "nothing found"
    """No evidence in these samples, which proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFinding:
    """The event that one tester suspected on one pair, and what the exact test made of it.

    `epsilon_lower_bound` lies above the true ε, at the claimed δ, with a chance of at most `significance`; `unread` is
    what the tester did not look at, in words.
    """

    tester: str
    pair: str
    event: str
    claim: ApproxDP
    epsilon_lower_bound: float
    samples: int
    significance: float
    unread: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """A violation if the lower bound lies above the claim."""
        refuted = self.epsilon_lower_bound > self.claim.epsilon
        return Verdict.PRIVACY_VIOLATION if refuted else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.tester}; {self.pair}): {self.event}. ε ≥ {self.epsilon_lower_bound:.3f} where "
            f"{self.claim} was claimed; {self.samples} samples, type-I error {self.significance:.1e}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatFinding:
    """Whether two equal calls gave equal runs."""

    pair: str
    p_value: float
    samples: int
    significance: float

    @property
    def verdict(self) -> Verdict:
        """Reproducible if fresh noise would hardly have come out the same."""
        return Verdict.REPRODUCIBLE_NOISE if self.p_value < self.significance else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} (the database of: {self.pair}): two calls gave the same runs, p = {self.p_value:.1e}; "
            f"{self.samples} samples, type-I error {self.significance:.1e}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LawFinding:
    """Whether noise follows the law that was declared for it."""

    law: str
    p_value: float
    samples: int
    significance: float

    @property
    def verdict(self) -> Verdict:
        """A calibration bug if the sample is too unlikely under the law."""
        return Verdict.CALIBRATION_BUG if self.p_value < self.significance else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.law}): p = {self.p_value:.1e}; "
            f"{self.samples} samples, type-I error {self.significance:.1e}"
        )


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings of one audit."""

    events: tuple[EventFinding, ...]
    laws: tuple[LawFinding, ...]
    repeats: tuple[RepeatFinding, ...] = ()

    @property
    def violations(self) -> tuple[EventFinding, ...]:
        """Evidence against the claimed guarantee."""
        return tuple(finding for finding in self.events if finding.verdict is Verdict.PRIVACY_VIOLATION)

    @property
    def reproducible(self) -> tuple[RepeatFinding, ...]:
        """Evidence that noise is not drawn afresh."""
        return tuple(finding for finding in self.repeats if finding.verdict is Verdict.REPRODUCIBLE_NOISE)

    @property
    def calibration_bugs(self) -> tuple[LawFinding, ...]:
        """Evidence against a declared law of noise."""
        return tuple(finding for finding in self.laws if finding.verdict is Verdict.CALIBRATION_BUG)

    @property
    def is_refuted(self) -> bool:
        """Whether anything at all was found."""
        return bool(self.violations or self.reproducible or self.calibration_bugs)

    def __str__(self) -> str:
        found = [*map(str, self.violations), *map(str, self.reproducible), *map(str, self.calibration_bugs)]
        tests = f"{len(self.events)} event tests, {len(self.repeats)} repetition tests, {len(self.laws)} law tests"
        tried = [*found, tests] if found else [f"nothing found in {tests}. {CAVEAT}"]
        return "\n".join([*tried, *self._reach()])

    def _reach(self) -> list[str]:
        """How far the event tests went: runs, the largest bound, and what none of them read."""
        if not self.events:
            return []
        runs = min(finding.samples for finding in self.events)
        bound = max(finding.epsilon_lower_bound for finding in self.events)
        reach = [f"runs on each pair: {runs:,} or more; largest lower bound: ε ≥ {bound:.3f}"]
        unread = dict.fromkeys(words for finding in self.events for words in finding.unread)
        return [*reach, *(f"not read: {words}" for words in unread)]
