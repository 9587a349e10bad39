"""Groups: GROUPING SETS, sums over them that can add up, and the exact folds of groups in sub-queries."""

from collections.abc import Collection
from itertools import combinations
from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.bounding import limits_of, narrowed
from sfumato.query.analysis.keys import key_columns
from sfumato.query.analysis.shape import Shape, shape_of
from sfumato.query.analysis.units import NO_TIES, UNIT, ties_of
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import And, ColumnRef, Expression, IsIn
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import Filter, Fold, Folded, GroupBy, Grouped, Relation, Select
from sfumato.query.model.schema import Limits
from sfumato.query.statistics.statistic import Statistic

MAX_GROUPING_SETS: Final = 64
"""How many one query may have."""

MAX_OVERLAPS: Final = 128
"""How many different intersections grouping sets may have."""


def rollup(keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The grouping sets of ROLLUP: all keys, then without the last one, down to none.

    Example:
        >>> rollup(("year", "month"))
        (('year', 'month'), ('year',), ())
    """
    return tuple(keys[:size] for size in range(len(keys), -1, -1))


def cube(keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The grouping sets of CUBE: every choice of the keys, larger ones first.

    Raises:
        ParameterError: There are too many.

    Example:
        >>> cube(("sex", "age"))
        (('sex', 'age'), ('sex',), ('age',), ())
    """
    if 2 ** len(keys) > MAX_GROUPING_SETS:
        raise ParameterError("CUBE", f"{len(keys)} keys", f"must make at most {MAX_GROUPING_SETS} grouping sets")
    return tuple(kept for size in range(len(keys), -1, -1) for kept in combinations(keys, size))


def checked_sets(keys: tuple[str, ...], sets: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Grouping sets, each with its keys in the order of all of them.

    Raises:
        ParameterError: They are not of the keys, leave one out altogether, or two are the same.
    """
    if not sets:
        return ()
    if len(sets) > MAX_GROUPING_SETS:
        raise ParameterError("GROUPING SETS", f"{len(sets)} sets", f"must be at most {MAX_GROUPING_SETS}")
    if any(len(set(kept)) != len(kept) or not set(kept) <= set(keys) for kept in sets):
        raise ParameterError("GROUPING SETS", sets, f"must be of the keys, each named once: {', '.join(keys)}")
    ordered = tuple(tuple(key for key in keys if key in kept) for kept in sets)
    if len(set(ordered)) != len(ordered):
        raise ParameterError("GROUPING SETS", sets, "must differ from each other")
    if set(keys) != {key for kept in sets for key in kept}:
        raise ParameterError("GROUPING SETS", sets, "must contain every key at least once")
    return ordered


def with_listed_keys(
    group_by: GroupBy, statistics: tuple[tuple[str, Statistic], ...], edition: Edition = Edition.LATEST
) -> Relation:
    """The rows with public keys only, so that each total is of the rows of its parts.

    Raises:
        ParameterError: There are no GROUPING SETS, a statistic does not add up, or a key has no public values.
    """
    if not group_by.sets:
        raise ParameterError("consistent", value=True, requirement="belongs to GROUPING SETS, whose sums can add up")
    for name, statistic in statistics:
        if not statistic.adds_up:
            raise ParameterError(
                "consistent", name, "must be a count of rows or of values, a sum or a histogram; others do not add up"
            )
    if len(intersections(group_by.sets)) > MAX_OVERLAPS:
        raise ParameterError("consistent", "GROUPING SETS", f"must overlap in at most {MAX_OVERLAPS} ways")
    listed = []
    for key in key_columns(group_by.child, group_by.keys, edition):
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
        requirement = "needs units bounded by max_rows_per_unit alone: limits on groups reduce parts, not totals"
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


def folded(name: str, statistic: Statistic, shape: Shape) -> Folded:
    """The fold of the rows of each group that a statistic stands for.

    Args:
        name: What the column is called.
        statistic: COUNT, COUNT(x), COUNT(DISTINCT x), SUM, AVG, MIN or MAX; SUM and AVG perhaps of clamped values.
        shape: What is known of the rows.

    Raises:
        NotPrivateError: It is another statistic.
        ParameterError: A column does not exist, or is of the wrong kind.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> from sfumato.query.statistics.counts import CountRows
        >>> folded("n", CountRows(), shape_of(Source(Table(name="t", columns={"age": integer()})))).fold.value
        'count_rows'
    """
    fold = statistic.fold(name, shape)
    if fold is None:
        raise NotPrivateError(
            f"{statistic.stored.tag} in a sub-query",
            "a sub-query can only compute exact aggregates of single groups",
            "Use count, count_distinct, sum, mean, min or max, or compute it outside.",
        )
    return fold


def grouped(rows: Relation, keys: Collection[str], folds: Collection[Folded], *, used: Collection[str]) -> Grouped:
    """One row for each group, of which `used` columns are read.

    Units are kept apart anyway, so a key that holds the unit is none: it is the one value that a group has of it.
    """
    ties = ties_of(rows)
    units = [key for key in keys if UNIT in ties.get(key, NO_TIES)]
    others = tuple(key for key in keys if key not in units)
    has_columns = bool(others or folds)
    carried = [Folded(name, Fold.MIN, ColumnRef(name)) for name in units if name in used or not has_columns]
    return Grouped(rows, others, (*carried, *folds))


def with_columns(relation: Relation, columns: tuple[tuple[str, Expression], ...]) -> Relation:
    """Some columns of a relation, which stays as it is if they are its own in their order."""
    own = tuple((name, ColumnRef(name)) for name in shape_of(relation).columns)
    return relation if columns == own else Select(relation, columns)
