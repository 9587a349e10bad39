"""The findings of audits, one class for each kind, and a report of them; kinds are never mixed."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.audit.core.outputs import as_float
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.guarantees import ApproxDP

CAVEAT: Final = (
    "A pass proves nothing: other databases, events or more runs may show a violation. Only a proof rules one out."
)
_SHOWN: Final = 3  # counterexamples in a line


class Verdict(StrEnum):
    """The kind of a finding."""

    PRIVACY_VIOLATION = "privacy violation"
    """Outputs on two neighbors contradict the claimed ε and δ."""

    REPRODUCIBLE_NOISE = "reproducible noise"
    """Two calls gave the same outputs: whoever knows the seed can subtract the noise, so no ε holds."""

    CALIBRATION_BUG = "calibration bug"
    """The noise does not follow its declared distribution, which may or may not harm privacy."""

    ACCOUNTING_BUG = "accounting bug"
    """An accountant violates a property of every sound accountant, so its costs cannot be trusted."""

    SENSITIVITY_BUG = "sensitivity bug"
    """The exact answers on two neighbors differ by more than the claimed sensitivity: the noise is too small."""

    NOTHING_FOUND = "nothing found"
    """No evidence in these samples, which proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFinding:
    """The event that one tester suspected on one pair, and what the exact test made of it.

    `epsilon_lower_bound` exceeds the true ε at the claimed δ with probability at most `significance`, and
    `delta_lower_bound` exceeds the true δ at the claimed ε likewise. `unread` names what the tester did not read.
    """

    tester: str
    pair: str
    event: str
    claim: ApproxDP
    epsilon_lower_bound: float
    samples: int
    significance: float
    unread: tuple[str, ...] = ()
    delta_lower_bound: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """A violation if a lower bound lies above the claim."""
        refuted = self.epsilon_lower_bound > self.claim.epsilon or self.delta_lower_bound > self.claim.delta
        return Verdict.PRIVACY_VIOLATION if refuted else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.tester}; {self.pair}): {self.event}. ε ≥ {self.epsilon_lower_bound:.3f}, or "
            f"δ ≥ {self.delta_lower_bound:.1e}; claimed {self.claim}; {self.samples:,} runs, "
            f"type-I error {self.significance:.1e}"
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
        """Reproducible if fresh noise would repeat with probability below `significance`."""
        return Verdict.REPRODUCIBLE_NOISE if self.p_value < self.significance else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} (the database of: {self.pair}): two calls gave the same outputs, p = {self.p_value:.1e}; "
            f"{self.samples:,} runs, type-I error {self.significance:.1e}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LawFinding:
    """Whether noise follows its declared distribution."""

    law: str
    p_value: float
    samples: int
    significance: float

    @property
    def verdict(self) -> Verdict:
        """A calibration bug if the sample is too unlikely under the distribution."""
        return Verdict.CALIBRATION_BUG if self.p_value < self.significance else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.law}): p = {self.p_value:.1e}; "
            f"{self.samples:,} runs, type-I error {self.significance:.1e}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingFinding:
    """Whether an accountant has one property: how many checks were made, counterexamples, and what was not checked."""

    accountant: str
    law: str
    broken: tuple[str, ...]
    checks: int
    unchecked: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """A bug if there is a counterexample."""
        return Verdict.ACCOUNTING_BUG if self.broken else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        where = "; ".join([*self.broken[:_SHOWN], *(["…"] if len(self.broken) > _SHOWN else [])])
        result = f"{len(self.broken)} counterexamples: {where}" if self.broken else "holds"
        return f"{self.verdict} ({self.accountant}): “{self.law}”: {result}; {self.checks} checks"


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityFinding:
    """The largest difference of exact answers between neighbors, and the neighbors that have it."""

    function: str
    norm: str
    claimed: Fraction
    largest: Fraction | float
    """In the norm, rounded down if irrational; infinite where an answer is not a vector of numbers."""
    pair: str
    is_exceeded: bool
    checks: int

    @property
    def verdict(self) -> Verdict:
        """A bug if a difference exceeds the claim, in exact arithmetic."""
        return Verdict.SENSITIVITY_BUG if self.is_exceeded else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.function}): {self.norm} sensitivity ≥ {as_float(self.largest):.6g}, "
            f"claimed {as_float(self.claimed):.6g}; neighbors {self.pair}; {self.checks} pairs"
        )


