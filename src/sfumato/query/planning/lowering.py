"""Statistics to recipes: the components that measure them, and the outputs that are made of what is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias, assert_never

from sfumato.errors import ParameterError
from sfumato.query.analysis.bounding import least
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.keys import candidates
from sfumato.query.analysis.shape import Metric, Shape
from sfumato.query.model.expressions import (
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Literal,
    Not,
    Null,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.measures import (
    CellCount,
    Measure,
    RowCount,
    StepProduct,
    Steps,
    StepSum,
    UnitCount,
    ValueCount,
    is_whole_sum,
    steps_of,
)
from sfumato.query.model.names import fresh
from sfumato.query.model.relations import (
    Auto,
    Bounds,
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    Covariance,
    Distinct,
    Histogram,
    Mean,
    Quantile,
    Relation,
    Select,
    Statistic,
    Sum,
    TopK,
    Variance,
    VectorSum,
)
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import Bins, Cell, KeyColumn, Statement, Values
from sfumato.query.planning.components import Celled, Component, Counted, Ranked, Topped
from sfumato.query.planning.questions import column_names
from sfumato.query.statistics.measurements import (
    CovarianceOutput,
    LinearOutput,
    MeanOutput,
    Output,
    QuantileIntervalOutput,
    QuantileOutput,
    TopOutput,
    VarianceOutput,
)

MAX_BINS: Final = 2**16
"""Of a quantile: its lattice is made coarser where the bounds have more steps."""

MAX_FACTOR: Final = 2**16
"""How many steps the bounds of numbers that are multiplied have: squares of more would need noise too wide to draw."""

Outputs: TypeAlias = Callable[[int], tuple[Output, ...]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The components of a statistic, and its outputs, given the index of the first measurement."""

    components: tuple[Component, ...]
    outputs: Outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the statistics of one way to group stand on."""

    rows: Relation
    shape: Shape
    keys: tuple[KeyColumn, ...]
    limits: Limits

    def facts(self, value: Expression) -> Facts:
        """What is known of an expression over these rows."""
        return facts_of(value, self.shape.columns)

    def steps(
        self, value: Expression, bounds: Bounds, name: str, *, centred: bool = False, is_factor: bool = False
    ) -> Steps:
        """The lattice of an expression."""
        if isinstance(bounds, Auto):
            raise ParameterError("bounds", bounds.value, "must have been chosen before a statistic is lowered")
        facts = self.facts(value)
        if not is_factor:
            return steps_of(value, facts, bounds=bounds, what=name, centred=centred)
        return steps_of(value, facts, bounds=bounds, what=name, centred=centred, finest=MAX_FACTOR)

    def with_cells(self, cell: Cell) -> Statement:
        """Rows counted by cells within groups."""
        return Statement(rows=self.rows, keys=self.keys, measures=(RowCount(),), limits=self.limits, cell=cell)


def recipe(ground: Ground, name: str, statistic: Statistic) -> Recipe:
    """What a statistic is made of.

    Raises:
        UnboundedSensitivityError: Nothing bounds what it sums.
        ParameterError: It reads values of a kind that it cannot.
        NotPrivateError: It needs public values that nobody listed.
    """
    match statistic:
        case CountRows():
            return _one(Counted((RowCount(),)), name)
        case CountValues(value):
            return _one(Counted((_present(ground, value),)), name)
        case CountUnits():
            return _one(Counted((UnitCount(),)), name)
        case CountDistinct():
            return _count_distinct(ground, name, statistic)
        case Sum(value, bounds):
            steps = ground.steps(value, bounds, name)
            component = Counted((StepSum(steps),))
            is_whole = is_whole_sum(ground.facts(value), bounds)
            return _one(component, name, resolution=steps.resolution, is_whole=is_whole)
        case Mean(value, bounds):
            steps = ground.steps(value, bounds, name, centred=True)
            components = (Counted((_present(ground, value),)), Counted((StepSum(steps),)))
            return Recipe(components, lambda at: (MeanOutput(name=name, count=at, total=at + 1, steps=steps),))
        case Variance():
            return _variance(ground, name, statistic)
        case Covariance():
            return _covariance(ground, name, statistic)
        case Quantile(value, _, bounds):
            return _quantile(ground, name, _bins(ground.steps(value, bounds, name)), statistic)
        case Histogram():
            return _histogram(ground, name, statistic)
        case TopK():
            return _top(ground, name, statistic)
        case VectorSum():
            return _vector_sum(ground, name, statistic)
        case _:
            assert_never(statistic)


def cells_between(edges: Sequence[Fraction], value: Expression, *, outside: Sequence[Condition] = ()) -> Values:
    """Cells of a number, by ascending edges that tell one from the next; NULL, and what is outside, are in none."""
    left_out = [(condition, Null(Kind.INTEGER)) for condition in (*outside, IsNull(value))]
    cells = [(Compare(Comparison.LESS, value, Literal(e)), Literal(Fraction(i))) for i, e in enumerate(edges)]
    index = Case((*left_out, *cells), Literal(Fraction(len(edges))))
    return Values(value=index, values=tuple(range(len(edges) + 1)))


def _one(component: Component, name: str, *, resolution: Fraction = Fraction(1), is_whole: bool = True) -> Recipe:
    return Recipe(
        (component,),
        lambda at: (LinearOutput(name=name, measurement=at, resolution=resolution, is_whole=is_whole),),
    )


def _present(ground: Ground, *values: Expression) -> ValueCount:
    return ValueCount(tuple(value for value in values if ground.facts(value).nullable))


def _count_distinct(ground: Ground, name: str, statistic: CountDistinct) -> Recipe:
    """Each unit's different values are rows of their own, of which the limits then keep some."""
    kept = tuple(key.name for key in ground.keys)
    value = fresh("value", kept)
    columns = (*((key, ColumnRef(key)) for key in kept), (value, statistic.value))
    limits = ground.limits
    if statistic.max_values_per_unit is not None and ground.shape.metric is Metric.UNITS:
        limits = replace(
            limits,
            max_rows_per_group_per_unit=least(limits.max_rows_per_group_per_unit, statistic.max_values_per_unit),
        )
    statement = Statement(
        rows=Distinct(Select(ground.rows, columns)), keys=ground.keys, measures=(CellCount(),), limits=limits,
        cell=Values(value=ColumnRef(value), values=None),
    )  # fmt: skip
    return _one(Celled(statement), name)


