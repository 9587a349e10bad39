"""What an audit says, in kinds that are never mixed: a broken promise, noise that can be repeated, a wrong law."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.audit.core.reading import as_float
from sfumato.numeric.arguments import listed, of_kind
from sfumato.privacy.guarantees import ApproxDP

CAVEAT: Final = (
    "A pass proves nothing: other databases, other events or more samples may show what these did not; "
    "only a proof shows that there is nothing to be found."
)
_SHOWN: Final = 3  # counterexamples in a line


class Verdict(StrEnum):
    """What a finding means."""

    PRIVACY_VIOLATION = "privacy violation"
    """Outputs on two neighbours contradict the claimed ε and δ."""

    REPRODUCIBLE_NOISE = "reproducible noise"
    """The same runs were given twice: whoever knows how the noise was seeded can subtract it, so no ε holds."""

    CALIBRATION_BUG = "calibration bug"
    """The noise does not follow its declared law; whether that harms privacy is another question."""

    ACCOUNTING_BUG = "accounting bug"
    """An accountant breaks a law that every accountant must keep, so what it says of a budget cannot be relied on."""

    SENSITIVITY_BUG = "sensitivity bug"
    """Two neighbours move an answer, before any noise, by more than was claimed: the noise is too small for them."""

    NOTHING_FOUND = "nothing found"
    """No evidence in these samples, which proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFinding:
    """The event that one tester suspected on one pair, and what the exact test made of it.

    `epsilon_lower_bound` lies above the true ε, at the claimed δ, with a chance of at most `significance`, and
    `delta_lower_bound` above the true δ, at the claimed ε, likewise; `unread` is what the tester did not look at, in
    words.
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
            f"δ ≥ {self.delta_lower_bound:.1e}, where {self.claim} was claimed; {self.samples} samples, "
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingFinding:
    """Whether an accountant keeps one law: how often it was tried, where it broke, and what could not be asked."""

    accountant: str
    law: str
    broken: tuple[str, ...]
    checks: int
    unchecked: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """A bug if the law broke once."""
        return Verdict.ACCOUNTING_BUG if self.broken else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        where = "; ".join([*self.broken[:_SHOWN], *(["…"] if len(self.broken) > _SHOWN else [])])
        result = f"broken {len(self.broken)} times: {where}" if self.broken else "kept"
        return f"{self.verdict} ({self.accountant}): {self.law}, {result}; {self.checks} checks"


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityFinding:
    """How far an answer without noise moved between neighbours, at most, and which of them moved it so far."""

    function: str
    norm: str
    claimed: Fraction
    largest: Fraction | float
    """In the norm, rounded down where it is no rational number; infinite where an answer is no vector of numbers."""
    pair: str
    is_exceeded: bool
    checks: int

    @property
    def verdict(self) -> Verdict:
        """A bug if a pair moved the answer by more than was claimed, in exact arithmetic."""
        return Verdict.SENSITIVITY_BUG if self.is_exceeded else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.function}): {self.pair} moves it by {as_float(self.largest):.6g} in {self.norm}, "
            f"where {as_float(self.claimed):.6g} was claimed; {self.checks} pairs"
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
        events: What `audit` made of outputs.
        laws: What `check_law` said.
        repeats: What `check_repeats` said.
        accounting: What `check_accountant` said.
        sensitivities: What `check_sensitivity` said.

    Raises:
        ParameterError: One of them is no list of its kind of findings.

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
            object.__setattr__(self, name, findings)

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
    def accounting_bugs(self) -> tuple[AccountingFinding, ...]:
        """Laws that an accountant breaks."""
        return tuple(finding for finding in self.accounting if finding.verdict is Verdict.ACCOUNTING_BUG)

    @property
    def sensitivity_bugs(self) -> tuple[SensitivityFinding, ...]:
        """Answers that move by more than was claimed."""
        return tuple(finding for finding in self.sensitivities if finding.verdict is Verdict.SENSITIVITY_BUG)

    @property
    def found(self) -> tuple[Finding, ...]:
        """Everything that is wrong, the gravest kinds first."""
        return (
            *self.violations,
            *self.reproducible,
            *self.sensitivity_bugs,
            *self.accounting_bugs,
            *self.calibration_bugs,
        )

    @property
    def is_refuted(self) -> bool:
        """Whether anything at all was found."""
        return bool(self.found)

    def __str__(self) -> str:
        found = [*map(str, self.found)]
        tests = self.tests
        tried = [*found, tests] if found else [f"nothing found in {tests}. {CAVEAT}"]
        return "\n".join([*tried, *self._reach()])

    @property
    def tests(self) -> str:
        """How many tests of each kind were made, in words."""
        always = {"event test": self.events, "repetition test": self.repeats, "law test": self.laws}
        seldom = {"law of an accountant": self.accounting, "test of a sensitivity": self.sensitivities}
        made = [(words, len(found)) for words, found in {**always, **seldom}.items() if found or words in always]
        return ", ".join(f"{count} {words if count == 1 else _plural(words)}" for words, count in made)

    def _reach(self) -> list[str]:
        """How far the event tests went: runs, the largest bound, and what none of them read."""
        if not self.events:
            return []
        runs = min(finding.samples for finding in self.events)
        bound = max(finding.epsilon_lower_bound for finding in self.events)
        reach = [f"runs on each pair: {runs:,} or more; largest lower bound: ε ≥ {bound:.3f}"]
        unread = dict.fromkeys(words for finding in self.events for words in finding.unread)
        return [*reach, *(f"not read: {words}" for words in unread)]


def _plural(words: str) -> str:
    first, *others = words.split(" of ")
    return " of ".join([f"{first}s", *others])
