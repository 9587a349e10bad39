"""What a statistic is made of: components that each get a share of the budget, and outputs made of all of them."""

import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.query.analysis.shape import Shape
from sfumato.query.model.expressions import Call, Case, ColumnRef, Expression, Literal
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.functions import RANGE, Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Relation
from sfumato.query.model.schema import MAX_KEY, Limits
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

LARGEST_FLOAT: Final = 2**RANGE
"""Doubles of a query lie below it."""

_TOTAL: Final = frozenset({
    Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.NEGATE, Function.ABS, Function.FLOOR, Function.CEIL,
    Function.TRUNC, Function.ROUND, Function.LEAST, Function.GREATEST,
})  # fmt: skip
"""Functions of numbers that have a value everywhere, as far as their kind goes."""

Side: TypeAlias = typing.Literal["lower", "upper"]


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
class BinQuantiles:
    """Several quantiles of each group, in ascending order, from the bins of a statement of its own, by one choice."""

    statement: Statement
    quantiles: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class TopCells:
    """The most frequent values of each group, from the cells of a statement of its own."""

    statement: Statement
    k: int


Component: TypeAlias = NoisyMeasures | NoisyCells | BinQuantile | BinQuantiles | TopCells


Outputs: TypeAlias = Callable[[Sequence[int]], tuple[Output, ...]]
"""The outputs of a statistic, given the measurement of each of its components."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a statistic is made of.

    Attributes:
        components: What is measured for it; perhaps for other statistics, too.
        outputs: The columns that it makes of the measurements.
        parts: What each component would get of a budget for this statistic alone, in proportion; equal parts if empty.
        centered: Other ways to the same number, around the middle of its bounds.
    """

    components: tuple[Component, ...]
    outputs: Outputs
    parts: tuple[int, ...] = ()
    centered: "tuple[CenteredSum, ...]" = ()


@dataclass(frozen=True, slots=True)
class CenteredSum:
    """A sum as that of distances from the middle of the bounds, plus a count times the middle, in lattice steps."""

    count: NoisyMeasures
    total: NoisyMeasures
    middle: int
    outputs: Outputs


def single(
    component: Component,
    name: str,
    *,
    resolution: Fraction = Fraction(1),
    is_whole: bool = True,
    centered: tuple[CenteredSum, ...] = (),
) -> Recipe:
    """A statistic that is one noisy number."""

    def outputs(places: Sequence[int]) -> tuple[Output, ...]:
        return (LinearOutput(name=name, measurement=places[0], resolution=resolution, is_whole=is_whole),)

    return Recipe((component,), outputs, centered=centered)


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
        """What is known of an expression over these rows.

        By the rules since the second edition it is never NULL if it would be so only where a double overflows. Such a
        row then adds what the bound nearest to 0 does, as a NULL in a column that is declared to have none.
        """
        facts = self.shape.facts(value)
        is_present = facts.nullable and self.shape.edition is not Edition.FIRST and _is_present(value, self.shape)
        return replace(facts, nullable=False) if is_present else facts

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


def _is_present(value: Expression, shape: Shape) -> bool:
    """Whether values within the bounds of columns that are never NULL make a number that is never NULL."""
    match value:
        case ColumnRef() | Literal():
            return not shape.facts(value).nullable
        case Case(branches, default):
            return all(_is_present(inner, shape) for inner in (*(inner for _, inner in branches), default))
        case Call(function, (_, divisor)) if function is Function.DIVIDE:
            interval = shape.facts(divisor).interval
            is_0 = (interval.lower is None or interval.lower <= 0) and (interval.upper is None or interval.upper >= 0)
            return not is_0 and _is_computed(value, shape)
        case Call(function, _) if function in _TOTAL:
            return _is_computed(value, shape)
        case _:
            return False


def _is_computed(call: Call, shape: Shape) -> bool:
    """Whether a call of a function that has a value everywhere has one within its kind."""
    facts = shape.facts(call)
    ends = facts.interval.lower, facts.interval.upper
    most = MAX_KEY if facts.kind is Kind.INTEGER else LARGEST_FLOAT
    is_within = all(end is not None and abs(end) < most for end in ends)
    return is_within and all(_is_present(argument, shape) for argument in call.arguments)
