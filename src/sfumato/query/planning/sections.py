"""One way to group a question: its statements and what they need, and, with shares of the budget, its `Section`.

Each noisy number that its statistics share needs a share of the budget, and becomes one measurement with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.noise.uniform.integers import SMALLEST_SCALE
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.bounding import bound_joins, limits_of, narrowed, ungrouped
from sfumato.query.analysis.keys import MAX_GROUPS, key_columns
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.sizes import check_growth
from sfumato.query.analysis.stability import Sensitivity, moved_rows, reach_of, sensitivity
from sfumato.query.analysis.work import check_work
from sfumato.query.model.facts import Edition
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import KeyColumn, Measure, Statement, UnitCount, Values
from sfumato.query.planning.allocation import Choice, KeySelection, Need, Noise, Share, Weight
from sfumato.query.planning.common_choices import with_common_choices
from sfumato.query.planning.questions import Aggregate
from sfumato.query.planning.sharing import Sharing, apart, shared
from sfumato.query.statistics.measurements import (
    Additive,
    KeyChoice,
    Law,
    Measurement,
    Output,
    QuantileChoice,
    Section,
    TopChoice,
)
from sfumato.query.statistics.recipes import (
    BinQuantile,
    BinQuantiles,
    Component,
    GroupedRows,
    NoisyCells,
    NoisyMeasures,
    TopCells,
)

_PUBLIC_EPSILON: Final = Fraction(1000)
"""Of a choice from public rows, which nobody moves and which therefore costs nothing."""


OF_INTERVALS: Final = Fraction(19, 20)
"""How often the interval of a quantile holds it, at least."""

OF_AN_END: Final = 1 - (1 - OF_INTERVALS) / 2
"""How often each of its ends lies on its side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpricedSection:
    """A section without its shares of the budget.

    Attributes:
        keys: What it groups by.
        statements: What engines run, the main one first; it is left out where nothing needs it.
        sharing: What is measured, and which statistics are made of it.
        neighboring_relation: What may change between neighboring databases.
    """

    keys: tuple[KeyColumn, ...]
    statements: tuple[Statement, ...]
    sharing: Sharing
    neighboring_relation: NeighboringRelation

    @property
    def size(self) -> int:
        """How many numbers of public groups and cells it releases; for the bins of a quantile, one a group."""
        sizes = (
            (one.group_count or 1) * (one.cell.count or 1 if isinstance(one.cell, Values) else 1)
            for one in self.statements
        )
        return max(sizes)

    @property
    def is_selected(self) -> bool:
        """Whether its groups are shown by private selection."""
        return any(key.values is None for key in self.keys)

    @property
    def needs(self) -> tuple[Need, ...]:
        """What each noisy number needs; before them the selection of private keys, if there are any."""
        if not self.is_selected:
            return self.sharing.needs
        private = tuple(key.name for key in self.keys if key.values is None)
        return KeySelection(is_free=reach_of(self.statements[0]).rows == 0, keys=private), *self.sharing.needs

    @property
    def weights(self) -> tuple[Weight, ...]:
        """The weight of each of its needs; a selection has that of one statistic."""
        own = self.sharing.weights
        return (Weight(Fraction(1), Fraction(1)), *own) if self.is_selected else own

    def section(self, shares: Sequence[Share]) -> Section:
        """The section, with a share for each of its needs."""
        selection = None
        if self.is_selected:
            share, *shares = shares
            selection = self._selection(share)
        measurements = (
            measurement_of(component, share, self.statements, self.neighboring_relation)
            for component, share in zip(self.sharing.components, shares, strict=True)
        )
        return self.measured_by(tuple(measurements), selection)

    def measured_by(self, measurements: tuple[Measurement, ...], selection: KeyChoice | None = None) -> Section:
        """The section, with a measurement of each of its components."""
        statistics = range(len(self.sharing.places))
        return Section(
            keys=self.keys, selection=selection, statements=self.statements, measurements=measurements,
            outputs=tuple(chain.from_iterable(map(self.outputs, statistics))),
        )  # fmt: skip

    def outputs(self, statistic: int) -> tuple[Output, ...]:
        """The outputs of one of its statistics."""
        return self.sharing.outputs[statistic](self.sharing.places[statistic])

    def _selection(self, share: Share) -> KeyChoice:
        main = self.statements[0]
        reach = reach_of(main)
        mechanism = None
        if reach.rows > 0:
            mechanism = TruncatedGeometricSelection(
                epsilon=share.epsilon, delta=share.delta, max_groups_per_unit=reach.groups,
                neighboring_relation=self.neighboring_relation,
            )  # fmt: skip
        return KeyChoice(measure=main.measures.index(UnitCount()), mechanism=mechanism)