def _variance(ground: Ground, name: str, statistic: Variance) -> Recipe:
    steps = ground.steps(statistic.value, statistic.bounds, name, centred=True, is_factor=True)
    components = (
        Counted((_present(ground, statistic.value),)),
        Counted((StepSum(steps),)),
        Counted((StepProduct(steps, steps),)),
    )
    return Recipe(
        components,
        lambda at: (
            VarianceOutput(
                name=name, count=at, total=at + 1, squares=at + 2, steps=steps, population=statistic.population,
                root=statistic.root,
            ),
        ),
    )  # fmt: skip


def _covariance(ground: Ground, name: str, statistic: Covariance) -> Recipe:
    """Each value only where the other one is present, too."""
    first = _where_present(ground, statistic.first, statistic.second)
    second = _where_present(ground, statistic.second, statistic.first)
    x, y = (ground.steps(value, None, name, centred=True, is_factor=True) for value in (first, second))
    measures: list[Measure] = [_present(ground, first, second), StepSum(x), StepSum(y), StepProduct(x, y)]
    if statistic.normalized:
        measures += [StepProduct(x, x), StepProduct(y, y)]
    return Recipe(
        tuple(Counted((measure,)) for measure in measures),
        lambda at: (
            CovarianceOutput(
                name=name, count=at, totals=(at + 1, at + 2), products=at + 3, steps=(x, y),
                population=statistic.population, squares=(at + 4, at + 5) if statistic.normalized else None,
            ),
        ),
    )  # fmt: skip


def _where_present(ground: Ground, value: Expression, other: Expression) -> Expression:
    facts = ground.facts(other)
    return Case(((Not(IsNull(other)), value),), Null(ground.facts(value).kind)) if facts.nullable else value


def _quantile(ground: Ground, name: str, bins: Bins, statistic: Quantile) -> Recipe:
    """With an interval, three choices from the same bins at the same price."""
    is_whole = ground.facts(bins.steps.value).kind is Kind.INTEGER
    statement = ground.with_cells(bins)
    near = Ranked(statement, statistic.quantile)
    if not statistic.interval:
        return Recipe(
            (near,), lambda at: (QuantileOutput(name=name, measurement=at, bins=bins, is_whole=is_whole),)
        )  # fmt: skip
    return Recipe(
        (near, replace(near, side="lower"), replace(near, side="upper")),
        lambda at: (
            QuantileIntervalOutput(name=name, measurement=at, ends=(at + 1, at + 2), bins=bins, is_whole=is_whole),
        ),
    )


def _bins(steps: Steps) -> Bins:
    return Bins(steps=steps, width=-(-(steps.upper - steps.lower + 1) // MAX_BINS))


def _histogram(ground: Ground, name: str, statistic: Histogram) -> Recipe:
    """The last edge belongs to the last bin."""
    first, *inner, last = statistic.edges
    value = statistic.value
    outside = (Compare(Comparison.LESS, value, Literal(first)), Compare(Comparison.GREATER, value, Literal(last)))
    names = column_names(name, statistic)
    return Recipe(
        (Celled(ground.with_cells(cells_between(inner, value, outside=outside))),),
        lambda at: tuple(LinearOutput(name=n, measurement=at, coordinate=i) for i, n in enumerate(names)),
    )


def _top(ground: Ground, name: str, statistic: TopK) -> Recipe:
    values = candidates(name, ground.facts(statistic.value), statistic.k)
    component = Topped(ground.with_cells(Values(value=statistic.value, values=values)), statistic.k)
    names = column_names(name, statistic)
    return Recipe(
        (component,),
        lambda at: tuple(TopOutput(name=n, measurement=at, coordinate=i, values=values) for i, n in enumerate(names)),
    )


def _vector_sum(ground: Ground, name: str, statistic: VectorSum) -> Recipe:
    names = column_names(name, statistic)
    steps = [ground.steps(value, None, n) for value, n in zip(statistic.values, names, strict=True)]
    are_whole = [is_whole_sum(ground.facts(value), None) for value in statistic.values]
    return Recipe(
        (Counted(tuple(StepSum(own) for own in steps)),),
        lambda at: tuple(
            LinearOutput(name=n, measurement=at, coordinate=i, resolution=own.resolution, is_whole=is_whole)
            for i, (n, own, is_whole) in enumerate(zip(names, steps, are_whole, strict=True))
        ),
    )
