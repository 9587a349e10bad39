"""What an audit with canaries says, by what each finding assumes: never mixed, and only the first kind decides."""

from dataclasses import dataclass

from sfumato.audit.core.findings import CAVEAT, Verdict
from sfumato.privacy.guarantees import ApproxDP

NOTHING = "only the coins that decided who was included"
INDEPENDENCE = "that the score of a canary depends on no other canary's coin"
GAUSSIAN_CURVE = "that the mechanism's privacy curve is that of some Gaussian noise"
GAUSSIAN_RATES = f"{GAUSSIAN_CURVE}, and {INDEPENDENCE}"
GAUSSIAN_SCORES = f"that scores are independent and Gaussian with one standard deviation, and {GAUSSIAN_CURVE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryFinding:
    """One lower bound on ε, and what must be true for it to hold.

    Attributes:
        auditor: The method.
        assumes: The assumptions of the method, in words.
        seen: The evidence, in words.
        epsilon_lower_bound: It exceeds the true ε at the claimed δ with probability at most `significance`.
        claim: The claimed guarantee.
        significance: The significance of this finding alone.
    """

    auditor: str
    assumes: str
    seen: str
    epsilon_lower_bound: float
    claim: ApproxDP
    significance: float

    @property
    def verdict(self) -> Verdict:
        """A violation if the lower bound lies above the claim, for whoever believes what it assumes."""
        refuted = self.epsilon_lower_bound > self.claim.epsilon
        return Verdict.PRIVACY_VIOLATION if refuted else Verdict.NOTHING_FOUND

    def __str__(self) -> str:
        return (
            f"{self.verdict} ({self.auditor}): ε ≥ {self.epsilon_lower_bound:.3f}; {self.seen}; assumes {self.assumes}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """All findings of one run, in three groups.

    Attributes:
        claim: The claimed guarantee.
        canaries: The number of canaries.
        significance: The significance of each finding.
        assumption_free: Findings that hold whatever the mechanism does.
        assumes_independence: Findings that hold if canaries do not influence one another.
        assumes_gaussian: Findings that hold if the mechanism hides a canary as Gaussian noise does.
    """

    claim: ApproxDP
    canaries: int
    significance: float
    assumption_free: tuple[CanaryFinding, ...]
    assumes_independence: tuple[CanaryFinding, ...] = ()
    assumes_gaussian: tuple[CanaryFinding, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Of what needs no assumption, alone."""
        return self.verdict_assuming()

    def verdict_assuming(self, *, independence: bool = False, gaussian: bool = False) -> Verdict:
        """The verdict for somebody who also believes one of the assumptions, or both.

        Chances of a false alarm add up: each finding of a group has its own.

        Args:
            independence: Listen to `assumes_independence` too.
            gaussian: Listen to `assumes_gaussian` too.
        """
        heard = self.assumption_free
        heard += self.assumes_independence if independence else ()
        heard += self.assumes_gaussian if gaussian else ()
        refuted = any(finding.verdict is Verdict.PRIVACY_VIOLATION for finding in heard)
        return Verdict.PRIVACY_VIOLATION if refuted else Verdict.NOTHING_FOUND

    @property
    def is_refuted(self) -> bool:
        """Whether the claim is refuted, whatever the mechanism does."""
        return self.verdict is Verdict.PRIVACY_VIOLATION

    def __str__(self) -> str:
        groups = (
            ("free of assumptions", self.assumption_free),
            ("if canaries are independent", self.assumes_independence),
            ("if the noise is Gaussian", self.assumes_gaussian),
        )
        head = f"{self.verdict}: {self.claim} was claimed; {self.canaries:,} canaries in one run"
        lines = [f"{head}, type-I error {self.significance:.1e} each"]
        for words, findings in groups:
            lines += [f"{words}:", *(f"  {finding}" for finding in findings)] if findings else []
        return "\n".join(lines if self.is_refuted else [*lines, CAVEAT])