Finding: TypeAlias = EventFinding | RepeatFinding | LawFinding | AccountingFinding | SensitivityFinding

_KINDS: Final = {
    "events": EventFinding,
    "laws": LawFinding,
    "repeats": RepeatFinding,
    "accounting": AccountingFinding,
    "sensitivities": SensitivityFinding,
}


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings of one audit.

    Args:
        events: Findings of `audit`'s testers.
        laws: Findings of `check_law`.
        repeats: Findings of `check_repeats`.
        accounting: Findings of `check_accountant`.
        sensitivities: Findings of `check_sensitivity`.

    Raises:
        ParameterError: One of them is not a list of findings of its kind.

    Example:
        >>> AuditReport((), ()).is_refuted
        False
    """

    events: tuple[EventFinding, ...]
    laws: tuple[LawFinding, ...]
    repeats: tuple[RepeatFinding, ...] = ()
    accounting: tuple[AccountingFinding, ...] = ()
    sensitivities: tuple[SensitivityFinding, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            findings = listed(getattr(self, name), name, of="findings")
            for finding in findings:
                of_kind(finding, name, kind, f"instances of {kind.__name__}")
            set_fields(self, **{name: findings})

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
        """Evidence against a declared noise distribution."""
        return tuple(finding for finding in self.laws if finding.verdict is Verdict.CALIBRATION_BUG)

    @property
    def accounting_bugs(self) -> tuple[AccountingFinding, ...]:
        """Properties that an accountant violates."""
        return tuple(finding for finding in self.accounting if finding.verdict is Verdict.ACCOUNTING_BUG)

    @property
    def sensitivity_bugs(self) -> tuple[SensitivityFinding, ...]:
        """Claimed sensitivities that are too small."""
        return tuple(finding for finding in self.sensitivities if finding.verdict is Verdict.SENSITIVITY_BUG)

    @property
    def found(self) -> tuple[Finding, ...]:
        """All findings that report something, the gravest kinds first."""
        return (
            *self.violations,
            *self.reproducible,
            *self.sensitivity_bugs,
            *self.accounting_bugs,
            *self.calibration_bugs,
        )

    @property
    def is_refuted(self) -> bool:
        """Whether anything was found."""
        return bool(self.found)

    def __str__(self) -> str:
        found = [*map(str, self.found)]
        tests = self.tests
        tried = [*found, tests] if found else [f"nothing found in {tests}. {CAVEAT}"]
        return "\n".join([*tried, *self._reach()])

    @property
    def tests(self) -> str:
        """The number of tests of each kind, in words."""
        always = {"event": self.events, "repetition": self.repeats, "distribution": self.laws}
        seldom = {"accounting": self.accounting, "sensitivity": self.sensitivities}
        made = [(kind, len(found)) for kind, found in {**always, **seldom}.items() if found or kind in always]
        return ", ".join(f"{count} {kind} test{'s' if count != 1 else ''}" for kind, count in made)

    def _reach(self) -> list[str]:
        """The runs of the event tests, their largest bound, and what they did not read."""
        if not self.events:
            return []
        runs = min(finding.samples for finding in self.events)
        bound = max(finding.epsilon_lower_bound for finding in self.events)
        reach = [f"runs on each pair: {runs:,} or more; largest lower bound: ε ≥ {bound:.3f}"]
        unread = dict.fromkeys(words for finding in self.events for words in finding.unread)
        return [*reach, *(f"not read: {words}" for words in unread)]
