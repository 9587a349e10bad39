"""Relation nodes: what the front ends build, the analysis reads and the engines run. One frozen class a node.

Every relation maps the rows of one privacy unit (and public tables) to rows of that unit, and never looks at two units
at once; where each row is a unit, it moves few rows when one is added. All of privacy rests on that; see `stability`.

Source → … any tree of relations … → GroupBy → Aggregate → Presented
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.query.model.expressions import Condition, Expression
from sfumato.query.model.schema import Key, Limits, Table, UnitPath


@dataclass(frozen=True, slots=True)
class Source:
    """All rows of a table; of a private one with owners, those that have one, and no more matches than declared."""

    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
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
class Bound:
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


Relation: TypeAlias = (
    Source | Part | Filter | Select | Join | SemiJoin | UnionAll | Intersect | Except | Distinct | Bound | Grouped
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


class Auto(StrEnum):
    """What may be left to a mechanism."""

    AUTO = "auto"


AUTO: Final = Auto.AUTO
Bounds: TypeAlias = tuple[Fraction, Fraction] | Auto | None
"""What values are clamped to: stated by the analyst, chosen privately, or (None) as the policy says."""


@dataclass(frozen=True, slots=True)
class CountRows:
    """COUNT(*)."""


@dataclass(frozen=True, slots=True)
class CountValues:
    """COUNT(x): the rows in which it is not NULL."""

    value: Expression


@dataclass(frozen=True, slots=True)
class CountUnits:
    """COUNT(DISTINCT unit): how many units have a row."""


@dataclass(frozen=True, slots=True)
class CountDistinct:
    """COUNT(DISTINCT x): how many different values there are, at most `max_values_per_unit` of one unit counted.

    None counts as many as a unit may have rows in a group.
    """

    value: Expression
    max_values_per_unit: int | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """SUM(x), of values clamped to bounds; 0 over nothing."""

    value: Expression
    bounds: Bounds = None


@dataclass(frozen=True, slots=True)
class Mean:
    """AVG(x), of values clamped to bounds: from one noisy sum and one noisy count."""

    value: Expression
    bounds: Bounds = None


@dataclass(frozen=True, slots=True)
class Variance:
    """VAR_SAMP(x), or VAR_POP(x) if `population`; their square roots if `root` (STDDEV)."""

    value: Expression
    bounds: Bounds = None
    population: bool = False
    root: bool = False


@dataclass(frozen=True, slots=True)
class Covariance:
    """COVAR_SAMP(x, y), or COVAR_POP if `population`; CORR(x, y) if `normalized`."""

    first: Expression
    second: Expression
    population: bool = False
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class Quantile:
    """PERCENTILE: a value with a share of about `quantile` below it; 0 is MIN, 1/2 MEDIAN, 1 MAX.

    With an `interval` two thirds of its price go to a value surely at or below it, and one surely at or above it.
    """

    value: Expression
    quantile: Fraction
    bounds: Bounds = None
    interval: bool = False


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values between public `edges`, ascending: [e₀, e₁), …, [eₖ₋₁, eₖ]; others are left out."""

    value: Expression
    edges: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class TopK:
    """The `k` most frequent of the public values of x, most frequent first; MODE for k = 1."""

    value: Expression
    k: int = 1


@dataclass(frozen=True, slots=True)
class VectorSum:
    """The sums of several values as one vector with one noise, cheaper than each sum alone under Gaussian noise."""

    values: tuple[Expression, ...]


Statistic: TypeAlias = (
    CountRows | CountValues | CountUnits | CountDistinct | Sum | Mean | Variance | Covariance | Quantile | Histogram
    | TopK | VectorSum
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Named statistics of each group: all that is released.

    Attributes:
        child: The rows and their groups.
        statistics: Names and what they are.
        limits: Limits of a unit narrower than the policy's, as the analyst asks; None leaves the policy's.
        weights: Shares of the budget, one a statistic, above 0; equal ones if empty.
    """

    child: GroupBy
    statistics: tuple[tuple[str, Statistic], ...]
    limits: Limits | None = None
    weights: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What answers are sorted by."""

    value: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Presented:
    """A whole question: what is released, and how the answer is shown, which is free.

    Expressions here read released columns: keys by their labels, statistics by their names.

    Attributes:
        child: What is released.
        columns: The columns of the answer; empty for all keys, then all statistics.
        having: Which rows of the answer are shown.
        order: What the rows are sorted by; else by keys.
        limit: How many are shown.
        offset: How many are left out first.
        consistent: Whether sums over GROUPING SETS are made to add up.
    """

    child: Aggregate
    columns: tuple[tuple[str, Expression], ...] = ()
    having: Condition | None = None
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    consistent: bool = False


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """The relations that a relation is made of."""
    match relation:
        case Source():
            return ()
        case Part() | Filter() | Select() | Distinct() | Bound() | Grouped():
            return (relation.child,)
        case SemiJoin():
            return (relation.child, relation.other)
        case Join() | UnionAll() | Intersect() | Except():
            return (relation.left, relation.right)


def lineage(relation: Relation) -> Iterator[Relation]:
    """A relation and all it is made of, from the outermost to the sources."""
    yield relation
    for inner in inputs(relation):
        yield from lineage(inner)


def tables_of(relation: Relation) -> tuple[Table, ...]:
    """The tables that a relation reads, each once, in the order of reading, owners of rows included."""
    found: dict[str, Table] = {}
    for step in lineage(relation):
        table = step.table if isinstance(step, Source) else None
        while table is not None:
            found.setdefault(table.name, table)
            table = table.unit.table if isinstance(table.unit, UnitPath) else None
    return tuple(found.values())


def values_of(statistic: Statistic) -> tuple[Expression, ...]:
    """The expressions that a statistic reads."""
    match statistic:
        case CountRows() | CountUnits():
            return ()
        case Covariance(first, second):
            return (first, second)
        case VectorSum(values):
            return values
        case _:
            return (statistic.value,)
