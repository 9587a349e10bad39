"""`Statement`: the exact half of a plan, integers per group, and what engines do to compute it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from sfumato.query.model.expressions import Expression
from sfumato.query.model.measures import CellCount, LatticeValue, Measure
from sfumato.query.model.relations import Relation
from sfumato.query.model.schema import Key, Limits


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


def counts_cells(measures: Iterable[Measure]) -> bool:
    """Whether cells are only counted: entries are then added up by keys alone, as if there were no cells."""
    return any(isinstance(measure, CellCount) for measure in measures)
