"""Statements to SQL, built as a tree and emitted from it, and what a database gives back of them.

relation → rows that lie in a group and a cell → entries of units → what is allowed of them → totals of groups

Nothing that an analyst wrote is ever spliced in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from sfumato.engines.base import ExactGroups, Integers
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.bounding import (
    ABOVE,
    ALLOWED,
    ENTRIES,
    LAST,
    Bounding,
    above,
    binding_limits,
    bounded,
    has_thresholds,
    kept_entries,
    last_kept,
    needs_order,
    ranked,
    simply_allowed,
)
from sfumato.engines.sql.dialect import SqlDialect
from sfumato.engines.sql.entries import (
    CELL,
    ROWS,
    GroupColumn,
    RowsByGroup,
    aggregates,
    allowed_amount,
    grouped_rows,
    sum_of,
    whole_amount,
)
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import (
    Join,
    Sql,
    aliased,
    cast,
    column,
    different,
    figure,
    function,
    gathered,
    joined,
    operation,
    present,
    same,
    select,
    table,
)
from sfumato.engines.sql.relations import Catalogue, lower_relation
from sfumato.engines.sql.rows import UNIT, SqlRelation
from sfumato.query.analysis.bounding import least
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.expressions import ColumnRef, Expression, columns_of
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.relations import PeoplePart, Select, Source, lineage
from sfumato.query.model.schema import Key, Table
from sfumato.query.model.statement import CellCount, Measure, RowCount, Statement, UnitCount, fits

_SALT: Final = "…"
"""What people read instead of a salt."""

LOW_BITS: Final = 62
"""How many bits of a total the second of its two columns has."""

KEPT: Final = "kept"
"""How many entries of a group are allowed a row; where units above a limit are told from rows, rows for the others."""

_WITHIN_AND_BEYOND: Final[tuple[Join, Join]] = ("anti", "semi")

_FEW: Final = 1_000
"""A whole number with bounds so near each other has few values."""

_MANY: Final = 1 << 17
"""One of these, and no more than one, may be counted by its values as they are."""

_FITTING: Final = (-2, 1)
"""What the upper part of a 64-bit integer lies between."""

_WIDEST: Final = 2 ** (63 + LOW_BITS) - 1
"""What the two parts can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A statement in SQL.

    Attributes:
        totals: One row a group (and cell): its by, how many entries are `kept`, and the totals `t0`, `t1`, ….
        keys: The columns of the keys.
        cell: The column of the cell, where cells are shown.
        lists: The columns that have a list: the SQL reads a table for each.
        fitting: Of each total, whether 64 bits hold it.
    """

    totals: exp.Select
    keys: tuple[GroupColumn, ...]
    cell: GroupColumn | None
    lists: tuple[GroupColumn, ...]
    fitting: tuple[bool, ...]

    @property
    def group_columns(self) -> tuple[GroupColumn, ...]:
        """The columns that are shown."""
        return self.keys if self.cell is None else (*self.keys, self.cell)


def lower(
    statement: Statement, catalogue: Catalogue, *, dialect: SqlDialect, salt: str, sampling: Sampling = Sampling.NATIVE,
    bucket: tuple[int, int] | None = None,
) -> Lowered:  # fmt: skip
    """The SQL of a statement.

    Args:
        statement: What to compute.
        catalogue: Where tables are.
        dialect: Of the engine that will read it.
        salt: By which units above a limit are sampled.
        sampling: By which hash.
        bucket: Which of how many buckets to compute: of units where rows have owners, else of groups; None for all.
    """
    if bucket is None and (found := _counted_alike(statement, catalogue, salt=salt, sampling=sampling)) is not None:
        return found
    rows = lower_relation(statement.rows, catalogue, salt=salt, sampling=sampling)
    if bucket is not None:
        by = rows.unit or [column(rows.names[key.name]) for key in statement.keys]
        rows = _of_bucket(rows, by, *bucket)
    own = grouped_rows(statement, rows)
    if rows.has_owners:
        bounding = Bounding(
            rows=own, limits=binding_limits(statement), salt=salt, sampling=sampling, measures=statement.measures,
            dialect=dialect,
        )  # fmt: skip
        totals = totals_of_units(bounding)
    else:
        totals = totals_of_rows(own, statement.measures)
    return Lowered(
        totals=totals, keys=own.keys, cell=None if own.counts_cells else own.cell,
        lists=tuple([group for group in own.group_columns if group.values is not None]),
        fitting=tuple(map(fits, statement.measures)),
    )  # fmt: skip


def _counted_alike(
    statement: Statement, catalogue: Catalogue, *, salt: str, sampling: Sampling
) -> Lowered | None:  # fmt: skip
    """How many rows each group has, where keys are made of columns with few values and no row has an owner.

    Rows that are alike are counted first, by those columns as they are, and then a key is made of each different value
    once. So it takes about as long as a GROUP BY of columns.
    """
    match statement:
        case Statement(rows=Select(child=Source(source) as child, columns=columns), cell=None):
            made, of, is_any_wide = dict(columns), dict[str, str | None](), False
            for one in statement.keys:
                name, is_wide = _few_valued(made[one.name], source)
                of[one.name] = None if is_wide and is_any_wide else name
                is_any_wide |= is_wide
        case _:
            return None
    shape, measures = shape_of(statement.rows), statement.measures
    is_plain = all(key.values is None for key in statement.keys) and len(of) == len(statement.keys)
    counts_rows = all(isinstance(measure, RowCount) for measure in measures)
    if shape.metric is Metric.UNITS or not is_plain or not counts_rows or not any(of.values()):
        return None
    read = Select(child, tuple((key, ColumnRef(name) if name else made[key]) for key, name in of.items()))
    rows = lower_relation(read, catalogue, salt=salt, sampling=sampling)
    alike = list[Sql](map(column, rows.selected))
    counted = select([*alike, aliased(function("COUNT", exp.Star()), ROWS)], rows.query, group_by=alike)
    values, keys = list[Sql](), list[GroupColumn]()
    for place, (key, name) in enumerate(of.items()):
        own = rows.term(ColumnRef(key))
        value = lower_expression(made[key], {name: own}) if name else own
        values.append(aliased(value.settled, f"k{place}"))
        keys.append(GroupColumn(name=f"k{place}", kind=shape.columns[key].kind, values=None))
    by, names = [key.column for key in keys], [KEPT, *(f"t{place}" for place in range(len(measures)))]
    totals = [aliased(function("SUM", column(ROWS)), name) for name in names]
    of_keys = select([*values, column(ROWS)], counted)
    return Lowered(
        totals=select([*by, *totals], of_keys, where=list(map(present, by)), group_by=by), keys=tuple(keys), cell=None,
        lists=(), fitting=tuple(map(fits, measures)),
    )  # fmt: skip


def _few_valued(value: Expression, source: Table) -> tuple[str | None, bool]:
    """The one column of which a value is made, if something is made of it and few values of it are declared.

    And whether these are so many that two such columns may have as many combinations as there are rows.
    """
    columns = columns_of(value)
    if isinstance(value, ColumnRef) or len(columns) != 1:
        return None, False
    (name,) = columns
    declared = source.columns[name]
    if declared.kind is Kind.TEXT:
        return (name if declared.values is not None else None), False
    if declared.kind is not Kind.INTEGER or declared.lower is None or declared.upper is None:
        return None, False
    width = declared.upper - declared.lower
    return (name, width >= _FEW) if width < _MANY else (None, False)


def shown_sql(statement: Statement, *, sampling: Sampling, dialect: SqlDialect) -> str:
    """The SQL of a statement for people: tables are called as the policy calls them, and no salt is shown."""
    catalogue = Catalogue(named=lambda source: table(source.name))
    lowered = lower(statement, catalogue, salt=_SALT, sampling=sampling, dialect=dialect)
    shown = dialect.sql(presented(lowered, lowered.totals), pretty=True)
    for step in lineage(statement.rows):
        shown = shown.replace(step.salt, _SALT) if isinstance(step, PeoplePart) else shown
    return shown


def added_up(lowered: Lowered, so_far: exp.Table, own: exp.Select) -> exp.Select:
    """The totals of several buckets, from a table of those before and the totals of one more."""
    by = [group.column for group in lowered.group_columns]
    return _together(by, ["SUM"] * len(lowered.fitting), so_far, own)


def _together(by: Sequence[Sql], sums: Sequence[str], *parts: exp.Select | exp.Table) -> exp.Select:
    """The totals of two disjoint parts, added up by functions for each of them."""
    functions = {KEPT: "SUM"} | {f"t{place}": name for place, name in enumerate(sums)}
    both = exp.union(*(select([*by, *map(column, functions)], one) for one in parts), distinct=False, copy=False)
    totals = (aliased(function(sum_, column(name)), name) for name, sum_ in functions.items())
    return select([*by, *totals], both, group_by=by)


def presented(lowered: Lowered, totals: exp.Select) -> exp.Select:
    """The groups of which an entry is kept, with their totals.

    One that 64 bits hold is one column, and any other is two: what is beyond 62 bits, and those.
    """
    columns: list[Sql] = [group.column for group in lowered.group_columns]
    for place, is_fitting in enumerate(lowered.fitting):
        total, bits = column(f"t{place}"), figure(LOW_BITS)
        if is_fitting:
            columns.append(aliased(cast(total, "BIGINT"), f"t{place}"))
            continue
        columns.append(aliased(function("high_bits", total, bits), f"h{place}"))
        columns.append(aliased(function("low_bits", total, bits), f"l{place}"))
    columns = columns or [column(KEPT)]
    return select(columns, totals, where=[operation(exp.GT, column(KEPT), figure(0))])


def _of_bucket(rows: SqlRelation, by: Sequence[Sql], bucket: int, count: int) -> SqlRelation:
    """The rows of one bucket: of a hash of some columns."""
    own = operation(exp.Mod, function("HASH", *by), figure(count))
    return replace(rows, query=select([], rows.query, where=[operation(exp.EQ, own, figure(bucket))]))


def totals_of_rows(own: RowsByGroup, measures: Sequence[Measure]) -> exp.Select:
    """Where each row is a unit, or nobody's: no row is left out, and units are rows."""
    by = [group.column for group in own.shown]
    found = {one.alias: one.this for one in aggregates(measures, own.relation, scaled=False)}
    totals = []
    for place, measure in enumerate(measures):
        match measure:
            case UnitCount():
                total: Sql = found[ROWS]
            case CellCount():
                total = different(column(CELL))
            case _:
                total = found[whole_amount(place, measures).name]
        totals.append(aliased(total, f"t{place}"))
    return select([*by, aliased(found[ROWS], KEPT), *totals], own.query, group_by=by)


