"""`Batch`: several queries that are answered together, for one cost. Cost and errors are free; `release` spends."""

from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.printing.canonical import question_text
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.measurements import Law
from sfumato.session.asking.execution import Answering, answered
from sfumato.session.asking.explain import explain
from sfumato.session.asking.forecast import forecast
from sfumato.session.asking.planning import Prepared, prepare_batch
from sfumato.session.asking.question import Question
from sfumato.session.asking.shown import CONFIDENCE, asked_by, checked_confidence, checked_size, release_of
from sfumato.session.releases.release import Release


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Batch:
    """Several queries planned together: for one total, with one charge and one receipt.

    What they have in common is measured once: queries that group the same rows by the same keys share their noisy
    numbers. Counts and sums of the same rows by different keys may be one workload, if all of them together then err
    clearly less; they are fractions then, which agree with each other. Queries that group alike, and those of one
    workload, see the same sample of the rows of a unit above its limits. The order of the queries does not matter.

    **Guarantee**: all answers together cost what `cost` says.

    Args:
        questions: At least one query, all of one session.

    Raises:
        ParameterError: There is none, or they are of several sessions, accounts or parts of a partition.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(
        ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        ...     budget=sf.PureDP(1),
        ... )
        >>> batch = votes.queries([
        ...     "SELECT sport, COUNT(*) AS n FROM votes GROUP BY sport", "SELECT COUNT(*) AS n FROM votes",
        ... ])
        >>> batch.cost(epsilon="0.5")
        PureDP(epsilon=Fraction(1, 2))
        >>> by_sport, all_votes = batch.release(epsilon="0.5")
        >>> str(votes.spent)
        'ε 0.5'
    """

    questions: tuple[Question, ...]

    def __init__(self, questions: Iterable[Question]) -> None:
        asked = listed(questions, "questions", of="queries")
        if not asked or not all(isinstance(one, Question) for one in asked):
            raise ParameterError("questions", [type(one).__name__ for one in asked], "must be queries, at least one")
        first = asked[0]
        if any(one.desk is not first.desk or one.part != first.part for one in asked):
            raise ParameterError("questions", len(asked), "must be of one session, account and part of a partition")
        object.__setattr__(self, "questions", tuple(asked))

    def cost(self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None) -> PureDP | ApproxDP:
        """The cost of all answers together; no data is read and nothing is spent. See `Question.cost`."""
        return self._prepared(epsilon, delta, mechanism)[0].plan.charge

    def error(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
    ) -> tuple[tuple[Forecast, ...], ...]:
        """For each query the predicted error of each column; nothing is spent. See `Question.error`."""
        prepared, order = self._prepared(epsilon, delta, mechanism)
        share, presumed = checked_confidence(confidence), checked_size(size)
        return tuple(forecast(prepared.plan.plans[place], confidence=share, size=presumed) for place in order)

    def explain(self, *, epsilon: Number = 1, delta: Number = 0, mechanism: Law | None = None) -> str:
        """The plan of each query as text; no data is read and nothing is spent. See `Question.explain`.

        The cost in each of them is that of all together.
        """
        prepared, order = self._prepared(epsilon, delta, mechanism)
        texts = (explain(prepared.plan.plans[place], self._desk.policy, CONFIDENCE) for place in order)
        headed = (f"query         {one.text}\n{text}" for one, text in zip(self.questions, texts, strict=True))
        return "\n\n".join(headed)

    def release(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Release, ...]:
        """Charge the cost once, read the data and return one answer for each query, in their order.

        The same queries in any order return the stored answers, at no cost.

        Args:
            epsilon: The total ε of all queries together; there is no default.
            delta: The total δ.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one for each number.
            confidence: As for `Question.release`.
            size: As for `Question.release`.
            idempotency_key: As for `Question.release`, for the whole batch.

        Raises:
            ParameterError: A query leaves bounds to be chosen; or the confidence is above 0.95 for intervals of
                quantiles.
            ReservationError: The key was used for another query, or for one that failed after it was charged.
            BudgetExceededError: Too little budget remains; nothing was spent and no data was read.
            EngineError: The engine failed after the charge; nothing is refunded.
        """
        shares = [checked_confidence(confidence, one.relation) for one in self.questions]
        known = checked_size(size)
        prepared, order = self._prepared(epsilon, delta, mechanism)
        asked = asked_by(self._desk, idempotency_key, prepared, shares[0])
        found = answered(self._desk, prepared, asked=asked)
        plan, documents = prepared.plan, found.answer["sections"]
        note = f"one of {len(order)} answers that cost {plan.charge} together"
        return tuple(
            release_of(
                self._desk,
                question.relation,
                plan.plans[place],
                found,
                [documents[own] for own in plan.places[place]],
                confidence=share,
                size=known,
                notes=(note,) if len(order) > 1 else (),
            )
            for question, place, share in zip(self.questions, order, shares, strict=True)
        )

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        return f"<Batch: {'; '.join(one.text for one in self.questions)}>"

    @property
    def _desk(self) -> Answering:
        return self.questions[0].desk

    @property
    def _part(self) -> PartitionPart | None:
        return self.questions[0].part

    def _prepared(self, epsilon: Number, delta: Number, mechanism: Law | None) -> tuple[Prepared[BatchPlan], list[int]]:
        """The plan of the queries in an order of their own, and the place of each query in it."""
        written = [question_text(one.relation.child) for one in self.questions]
        ordered = sorted(range(len(written)), key=lambda place: (written[place], place))
        prepared = prepare_batch(
            self._desk, [self.questions[place].relation for place in ordered],
            text="; ".join(one.text.rstrip().removesuffix(";") for one in self.questions),
            total=guarantee(epsilon, delta), part=self._part, law=mechanism,
        )  # fmt: skip
        return prepared, [ordered.index(place) for place in range(len(ordered))]
