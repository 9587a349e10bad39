"""Queries that a server answers: their cost and errors are free to ask, `release` spends."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.client.asked import Inquiry, Terms
from sfumato.client.curator import RemoteCurator
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import Guarantee
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.measurements import Law
from sfumato.session.releases.release import Release


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RemoteQuestion:
    """A query that a server has not answered yet; see `Question`, whose face it has.

    Attributes:
        asked: The query as it is sent.
        curator: The server.
    """

    asked: Inquiry
    curator: RemoteCurator

    def cost(self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None) -> Guarantee:
        """The cost of a release with these parameters; nothing is spent."""
        return self.curator.send(self.asked.cost({"epsilon": epsilon, "delta": delta, "mechanism": mechanism}))

    def error(
        self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None, confidence: Number | None = None,
        size: int | None = None,
    ) -> tuple[Forecast, ...]:  # fmt: skip
        """The predicted error of each column; nothing is spent."""
        terms: Terms = {
            "epsilon": epsilon,
            "delta": delta,
            "mechanism": mechanism,
            "confidence": confidence,
            "size": size,
        }
        (found,) = self.curator.send(self.asked.errors(terms))
        return found

    def explain(self, *, epsilon: Number = 1, delta: Number = 0, mechanism: Law | None = None) -> str:
        """The plan as text: cost, bounds, sensitivities, noise and errors; nothing is spent."""
        return self.curator.send(self.asked.explain({"epsilon": epsilon, "delta": delta, "mechanism": mechanism}))

    def epsilon_for(
        self, error: Mapping[str, Number], *, delta: Number = 0, mechanism: Law | None = None,
        confidence: Number | None = None, size: int | None = None,
    ) -> Fraction:  # fmt: skip
        """The smallest ε, to six decimals, at which no column exceeds its target error; nothing is spent."""
        return self.curator.send(
            self.asked.least_epsilon(
                {"error": error, "delta": delta, "mechanism": mechanism, "confidence": confidence, "size": size}
            )
        )

    def from_releases(self, *, confidence: Number | None = None) -> Release:
        """What answers that the account has already say of the query; nothing is spent."""
        (found,) = self.curator.send(self.asked.from_releases({"confidence": confidence}))
        return found

    def dry_run(self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None) -> Release:
        """The answer on rows that are made up from what the owner declares; nothing is spent."""
        (found,) = self.curator.send(self.asked.dry_run({"epsilon": epsilon, "delta": delta, "mechanism": mechanism}))
        return found

    def release(
        self, *, epsilon: Number | None = None, error: Mapping[str, Number] | None = None, delta: Number = 0,
        mechanism: Law | None = None, confidence: Number | None = None, size: int | None = None,
        idempotency_key: str | None = None,
    ) -> Release:  # fmt: skip
        """Charge the cost and have the query answered; see `Question.release`.

        Args:
            epsilon: The total ε of the whole query.
            error: Target errors of columns in place of ε.
            delta: The total δ.
            mechanism: ``"laplace"`` or ``"gaussian"``; default: the better one.
            confidence: The probability with which an interval holds the exact bounded value.
            size: How many values a group is presumed to have.
            idempotency_key: Under which the same query is never charged twice; default: a new one.
        """
        terms: Terms = {
            "epsilon": epsilon, "error": error, "delta": delta, "mechanism": mechanism, "confidence": confidence,
            "size": size,
        }  # fmt: skip
        (found,) = self.curator.send(self.asked.release(terms, idempotency_key))
        return found

    def __repr__(self) -> str:
        return f"<RemoteQuestion: {self.asked.text}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RemoteBatch:
    """Several queries that a server answers together, for one cost; see `Batch`, whose face it has.

    Attributes:
        asked: The queries as they are sent.
        curator: The server.
    """

    asked: Inquiry
    curator: RemoteCurator

    def cost(self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None) -> Guarantee:
        """The cost of all answers together; nothing is spent."""
        return self.curator.send(self.asked.cost({"epsilon": epsilon, "delta": delta, "mechanism": mechanism}))

    def error(
        self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None
    ) -> tuple[tuple[Forecast, ...], ...]:
        """For each query the predicted error of each column; nothing is spent."""
        return self.curator.send(self.asked.errors({"epsilon": epsilon, "delta": delta, "mechanism": mechanism}))

    def explain(self, *, epsilon: Number = 1, delta: Number = 0, mechanism: Law | None = None) -> str:
        """The plan of each query as text; nothing is spent."""
        return self.curator.send(self.asked.explain({"epsilon": epsilon, "delta": delta, "mechanism": mechanism}))

    def release(
        self, *, epsilon: Number, delta: Number = 0, mechanism: Law | None = None,
        confidence: Number | None = None, size: int | None = None, idempotency_key: str | None = None,
    ) -> tuple[Release, ...]:  # fmt: skip
        """Charge the cost once, and have all queries answered, in their order; see `RemoteQuestion.release`."""
        terms: Terms = {
            "epsilon": epsilon, "delta": delta, "mechanism": mechanism, "confidence": confidence, "size": size
        }  # fmt: skip
        return self.curator.send(self.asked.release(terms, idempotency_key))

    def __len__(self) -> int:
        return len(self.asked.texts)

    def __repr__(self) -> str:
        return f"<RemoteBatch: {self.asked.text}>"
