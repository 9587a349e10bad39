"""What an engine computes for each group: integers only.

Every statistic of a question is made of these; each knows the range of what one row adds to it.
"""

from dataclasses import dataclass
from typing import TypeAlias

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.schema import Column, Kind, Table


@dataclass(frozen=True, slots=True)
class RowCount:
    """The number of rows."""

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        return 1, 1


@dataclass(frozen=True, slots=True)
class ValueCount:
    """The number of rows in which a column is not NULL."""

    column: str
    nullable: bool

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        return (0, 1) if self.nullable else (1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSum:
    """The sum of a column in lattice steps, each value clamped to [lower, upper] and then moved by −offset."""

    column: str
    lower: int
    upper: int
    offset: int
    nullable: bool

    @property
    def null_amount(self) -> int:
        """What a NULL adds: 0, or where the column is not nullable, what the bound nearest to 0 adds."""
        return 0 if self.nullable else min(max(0, self.lower), self.upper) - self.offset

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        low, high = self.lower - self.offset, self.upper - self.offset
        return (min(low, 0), max(high, 0)) if self.nullable else (low, high)


Measure: TypeAlias = RowCount | ValueCount | StepSum


def step_sum(table: Table, column: str, *, centred: bool) -> StepSum:
    """The clamped sum of a column, moved so that the middle of its bounds is 0 if `centred`.

    Raises:
        UnboundedSensitivityError: The column has no bounds.
        ParameterError: The column is no number.
    """
    facts = numeric_column(table, column)
    if facts.bounded_steps is None:
        raise UnboundedSensitivityError(
            table.name, column, f"Declare bounds in the policy, such as bounds = [0, 100] for {column}."
        )
    lower, upper = facts.bounded_steps
    offset = (lower + upper) // 2 if centred else 0
    return StepSum(column=column, lower=lower, upper=upper, offset=offset, nullable=facts.nullable)


def numeric_column(table: Table, column: str) -> Column:
    """The facts of a column that can be summed."""
    facts = table.column(column)
    if facts.kind not in {Kind.INTEGER, Kind.FLOAT}:
        raise ParameterError("column", column, f"must be a number to be summed; it is declared as {facts.kind}")
    return facts
