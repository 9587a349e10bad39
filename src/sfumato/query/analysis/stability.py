"""How far one privacy unit can move each measure of a statement: in L1, in L2, in the number of groups.

Where rows have owners, every relation maps the rows of one unit to rows of that unit, and the statement's limits, which
engines enforce, bound those. Where each row is a unit, `moved_rows` says how many rows of a relation change with it.
Proof: proofs/query/analysis/stability.md.
"""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import UnboundedSensitivityError
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.bounding import is_public, least, matches, matches_of
from sfumato.query.analysis.shape import Metric, shape_of
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
    tables_of,
)
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import Measure, RowCount, Statement, UnitCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far apart a vector of group measures can be on neighboring databases: in L1, in L2, in coordinates."""

    l1: int
    l2: Fraction
    l0: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one unit has of a statement that is kept, at most: rows in all, rows in one group, groups.

    `always_one` says that every unit has exactly one row, in a group that is always there, whatever the data.
    """

    rows: int
    rows_per_group: int
    groups: int
    always_one: bool = False


def moved_rows(relation: Relation) -> int:
    """How many rows of a relation differ, at most, when one row of one table is added; where each row is a unit.

    Example:
        >>> from sfumato.query.model.schema import integer
        >>> men, women = (Source(Table(name=name, columns={"age": integer(0, 120)})) for name in ("men", "women"))
        >>> moved_rows(Grouped(men, ("age",), ())), moved_rows(UnionAll(men, men)), moved_rows(UnionAll(men, women))
        (2, 2, 1)

    References:
        [McS09] Section 3.
    """
    return max((_moved(relation, table) for table in tables_of(relation) if not table.is_public), default=0)


def _moved(relation: Relation, table: Table) -> int:
    """How many, when the row is one of this table."""
    match relation:
        case Source(read):
            return 1 if read.name == table.name else 0
        case PeoplePart() | Filter() | Select() | Distinct() | BoundRows() | SemiJoin() | RowWindow():
            return _moved(relation.child, table)
        case Grouped(child, _, _):
            return 2 * _moved(child, table)  # a group leaves as it was and enters as it is
        case UnionAll(left, right) | Intersect(left, right) | Except(left, right):
            return _moved(left, table) + _moved(right, table)
        case Join():
            own = _moved(relation.left, table)
            if is_public(relation.right):
                return own * matches(relation) if own else 0
            return own + _moved(relation.right, table)  # groups with equal keys: one partner each


def reach_of(statement: Statement) -> Reach:
    """What one unit has of a statement that is kept, at most.

    Raises:
        UnboundedSensitivityError: Nothing bounds the rows of one unit.
    """
    limits = statement.limits
    metric = shape_of(statement.rows).metric
    if metric is not Metric.UNITS:
        rows = moved_rows(statement.rows)
        return Reach(
            rows=rows, rows_per_group=rows, groups=min(rows, statement.group_count or rows),
            always_one=rows > 0 and _always_one(statement),  # public rows do not change at all
        )  # fmt: skip
    groups = least(statement.group_count, limits.max_groups_per_unit, limits.max_rows_per_unit)
    keys = frozenset(key.name for key in statement.keys)
    alike = matches_of(statement.rows, keys, is_bound=True)  # of one unit, in one group
    per_group = least(limits.max_rows_per_group_per_unit, limits.max_rows_per_unit, alike)
    total = least(limits.max_rows_per_unit, None if per_group is None or groups is None else per_group * groups)
    if groups is None or per_group is None or total is None:
        names = ", ".join(table.name for table in tables_of(statement.rows))
        raise UnboundedSensitivityError(
            names, "the rows of one unit", "Declare max_rows_per_unit, or max_groups_per_unit, in the policy."
        )
    return Reach(rows=total, rows_per_group=min(per_group, total), groups=groups)


def sensitivity(statement: Statement, measure: Measure, *, neighboring_relation: NeighboringRelation) -> Sensitivity:
    """How far one unit can change the vector of a measure over groups (and cells, if the statement has them).

    Args:
        statement: What is computed.
        measure: One of its measures.
        neighboring_relation: What may change.

    Raises:
        UnboundedSensitivityError: Nothing bounds the rows of one unit.
    """
    reach = reach_of(statement)
    cells = 1 if statement.shown_cell is None else statement.shown_cell.count  # of a group, which have a number each
    coordinates, touched = _product(statement.group_count, cells), _product(reach.groups, cells)
    entries = min(known for known in (reach.rows, touched, coordinates) if known is not None)
    low, high = measure.range()
    if isinstance(measure, UnitCount):
        if shape_of(statement.rows).metric is Metric.UNITS:
            reach = Reach(rows=entries, rows_per_group=1, groups=entries)
        else:
            low, high = RowCount().range()
    one = _vector(reach, furthest=max(abs(low), abs(high)), entries=entries)
    if neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE:
        return one
    if reach.always_one:
        return Sensitivity(l1=high - low, l2=Fraction(high - low), l0=1)
    width = max(high, 0) - min(low, 0)
    return _replaced(
        one, furthest=reach.rows_per_group * width, same_sign=low >= 0 or high <= 0,
        touched=2 * entries if coordinates is None else min(2 * entries, coordinates),
    )  # fmt: skip


def _always_one(statement: Statement) -> bool:
    """Only of a whole table of which every record is a row, and without groups that a row could be left out of."""
    rows = statement.rows
    while isinstance(rows, Select):
        rows = rows.child
    return isinstance(rows, Source) and rows.table.keeps_rows and not statement.keys and statement.cell is None


def _product(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first * second


def _vector(reach: Reach, *, furthest: int, entries: int) -> Sensitivity:
    """The largest norms of rows of at most `furthest` each, at most `rows_per_group` of them in one coordinate."""
    if reach.rows == 0:
        return Sensitivity(l1=0, l2=Fraction(0), l0=0)
    full, rest = divmod(reach.rows, reach.rows_per_group)
    squares = full * reach.rows_per_group**2 + rest**2
    return Sensitivity(l1=reach.rows * furthest, l2=sqrt_up(Fraction(squares * furthest**2)), l0=entries)


def _replaced(one: Sensitivity, *, furthest: int, same_sign: bool, touched: int) -> Sensitivity:
    """A unit leaves and another takes its place: at worst both in full, but no coordinate moves beyond `furthest`."""
    l1 = min(2 * one.l1, furthest * touched)
    full, rest = divmod(l1, max(furthest, 1))
    squares = min(Fraction(full * furthest**2 + rest**2), (2 if same_sign else 4) * one.l2**2)
    return Sensitivity(l1=l1, l2=sqrt_up(squares), l0=touched)
