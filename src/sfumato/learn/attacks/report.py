"""What attacks on a model found: curves of errors, beside what a claimed guarantee allows; and a verdict."""

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.attacks.core.membership_game import Rates
from sfumato.attacks.core.outcome import largest_advantage
from sfumato.attacks.members.means import Roc
from sfumato.audit.canaries.guesses import Guesses
from sfumato.audit.canaries.report import CanaryReport
from sfumato.audit.core.findings import CAVEAT, Verdict
from sfumato.numeric.arguments import one_of, share
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rationals import probability
from sfumato.plots.attacks import roc_curves
from sfumato.privacy.guarantees import ApproxDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOW: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinding:
    """What one attack found.

    Rates and their limits take rows as independent, which is nearly so where no row matters much to the score of
    another. The lower bound on ε takes nothing for granted.

    Attributes:
        attack: "loss", "likelihood_ratio", "one_sided", "inversion" or "canaries".
        roc: How well its scores tell rows that were seen from rows that were not.
        guesses: How many of how many guesses were right, where that says most about ε.
        epsilon_lower_bound: It exceeds the true ε at the claimed δ with probability at most `significance`.
        claim: The claimed guarantee of one row; None if there is none.
        significance: The share of the audit's type-I error that this attack has.
        notes: Further facts.
        report: Of canaries, all findings, also those that assume more.
    """

    attack: str
    roc: Roc
    guesses: Guesses
    epsilon_lower_bound: float
    claim: ApproxDP | None
    significance: float
    notes: tuple[str, ...] = ()
    report: CanaryReport | None = None

    @property
    def verdict(self) -> Verdict:
        """A violation if the lower bound lies above the claim."""
        refuted = self.claim is not None and self.epsilon_lower_bound > self.claim.epsilon
        return Verdict.PRIVACY_VIOLATION if refuted else Verdict.NOTHING_FOUND

    @property
    def area(self) -> float:
        """The area under the curve: ½ for blind guessing, 1 for certainty."""
        return self.roc.area

    @property
    def advantage(self) -> float:
        """The largest true positive rate less the false positive rate, over all thresholds."""
        false, true = self.roc.rates()
        return float(np.max(true - false))

    @property
    def allowed(self) -> float | None:
        """The most that the claim allows: (e^ε − 1 + 2δ)/(e^ε + 1); None if nothing is claimed."""
        return None if self.claim is None else largest_advantage(epsilon=self.claim.epsilon, delta=self.claim.delta)

    def advantage_limits(self, *, confidence: float = 0.95) -> tuple[float, float]:
        """A confidence interval for the largest advantage, whatever the threshold [Mas90].

        Args:
            confidence: The least probability that it holds the true one, between 0 and 1.
        """
        missed = 1 - share(confidence, "confidence")
        present = np.asarray(self.roc.present)
        sides = (int(np.count_nonzero(present)), int(np.count_nonzero(~present)))
        apart = sum(sqrt(log(4 / missed) / (2 * side)) for side in sides)
        return max(0.0, self.advantage - apart), min(1.0, self.advantage + apart)

    def rates_at(self, false_positive_rate: float) -> Rates:
        """Hits and false alarms at the threshold with the most hits, of those with no more than this rate of alarms.

        Args:
            false_positive_rate: At least 0 and at most 1.
        """
        probability(false_positive_rate, "false_positive_rate")
        present = np.asarray(self.roc.present)
        false, true = self.roc.rates()
        at = int(np.flatnonzero(false <= false_positive_rate)[-1])
        inside, outside = int(np.count_nonzero(present)), int(np.count_nonzero(~present))
        return Rates(
            hits=round(true[at] * inside), present=inside, false_alarms=round(false[at] * outside), absent=outside
        )

    def true_positive_limits(self, false_positive_rate: float, *, confidence: float = 0.95) -> tuple[float, float]:
        """A Clopper-Pearson interval for the true positive rate at the threshold of `rates_at` [CP34].

        The threshold follows from the rows that were not seen alone.

        Args:
            false_positive_rate: At least 0 and at most 1.
            confidence: The least probability that it holds the true rate, between 0 and 1.
        """
        rates, missed = self.rates_at(false_positive_rate), (1 - share(confidence, "confidence")) / 2
        return (
            lower_limit(rates.hits, rates.present, significance=missed),
            upper_limit(rates.hits, rates.present, significance=missed),
        )

    def __str__(self) -> str:
        low, high = self.advantage_limits()
        least, most = self.true_positive_limits(_LOW)
        allowed = "" if self.allowed is None else f", the claim allows {self.allowed:.3f}"
        words = (
            f"{self.attack}: area {self.area:.3f}; largest advantage {self.advantage:.3f} ({low:.3f} to {high:.3f})"
            f"{allowed}; at {_LOW:.0%} false positives {self.rates_at(_LOW).true_positive_rate:.1%} true ones "
            f"({least:.1%} to {most:.1%}); ε ≥ {self.epsilon_lower_bound:.3f}"
        )
        said = (f"{self.guesses}",) if self.epsilon_lower_bound > 0 else ()
        return "\n".join([words, *(f"  {note}" for note in (*said, *self.notes))])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAudit:
    """What all attacks on a model found.

    Attributes:
        model: What was attacked.
        claim: The claimed guarantee of one row; None if there is none.
        findings: One for each attack.
        fits: How many models were fitted.
        significance: The probability that a true claim is called false, of all attacks together.
    """

    model: str
    claim: ApproxDP | None
    findings: tuple[ModelFinding, ...]
    fits: int
    significance: float

    def __getitem__(self, attack: str) -> ModelFinding:
        """What one attack found.

        Raises:
            ParameterError: There was no such attack.
        """
        by_name = {finding.attack: finding for finding in self.findings}
        return by_name[one_of(attack, "attack", tuple(by_name))]

    @property
    def verdict(self) -> Verdict:
        """A violation if the lower bound of some attack lies above the claim."""
        refuted = any(finding.verdict is Verdict.PRIVACY_VIOLATION for finding in self.findings)
        return Verdict.PRIVACY_VIOLATION if refuted else Verdict.NOTHING_FOUND

    @property
    def is_refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.verdict is Verdict.PRIVACY_VIOLATION

    @property
    def epsilon_lower_bound(self) -> float:
        """The largest lower bound on ε; it exceeds the true ε with probability at most `significance`."""
        return max(finding.epsilon_lower_bound for finding in self.findings)

    def picture(self, *, title: str | None = None) -> "Figure":
        """The curves of all attacks, beside the most that the claim allows.

        Args:
            title: The title; None states the largest true positive rate at few false positives.

        Raises:
            ParameterError: matplotlib is missing, or the title is no text.
        """
        claim = self.claim
        return roc_curves(
            {finding.attack.replace("_", " "): finding.roc.rates() for finding in self.findings},
            epsilon=None if claim is None else claim.epsilon,
            delta=0 if claim is None else claim.delta,
            title=title,
        )

    def __str__(self) -> str:
        said = "no guarantee was claimed" if self.claim is None else f"{self.claim} was claimed"
        head = f"{self.model}: {said}; {self.fits:,} models, type-I error {self.significance:.1e}"
        tail = [] if self.is_refuted or self.claim is None else [CAVEAT]
        verdict = [] if self.claim is None else [str(self.verdict)]
        return "\n".join(
            [head, *(f"  {line}" for one in self.findings for line in str(one).split("\n")), *verdict, *tail]
        )
