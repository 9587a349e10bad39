"""`Statement`: the exact half of a plan: what engines compute for each group, which is integers only.

Every statistic of a query is made of its measures; each knows the range of what one row adds to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts, fine_step
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.relations import Relation
from sfumato.query.model.schema import MAX_KEY, MAX_STEPS, Key, Limits

MOST_ROWS: Final = 2**40
"""No table has more rows."""

FEW_ROWS: Final = 2**33
"""A table of so many rows, as most are, has sums that doubles can hold."""

COARSEST: Final = Fraction(10**150)
"""A resolution is less than 2^500, as all doubles of a query are, and so is its inverse."""


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


def fits_doubles(measure: Measure) -> bool:
    """Whether doubles count one by one as far as the sum of a measure over any table of few rows."""
    return max(map(abs, measure.range())) * FEW_ROWS <= MAX_STEPS


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column of the rows to group by; with its public keys, or None where groups are shown by private selection."""

    name: str
    values: tuple[Key, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """Cells of equal width over the lattice of a number: (steps − lower) // width, a whole number from 0.

    Rows in which the number is NULL are in no cell.
    """

    steps: LatticeValue
    width: int

    @property
    def value(self) -> Expression:
        """What the cell of a row follows from."""
        return self.steps.value

    @property
    def count(self) -> int:
        """How many cells there are."""
        return (self.steps.upper - self.steps.lower) // self.width + 1

    def ends(self, place: int) -> tuple[int, int]:
        """The first and the last step of a cell."""
        first = self.steps.lower + place * self.width
        return first, min(first + self.width - 1, self.steps.upper)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Cells by the value of an expression; rows with NULL, or with a value that is not listed, are in no cell.

    `values` is None where every value is a cell; then cells are only counted, never shown.
    """

    value: Expression
    values: tuple[Key, ...] | None

    @property
    def count(self) -> int | None:
        """How many cells there are, if that is public."""
        return None if self.values is None else len(self.values)


Cell: TypeAlias = Bins | Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The exact half of a plan: integers per group, and per cell of it if there are cells.

    What engines do, whatever the data:

    1. Rows with a key or a cell that is NULL or not listed are left out, and rows with owners that have none.
    2. Where rows have owners, the rows of each (unit, keys, cell) are an *entry*: n rows, and for each measure its sum
       m and the number v of rows in which all of `measure.present` is not NULL.
    3. `max_groups_per_unit`: of each unit the groups with the least (`rank_hash(salt, unit, *keys)`, *keys) are kept.
    4. `max_rows_per_group_per_unit`, c: the entries of each (unit, keys), in the order of (`rank_hash(salt, unit,
       *keys, cell)`, cell), are allowed min(n, what is left of c) rows each.
    5. `max_rows_per_unit`, R: the entries of each unit, in the order of (`rank_hash(salt, unit, *keys[, cell])`,
       *keys[, cell]), are allowed min(what 4 allows, what is left of R) rows each.
    6. Of an entry that is allowed a rows, each measure is m if v ≤ a, else m·a/v cut off toward zero: in exact
       integers, so no measure is ever more than `a` rows could make it.
    7. Entries are added up by (keys, cell). `UnitCount` counts units with an entry that is allowed a row, `CellCount`
       different cells that are allowed one, in each group; a statement with `CellCount` is added up by keys alone.
    """

    rows: Relation
    keys: tuple[KeyColumn, ...]
    measures: tuple[Measure, ...]
    limits: Limits = field(default_factory=Limits)
    cell: Cell | None = None

    @property
    def shown_cell(self) -> Cell | None:
        """The cells that each have numbers of their own; None without cells, and where they are only counted."""
        return None if counts_cells(self.measures) else self.cell

    @property
    def group_count(self) -> int | None:
        """How many groups there are, 1 without keys; None if any key is private."""
        count = 1
        for key in self.keys:
            if key.values is None:
                return None
            count *= len(key.values)
        return count

    @property
    def bins(self) -> Bins:
        """Its cells, of which a quantile is chosen.

        Raises:
            TypeError: It has no such cells.
        """
        if not isinstance(self.cell, Bins):
            raise TypeError("a quantile is chosen from bins")
        return self.cell


def counts_cells(measures: Iterable[Measure]) -> bool:
    """Whether cells are only counted: entries are then added up by keys alone, as if there were no cells."""
    return any(isinstance(measure, CellCount) for measure in measures)
