"""How much of each unit a query takes: the limits of its relation, and where rows are bounded below joins.

Any limits are sound, because engines enforce those of the `Statement` whatever the data, and noise is made for the same
ones. So these follow what the owner declared, and what each operator makes of it.
"""

from dataclasses import replace
from typing import TypeAlias

from sfumato.errors import UnboundedSensitivityError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
    lineage,
    tables_of,
)
from sfumato.query.model.schema import MAX_LIMIT, Limits

Seen: TypeAlias = dict[int, Limits]
"""Limits of relations by their identity, so that nested joins are not read again and again."""


def limits_of(relation: Relation, seen: Seen | None = None) -> Limits:
    """The limits of one unit in a relation whose rows have owners; no limits of any other."""
    seen = {} if seen is None else seen
    if id(relation) not in seen:
        seen[id(relation)] = _limits(relation, seen)
    return seen[id(relation)]


def _limits(relation: Relation, seen: Seen) -> Limits:
    match relation:
        case Source(table):
            return table.limits
        case PeoplePart() | Filter() | Select() | Distinct() | SemiJoin() | RowWindow():
            return limits_of(relation.child, seen)
        case Intersect(left, _) | Except(left, _):
            return limits_of(left, seen)
        case BoundRows(child, most):
            limits = limits_of(child, seen)
            return replace(limits, max_rows_per_unit=least(limits.max_rows_per_unit, most))
        case Grouped(child, keys, _):
            limits = limits_of(child, seen)
            rows = most_rows(limits)
            kept = None if rows is None else min(rows, MAX_LIMIT)
            return Limits(max_rows_per_unit=kept if keys else 1, max_groups_per_unit=limits.max_groups_per_unit)
        case UnionAll(left, right):
            return _added(limits_of(left, seen), limits_of(right, seen))
        case Join(left=left, right=right):
            return _multiplied(limits_of(left, seen), limits_of(right, seen), matches(relation, seen))


def most_rows(limits: Limits) -> int | None:
    """How many rows in all, at most, whichever limits say so."""
    groups, per_group = limits.max_groups_per_unit, limits.max_rows_per_group_per_unit
    product = None if groups is None or per_group is None else groups * per_group
    return least(limits.max_rows_per_unit, product)


def narrowed(limits: Limits, asked: Limits | None) -> Limits:
    """The policy's limits, or narrower ones that the analyst asks for."""
    if asked is None:
        return limits
    return Limits(
        max_rows_per_unit=least(limits.max_rows_per_unit, asked.max_rows_per_unit),
        max_groups_per_unit=least(limits.max_groups_per_unit, asked.max_groups_per_unit),
        max_rows_per_group_per_unit=least(limits.max_rows_per_group_per_unit, asked.max_rows_per_group_per_unit),
    )


def ungrouped(limits: Limits) -> Limits:
    """Without keys there is one group, so the limit per group is one on rows in all, and the other way round."""
    rows = least(limits.max_rows_per_unit, limits.max_rows_per_group_per_unit)
    return Limits(max_rows_per_unit=rows, max_rows_per_group_per_unit=rows)


def matches(join: Join, seen: Seen | None = None) -> int:
    """How many partners a row of a join has, at most.

    Raises:
        UnboundedSensitivityError: Nothing says so.
    """
    seen = {} if seen is None else seen
    declared = matches_of(join.right, frozenset(second for _, second in join.on), seen)
    most = least(declared, most_rows(limits_of(join.right, seen)))
    if most is None:
        columns = ", ".join(second for _, second in join.on)
        how = "Declare how many rows may match: unique or max_matches in the policy."
        if not columns:
            how = "Each row would match all of these: join on columns that unique or max_matches names in the policy."
        names = ", ".join(table.name for table in tables_of(join.right))
        raise UnboundedSensitivityError(names, columns or "*", how)
    return most