def totals_of_units(bounding: Bounding) -> exp.Select:
    """Where rows have owners."""
    if bounding.counts_rows:
        return _totals_by_rows(bounding)
    own, tells_last = bounding.rows, has_thresholds(bounding)
    tells_above = needs_order(bounding) and bounding.orders_few
    by = [column(UNIT), *(group.column for group in own.group_columns)]
    gathers = needs_order(bounding) and bounding.dialect.gathers_units
    rows = gathered(own.query, column(UNIT)) if gathers else own.query
    entries = select([*by, *aggregates(bounding.measures, own.relation)], rows, group_by=by)
    entries = ranked(bounding, entries) if tells_last else entries
    totals = _added_up(bounding).with_(ENTRIES, as_=entries, materialized=tells_above or None, copy=False)
    if tells_above:
        totals = totals.with_(ABOVE, as_=above(bounding), materialized=True, copy=False)
    return totals.with_(LAST, as_=last_kept(bounding), materialized=True, copy=False) if tells_last else totals


def _totals_by_rows(bounding: Bounding) -> exp.Select:
    """All rows of units within their limit, and of those above it what is allowed of their entries."""
    own, measures = bounding.rows, bounding.measures
    meeting = same(UNIT, "r", "o")
    within, beyond = (
        joined(select([], own.query), table(ABOVE), "o", on=meeting, how=how) for how in _WITHIN_AND_BEYOND
    )
    by = [column(UNIT), *(group.column for group in own.group_columns)]
    entries = select([*by, *aggregates(measures, own.relation)], beyond, group_by=by)
    totals = _together(
        [group.column for group in own.shown], list(map(sum_of, measures)),
        totals_of_rows(replace(own, query=within), measures), _added_up(bounding),
    )  # fmt: skip
    totals = totals.with_(ABOVE, as_=above(bounding), materialized=True, copy=False)
    return totals.with_(ENTRIES, as_=entries, copy=False)


