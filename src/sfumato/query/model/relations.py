"""Relation nodes: what the front ends build, the analysis reads and the engines run. One frozen class a node.

Every relation maps the rows of one privacy unit (and public tables) to rows of that unit, and never looks at two units
at once; where each row is a unit, it moves few rows when one is added. All of privacy rests on that; see `stability`.

Source → … any tree of relations … → GroupBy, and above them `Aggregate` and `Presented` of `planning.questions`
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from sfumato.query.model.expressions import Condition, Expression
from sfumato.query.model.schema import Key, Table, UnitPath


@dataclass(frozen=True, slots=True)
class Source:
    """All rows of a table; of a private one with owners, those that have one, and no more matches than declared."""

    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePart:
    """One part of a partition of people: the rows with one value of `by`.

    A unit whose rows lie in more than `max_parts_per_unit` of the listed parts keeps that many, chosen by `salt`,
    which all parts of the partition share.
    """

    child: Source
    by: str
    values: tuple[Key, ...]
    value: Key
    max_parts_per_unit: int
    salt: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which a condition is true."""

    child: "Relation"
    condition: Condition


@dataclass(frozen=True, slots=True)
class Select:
    """Each row with other columns: names and what they are computed from. Derives, renames and drops columns."""

    child: "Relation"
    columns: tuple[tuple[str, Expression], ...]


class JoinKind(StrEnum):
    """Which rows of the left side a join keeps."""

    INNER = "inner"
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """Pairs of rows with equal values in the columns of `on`; NULL equals nothing.

    If both sides are private, the rows of a pair also belong to one unit; of a left join, rows without a partner have
    NULL in the columns of the right side. The two sides have no column name in common.

    * private ⋈ public: each row has at most as many partners as the public table declares in `matches`.
    * private ⋈ private, with owners: a join within each unit.
    * private ⋈ private, each row a unit: only if both sides are `Grouped` by exactly the columns of `on`.
    * public ⋈ public: public.
    """

    left: "Relation"
    right: "Relation"
    on: tuple[tuple[str, str], ...]
    kind: JoinKind = JoinKind.INNER


