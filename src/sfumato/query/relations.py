"""Relation nodes: what the front ends build, the analysis reads and the engines run. One frozen class a node.

Source → Part? → Filter* → Bound? → GroupBy → Aggregate
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sfumato.query.expressions import Condition
from sfumato.query.schema import Key, Limits, Table


@dataclass(frozen=True, slots=True)
class Source:
    """All rows of a table; rows without a privacy unit are dropped."""

    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a partition of people: the rows with one value of `by`.

    A unit whose rows lie in more than `max_parts_per_unit` of the listed parts keeps that many, chosen by `salt`,
    which all parts of the partition share.
    """

    child: "Rows"
    by: str
    values: tuple[Key, ...]
    value: Key
    max_parts_per_unit: int
    salt: str


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which a condition is true."""

    child: "Rows"
    condition: Condition


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many rows and groups of each unit, a sample of the unit's own rows."""

    child: "Rows"
    limits: Limits


Rows: TypeAlias = Source | Part | Filter | Bound


@dataclass(frozen=True, slots=True)
class GroupBy:
    """Groups by public keys: one group for each combination, empty ones too; rows with other keys are left out."""

    child: Rows
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """What the answer calls the keys; their own names if empty."""


@dataclass(frozen=True, slots=True)
class CountRows:
    """COUNT(*)."""


@dataclass(frozen=True, slots=True)
class CountValues:
    """COUNT(column): the rows in which it is not NULL."""

    column: str


@dataclass(frozen=True, slots=True)
class Sum:
    """SUM(column), of values clamped to the declared bounds; 0 over nothing."""

    column: str


@dataclass(frozen=True, slots=True)
class Mean:
    """AVG(column), of values clamped to the declared bounds: from one noisy sum and one noisy count."""

    column: str


Statistic: TypeAlias = CountRows | CountValues | Sum | Mean


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Named statistics of each group: a whole question."""

    child: GroupBy
    statistics: tuple[tuple[str, Statistic], ...]


def lineage(rows: Rows) -> Iterator[Rows]:
    """A relation and all it is made of, from the outermost to the source."""
    yield rows
    if not isinstance(rows, Source):
        yield from lineage(rows.child)


def table_of(rows: Rows) -> Table:
    """The table at the root of a relation."""
    *_, source = lineage(rows)
    if not isinstance(source, Source):
        raise TypeError("a relation ends in a source")
    return source.table
