"""Columns and rows that models are fitted to: whole numbers alone, each within what is declared of its column."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.numeric.rationals import set_fields
from sfumato.query.handles.conditions import clamped
from sfumato.query.model.expressions import Call, ColumnRef, Expression, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import Key

STEPS: Final = 4096
"""How many steps the bounds of a number are apart on the lattice of a training set, at most."""

MAX_CATEGORIES: Final = 1_000
"""How many values a category has at most."""

Codes: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingColumn:
    """One column of a training set, as it is declared; nothing of it follows from the rows.

    A number x has the code k = ⌊(x − lower)/(upper − lower)·steps + ½⌋, from 0 to `steps`, after it is clamped to its
    bounds. A category has as its code its place in `values`.

    Attributes:
        name: The name of the column.
        lower: Of a number its lower bound, else None.
        upper: Of a number its upper bound, above the lower one.
        steps: Of a number how many lattice steps its bounds are apart.
        values: Of a category its values, else None.

    Raises:
        ParameterError: It has neither bounds nor values, or both, or bounds that are equal.

    Example:
        >>> age = TrainingColumn(name="age", lower=Fraction(0), upper=Fraction(100), steps=200)
        >>> age.decode(np.array([0, 61])).tolist()
        [0.0, 30.5]
    """

    name: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    steps: int = STEPS
    values: tuple[Key, ...] | None = None

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None) or (self.lower is None) == (self.values is None):
            raise ParameterError(self.name, "a column", "must have either two bounds or a list of values")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            bounds = str(self.lower), str(self.upper)
            raise ParameterError(self.name, bounds, "must have the lower bound below the upper bound")
        if self.values is not None:
            if not 0 < len(self.values) <= MAX_CATEGORIES or len(set(self.values)) != len(self.values):
                requirement = f"must have from 1 to {MAX_CATEGORIES:,} different values"
                raise ParameterError(self.name, f"{len(self.values):,} values", requirement)
            set_fields(self, steps=len(self.values) - 1)

    @property
    def is_number(self) -> bool:
        """Whether it is a number; else it is a category."""
        return self.values is None

    def decode(self, codes: Codes) -> npt.NDArray[np.float64]:
        """The numbers that codes of a number stand for.

        Raises:
            TypeError: It is a category.
        """
        if self.lower is None or self.upper is None:
            raise TypeError("a category has values, not numbers")
        step = float(self.upper - self.lower) / self.steps
        return np.asarray(float(self.lower) + codes * step, dtype=np.float64)

    def encode(self, values: Sequence[Any] | npt.NDArray[Any]) -> Codes:
        """The codes of some values: clamped, on the lattice; -1 for a value that is missing or not listed."""
        if self.values is not None:
            places = {value: place for place, value in enumerate(self.values)}
            return np.fromiter((places.get(value, -1) for value in values), dtype=np.int32, count=len(values))
        if self.lower is None or self.upper is None:
            raise TypeError("a number has bounds")
        numbers = np.asarray(values, dtype=np.float64)
        lower, upper = float(self.lower), float(self.upper)
        inside = np.clip(np.where(np.isnan(numbers), lower, numbers), lower, upper)
        lattice = np.floor((inside - lower) / (upper - lower) * self.steps + 0.5)
        codes = np.clip(lattice, 0, self.steps).astype(np.int32)
        codes[np.isnan(numbers)] = -1
        return codes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRows:
    """The rows of a training set, which only a fit may see; nothing of them is shown.

    Attributes:
        codes: One row a row of data, one column a `TrainingColumn`: its codes.
        target: The codes of the target; None where there is none.
        units: The unit of each row, as whole numbers from 0; None where the rows of a unit are not known.
    """

    codes: Codes = field(repr=False)
    target: Codes | None = field(repr=False)
    units: Codes | None = field(default=None, repr=False)


def training_column(name: str, facts: Facts, *, values: tuple[Key, ...] | None = None) -> TrainingColumn:
    """A column as a query declares it: a number by its bounds, anything else by its listed values.

    Args:
        name: Its name.
        facts: What is publicly known of it.
        values: Its values where the caller lists them.

    Raises:
        UnboundedSensitivityError: It has neither bounds nor values.
    """
    if values is not None:
        return TrainingColumn(name=name, values=values)
    lower, upper = facts.interval.lower, facts.interval.upper
    if facts.kind in NUMBERS and lower is not None and upper is not None and lower < upper:
        width = upper - lower
        is_fine = facts.kind is Kind.INTEGER and width.denominator == 1 and width <= STEPS
        return TrainingColumn(name=name, lower=lower, upper=upper, steps=int(width) if is_fine else STEPS)
    if facts.values is None:
        raise UnboundedSensitivityError(
            "training set", name, "Declare bounds or values in the policy, or leave the column out of the query."
        )
    return TrainingColumn(name=name, values=facts.values)


def code_of(column: TrainingColumn, facts: Facts) -> Expression:
    """What an engine computes of each row for a column: the code of a number, or the value of a category."""
    value: Expression = ColumnRef(column.name)
    if column.lower is None or column.upper is None:
        return value
    lower = Literal(column.lower)
    inside = clamped(value, lower, Literal(column.upper), facts)
    step = (column.upper - column.lower) / column.steps
    if step == 1 and facts.kind is Kind.INTEGER:
        return Call(Function.SUBTRACT, (inside, lower))
    moved = Call(Function.SUBTRACT, (Call(Function.TO_FLOAT, (inside,)), lower))
    return Call(Function.TO_INTEGER, (Call(Function.DIVIDE, (moved, Literal(step))),))


def found_codes(column: TrainingColumn, found: Sequence[Key]) -> Codes:
    """What an engine found for `code_of`, as codes within the declared range, whatever it found."""
    if column.values is not None:
        return column.encode(found)
    return np.clip(np.array(found, dtype=np.int64), 0, column.steps).astype(np.int32)