def _added_up(bounding: Bounding) -> exp.Select:
    """Step 7."""
    has_cells, by = bounding.rows.counts_cells, [group.column for group in bounding.rows.shown]
    one_an_entry, totals = function("COUNT", exp.Star()), []
    for place, measure in enumerate(bounding.measures):
        match measure:
            case UnitCount():  # of a group and cell a unit has one entry
                total: Sql = different(column(UNIT)) if has_cells else one_an_entry
            case CellCount():
                total = different(column(CELL))
            case _:
                total = function(sum_of(measure), column(f"t{place}"))
        totals.append(aliased(total, f"t{place}"))
    kept = _kept(bounding, [column(UNIT, "r"), *by, column(CELL)] if has_cells else by)
    return select([*by, aliased(one_an_entry, KEPT), *totals], kept, group_by=by)


def _kept(bounding: Bounding, own: Sequence[Sql]) -> exp.Query:
    """The entries that are allowed a row, and what they add."""
    simply = simply_allowed(bounding)
    within = select([*own, *_amounts(bounding, simply)], table(ENTRIES))
    if not needs_order(bounding):
        return within
    if has_thresholds(bounding):
        return select([*own, *_amounts(bounding, simply)], kept_entries(bounding))
    kept = operation(exp.GT, column(ALLOWED), figure(0))
    ordered = select([*own, *_amounts(bounding, column(ALLOWED))], bounded(bounding), where=[kept])
    if not bounding.orders_few:
        return ordered
    within = joined(within, table(ABOVE), "o", on=same(UNIT, "r", "o"), how="anti")
    return exp.union(within, ordered, distinct=False, copy=False)


