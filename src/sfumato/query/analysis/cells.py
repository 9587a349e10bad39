"""The cells of a table by the public values of some columns, and in which group of a query the rows of each are.

A column has the values that the policy lists for it, or those between its bounds; beside them there is NULL, and
whatever else may be stored: below the bounds, above them, or not listed. What a condition or a key says of such a row
is known where it compares the column with a constant, and else it is unknown.

**Guarantee**: whatever is stored, each row is in exactly one cell; and all rows of a cell of which a group is said are
in it. Proof: proofs/session/asking/free_answers.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod
from typing import Any, Final, TypeAlias

from sfumato.query.analysis.keys import public_values
from sfumato.query.analysis.shape import Shape, shape_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import (
    And,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    columns_of,
)
from sfumato.query.model.intervals import place_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Key, Table
from sfumato.query.values.cells import Cell
from sfumato.query.values.evaluation import constant, evaluate


class Beyond(Enum):
    """What a column may hold that is no public value and not NULL."""

    BELOW = "below its bounds"
    ABOVE = "above its bounds"
    UNLISTED = "not listed"


class Unknown(Enum):
    """What a row of a cell may be one way or the other."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Held: TypeAlias = Cell | Beyond
Group: TypeAlias = tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCells:
    """All combinations of what some columns of a table may hold.

    Attributes:
        table: The table.
        columns: For each of them what it may hold.
    """

    table: Table
    columns: Mapping[str, tuple[Held, ...]]

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(map(len, self.columns.values()))

    def __iter__(self) -> Iterator[Mapping[str, Held]]:
        for held in product(*self.columns.values()):
            yield dict(zip(self.columns, held, strict=True))


def held_by(table: Table, column: str) -> tuple[Held, ...] | None:
    """What a column may hold; None where its values are not public.

    Example:
        >>> from sfumato.query.model.schema import integer
        >>> held_by(Table(name="t", columns={"n": integer(1, 2)}), "n")
        (1, 2, None, <Beyond.BELOW: 'below its bounds'>, <Beyond.ABOVE: 'above its bounds'>)
    """
    source = Source(table)
    values = public_values(source, column)
    if values is None:
        return None
    if all(isinstance(value, bool) for value in values) and len(values) == len((True, False)):
        return (*values, None)
    is_listed = table.columns[column].values is not None
    return (*values, None, Beyond.UNLISTED) if is_listed else (*values, None, Beyond.BELOW, Beyond.ABOVE)


class CellGroups:
    """In which group the rows of a cell are, by a condition and keys over the columns of a table.

    Args:
        table: The table.
        where: Which rows are in groups at all.
        keys: What they are grouped by.
    """

    def __init__(self, table: Table, where: Expression, keys: Sequence[Expression]) -> None:
        self._source = Source(table)
        self._shape: Shape = shape_of(self._source)
        self._where = unmixed(where, self._shape.columns)
        self._keys = [unmixed(key, self._shape.columns) for key in keys]
        self.columns = frozenset().union(columns_of(where), *map(columns_of, keys))

    def group(self, cell: Mapping[str, Held]) -> Group | Unknown | None:
        """The values of the keys, or None where the rows are in no group."""
        held = self._truth(self._where, cell)
        if held is not True and held is not UNKNOWN:
            return None
        values = [self._value(key, cell) for key in self._keys]
        if None in values:
            return None
        if held is UNKNOWN or UNKNOWN in values:
            return UNKNOWN
        return tuple(value for value in values if not isinstance(value, Unknown | None))

    def _value(self, expression: Expression, cell: Mapping[str, Held]) -> Any:
        """A value; None also of a key that is a column and holds what is not listed, as such rows are in no group."""
        if isinstance(expression, ColumnRef):
            held = cell[expression.name]
            return None if isinstance(held, Beyond) else held
        if any(isinstance(cell[name], Beyond) for name in columns_of(expression)):
            return self._chosen(expression, cell) if isinstance(expression, Case) else UNKNOWN
        return evaluate(expression, cell)  # type: ignore[arg-type] # none of what it reads is beyond

    def _chosen(self, choice: Case, cell: Mapping[str, Held]) -> Any:
        """The value of a CASE of which some columns hold what is beyond their public values."""
        value = choice.default
        for condition, own in choice.branches:
            truth = self._truth(condition, cell)
            if truth is UNKNOWN:
                return UNKNOWN
            if truth is True:
                value = own
                break
        is_beyond = any(isinstance(cell[name], Beyond) for name in columns_of(value))
        return UNKNOWN if is_beyond else self._value(value, cell)

    def _truth(self, condition: Expression, cell: Mapping[str, Held]) -> bool | Unknown | None:
        """Whether a condition holds; None is NULL."""
        match condition:
            case And(conditions):
                return _all([self._truth(one, cell) for one in conditions])
            case Or(conditions):
                return _not(_all([_not(self._truth(one, cell)) for one in conditions]))
            case Not(inner):
                return _not(self._truth(inner, cell))
            case _ if not any(isinstance(cell[name], Beyond) for name in columns_of(condition)):
                return evaluate(condition, cell)  # type: ignore[arg-type,return-value] # none is beyond; a truth
            case Compare(comparison, ColumnRef(name), Literal() as other):
                return self._compared(comparison, name, cell[name], other)
            case IsIn(ColumnRef(name), values):
                return _not(_all([_not(self._compared(Comparison.EQUAL, name, cell[name], one)) for one in values]))
            case IsNull(ColumnRef()):
                return False
            case _:
                return UNKNOWN

    def _compared(self, comparison: Comparison, name: str, held: Held, other: Literal) -> bool | Unknown:
        """A column that is beyond its public values beside a constant: it is on one side of all between the bounds."""
        interval, place = self._shape.column(name).interval, place_of(other.value)
        if held is Beyond.UNLISTED:
            listed = public_values(self._source, name) or ()
            is_listed = constant(other.value) in listed
            unequal = {Comparison.EQUAL: False, Comparison.NOT_EQUAL: True}
            return unequal.get(comparison, UNKNOWN) if is_listed else UNKNOWN
        if place is None or interval.lower is None or interval.upper is None:
            return UNKNOWN
        step = 1 if self._shape.column(name).kind in _WHOLE else 0  # beyond a bound is at least one step away
        if held is Beyond.BELOW:
            is_known = place >= interval.lower - (step if comparison in _UP_TO else 0)
            return comparison in _OF_LESS if is_known else UNKNOWN
        is_known = place <= interval.upper + (step if comparison in _BEFORE else 0)
        return comparison in _OF_MORE if is_known else UNKNOWN


_WHOLE: Final = frozenset({Kind.INTEGER, Kind.DATE})
_UP_TO: Final = frozenset({Comparison.LESS_EQUAL, Comparison.GREATER})
_BEFORE: Final = frozenset({Comparison.LESS, Comparison.GREATER_EQUAL})
_OF_LESS: Final = frozenset({Comparison.LESS, Comparison.LESS_EQUAL, Comparison.NOT_EQUAL})
_OF_MORE: Final = frozenset({Comparison.GREATER, Comparison.GREATER_EQUAL, Comparison.NOT_EQUAL})


Truth: TypeAlias = bool | Unknown | None


def _not(truth: Truth) -> Truth:
    return not truth if isinstance(truth, bool) else truth


def _all(truths: Sequence[Truth]) -> Truth:
    """AND: false if one is, else unknown if one is, else NULL if one is."""
    for decisive in (False, UNKNOWN, None):
        if any(truth is decisive for truth in truths):
            return decisive
    return True
