"""`Question`: a plan and a desk. Its cost and error are free to ask; `release` spends."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.numeric.rationals import Number, flag
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.model.relations import tables_of
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Presented, by_first_rules
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.measurements import Law
from sfumato.session.asking.execution import Answering, answered, final_plan
from sfumato.session.asking.explain import explain, free_offer
from sfumato.session.asking.forecast import forecast, least_epsilon
from sfumato.session.asking.free_answers import FreeAnswer, free_answer
from sfumato.session.asking.planning import Prepared, StoredAnswer, prepare
from sfumato.session.asking.shown import (
    CONFIDENCE,
    asked_by,
    checked_confidence,
    checked_size,
    free_release,
    notes_of,
    progress_shown,
    receipt_of,
    release_of,
)
from sfumato.session.releases.release import Release
from sfumato.session.releases.written import decode_released

if TYPE_CHECKING:
    from sfumato.session.asking.saving import SavedRelease


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
    desk: Answering
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

        Where stored answers determine the query, it says how far off `from_releases` may be.

        Args:
            epsilon: The total ε of the whole query.
            delta: The total δ.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one for each column.
            sql: Whether to add the SQL that the engine will run, without its salts.
        """
        plan = self._prepared(epsilon, delta, mechanism).plan
        parts = [explain(plan, self.desk.policy, CONFIDENCE), *self._offer()]
        return "\n".join([*parts, self.desk.programs(plan)] if sql else parts)

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

    def from_releases(self, *, confidence: Number = CONFIDENCE) -> Release:
        """What answers that the account has already say of the query; no data is read and nothing is spent.

        A count or a sum is estimated by least squares over the noisy numbers of stored answers, of queries of one table
        in which each row is a unit: a total from its groups, groups from smaller ones, a range from single values, and
        one number from several answers. Answers that were given under another version of the data or of the policy are
        not used, nor are those of other accounts. Which are used, and their weights, depend on noise alone.

        A group that they do not determine has no value. Rows whose key is NULL or not listed are in no group, so that
        ``COUNT(*)`` does not follow from the counts by sex; with ``WHERE sex IN ('f', 'm')`` it does.

        Args:
            confidence: The confidence of intervals.

        Raises:
            ParameterError: It has other statistics than counts and sums, reads columns without public values, or no
                stored answer determines anything of it.
            NotPrivateError: Its groups are not public, or it reads several tables, or rows that have owners.

        Example:
            >>> import sfumato as sf
            >>> votes = sf.open(
            ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
            ...     budget=sf.PureDP(1),
            ... )
            >>> _ = votes.sql("SELECT sport, COUNT(*) AS n FROM votes GROUP BY sport", epsilon="0.5")
            >>> listed = votes.query("SELECT COUNT(*) AS n FROM votes WHERE sport IN ('Football', 'Tennis')")
            >>> answer = listed.from_releases()
            >>> str(votes.spent), answer.receipt.guarantee
            ('ε 0.5', PureDP(epsilon=Fraction(0, 1)))
        """
        share = checked_confidence(confidence)
        return free_release(self.desk, self.relation, self.text, self._free(), share)

    def error_from_releases(self, *, confidence: Number = CONFIDENCE) -> tuple[Forecast, ...]:
        """The predicted error of each column of `from_releases`, in the group in which it is largest.

        It depends on the noise of stored answers, never on what they say; it is infinite where a group is not
        determined.

        Args:
            confidence: The probability with which errors stay below the returned figures.

        Raises:
            ParameterError, NotPrivateError: As for `from_releases`.
        """
        return forecast(self._free().plan, confidence=checked_confidence(confidence))

    def _offer(self) -> Iterator[str]:
        """What stored answers would say instead; which is known by their noise alone."""
        if self.desk.ledger.oldest_key is None:
            return
        with suppress(NotPrivateError, ParameterError):  # they do not determine it
            errors = self.error_from_releases()
            if all(isfinite(one.half_width) for one in errors):
                yield free_offer(errors, CONFIDENCE)

    def _free(self) -> FreeAnswer:
        for table in tables_of(self.relation.child.child.child):
            if self.desk.policy.tables.get(table.name) != table:
                raise ParameterError("table", table.name, "must belong to this session; each has answers of its own")
        return free_answer(self.desk, self.relation.child)

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
    ) -> "SavedRelease": ...

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
    ) -> "Release | SavedRelease":
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
        path, keep = None, None
        prepared = self._prepared(epsilon, delta, mechanism)
        asked = asked_by(self.desk, idempotency_key, prepared, share)
        with progress_shown("groups released", shown=progress) as hear:
            if to is not None:
                from sfumato.session.asking.saving import file_for, kept_in_files  # Arrow is loaded for files alone

                path = file_for(to, self.relation, self.desk.policy)
                keep = kept_in_files(self.desk.ledger.attachments, hear)
            found = answered(self.desk, prepared, asked=asked, keep=keep)
        if path is None:
            final = self._final(prepared.plan, found.answer)
            notes = notes_of(prepared.plan, final)
            sections = found.answer["sections"]
            return release_of(
                self.desk, self.relation, final, found, sections, confidence=share, size=known, notes=notes
            )  # fmt: skip
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

    def _saved(self, path: Path, plan: PrivatePlan, answered: StoredAnswer, confidence: Fraction) -> "SavedRelease":
        from sfumato.session.asking.saving import SavedRelease, write_answer  # as above

        answer, reused = answered.answer, answered.is_reused
        final, attachments = self._final(plan, answer), self.desk.ledger.attachments
        count, columns = write_answer(
            path, self.relation, final, answer["sections"], attachments, confidence=confidence
        )  # fmt: skip
        return SavedRelease(
            path=path, row_count=count, keys=columns.head.keys, statistics=columns.head.statistics,
            confidence=float(confidence), receipt=receipt_of(self.desk, answer, reused=reused), reused=reused,
            notes=notes_of(plan, final),
        )  # fmt: skip

    def _final(self, plan: PrivatePlan, answer: dict[str, Any]) -> PrivatePlan:
        """The plan with the bounds that were chosen for it."""
        bounds = answer["bounds"]
        return plan if bounds is None else final_plan(self.desk, plan, decode_released(bounds))
