"""Sums over GROUPING SETS that can be made to add up: additive statistics of the rows with listed keys."""

from itertools import combinations
from typing import Final

from sfumato.errors import ParameterError
from sfumato.query.analysis.bounding import limits_of, narrowed
from sfumato.query.analysis.conditions import literal
from sfumato.query.analysis.keys import key_columns
from sfumato.query.analysis.shape import Shape
from sfumato.query.model.expressions import And, ColumnRef, IsIn
from sfumato.query.model.relations import (
    CountRows,
    CountValues,
    Filter,
    GroupBy,
    Histogram,
    Relation,
    Statistic,
    Sum,
    VectorSum,
)
from sfumato.query.model.schema import Limits

MAX_OVERLAPS: Final = 128
"""How many different intersections grouping sets may have."""

_ADDITIVE: Final = (CountRows, CountValues, Sum, Histogram, VectorSum)


def with_listed_keys(group_by: GroupBy, statistics: tuple[tuple[str, Statistic], ...], shape: Shape) -> Relation:
    """The rows with public keys only, so that each total is of the rows of its parts.

    Raises:
        ParameterError: There are no GROUPING SETS, a statistic does not add up, or a key has no public values.
    """
    if not group_by.sets:
        raise ParameterError("consistent", value=True, requirement="belongs to GROUPING SETS, whose sums can add up")
    for name, statistic in statistics:
        if not isinstance(statistic, _ADDITIVE):
            raise ParameterError(
                "consistent", name, "must be a count of rows or of values, a sum or a histogram; others do not add up"
            )
    if len(intersections(group_by.sets)) > MAX_OVERLAPS:
        raise ParameterError("consistent", "GROUPING SETS", f"must overlap in at most {MAX_OVERLAPS} ways")
    listed = []
    for key in key_columns(shape, group_by.keys):
        if key.values is None:
            raise ParameterError("consistent", key.name, "must have public values; list them in the policy")
        listed.append(IsIn(ColumnRef(key.name), tuple(map(literal, key.values))))
    return Filter(group_by.child, And(tuple(listed)))


def check_whole_groups(relation: Relation, asked: Limits | None) -> None:
    """Refuse sums of which parts are cut where totals are not: then the one are no parts of the other.

    Raises:
        ParameterError: A unit has a limit of groups, or of rows in a group.
    """
    limits = narrowed(limits_of(relation), asked)
    if limits.max_groups_per_unit is not None or limits.max_rows_per_group_per_unit is not None:
        requirement = "needs units bounded by max_rows_per_unit alone: limits on groups cut parts, not totals"
        raise ParameterError("consistent", value=True, requirement=requirement)


def intersections(sets: tuple[tuple[str, ...], ...]) -> tuple[frozenset[str], ...]:
    """All that some of the sets have in common, smaller ones first; more than `MAX_OVERLAPS` are not all listed.

    Example:
        >>> [sorted(common) for common in intersections((("a", "b"), ("a", "c")))]
        [['a'], ['a', 'b'], ['a', 'c']]
    """
    found = {frozenset(kept) for kept in sets}
    while len(found) <= MAX_OVERLAPS:
        more = found | {first & second for first, second in combinations(found, 2)}
        if more == found:
            break
        found = more
    return tuple(sorted(found, key=lambda common: (len(common), sorted(common))))