def draft(
    question: Aggregate,
    keys: tuple[str, ...],
    *,
    neighboring_relation: NeighboringRelation,
    law: Law | None = None,
    edition: Edition = Edition.LATEST,
) -> UnpricedSection:
    """A query grouped by some of its keys.

    Args:
        question: What is asked.
        keys: Some of its keys.
        neighboring_relation: What may change between neighboring databases.
        law: The distribution that additive noise must have; None takes the better one for each number.
        edition: By which rules.

    Raises:
        NotPrivateError: Private keys where one row may become several, or time that could reveal a person.
        UnboundedSensitivityError: A sum without bounds.
        ParameterError: Values of a wrong kind, or more groups than an answer can hold.
    """
    rows = grouped_rows(question, keys, edition)
    recipes = tuple(statistic.recipe(rows, name) for name, statistic in question.statistics)
    weights = question.weights or (Fraction(1),) * len(recipes)
    empty = Statement(rows=rows.rows, keys=rows.keys, limits=rows.limits, measures=())
    need = partial(need_of, main=empty, neighboring_relation=neighboring_relation)
    if edition is Edition.FIRST:
        sharing = apart(recipes, weights, need)
    else:
        sharing = with_common_choices(shared(recipes, weights, need, law=law))
    measures: list[Measure] = [
        measure
        for component in sharing.components
        if isinstance(component, NoisyMeasures)
        for measure in component.measures
    ]
    if any(key.values is None for key in rows.keys):
        _check_rows(rows)
        measures.append(UnitCount())
    main = replace(empty, measures=tuple(dict.fromkeys(measures)))
    own = [component.statement for component in sharing.components if not isinstance(component, NoisyMeasures)]
    statements = [main, *own] if measures else own
    for statement in statements:
        check_work(statement)
    return UnpricedSection(
        keys=rows.keys, sharing=sharing, neighboring_relation=neighboring_relation,
        statements=tuple(one for index, one in enumerate(statements) if one not in statements[:index]),
    )  # fmt: skip


def check_size(drafts: Sequence[UnpricedSection]) -> None:
    """Refuse more public groups and cells than an answer can hold.

    Raises:
        ParameterError: There are more.
    """
    size = sum(one.size for one in drafts)
    if size > MAX_GROUPS:
        raise ParameterError(
            "GROUP BY",
            f"{size:,} groups and cells",
            f"must make at most {MAX_GROUPS:,}; the answer contains all of them",
        )


def grouped_rows(question: Aggregate, names: tuple[str, ...], edition: Edition = Edition.LATEST) -> GroupedRows:
    """The rows, bounded below joins; and the limits of a unit, which without keys are on one group."""
    shape = shape_of(question.child.child, edition)
    check_growth(question.child.child)
    limits = Limits()
    if shape.metric is Metric.UNITS:
        limits = narrowed(limits_of(question.child.child), question.limits)
        limits = limits if names else ungrouped(limits)
    return GroupedRows(
        rows=bound_joins(question.child.child),
        shape=shape,
        keys=key_columns(question.child.child, names, edition),
        limits=limits,
    )