def _amounts(bounding: Bounding, allowed: Sql) -> list[Sql]:
    """What an entry adds to each measure, if so many of its rows are allowed."""
    measures, limits = bounding.measures, bounding.limits
    most = least(limits.max_rows_per_group_per_unit, limits.max_rows_per_unit)
    amounts: list[Sql] = []
    for place in range(len(measures)):
        is_whole = allowed == column(ROWS)
        amount = whole_amount(place, measures) if is_whole else allowed_amount(place, measures, allowed, most=most)
        amounts.append(aliased(amount, f"t{place}"))
    return amounts


def exact_groups(lowered: Lowered, columns: Mapping[str, npt.NDArray[Any]]) -> ExactGroups:
    """The groups of a statement.

    Args:
        lowered: The statement.
        columns: The columns of `presented`, by name.
    """
    amounts = [
        columns[f"t{place}"] if is_fitting else of_halves(columns[f"h{place}"], columns[f"l{place}"])
        for place, is_fitting in enumerate(lowered.fitting)
    ]
    keys = [_values(group, columns[group.name]) for group in lowered.keys]
    cells = None if lowered.cell is None else _values(lowered.cell, columns[lowered.cell.name])
    return ExactGroups(keys=tuple(keys), cells=cells, amounts=tuple(amounts))


def _values(group: GroupColumn, column: npt.NDArray[Any]) -> Sequence[Key]:
    """Keys as Python has them; those of a list by their places in it."""
    if group.values is not None:
        return [group.values[place] for place in column.tolist()]
    if group.kind in TIMES:
        column = column.astype("datetime64[D]" if group.kind is Kind.DATE else "datetime64[us]")
    values: list[Key] = column.tolist()
    return values


def halves(numbers: npt.NDArray[np.int64] | Integers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The parts of numbers beyond 62 bits and within them; of numbers beyond 125 bits those of the last within."""
    within: npt.NDArray[Any] = numbers if numbers.dtype == np.int64 else np.clip(numbers, -_WIDEST, _WIDEST)
    high, low = within >> LOW_BITS, within & ((1 << LOW_BITS) - 1)
    return high.astype(np.int64), low.astype(np.int64)


def of_halves(high: npt.NDArray[np.int64], low: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | Integers:
    """The numbers of which these are the parts beyond 62 bits and within them."""
    first, last = _FITTING
    if len(high) and (high.min() < first or high.max() > last):
        wide = [(above << LOW_BITS) + below for above, below in zip(high.tolist(), low.tolist(), strict=True)]
        return np.array(wide, dtype=object)
    return np.left_shift(high, LOW_BITS) + low
