"""A model in a plan: the rows of a query, bounded per unit, and a fit that may see them once its event is reserved.

The exact half is a `Statement` like that of any query: its groups are the different rows on a public lattice, its one
measure how many rows are alike. So engines bound the rows of each unit as they do for queries, and need nothing new.

Proof: proofs/session/training/plan.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from sfumato.engines.base import ExactGroups
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.bounding import bound_joins, limits_of, narrowed, ungrouped
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.sizes import check_growth, check_size
from sfumato.query.analysis.stability import reach_of
from sfumato.query.analysis.work import check_work
from sfumato.query.model.relations import GroupBy, Relation, Select
from sfumato.query.model.schema import Key, Limits
from sfumato.query.model.statement import KeyColumn, RowCount, Statement
from sfumato.query.planning.questions import Aggregate, check_limits
from sfumato.query.statistics.counts import CountRows
from sfumato.session.training.columns import TrainingColumn, TrainingRows, code_of, found_codes, training_column

Run: TypeAlias = Callable[[Statement], Secret[ExactGroups]]
"""Runs a statement where the data is."""

_ROWS: str = "rows"


class PrivateFit(Protocol):
    """A fit with a price: all about it is fixed before a row is read.

    Whoever writes one proves that `release` is what `event` says, for any two sets of rows that differ in the rows of
    one unit: `TrainingQuery.rows_per_unit` rows at most that enter or leave, or, where a unit is replaced by another,
    as many that leave and as many that enter.
    """

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""

    @property
    def event(self) -> Event:
        """The event of one fit, which accountants read."""

    @property
    def charge(self) -> PureDP | ApproxDP:
        """The cost that is charged, which covers the event."""

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends: two fits with equal documents are one fit."""

    def release(self, rows: Any, /) -> dict[str, Json]:
        """The model as JSON values; safe to show to anybody, and stored. It raises nothing that depends on rows.

        Args:
            rows: What the query reads: `Secret[TrainingRows]`, or `Marginals`.
        """


class FitQuery(Protocol):
    """What is read for a fit: rows, or marginals."""

    @property
    def question(self) -> Aggregate:
        """What is read, as a question."""

    @property
    def statement(self) -> Statement:
        """What an engine runs, or no less than that."""

    @property
    def rows_per_unit(self) -> int:
        """How many rows one unit has, at most: those that engines keep, whatever the data."""

    @property
    def lattices(self) -> Json:
        """How columns become whole numbers, for the key under which a model is stored."""

    def read(self, run: Run) -> Any:
        """What a fit sees, for noise alone.

        Args:
            run: Runs a statement where the data is, all with one salt.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingQuery:
    """What is read for a fit: the columns of a query, and how the rows of one unit are bounded.

    Attributes:
        question: The rows, by all of their codes, and how many are alike.
        statement: What an engine runs.
        columns: The features.
        target: What is to be predicted; None if nothing is.
    """

    question: Aggregate
    statement: Statement
    columns: tuple[TrainingColumn, ...]
    target: TrainingColumn | None

    @property
    def rows_per_unit(self) -> int:
        """How many rows one unit has, at most: those that engines keep, whatever the data."""
        return max(1, reach_of(self.statement).rows)

    @property
    def lattices(self) -> Json:
        """How numbers become codes, for the key under which a model is stored."""
        return [[str(one.lower), str(one.upper), one.steps] for one in self.columns]

    def read(self, run: Run) -> Secret[TrainingRows]:
        """The rows, for a fit alone."""
        return training_rows(self, run(self.statement))


@dataclass(frozen=True, slots=True, kw_only=True)
class FitPlan:
    """A fit of what a query reads: nothing about it depends on the data.

    Attributes:
        query: What is read.
        fit: What is made of it.
    """

    query: FitQuery
    fit: PrivateFit

    @property
    def question(self) -> Aggregate:
        """What is read, as a question."""
        return self.query.question

    @property
    def event(self) -> Event:
        """All that is released, for the accountants."""
        return self.fit.event

    @property
    def charge(self) -> PureDP | ApproxDP:
        """The cost that is charged to the account."""
        return self.fit.charge


def training_query(
    relation: Relation,
    *,
    target: str | None,
    classes: Sequence[Key] | None = None,
    limits: Limits | None = None,
) -> TrainingQuery:
    """What is read for a fit.

    Rows with a NULL, or with a category that is not listed, are left out; numbers are clamped to their bounds.

    Args:
        relation: The rows; each column is a feature or the target.
        target: The column that is to be predicted; None if there is none.
        classes: The values of the target, where it is a category; None: those that the query lists.
        limits: Limits of a unit narrower than the policy's.

    Raises:
        ParameterError: There is no such target, or no feature.
        UnboundedSensitivityError: A column has neither bounds nor listed values, or nothing bounds the rows of a unit.
        NotPrivateError: The time that one row takes could reveal it.
    """
    shape = shape_of(relation)
    names = tuple(shape.columns)
    if target is not None and not is_one_of(target, names):
        raise ParameterError("target", target, f"must be one of: {', '.join(names)}")
    features = tuple(name for name in names if name != target)
    if not features:
        raise ParameterError("query", "no feature", "must have at least one column beside the target")
    listed = {} if classes is None or target is None else {target: tuple(classes)}
    columns = {name: training_column(name, shape.column(name), values=listed.get(name)) for name in names}
    coded = Select(relation, tuple((name, code_of(columns[name], shape.column(name))) for name in names))
    ordered = features if target is None else (*features, target)
    question = Aggregate(GroupBy(coded, ordered), ((_ROWS, CountRows()),), limits)
    check_size(coded)
    check_growth(coded)
    if limits is not None:
        check_limits(limits, shape.metric)
    kept = ungrouped(narrowed(limits_of(coded), limits)) if shape.metric is Metric.UNITS else Limits()
    statement = Statement(
        rows=bound_joins(coded), keys=tuple(KeyColumn(name=name, values=columns[name].values) for name in ordered),
        measures=(RowCount(),), limits=kept,
    )  # fmt: skip
    check_work(statement)
    found = TrainingQuery(
        question=question, statement=statement, columns=tuple(columns[name] for name in features),
        target=None if target is None else columns[target],
    )  # fmt: skip
    reach_of(statement)  # refuses what nothing bounds
    return found


def training_rows(query: TrainingQuery, exact: Secret[ExactGroups]) -> Secret[TrainingRows]:
    """The rows that an engine found, each as often as there are rows like it; for a fit alone."""
    found = exact.open_for_noise()
    counts = np.array(found.amounts[0], dtype=np.int64)
    every = query.columns if query.target is None else (*query.columns, query.target)
    codes = [np.repeat(found_codes(one, keys), counts) for one, keys in zip(every, found.keys, strict=True)]
    table = np.stack(codes, axis=1)
    table = table[(table >= 0).all(axis=1)]  # engines leave out what is not listed; nobody relies on it
    target = None if query.target is None else table[:, -1]
    return Secret(TrainingRows(codes=table[:, : len(query.columns)], target=target))


def fit_document(plan: FitPlan) -> dict[str, Any]:
    """The method and all that the model depends on beside the rows, for the key under which it is stored."""
    return {"name": plan.fit.name, "parameters": plan.fit.document()}
