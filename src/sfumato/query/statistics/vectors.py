"""Sums of several values as one vector, with one noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import ParameterError
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.statement import StepSum, is_whole_sum
from sfumato.query.statistics.means import is_wide_sum, sum_facts
from sfumato.query.statistics.measurements import LinearOutput
from sfumato.query.statistics.recipes import GroupedRows, NoisyMeasures, Recipe
from sfumato.query.statistics.statistic import Statistic, Value, numbered


@dataclass(frozen=True, slots=True)
class VectorSum(Statistic):
    """The sums of several values as one vector with one noise, cheaper than each sum alone under Gaussian noise."""

    stored: ClassVar = Names("VectorSum", unwritten=("values",))
    of_numbers: ClassVar = True
    adds_up: ClassVar = True

    values: tuple[Expression, ...]

    def sql(self, values: Sequence[str]) -> str:
        """As a function that SQL does not have."""
        return f"VECTOR_SUM({', '.join(values)})"

    def columns(self, name: str) -> tuple[str, ...]:
        """The names of the columns: one per value."""
        return numbered(name, len(self.values))

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """Each as of a sum alone."""
        return tuple(sum_facts(value, None, shape) for value in self.values)

    def wide_columns(self, name: str, shape: Shape) -> tuple[str, ...]:
        """Sums of whole numbers that 64 bits may not hold."""
        named = zip(self.columns(name), self.values, strict=True)
        return tuple(column for column, value in named if is_wide_sum(value, None, shape))

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """Refuse a sum of no values."""
        if not self.values:
            raise ParameterError(name, "no values", "must sum at least one expression")

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """One noise on sums of steps, each on its own lattice."""
        names = self.columns(name)
        steps = [rows.steps(value, None, column) for value, column in zip(self.values, names, strict=True)]
        are_whole = [is_whole_sum(rows.facts(value), None) for value in self.values]
        lattices = [one.resolution for one in steps]
        return Recipe(
            (NoisyMeasures(tuple(map(StepSum, steps))),),
            lambda places: tuple(
                LinearOutput(
                    name=column, measurement=places[0], coordinate=place, resolution=lattice, is_whole=is_whole
                )
                for place, (column, lattice, is_whole) in enumerate(zip(names, lattices, are_whole, strict=True))
            ),
        )


def vector_sum(*values: Value) -> Statistic:
    """The sums of several values, as one vector with one noise."""
    return VectorSum(tuple(map(expression_of, values)))
