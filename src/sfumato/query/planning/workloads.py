"""Which counts and sums of a batch are one workload, and the strategy that measures it.

Ways to group the same rows, under the same limits, ask for marginals of one histogram: the one by all of their keys
together. It gets a cell for what a key does not list, so that every row is in a cell and a total misses none. Running
sums of a count by one of its keys are prefix sums of that histogram. Where each row is a unit, conditions that compare
an expression with constants are sums of cells too (`axes`). Whether a workload is worth it is for whoever
prices both ways (`batch`).

**Guarantee**: one statement computes the whole histogram, so a unit is bounded once for all that is measured. What it
may change there follows from that statement's reach, and the noise is made for the strategy's sensitivity to it.

Proof: proofs/query/planning/batch.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.mechanisms.workloads.planning import WorkloadPlan, plan_workload, squared_sensitivity
from sfumato.mechanisms.workloads.queries import Kind as Queries
from sfumato.mechanisms.workloads.queries import LinearQueries
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity, l0_sensitivity, l1_sensitivity
from sfumato.mechanisms.workloads.strategies import NoiseKind
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.keys import MAX_GROUPS
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.stability import Sensitivity, reach_of
from sfumato.query.analysis.work import check_work
from sfumato.query.model.expressions import ColumnRef, Expression, replaced
from sfumato.query.model.relations import Filter, PeoplePart, Relation, Select, Source
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import KeyColumn, Measure, RowCount, Statement, StepProduct, StepSum, ValueCount
from sfumato.query.planning.allocation import Noise, Share
from sfumato.query.planning.axes import CellAxis, Want
from sfumato.query.statistics.workloads import Workload

_AT: Final = Fraction(19, 20)  # the confidence at which errors are compared
_LINEAR: Final = (RowCount, ValueCount, StepSum, StepProduct)
"""Measures of which those of a group are the sums of those of its cells."""

_NOTHING: Final = "nothing"
"""The one axis of a histogram that nothing is grouped by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginal:
    """What one section wants of a histogram.

    Attributes:
        section: Which section of the batch.
        component: Which of its noisy numbers.
        axes: For each of its keys its axis.
        wants: What it asks of each axis that it has to do with.
        running: The axes along which running sums are asked.
        weight: How much it counts, as a share of precision; all of its numbers together.
    """

    section: int
    component: int
    axes: tuple[int, ...]
    wants: Mapping[int, Want]
    running: tuple[int, ...]
    weight: Fraction

    def error_apart(self, width: float) -> float:
        """The squares of its errors where it is measured by itself, and noise moves its numbers so far.

        A running sum of n cells is one of (n + 1)/2 on average, where one more cell has what is not listed.
        """
        sizes = (len(self.wants[axis].values or ()) + 1 for axis in self.running)
        return float(self.weight) * width**2 * (1 + sum((size + 1) / 2 for size in sizes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A workload without its noise.

    Attributes:
        statement: The histogram that engines compute.
        plan: Its strategy.
        tables: Those that want something of it.
        groups: For each of them its groups of queries: its cells, then the running sums along each axis.
    """

    statement: Statement
    plan: WorkloadPlan
    tables: tuple[Marginal, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def need(self) -> Noise:
        """What noise has to hide."""
        strategy, unit = self.plan.strategy, self.plan.unit
        return Noise(
            Sensitivity(
                l1=l1_sensitivity(strategy.measurements, unit),
                l2=sqrt_up(Fraction(squared_sensitivity(strategy, unit))),
                l0=l0_sensitivity(strategy.measurements, unit),
            )
        )

    def workload(self, share: Share) -> Workload:
        """The workload, with a share of the budget."""
        if share.mechanism is None:
            raise TypeError("a need of noise gets a mechanism")
        return Workload(statement=self.statement, mechanism=WorkloadMechanism(self.plan, noise=share.mechanism))

    def error(self, share: Share) -> float:
        """The mean square of the errors of each table, of its cells and its running sums, times its weight, added up.

        Args:
            share: Of the budget.
        """
        widths = self.workload(share).mechanism.accuracy(_AT)
        return sum(
            float(table.weight) * sum(float((widths[group] ** 2).mean()) for group in groups)
            for table, groups in zip(self.tables, self.groups, strict=True)
        )


def error_of(share: Share) -> float:
    """How far noise moves a number that has a share of the budget; 0 of nothing that is released."""
    return 0.0 if share.mechanism is None else float(share.mechanism.accuracy(_AT))


def base_of(rows: Relation) -> tuple[Relation, Mapping[str, Expression]]:
    """Rows without the columns that are computed on top of them, and what the columns are over those."""
    if isinstance(rows, Select):
        return rows.child, dict(rows.columns)
    return rows, {name: ColumnRef(name) for name in shape_of(rows).columns}


def over_base(measure: Measure, columns: Mapping[str, Expression]) -> Measure:
    """A measure of computed columns as one of the rows below."""
    match measure:
        case ValueCount(present):
            return ValueCount(tuple(replaced(value, columns) for value in present))
        case StepSum(steps):
            return StepSum(replace(steps, value=replaced(steps.value, columns)))
        case StepProduct(first, second):
            return StepProduct(*(replace(one, value=replaced(one.value, columns)) for one in (first, second)))
        case _:
            return measure


def is_linear(measure: Measure) -> bool:
    """Whether the measure of a group is the sum of those of its parts."""
    return isinstance(measure, _LINEAR)


def is_bounded_once(limits: Limits) -> bool:
    """Whether the limits of a unit mean the same whatever rows are grouped by: a limit on groups does not."""
    return limits.max_groups_per_unit is None and limits.max_rows_per_group_per_unit is None


def drafted(
    base: Relation,
    measure: Measure,
    axes: Sequence[CellAxis],
    tables: Sequence[Marginal],
    *,
    limits: Limits,
    neighboring_relation: NeighboringRelation,
    noise: NoiseKind,
    plan_of: Callable[..., WorkloadPlan] = plan_workload,
) -> Draft | None:
    """The best strategy for some tables of a histogram; None where there is no use in one.

    Args:
        base: The rows.
        measure: What is measured of them.
        axes: The keys of all tables.
        tables: What is wanted.
        limits: What one unit may have in the rows.
        neighboring_relation: What may change between neighboring databases.
        noise: The distribution that the strategy is for.
        plan_of: Finds the strategy, with the arguments of `plan_workload`.

    """
    if prod(len(axis.cells) for axis in axes) > MAX_GROUPS:
        return None
    statement = _statement(base, measure, axes, limits)
    unit = _unit(statement, measure, neighboring_relation)
    if unit is None:
        return None
    try:
        check_work(statement)
    except NotPrivateError:  # as of long lists of texts; each section alone may be quick enough
        return None
    names = [key.name for key in statement.keys]
    queries: dict[tuple[tuple[str, Queries], ...], Fraction] = {}
    asked = []
    for table in tables:
        kinds = {names[axis]: axes[axis].queries(table.wants[axis]) for axis in sorted(table.wants)}
        running = (
            {**kinds, names[axis]: axes[axis].queries(table.wants[axis], is_running=True)} for axis in table.running
        )
        asked.append([tuple(one.items()) for one in (kinds, *running)])
        cells = prod(axes[axis].answers(table.wants[axis]) for axis in table.axes)
        for one in asked[-1]:
            queries[one] = queries.get(one, Fraction(0)) + table.weight / cells
    places = {one: place for place, one in enumerate(queries)}
    try:
        plan = plan_of(
            {key.name: len(key.values or ()) for key in statement.keys} or {_NOTHING: 1},
            [LinearQueries(dict(one), weight=weight) for one, weight in queries.items()],
            unit=unit, noise=noise,
        )  # fmt: skip
    except ParameterError:  # too many parts of a line are told apart
        return None
    groups = tuple(tuple(places[one] for one in own) for own in asked)
    return Draft(statement=statement, plan=plan, tables=tuple(tables), groups=groups)


def _statement(base: Relation, measure: Measure, axes: Sequence[CellAxis], limits: Limits) -> Statement:
    """The histogram by all axes, of which each has every row in a cell."""
    own = {name: ColumnRef(name) for name in shape_of(base).columns}
    columns: dict[str, Expression] = dict(own)
    keys = []
    for place, axis in enumerate(axes):
        name = f"key {place}"
        while name in own:
            name += "'"
        columns[name] = axis.column
        keys.append(KeyColumn(name=name, values=axis.cells))
    return Statement(rows=Select(base, tuple(columns.items())), keys=tuple(keys), measures=(measure,), limits=limits)


def _unit(statement: Statement, measure: Measure, relation: NeighboringRelation) -> CellSensitivity | None:
    """The most that one unit changes the histogram; None where nothing moves it."""
    reach, (low, high) = reach_of(statement), measure.range()
    furthest = max(abs(low), abs(high))
    if reach.rows == 0 or furthest == 0:
        return None
    return CellSensitivity(
        l0=reach.groups,
        linf=reach.rows_per_group * furthest,
        l1=reach.rows * furthest,
        is_nonnegative=low >= 0 and _only_adds(statement.rows),
        neighboring_relation=relation,
    )


def _only_adds(rows: Relation) -> bool:
    """Whether one more unit takes no row away: surely where rows have owners, whose rows are of nobody else."""
    while isinstance(rows, Select | Filter | PeoplePart):
        rows = rows.child
    return isinstance(rows, Source) or shape_of(rows).metric is Metric.UNITS
