"""`Question`: a plan and a desk. Its cost and error are free to ask; `release` spends."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.engines.base import groups
from sfumato.errors import ParameterError
from sfumato.ledger.entry import Part
from sfumato.numeric.rationals import Number, exact
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.plan import PrivatePlan
from sfumato.query.relations import Aggregate
from sfumato.session.answer import estimates
from sfumato.session.explain import explain
from sfumato.session.forecast import Forecast, forecast
from sfumato.session.pipeline import Desk, Prepared, charge, execute, prepare, stored
from sfumato.session.receipt import receipt_from_dict
from sfumato.session.release import Release
from sfumato.version import __version__

CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to one database, not yet answered.

    Attributes:
        relation: What is asked.
        text: How it was asked, for people.
        desk: Who answers it.
        part: The part of a partition that it reads, if it reads no other.
    """

    relation: Aggregate
    text: str
    desk: Desk
    part: Part | None = None

    def cost(self, *, epsilon: Number, delta: Number = 0) -> PureDP | ApproxDP:
        """What a release with these parameters charges; no data is touched and nothing is spent.

        Args:
            epsilon: The total ε of the whole question.
            delta: The total δ; above 0 it lets columns take Gaussian noise where that errs less.
        """
        return self._prepared(epsilon, delta).plan.charge

    def error(
        self, *, epsilon: Number, delta: Number = 0, confidence: Number = CONFIDENCE, size: int | None = None
    ) -> tuple[Forecast, ...]:
        """How far each column will be from the exact value; no data is touched and nothing is spent.

        Args:
            epsilon: The total ε of the whole question.
            delta: The total δ.
            confidence: How often the error is to stay below the figure.
            size: For means, how many values they are presumed to be over.
        """
        return forecast(self._prepared(epsilon, delta).plan, confidence=_checked(confidence), size=size)

    def explain(self, *, epsilon: Number = 1, delta: Number = 0) -> str:
        """The plan for people: what is bounded, which noise, what it costs; no data is touched and nothing is spent."""
        return explain(self._prepared(epsilon, delta).plan, self.desk.policy, CONFIDENCE)

    def release(self, *, epsilon: Number, delta: Number = 0, confidence: Number = CONFIDENCE) -> Release:
        """Spend, look at the data, answer with noise. The same question again is answered from the ledger, for nothing.

        Args:
            epsilon: The total ε of the whole question; there is no default.
            delta: The total δ.
            confidence: Of the intervals.

        Raises:
            BudgetExceededError: The account cannot pay; nothing was spent and no data was touched.
            EngineError: The engine failed after the charge; nothing is refunded.
        """
        share = _checked(confidence)
        prepared = self._prepared(epsilon, delta)
        answer = stored(self.desk, prepared)
        reused = answer is not None
        if answer is None:
            answer = execute(self.desk, charge(self.desk, prepared), library=__version__)
        return self._release(prepared.plan, answer, share, reused=reused)

    def _prepared(self, epsilon: Number, delta: Number) -> Prepared:
        total = guarantee(epsilon, delta)
        return prepare(self.desk, self.relation, text=self.text, total=total, part=self.part)

    def _release(self, plan: PrivatePlan, answer: dict[str, Any], confidence: Fraction, *, reused: bool) -> Release:
        receipt = receipt_from_dict(answer["receipt"])
        if reused:
            receipt = replace(receipt, left=self.desk.ledger.remaining(self.desk.account))
        return Release(
            keys=plan.question.child.labels or plan.question.child.keys,
            statistics=tuple(output.name for output in plan.outputs),
            groups=tuple(groups(plan.statement)),
            estimates=tuple(map(tuple, estimates(plan, answer["noisy"], confidence))),
            confidence=float(confidence),
            receipt=receipt,
            reused=reused,
        )


def _checked(confidence: Number) -> Fraction:
    """A confidence as the rational it says, before anything is spent."""
    share = exact(confidence, "confidence")
    if not 0 < share < 1:
        raise ParameterError("confidence", confidence, "must lie between 0 and 1, such as 0.95")
    return share
