"""How far one privacy unit can move each relation, and each measure of it.

`contribution` folds a relation into the rows and groups one unit can have in it; `sensitivity` turns that into the
L1, L2 and L0 distance between the measures of neighbouring databases. Proof: proofs/query/stability.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import UnboundedSensitivityError
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.neighbors import EachRow, NeighboringRelation
from sfumato.query.measures import Measure
from sfumato.query.relations import Bound, Filter, Part, Rows, Source, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one unit can have in a relation; None where nothing bounds it.

    Attributes:
        rows: Rows in all.
        rows_per_group: Rows in one group.
        groups: Groups.
        always_one: Whether every unit has exactly one row, whatever the data.
    """

    rows: int | None
    rows_per_group: int | None
    groups: int | None
    always_one: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far apart a vector of group measures can be on neighbouring databases: in L1, in L2, in coordinates."""

    l1: int
    l2: Fraction
    l0: int


def contribution(rows: Rows) -> Contribution:
    """What one unit can have in a relation."""
    match rows:
        case Source(table) if isinstance(table.unit, EachRow):
            return Contribution(rows=1, rows_per_group=1, groups=1, always_one=table.keeps_rows)
        case Source():
            return Contribution(rows=None, rows_per_group=None, groups=None)
        case Part(child=child) | Filter(child=child):
            return replace(contribution(child), always_one=False)
        case Bound(child, limits):
            inner = contribution(child)
            return replace(
                inner,
                rows=_least(inner.rows, limits.max_rows_per_unit),
                rows_per_group=_least(inner.rows_per_group, limits.max_rows_per_group_per_unit),
                groups=_least(inner.groups, limits.max_groups_per_unit),
            )


def sensitivity(
    rows: Rows, measure: Measure, *, group_count: int, neighboring_relation: NeighboringRelation, grouped: bool
) -> Sensitivity:
    """How far one unit can move the vector of a measure over groups.

    Args:
        rows: The relation that is measured.
        measure: What is measured.
        group_count: How many groups there are; 1 if the question has no keys.
        neighboring_relation: What may change.
        grouped: Whether a row may lie in no group, because its key is not listed.

    Raises:
        UnboundedSensitivityError: Nothing bounds the rows of one unit.
    """
    reach = contribution(rows)
    groups = _least(group_count, reach.groups, reach.rows) or 1
    per_group = _least(reach.rows_per_group, reach.rows)
    total = _least(reach.rows, None if per_group is None else per_group * groups)
    if per_group is None or total is None:
        table = table_of(rows)
        raise UnboundedSensitivityError(table.name, str(table.unit), "Declare max_rows_per_unit in the policy.")
    low, high = measure.range()
    present = reach.always_one and not grouped
    if neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE:
        return _vector(total=total, per_group=min(per_group, total), reach=max(abs(low), abs(high)), groups=groups)
    if group_count == 1:
        width = high - low if present else max(high, 0) - min(low, 0)
        return Sensitivity(l1=total * width, l2=Fraction(total * width), l0=1)
    one = _vector(total=total, per_group=min(per_group, total), reach=max(abs(low), abs(high)), groups=groups)
    return _replaced(one, same_sign=low >= 0 or high <= 0, group_count=group_count)


def _vector(*, total: int, per_group: int, reach: int, groups: int) -> Sensitivity:
    """The largest norms of `total` rows of at most `reach` each, at most `per_group` of them in one group."""
    full, rest = divmod(total, per_group)
    squares = full * per_group**2 + rest**2
    return Sensitivity(l1=total * reach, l2=sqrt_up(Fraction(squares * reach**2)), l0=groups)


def _replaced(one: Sensitivity, *, same_sign: bool, group_count: int) -> Sensitivity:
    """A unit leaves and another takes its place: at worst both in full, in other groups or with other signs."""
    l2 = sqrt_up(2 * one.l2 * one.l2) if same_sign else 2 * one.l2
    return Sensitivity(l1=2 * one.l1, l2=l2, l0=min(2 * one.l0, group_count))


def _least(*limits: int | None) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None