def matches_of(
    relation: Relation, columns: frozenset[str], seen: Seen | None = None, *, is_bound: bool = False
) -> int | None:
    """How many rows (of one unit, where rows have owners) may share the values of some columns; None if unknown.

    Args:
        relation: The relation whose rows are counted.
        columns: Columns of the relation.
        seen: Limits that are known already.
        is_bound: Whether nothing counts but what engines enforce in just this relation, as noise must be made for: of
            a join then only a `BoundRows` says how many rows a side has.
    """
    match relation:
        case Source(table):
            declared = [most for names, most in table.matches.items() if columns.issuperset(names)]
            return min(declared, default=None)
        case Filter(child, _) | SemiJoin(child=child) | PeoplePart(child=child) | BoundRows(child, _):
            return matches_of(child, columns, seen, is_bound=is_bound)
        case Select(child, selected):
            renamed = {name: e.name for name, e in selected if isinstance(e, ColumnRef)}
            own_columns = frozenset(renamed[name] for name in columns if name in renamed)
            return matches_of(child, own_columns, seen, is_bound=is_bound)
        case Grouped(_, keys, _):
            return 1 if columns.issuperset(keys) else None
        case RowWindow(child=child, name=name):
            return matches_of(child, columns - {name}, seen, is_bound=is_bound)
        case Join(left=left):
            own = matches_of(left, columns, seen, is_bound=is_bound)
            partners = _bound_matches(relation) if is_bound else matches(relation, seen)
            return None if own is None or partners is None else own * partners
        case UnionAll() | Intersect() | Except():
            return None  # values of two kinds become of one, in which some that differ may be equal
        case Distinct(child):
            return matches_of(child, columns, seen, is_bound=is_bound)


def _bound_matches(join: Join) -> int | None:
    """How many partners a row of a join has where its right side is as it stands."""
    declared = matches_of(join.right, frozenset(second for _, second in join.on), is_bound=True)
    return least(declared, join.right.max_rows_per_unit if isinstance(join.right, BoundRows) else None)


def bound_joins(relation: Relation) -> Relation:
    """Bound both sides of each join that multiplies rows, so that one unit cannot make it as large as it likes."""
    match relation:
        case Source() | PeoplePart():
            return relation
        case Filter() | Select() | Distinct() | BoundRows() | Grouped() | RowWindow():
            child = bound_joins(relation.child)
            return relation if child is relation.child else replace(relation, child=child)  # whose shape is known
        case SemiJoin():
            return replace(relation, child=bound_joins(relation.child), other=bound_joins(relation.other))
        case UnionAll() | Intersect() | Except() | Join():
            left, right = bound_joins(relation.left), bound_joins(relation.right)
            if isinstance(relation, Join) and _multiplies(relation):
                left, right = _bounded(left), right if is_public(right) else _bounded(right)
            return replace(relation, left=left, right=right)


def _multiplies(join: Join) -> bool:
    """Whether it may make more rows of a unit than one side has: a public table may add at most one partner to each."""
    # All private tables of a relation are of one kind: their rows have owners, or are units.
    has_owners = any(step.table.has_owners for step in lineage(join.left) if isinstance(step, Source))
    return has_owners and (not is_public(join.right) or matches(join) > 1)


def is_public(relation: Relation) -> bool:
    """Whether only public tables are read."""
    return all(step.table.is_public for step in lineage(relation) if isinstance(step, Source))


def least(*limits: int | None) -> int | None:
    """The least limit of those that are known."""
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _bounded(relation: Relation) -> Relation:
    most = most_rows(limits_of(relation))
    return relation if most is None else BoundRows(relation, most)


def _added(first: Limits, second: Limits) -> Limits:
    return Limits(
        max_rows_per_unit=_sum(most_rows(first), most_rows(second)),
        max_groups_per_unit=_sum(first.max_groups_per_unit, second.max_groups_per_unit),
        max_rows_per_group_per_unit=_sum(first.max_rows_per_group_per_unit, second.max_rows_per_group_per_unit),
    )


def _multiplied(left: Limits, right: Limits, partners: int) -> Limits:
    """Each row as often as it may have partners; as many groups as the side that allows more."""
    rows = most_rows(left)
    groups = [most for most in (left.max_groups_per_unit, right.max_groups_per_unit) if most is not None]
    return Limits(
        max_rows_per_unit=None if rows is None else min(MAX_LIMIT, rows * partners),
        max_groups_per_unit=max(groups, default=None),
        max_rows_per_group_per_unit=None,
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else min(MAX_LIMIT, first + second)
