"""What a statistic is made of: components that each get a share of the budget, and outputs made of all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.analysis.shape import Shape
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.relations import Relation
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import (
    Auto,
    Bounds,
    Cell,
    KeyColumn,
    LatticeValue,
    Measure,
    RowCount,
    Statement,
    ValueCount,
    steps_of,
)
from sfumato.query.statistics.measurements import LinearOutput, Output

MAX_FACTOR: Final = 2**16
"""How many steps the bounds of numbers that are multiplied have: squares of more would need noise too wide to draw."""

Side: TypeAlias = Literal["lower", "upper"]


@dataclass(frozen=True, slots=True)
class NoisyMeasures:
    """Noise on measures of the section's main statement; on several as one vector."""

    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class NoisyCells:
    """Noise on the one measure of a statement of its own, for each of its cells."""

    statement: Statement


@dataclass(frozen=True, slots=True)
class BinQuantile:
    """A quantile of each group, from the bins of a statement of its own; or a bin surely on one side of it."""

    statement: Statement
    quantile: Fraction
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class TopCells:
    """The most frequent values of each group, from the cells of a statement of its own."""

    statement: Statement
    k: int


Component: TypeAlias = NoisyMeasures | NoisyCells | BinQuantile | TopCells


@dataclass(frozen=True, slots=True)
class Recipe:
    """The components of a statistic, and its outputs, given the index of the first measurement."""

    components: tuple[Component, ...]
    outputs: Callable[[int], tuple[Output, ...]]


def single(
    component: Component, name: str, *, resolution: Fraction = Fraction(1), is_whole: bool = True
) -> Recipe:  # fmt: skip
    """A statistic that is one noisy number."""
    return Recipe(
        (component,),
        lambda at: (LinearOutput(name=name, measurement=at, resolution=resolution, is_whole=is_whole),),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedRows:
    """The rows of one way to group, of which statistics are asked.

    Attributes:
        rows: The rows, bounded below joins.
        shape: What is publicly known of them.
        keys: What they are grouped by.
        limits: What one unit may have in them.
    """

    rows: Relation
    shape: Shape
    keys: tuple[KeyColumn, ...]
    limits: Limits

    def facts(self, value: Expression) -> Facts:
        """What is known of an expression over these rows."""
        return self.shape.facts(value)

    def steps(
        self, value: Expression, bounds: Bounds, name: str, *, centered: bool = False, is_factor: bool = False
    ) -> LatticeValue:
        """The lattice of an expression."""
        if isinstance(bounds, Auto):
            raise ParameterError("bounds", bounds.value, "must have been chosen before a statistic is lowered")
        facts = self.facts(value)
        if not is_factor:
            return steps_of(value, facts, bounds=bounds, what=name, centered=centered)
        return steps_of(value, facts, bounds=bounds, what=name, centered=centered, finest=MAX_FACTOR)

    def present(self, *values: Expression) -> ValueCount:
        """The number of rows in which no value of several is NULL."""
        return ValueCount(tuple(value for value in values if self.facts(value).nullable))

    def with_cells(self, cell: Cell) -> Statement:
        """Rows counted by cells within groups."""
        return Statement(rows=self.rows, keys=self.keys, measures=(RowCount(),), limits=self.limits, cell=cell)
