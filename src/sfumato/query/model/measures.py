"""What an engine computes for each group: integers only.

Every statistic of a question is made of these; each knows the range of what one row adds to it.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts, fine_step
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import MAX_KEY, MAX_STEPS

MOST_ROWS: Final = 2**40
"""No table has more rows."""

COARSEST: Final = Fraction(10**150)
"""A resolution is less than 2^500, as all doubles of a question are, and so is its inverse."""


class Auto(StrEnum):
    """What may be left to a mechanism."""

    AUTO = "auto"


AUTO: Final = Auto.AUTO
Bounds: TypeAlias = tuple[Fraction, Fraction] | Auto | None
"""What values are clamped to: stated by the analyst, chosen privately, or (None) as the policy says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeValue:
    """A number on a lattice: floor(x / resolution + 1/2) in doubles, clamped to [lower, upper], less `offset`.

    `lower`, `upper` and `offset` are whole numbers of steps.
    """

    value: Expression
    resolution: Fraction
    lower: int
    upper: int
    offset: int
    nullable: bool

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ParameterError(
                "bounds", (self.lower, self.upper), "must have the lower bound at or below the upper bound"
            )
        if max(abs(self.lower), abs(self.upper)) > MAX_STEPS:
            raise ParameterError("bounds", "a number", f"must lie within 2^53 multiples of {self.resolution}")
        if not 1 / COARSEST <= self.resolution <= COARSEST:
            raise ParameterError("resolution", "out of range", "must lie between 1e-150 and 1e150")

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most that a value is, less the offset."""
        return self.lower - self.offset, self.upper - self.offset

    @property
    def null_amount(self) -> int:
        """What a NULL adds: 0; or, should one turn up where none can be, what the bound nearest to 0 adds."""
        return 0 if self.nullable else min(max(0, self.lower), self.upper) - self.offset


@dataclass(frozen=True, slots=True)
class RowCount:
    """The number of rows."""

    @property
    def present(self) -> tuple[Expression, ...]:
        """What must not be NULL for a row to add anything; nothing."""
        return ()

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        return 1, 1


@dataclass(frozen=True, slots=True)
class ValueCount:
    """The number of rows in which a value (or each of several) is not NULL; of those that can be."""

    present: tuple[Expression, ...]

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        return (0, 1) if self.present else (1, 1)


@dataclass(frozen=True, slots=True)
class StepSum:
    """The sum of a number in lattice steps; a NULL adds nothing."""

    steps: LatticeValue

    @property
    def present(self) -> tuple[Expression, ...]:
        """What must not be NULL for a row to add anything."""
        return (self.steps.value,) if self.steps.nullable else ()

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        low, high = self.steps.ends
        return (min(low, 0), max(high, 0)) if self.steps.nullable else (low, high)


@dataclass(frozen=True, slots=True)
class StepProduct:
    """The sum of products of two numbers in lattice steps; a row in which either is NULL adds nothing."""

    first: LatticeValue
    second: LatticeValue

    @property
    def present(self) -> tuple[Expression, ...]:
        """What must not be NULL for a row to add anything."""
        both = (self.first, self.second)
        return tuple(dict.fromkeys(steps.value for steps in both if steps.nullable))

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most: a square is never below 0."""
        products = [a * b for a in self.first.ends for b in self.second.ends]
        low, high = min(products), max(products)
        if self.first == self.second:
            low = 0 if self.first.ends[0] <= 0 <= self.first.ends[1] else min(end**2 for end in self.first.ends)
        return (min(low, 0), max(high, 0)) if self.present else (low, high)


@dataclass(frozen=True, slots=True)
class UnitCount:
    """The number of units that have a row; where each row is a unit, the number of rows."""

    @property
    def present(self) -> tuple[Expression, ...]:
        """What must not be NULL for a row to add anything; nothing."""
        return ()

    def range(self) -> tuple[int, int]:
        """What one unit adds, at least and at most."""
        return 0, 1


