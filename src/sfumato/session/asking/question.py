"""`Question`: a plan and a desk. Its cost and error are free to ask; `release` spends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, overload

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.reservations import Asked
from sfumato.numeric.rationals import Number, decimal_text, exact, flag, positive_integer
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.planning.auto_bounds import automatic, stated_bounds
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Presented, buys_interval, by_first_rules, wide_sums
from sfumato.query.planning.sections import OF_INTERVALS
from sfumato.query.printing.expression_sql import expression_sql
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.measurements import Law
from sfumato.session.asking.answer_key import request_body
from sfumato.session.asking.execution import Desk, answered, final_plan
from sfumato.session.asking.explain import explain, programs
from sfumato.session.asking.forecast import forecast, least_epsilon
from sfumato.session.asking.planning import AnyPrepared, Prepared, StoredAnswer, prepare
from sfumato.session.asking.saving import SavedRelease, file_for, kept_in_files, progress_shown, write_answer
from sfumato.session.releases.presenting import present
from sfumato.session.releases.receipt import Receipt, receipt_from_dict
from sfumato.session.releases.release import Binned, Release
from sfumato.session.releases.stored import decode_released, decode_section

CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Question:
    """A query that was not answered yet; it prints as it was written.

    Attributes:
        relation: The canonical query, and how the answer is shown.
        text: The query as it was written.
        desk: The session that answers it.
        part: The part of a partition that it reads; None if it reads the whole database.
    """

    relation: Presented
    text: str
    desk: Desk
    part: PartitionPart | None = None

    def cost(self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None) -> PureDP | ApproxDP:
        """The cost of a release with these parameters; no data is read and nothing is spent.

        Args:
            epsilon: The total ε of the whole query.
            delta: The total δ. Above 0 it allows private keys, and Gaussian noise where that has the smaller variance.
            mechanism: ``"laplace"`` or ``"gaussian"`` forces this noise for all sums and counts; default: the better
                one.
        """
        return self._prepared(epsilon, delta, mechanism).plan.charge

    def error(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
    ) -> tuple[Forecast, ...]:
        """The predicted error of each column; no data is read and nothing is spent.

        Args:
            epsilon: The total ε of the whole query.
            delta: The total δ.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one for each column.
            confidence: The probability with which errors stay below the returned figures.
            size: The number of values that means are assumed to cover; default: 1,000.
        """
        plan = self._prepared(epsilon, delta, mechanism).plan
        return forecast(plan, confidence=checked_confidence(confidence), size=checked_size(size))

    def explain(
        self, *, epsilon: Number = 1, delta: Number = 0, mechanism: Law | None = None, sql: bool = False
    ) -> str:
        """The plan as text: cost, bounds, sensitivities, noise and errors; no data is read and nothing is spent.

        Args:
            epsilon: The total ε of the whole query.
            delta: The total δ.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one for each column.
            sql: Whether to add the SQL that the engine will run, without its salts.
        """
        plan = self._prepared(epsilon, delta, mechanism).plan
        text = explain(plan, self.desk.policy, CONFIDENCE)
        return f"{text}\n{programs(plan, self.desk.engine)}" if sql else text

    def epsilon_for(
        self,
        error: Mapping[str, Number],
        *,
        delta: Number = 0,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
    ) -> Fraction:
        """The smallest ε, to six decimals, at which no column exceeds its target error; nothing is spent.

        Args:
            error: The target error of some columns, absolute and in the column's own unit.
            delta: The total δ.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one for each column.
            confidence: The probability with which errors stay below their targets.
            size: The number of values that means are assumed to cover; default: 1,000.

        Raises:
            ParameterError: An unknown column, or no ε is enough.
        """
        share, presumed = checked_confidence(confidence), checked_size(size)
        return least_epsilon(
            lambda epsilon: forecast(self._prepared(epsilon, delta, mechanism).plan, confidence=share, size=presumed),
            error,
        )

    @overload
    def release(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        error: Mapping[str, Number] | None = None,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
        to: None = None,
        progress: bool = False,
        idempotency_key: str | None = None,
    ) -> Release: ...

    @overload
    def release(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        error: Mapping[str, Number] | None = None,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
        to: str | PathLike[str],
        progress: bool = False,
        idempotency_key: str | None = None,
    ) -> SavedRelease: ...

    def release(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        error: Mapping[str, Number] | None = None,
        mechanism: Law | None = None,
        confidence: Number = CONFIDENCE,
        size: int | None = None,
        to: str | PathLike[str] | None = None,
        progress: bool = False,
        idempotency_key: str | None = None,
    ) -> Release | SavedRelease:
        """Charge the cost, read the data and return a noisy answer.

        An equivalent query returns the stored answer, at no cost.

        Args:
            epsilon: The total ε of the whole query; there is no default.
            delta: The total δ.
            error: Target errors of some columns instead of ε; see `epsilon_for`.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one for each column.
            confidence: The confidence of intervals; for intervals of quantiles at most 0.95.
            size: The number of values in each group, if you know it. It marks quantiles and most frequent values that
                so few values cannot determine, and changes no answer. A released count is used instead.
            to: A Parquet file to which the answer is written in batches, for millions of groups; see `SavedRelease`.
            progress: Whether to print the elapsed time on the error stream, and with `to` the number of groups released
                so far.
            idempotency_key: A text that you choose, one for each query. If you did not receive the answer, send the
                query again with the same key: nothing is charged twice, and the answer is the same, byte for byte.

        Raises:
            ParameterError: Neither ε nor an error is given, or both; the file cannot be written; or the confidence is
                above 0.95 for intervals of quantiles.
            ReservationError: The key was used for another query, or for one that failed after it was charged.
            BudgetExceededError: Too little budget remains; nothing was spent and no data was read.
            EngineError: The engine failed after the charge; nothing is refunded.
        """
        share, known = checked_confidence(confidence, self.relation), checked_size(size)
        if (epsilon is None) == (error is None):
            raise ParameterError("epsilon", epsilon, "give either epsilon=1 or a target such as error={...}")
        if epsilon is None:
            epsilon = self.epsilon_for(error or {}, delta=delta, mechanism=mechanism, confidence=confidence)
        flag(progress, "progress")
        path = None if to is None else file_for(to, self.relation, self.desk.policy)
        prepared = self._prepared(epsilon, delta, mechanism)
        asked = asked_by(self.desk, idempotency_key, prepared, share)
        with progress_shown("groups released", shown=progress) as hear:
            keep = None if path is None else kept_in_files(self.desk.ledger.attachments, hear)
            found = answered(self.desk, prepared, asked=asked, keep=keep)
        if path is None:
            final = self._final(prepared.plan, found.answer)
            notes = _notes(prepared.plan, final)
            sections = found.answer["sections"]
            return release_of(self, final, found, sections, confidence=share, size=known, notes=notes)
        return self._saved(path, prepared.plan, found, share)

    def __repr__(self) -> str:
        """Nothing of the desk: there are the sources."""
        return f"<Question: {self.text}>"

    def _prepared(self, epsilon: Number, delta: Number, mechanism: Law | None) -> Prepared[PrivatePlan]:
        total = guarantee(epsilon, delta)
        return prepare(
            self.desk, self.relation.child, text=self.text, total=total, part=self.part, law=mechanism,
            first=by_first_rules(self.relation),
        )  # fmt: skip

    def _saved(self, path: Path, plan: PrivatePlan, answered: StoredAnswer, confidence: Fraction) -> SavedRelease:
        answer, reused = answered.answer, answered.is_reused
        final, attachments = self._final(plan, answer), self.desk.ledger.attachments
        count, columns = write_answer(
            path, self.relation, final, answer["sections"], attachments, confidence=confidence
        )  # fmt: skip
        return SavedRelease(
            path=path, row_count=count, keys=columns.head.keys, statistics=columns.head.statistics,
            confidence=float(confidence), receipt=_receipt(self.desk, answer, reused=reused), reused=reused,
            notes=_notes(plan, final),
        )  # fmt: skip

    def _final(self, plan: PrivatePlan, answer: dict[str, Any]) -> PrivatePlan:
        """The plan with the bounds that were chosen for it."""
        bounds = answer["bounds"]
        return plan if bounds is None else final_plan(self.desk, plan, decode_released(bounds))


def _histograms(question: Presented) -> tuple[Binned, ...]:
    """The histograms of which all bins are columns of the answer, as they are released."""
    histograms = [(name, one) for name, one in question.child.statistics if isinstance(one, Histogram)]
    if not histograms:
        return ()
    found, shown = [], {e.name: name for name, e in question.columns if isinstance(e, ColumnRef)}
    for name, statistic in histograms:
        bins = statistic.columns(name)
        columns = tuple(shown[one] for one in bins if one in shown) if question.columns else bins
        if len(columns) == len(bins):
            value = expression_sql(statistic.value)
            found.append(Binned(name=name, value=value, edges=statistic.edges, columns=columns))
    return tuple(found)


def _notes(plan: PrivatePlan, final: PrivatePlan) -> tuple[str, ...]:
    """The bounds that were chosen for it, and which sums of whole numbers are doubles."""
    notes = [
        f"{name}: a FLOAT, because sums of whole numbers between its bounds may exceed 64 bits; rounded beyond 2^53"
        for name in wide_sums(final.question)
    ]
    if plan.bounds is None:
        return tuple(notes)
    bounds = stated_bounds(final.question)
    chosen = (
        f"bounds of {name}: {' to '.join(map(decimal_text, bounds[name]))}, chosen with a part of the budget"
        for name, _ in automatic(plan.question)
    )
    return (*chosen, *notes)


def asked_by(desk: Desk, idempotency_key: object, prepared: AnyPrepared, confidence: Fraction) -> Asked:
    """Who asks, under which key, and a hash of all that a receipt and an answer under it say."""
    if idempotency_key is None:
        return Asked(principal=desk.account)
    if not isinstance(idempotency_key, str) or not idempotency_key:  # it could not be written down
        raise ParameterError("idempotency_key", idempotency_key, "must be text that is not empty")
    body = request_body(prepared.key, prepared.text, prepared.part, confidence)
    return Asked(principal=desk.account, idempotency_key=idempotency_key, body=body)


def release_of(
    question: Question,
    plan: PrivatePlan,
    answered: StoredAnswer,
    sections: Sequence[Any],
    *,
    confidence: Fraction,
    size: int | None,
    notes: tuple[str, ...] = (),
) -> Release:
    """The answer to one query, of sections as they are stored.

    Args:
        question: The query.
        plan: Its plan, with the bounds that were chosen for it.
        answered: The stored answer that has it, perhaps among others.
        sections: What was released of each of its sections.
        confidence: Of every interval.
        size: How many values a group is presumed to have; None: unknown.
        notes: What else is to be said of it.
    """
    desk, answer, reused = question.desk, answered.answer, answered.is_reused
    released = [decode_section(one, desk.ledger.attachments) for one in sections]
    shown = present(question.relation, plan, released, confidence, size=size)
    return Release(
        keys=shown.keys, statistics=shown.statistics, kinds=shown.kinds, groups=shown.groups,
        estimates=shown.estimates, confidence=float(confidence), receipt=_receipt(desk, answer, reused=reused),
        reused=reused, notes=notes, histograms=_histograms(question.relation),
    )  # fmt: skip


def _receipt(desk: Desk, answer: dict[str, Any], *, reused: bool) -> Receipt:
    receipt = receipt_from_dict(answer["receipt"])
    return replace(receipt, remaining=desk.ledger.remaining(desk.account)) if reused else receipt


def checked_confidence(confidence: Number, asked: Presented | None = None) -> Fraction:
    """A confidence as the rational it says, before anything is spent; not above that of intervals that are bought."""
    share = exact(confidence, "confidence")
    if not 0 < share < 1:
        raise ParameterError("confidence", confidence, "must lie between 0 and 1, such as 0.95")
    if asked is not None and share > OF_INTERVALS and buys_interval(asked):  # it would be called surer than it is
        requirement = (
            "is above 0.95, the confidence of intervals of quantiles; leave out the confidence or the intervals"
        )
        raise ParameterError("confidence", float(share), requirement)
    return share


def checked_size(size: int | None) -> int | None:
    """How many values are presumed."""
    return None if size is None else positive_integer(size, "size")
