"""`TrainingSet`, `MarginalSet`, `BasketSet`: what a query reads for a model to be fitted to, once that is charged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.prices import admitted
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.schema import Key
from sfumato.session.asking.execution import Answering, answered
from sfumato.session.asking.planning import Prepared, names_again
from sfumato.session.asking.shown import CONFIDENCE, asked_by, receipt_of
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.attributes import Attribute
from sfumato.session.training.baskets import BasketQuery
from sfumato.session.training.columns import Codes, TrainingColumn
from sfumato.session.training.marginals import MarginalQuery
from sfumato.session.training.plan import FitPlan, FitQuery, PrivateFit, TrainingQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedModel:
    """What a fit released, safe to show to anybody, and what it cost.

    Attributes:
        model: The model as JSON values, as its method writes it.
        receipt: What was fitted and what it cost.
        reused: Whether it was stored before, and so cost nothing now.
    """

    model: Mapping[str, Any] = field(repr=False)
    receipt: Receipt
    reused: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fittable:
    """What a query reads, as one that can be fitted to: a `TrainingSet`, a `MarginalSet` or a `BasketSet`."""

    query: FitQuery
    text: str
    desk: Answering
    part: PartitionPart | None = None

    @property
    def rows_per_unit(self) -> int:
        """How many rows one unit has, at most."""
        return self.query.rows_per_unit

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """What may change between neighboring databases."""
        return self.desk.policy.neighboring_relation

    def fit(self, fit: PrivateFit, *, idempotency_key: str | None = None) -> FittedModel:
        """Charge a fit, run it on the rows and return its model; an equal fit that is stored costs nothing.

        Args:
            fit: What is made of the rows, and what it costs.
            idempotency_key: As for `Question.release`.

        Raises:
            ParameterError: The charge does not cover the event of the fit.
            BudgetExceededError: Too little budget remains; nothing was spent and no data was read.
            EngineError: The engine failed after the charge; nothing is refunded.
            UnavailableError: The fit or its source failed on rows; the account is suspended.
        """
        prepared = self.prepare(fit)
        asked = asked_by(self.desk, idempotency_key, prepared, CONFIDENCE)
        found = answered(self.desk, prepared, asked=asked)
        receipt = receipt_of(self.desk, found.answer, reused=found.is_reused)
        return FittedModel(model=found.answer["model"], receipt=receipt, reused=found.is_reused)

    def prepare(self, fit: PrivateFit) -> Prepared[FitPlan]:
        """Plan a fit, for servers, which charge and run it in processes of their own; no data, no charge.

        Raises:
            ParameterError: A table is of another session, or no account can keep the charge.
            NotPrivateError: The rows are of people outside of the part that is charged, or in several engines.
        """
        plan = FitPlan(query=self.query, fit=fit)
        admitted(plan.charge)
        unnamed = Prepared(plan=plan, text=f"{fit.name} of: {self.text}", question="", key="", part=self.part)
        question, key = names_again(self.desk, unnamed)
        return replace(unnamed, question=question, key=key)

    def __repr__(self) -> str:
        """Nothing of the desk: there are the sources."""
        return f"<{type(self).__name__}: {self.text}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrainingSet(Fittable):
    """The rows of a query, bounded per unit, for models; nobody sees them, and no data is read before a fit is charged.

    A fit is planned, reserved, run and committed as a query is. Where it fails, it behaves as a query does: what was
    reserved stays charged, and a source that fails on rows suspends the account.

    At most `rows_per_unit` rows of one unit reach the fit, as `training.plan` says. Numbers are clamped to their bounds
    and rounded to a public lattice; a row with a NULL or with a value that is not listed is left out. The same fit of
    the same rows, data version and policy is stored and returned again at no cost.

    Attributes:
        query: What is read.
        text: The query as it was written.
        desk: The session that answers.
        part: The part of a partition that is read; None for the whole database.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(
        ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        ...     budget=sf.PureDP(1),
        ... )
        >>> rows = votes.training_set("SELECT sport FROM votes")
        >>> [column.values for column in rows.columns], rows.rows_per_unit
        ([('Football', 'Tennis')], 1)
    """

    query: TrainingQuery

    @property
    def columns(self) -> tuple[TrainingColumn, ...]:
        """The features, as they are declared."""
        return self.query.columns

    @property
    def target(self) -> TrainingColumn | None:
        """What is to be predicted, as it is declared; None if nothing is."""
        return self.query.target

    def encode(self, rows: Mapping[str, Sequence[Any]]) -> Codes:
        """Rows of anybody as codes, to predict for; the target is not read.

        Args:
            rows: The values of each feature by its name, as a dictionary or a data frame.

        Returns:
            One row a row, one column a feature; -1 where a value is missing or not listed.

        Raises:
            ParameterError: A feature is missing.
        """
        return encoded(self.columns, rows)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MarginalSet(Fittable):
    """The marginals of a query, bounded per unit, for synthetic data; no data is read before a fit is charged.

    A fit asks for the marginals that it needs, one after the other, and each is counted where the data is. Charges,
    failures and stored models are as for a `TrainingSet`.

    Attributes:
        query: What is read.
        text: The query as it was written.
        desk: The session that answers.
        part: The part of a partition that is read; None for the whole database.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(
        ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        ...     budget=sf.PureDP(1),
        ... )
        >>> marginals = votes.marginals("SELECT sport FROM votes")
        >>> [(one.name, one.size) for one in marginals.attributes], marginals.sensitivity(["sport"]).l1
        ([('sport', 3)], 1)
    """

    query: MarginalQuery

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns, with the values that each can have."""
        return self.query.attributes

    def sensitivity(self, names: Sequence[str]) -> Sensitivity:
        """How far one unit moves the marginal of some columns: in L1, in L2, in cells."""
        return self.query.sensitivity(names, self.neighboring_relation)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BasketSet(Fittable):
    """One basket for each unit: which of the declared items it has in any of its rows; nobody sees them.

    Charges, failures and stored models are as for a `TrainingSet`. A unit without any declared item has no basket.

    Attributes:
        query: What is read.
        text: The query as it was written.
        desk: The session that answers.
        part: The part of a partition that is read; None for the whole database.

    Example:
        >>> import pyarrow as pa, sfumato as sf
        >>> sales = sf.open(
        ...     pa.table({"customer": [1, 1, 2], "item": ["tea", "milk", "tea"]}), name="sales", unit="customer",
        ...     columns={"customer": sf.integer(), "item": sf.text(values=["milk", "tea"])},
        ...     limits=sf.Limits(max_rows_per_unit=50), budget=sf.PureDP(1),
        ... )
        >>> baskets = sales.baskets("SELECT item FROM sales", item="item")
        >>> baskets.items, baskets.rows_per_unit
        (('milk', 'tea'), 1)
    """

    query: BasketQuery

    @property
    def items(self) -> tuple[Key, ...]:
        """The declared items."""
        return self.query.items


def encoded(columns: Sequence[TrainingColumn], rows: Mapping[str, Sequence[Any]]) -> Codes:
    """Rows by the names of their columns, as codes of the declared columns; see `TrainingSet.encode`."""
    missing = [one.name for one in columns if one.name not in rows]
    if missing:
        raise ParameterError("rows", ", ".join(missing), "must have a column for each feature of the model")
    return np.stack([one.encode(rows[one.name]) for one in columns], axis=1)