def _check_rows(rows: GroupedRows) -> None:
    if rows.shape.metric is Metric.ROWS and moved_rows(rows.rows) > 1:
        raise NotPrivateError(
            "GROUP BY",
            "each row is a unit, and one row may become several here, so units cannot be counted",
            "List the public keys in the policy, or declare a privacy unit.",
        )


def need_of(component: Component, main: Statement, neighboring_relation: NeighboringRelation) -> Need:
    """What a component needs of the budget."""
    match component:
        case BinQuantile(statement) | BinQuantiles(statement) | TopCells(statement):
            return Choice(is_free=moved(statement, neighboring_relation) == 0)
        case NoisyMeasures(measures):
            statement = main
        case NoisyCells(statement):
            measures = statement.measures
    parts = list(map(partial(sensitivity, statement, neighboring_relation=neighboring_relation), measures))
    if len(parts) == 1:
        return Noise(parts[0])
    return Noise(
        Sensitivity(
            l1=sum(part.l1 for part in parts),
            l2=sqrt_up(sum((part.l2**2 for part in parts), start=Fraction(0))),
            l0=sum(part.l0 for part in parts),
        )
    )


def measurement_of(
    component: Component, share: Share, statements: Sequence[Statement], neighboring_relation: NeighboringRelation
) -> Measurement:
    """The measurement of a component with its share; `statements` are those of the section, the main one first."""
    main = statements[0]
    match component:
        case NoisyMeasures(measures):
            return _additive(share, 0, tuple(map(main.measures.index, measures)))
        case NoisyCells(statement):
            return _additive(share, statements.index(statement), (0,))
        case BinQuantile(statement) | BinQuantiles(statement):
            rows = moved(statement, neighboring_relation)
            mechanism = _quantile(component, statement.bins.count - 1, _per_row(share, rows))
            return QuantileChoice(statement=statements.index(statement), rows=rows, mechanism=mechanism)
        case TopCells(statement, k):
            rows = moved(statement, neighboring_relation)
            epsilon = min(_per_row(share, rows), k / SMALLEST_SCALE)  # of the narrowest noise that is drawn
            top = NoisyTopK(k=k, epsilon=epsilon, utility_sensitivity=1, monotonic=True)
            return TopChoice(statement=statements.index(statement), rows=rows, mechanism=top)


def _quantile(
    component: BinQuantile | BinQuantiles, last: int, epsilon: Fraction
) -> Quantile | QuantileEnd | Extreme | JointQuantiles:
    """Of ranks 0 and 1 every point beyond all values is right for a quantile, so they are chosen as extremes."""
    if isinstance(component, BinQuantiles):
        return JointQuantiles(quantiles=component.quantiles, lower=0, upper=last, epsilon=epsilon)
    quantile, side = component.quantile, component.side
    if side is not None:
        return QuantileEnd(
            quantile=quantile, is_upper=side == "upper", lower=0, upper=last, epsilon=epsilon, confidence=OF_AN_END
        )  # fmt: skip
    if quantile in {0, 1}:
        return Extreme(largest=quantile == 1, lower=0, upper=last, epsilon=epsilon)
    return Quantile(quantile=quantile, lower=0, upper=last, epsilon=epsilon)


def _additive(share: Share, statement: int, measures: tuple[int, ...]) -> Additive:
    if share.mechanism is None or share.sensitivity is None:
        raise TypeError("a need of noise gets a mechanism")
    return Additive(
        statement=statement, measures=measures, sensitivity=share.sensitivity, mechanism=share.mechanism
    )  # fmt: skip


def moved(statement: Statement, neighboring_relation: NeighboringRelation) -> int:
    """How many rows enter or leave the groups of a statement, at most; one that moves does both."""
    rows = reach_of(statement).rows
    return rows if neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2 * rows


def _per_row(share: Share, rows: int) -> Fraction:
    """Rows lie in one group each, so that what they cost adds up whichever groups a unit is in."""
    return share.epsilon / rows if rows else _PUBLIC_EPSILON