@dataclass(frozen=True, slots=True, kw_only=True)
class SemiJoin:
    """The rows that have a partner in `other` (or, if `negated`, that have none); EXISTS, IN.

    As in a `Join`, NULL equals nothing, and where both sides are private partners belong to one unit.
    """

    child: "Relation"
    other: "Relation"
    on: tuple[tuple[str, str], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of both sides, which have the same columns in the same order; named as on the left."""

    left: "Relation"
    right: "Relation"


@dataclass(frozen=True, slots=True)
class Intersect:
    """Each row as often as it is on both sides, the lesser of both counts (of one unit, where rows have owners)."""

    left: "Relation"
    right: "Relation"


@dataclass(frozen=True, slots=True)
class Except:
    """Each row as often as it is on the left more than on the right (of one unit, where rows have owners)."""

    left: "Relation"
    right: "Relation"


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each different row once (of one unit, where rows have owners)."""

    child: "Relation"


@dataclass(frozen=True, slots=True)
class BoundRows:
    """At most so many rows of each unit, the least by the salted hash of their values; below joins within units."""

    child: "Relation"
    max_rows_per_unit: int


class Fold(StrEnum):
    """How `Grouped` folds the values of one group, exactly; NULL is left out, and a fold of nothing is NULL."""

    COUNT_ROWS = "count_rows"  # no value; never NULL
    COUNT = "count"  # never NULL
    COUNT_DISTINCT = "count_distinct"  # never NULL
    SUM = "sum"  # of values clamped to the lattice of their bounds, so that order makes no difference
    MEAN = "mean"  # that sum over the count, in doubles
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Folded:
    """A column of `Grouped`; `value` is None for COUNT_ROWS alone."""

    name: str
    fold: Fold
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Grouped:
    """One row for each combination of the keys that occurs (of each unit, where rows have owners), NULL as a value too.

    GROUP BY in a sub-query, and PINQ's GroupBy. Where rows have owners it groups within each unit; without keys it has
    one row a unit.
    """

    child: "Relation"
    keys: tuple[str, ...]
    columns: tuple[Folded, ...]


class RowFunction(StrEnum):
    """What `RowWindow` computes of the rows before or after a row, in an order."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWindow:
    """Each row with one column more, of the rows of its unit (of public rows, of all) that agree in some columns.

    NULL is after all else in an order, or first where it is descending, and equals NULL in `within`. Rows that are
    equal by the order have one rank; else they stand in the order of all columns, ascending, so that rows that still
    are equal are alike.

    Attributes:
        child: The rows.
        name: What the new column is called.
        function: What it is.
        value: The column that LAG, LEAD and FIRST_VALUE read; None for ranks.
        distance: How many rows LAG and LEAD go; where there is none they are NULL.
        within: In which columns the rows agree.
        order: By which columns they are ordered, and whether that is descending.
    """

    child: "Relation"
    name: str
    function: RowFunction
    value: str | None = None
    distance: int = 1
    within: tuple[str, ...] = ()
    order: tuple[tuple[str, bool], ...] = ()


Relation: TypeAlias = (
    Source
    | PeoplePart
    | Filter
    | Select
    | Join
    | SemiJoin
    | UnionAll
    | Intersect
    | Except
    | Distinct
    | BoundRows
    | Grouped
    | RowWindow
)


@dataclass(frozen=True, slots=True)
class GroupBy:
    """The groups of an answer, by columns of `child`.

    Keys with public values have all of them in the answer, empty ones too; if any key has none, groups are shown by
    private selection, which costs δ.
    """

    child: Relation
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """What the answer calls the keys; their own names if empty."""
    sets: tuple[tuple[str, ...], ...] = ()
    """GROUPING SETS: which keys each set groups by; one set of all keys if empty."""


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """The relations that a relation is made of."""
    match relation:
        case Source():
            return ()
        case PeoplePart() | Filter() | Select() | Distinct() | BoundRows() | Grouped() | RowWindow():
            return (relation.child,)
        case SemiJoin():
            return (relation.child, relation.other)
        case Join() | UnionAll() | Intersect() | Except():
            return (relation.left, relation.right)


def lineage(relation: Relation) -> Iterator[Relation]:
    """A relation and all it is made of, from the outermost to the sources."""
    waiting = [relation]
    while waiting:
        step = waiting.pop()
        yield step
        waiting += reversed(inputs(step))


def tables_of(relation: Relation) -> tuple[Table, ...]:
    """The tables that a relation reads, each once, in the order of reading, owners of rows included."""
    found: dict[str, Table] = {}
    for step in lineage(relation):
        table = step.table if isinstance(step, Source) else None
        while table is not None:
            found.setdefault(table.name, table)
            table = table.unit.table if isinstance(table.unit, UnitPath) else None
    return tuple(found.values())


INTERVAL_ENDS: Final = ("_low", "_high")
"""What the two ends of an answer's interval are called, behind its name."""


def with_ends(name: str) -> tuple[str, ...]:
    """A column of an answer and the two ends of its interval.

    Example:
        >>> with_ends("n")
        ('n', 'n_low', 'n_high')
    """
    return (name, *(name + end for end in INTERVAL_ENDS))


def fresh(base: str, taken: Iterable[str]) -> str:
    """A name that is not taken, nor are the names of the ends of its interval; without regard to case.

    Example:
        >>> fresh("age", ["Age", "age_2"]), fresh("n", ["n_low"])
        ('age_3', 'n_2')
    """
    names = {name.lower() for name in taken}
    number, name = 1, base
    while not names.isdisjoint(f"{name}{end}".lower() for end in ("", *INTERVAL_ENDS)):
        number += 1
        name = f"{base}_{number}"
    return name