@dataclass(frozen=True, slots=True)
class CellCount:
    """The number of different values of the statement's cell among the rows that are kept; NULL is none."""

    @property
    def present(self) -> tuple[Expression, ...]:
        """What must not be NULL for a row to add anything; the cell is never NULL."""
        return ()

    def range(self) -> tuple[int, int]:
        """What one row adds, at least and at most."""
        return 0, 1


Measure: TypeAlias = RowCount | ValueCount | StepSum | StepProduct | UnitCount | CellCount

HOW_TO_BOUND: Final = (
    "Declare bounds in the policy, or state some: bounds=(0, 100) in Python, in SQL "
    "CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, 0), 100) END."
)
"""NULL has to stay NULL, though LEAST and GREATEST leave it out."""

LARGEST_FACTOR: Final = 2**26
"""Products are of numbers of at most so many steps, so that 128 bits hold the sums of all of them."""


def steps_of(
    value: Expression, facts: Facts, *, bounds: tuple[Fraction, Fraction] | None, what: str, centered: bool = False,
    finest: int = MAX_STEPS,
) -> LatticeValue:  # fmt: skip
    """The lattice steps of an expression, clamped to the stated bounds, or else to what is known of it.

    Args:
        value: The expression.
        facts: What is known of it.
        bounds: What the analyst states, or None.
        what: What errors call it.
        centered: Whether to move the middle of the bounds to 0.
        finest: How many steps the bounds may have at most; the lattice is made coarser where they would have more.

    Raises:
        UnboundedSensitivityError: Nothing bounds it.
        ParameterError: It is no number.
    """
    if facts.kind not in NUMBERS:
        raise ParameterError("expression", what, f"must be a number to be summed; it is of kind {facts.kind}")
    lower, upper = bounds or (facts.interval.lower, facts.interval.upper)
    if lower is None or upper is None:
        missing = " and ".join(n for n, end in (("lower", lower), ("upper", upper)) if end is None)
        raise UnboundedSensitivityError("expression", what, f"It has no {missing} bound. {HOW_TO_BOUND}")
    if bounds is not None:
        finest = min(finest, LARGEST_FACTOR)  # noise is wider than so fine a step, whatever the policy's lattice
    resolution = facts.lattice if bounds is None or facts.resolution is not None else fine_step(*bounds)
    while max(abs(lower), abs(upper)) / resolution >= MAX_STEPS or (upper - lower) / resolution > finest:
        resolution *= 2
    first, last = (floor(end / resolution + Fraction(1, 2)) for end in (lower, upper))
    return LatticeValue(
        value=value, resolution=resolution, lower=first, upper=last, offset=(first + last) // 2 if centered else 0,
        nullable=facts.nullable,
    )  # fmt: skip


def fits(measure: Measure) -> bool:
    """Whether 64 bits hold the sum of a measure over any table."""
    return max(map(abs, measure.range())) * MOST_ROWS <= MAX_KEY


def is_whole_sum(facts: Facts, bounds: Bounds) -> bool:
    """Whether a sum is shown as a whole number: one of INTEGERs that 64 bits hold over any table.

    A wider one is shown as a FLOAT, whatever the data: no type of an answer depends on what is in it. So is one whose
    bounds are yet to be chosen.

    Args:
        facts: What is known of the expression that is summed.
        bounds: What is stated of it.

    Example:
        >>> from sfumato.query.model.facts import of_column
        >>> from sfumato.query.model.schema import integer
        >>> [is_whole_sum(of_column(integer(0, most)), None) for most in (8_388_607, 8_388_608)]
        [True, False]
    """
    if facts.kind is not Kind.INTEGER or bounds is AUTO:
        return False
    ends = bounds or (facts.interval.lower, facts.interval.upper)
    return all(end is None or abs(end) * MOST_ROWS <= MAX_KEY for end in ends)
