"""Relations to SQL, one SELECT a node, as `reference.relations` has them.

In joins rows meet where their keys are equal, and where both sides have owners their units are. Sub-queries with GROUP
BY add up whole numbers, so that order is nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, assert_never

from sqlglot import exp

from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.expressions.kinds import clamped_steps, limited
from sfumato.engines.sql.expressions.terms import Join as Meeting
from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    all_of,
    between,
    cast,
    column,
    constant,
    different,
    double,
    figure,
    function,
    guarded,
    is_null,
    joined,
    one_of,
    operation,
    same,
    select,
    window,
)  # fmt: skip
from sfumato.engines.sql.hashes import encoded, rank_text
from sfumato.engines.sql.rows import UNIT, SqlRelation, least_ranked
from sfumato.engines.sql.sources import is_computed
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import merged
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    Relation,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import LatticeValue, steps_of
from sfumato.query.values.cells import MAX_INT64, MIN_INT64


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Where tables are.

    Attributes:
        named: Gives a table as `SqlRelation` has it, by name or as a query: declared columns, owners, no more matches
            than declared.
        units: The table of units, if those tables have their numbers.
        as_stored: Gives a table of which some doubles are as they are stored, and what SQL calls those columns; or
            None. A question that reads a table once reads it so: each value is looked at once, where it is clamped.
        has_few_rows: Whether a table is known to have at most `FEW_ROWS` rows.
        is_reread: Whether a query may read a table several times, at little cost and the same rows each time.
    """

    named: Callable[[Table], exp.Query | exp.Table]
    units: exp.Table | None = None
    as_stored: Callable[[Table], tuple[exp.Table, frozenset[str]] | None] = lambda _: None
    has_few_rows: Callable[[Table], bool] = lambda _: False
    is_reread: Callable[[Table], bool] = lambda _: False


_COMBINED: Final = {UnionAll: exp.union, Intersect: exp.intersect, Except: exp.except_}
_PART, _PLACE = "p", "n"
_LEFT, _RIGHT = "l", "r"


def lower_relation(relation: Relation, catalogue: Catalogue, *, salt: str, sampling: Sampling) -> SqlRelation:
    """A relation that `shape_of` accepts, in SQL.

    Args:
        relation: What is asked for.
        catalogue: Where tables are.
        salt: By which `BoundRows` samples.
        sampling: By which hash. Parts and declared matches stay for more than one question: theirs is always MD5.
    """
    settled = replace(catalogue, as_stored=lambda _: None)
    rows = partial(lower_relation, catalogue=settled, salt=salt, sampling=sampling)
    query: exp.Query
    pending: frozenset[str] = frozenset()
    match relation:
        case Source(table):
            source, pending = catalogue.as_stored(table) or (catalogue.named(table), pending)
            query = select([], source)
        case PeoplePart(child=child):
            query = _part(relation, rows(child))
        case Filter(child, condition):
            inner = lower_relation(child, catalogue, salt=salt, sampling=sampling)
            query, pending = select([], inner.query, where=[inner.value(condition)]), inner.pending
        case Select(child, columns):
            inner = lower_relation(child, catalogue, salt=salt, sampling=sampling)
            values = [aliased(inner.value(value), f"c{place}") for place, (_, value) in enumerate(columns)]
            query = select([*inner.unit, *values], inner.query)
        case Distinct(child):
            query = select([], rows(child).query).distinct(copy=False)
        case BoundRows(child, most):
            inner = rows(child)
            query = least_ranked(inner, most, within=inner.unit, order=inner.order(salt, sampling))
        case Grouped(child=child):
            query = lower_grouped(relation, rows(child))
        case RowWindow(child=child):
            query = lower_window(relation, rows(child))
        case SemiJoin():
            query = lower_semi_join(relation, rows(relation.child), rows(relation.other))
        case Join():
            query = lower_join(relation, rows(relation.left), rows(relation.right))
        case UnionAll() | Intersect() | Except():
            query = _combined(relation, rows(relation.left), rows(relation.right))
        case _:
            assert_never(relation)
    return SqlRelation(
        query=query, shape=shape_of(relation), units=catalogue.units, pending=pending,
        has_few_rows=_has_few_rows(relation, catalogue), is_reread=_is_reread(relation, catalogue),
    )  # fmt: skip


def _has_few_rows(relation: Relation, catalogue: Catalogue) -> bool:
    """Whether it is made of one table of few rows alone: no step has more rows but a join or a union."""
    match relation:
        case Source(table):
            return catalogue.has_few_rows(table)
        case Join() | UnionAll() | Intersect() | Except():
            return False
        case _:
            return _has_few_rows(relation.child, catalogue)


def _is_reread(relation: Relation, catalogue: Catalogue) -> bool:
    """Whether it is a table below conditions, of which a query may read the rows several times."""
    match relation:
        case Source(table):
            return catalogue.is_reread(table) and not is_computed(table)
        case Filter(child):
            return _is_reread(child, catalogue)
        case _:
            return False


def _part(part: PeoplePart, rows: SqlRelation) -> exp.Select:
    """The rows of one part, of units that keep it under the salt that all parts share."""
    by = column(rows.names[part.by])
    here = operation(exp.EQ, by, constant(part.value))
    listed = one_of(by, map(constant, part.values))
    if not rows.has_owners:
        return select([], rows.query, where=[here, listed])
    unit = column(UNIT)
    parts = select([unit, aliased(by, _PART)], rows.query, where=[listed]).distinct(copy=False)
    rank = rank_text(part.salt, [*rows.unit_encoding, encoded(column(_PART), rows.kind(part.by), nullable=False)])
    place = window(function("ROW_NUMBER"), [unit], [rank, column(_PART)])
    placed = rows.with_units(select([unit, column(_PART), aliased(place, _PLACE)], parts))
    kept = operation(exp.LTE, column(_PLACE), figure(part.max_parts_per_unit))
    units = select([unit], placed, where=[kept, operation(exp.EQ, column(_PART), constant(part.value))])
    selected = select([], rows.query, alias="l", where=[here])
    return joined(selected, units, "o", on=same(UNIT, "l", "o"), how="semi")


def _combined(relation: UnionAll | Intersect | Except, left: SqlRelation, right: SqlRelation) -> exp.Query:
    """Both sides with columns of the same kinds; whole numbers that meet floats are floats."""
    pairs = zip(left.shape.columns.values(), right.shape.columns.values(), strict=True)
    kinds = [merged([first, second]).kind for first, second in pairs]
    sides = _alike(left, kinds), _alike(right, kinds)
    return _COMBINED[type(relation)](*sides, distinct=False, copy=False)


def _alike(rows: SqlRelation, kinds: list[Kind]) -> exp.Select:
    columns = [
        aliased(cast(column(name), "DOUBLE") if kind is Kind.FLOAT else column(name), name)
        for name, kind in zip(rows.names.values(), kinds, strict=True)
    ]
    return select([*rows.unit, *columns], rows.query)


def lower_join(join: Join, left: SqlRelation, right: SqlRelation) -> exp.Select:
    """Each row of the left side with each of its partners; of a left join, one without any with NULLs."""
    places = len(left.names)
    own = [aliased(column(name, _LEFT), name) for name in left.selected]
    added = [aliased(column(name, _RIGHT), f"c{places + place}") for place, name in enumerate(right.names.values())]
    how: Meeting = "left" if join.kind is JoinKind.LEFT else "inner"
    query = select([*own, *added], left.query, alias=_LEFT)
    return joined(query, right.query, _RIGHT, on=_meeting(join.on, left, right), how=how)


def lower_semi_join(join: SemiJoin, child: SqlRelation, other: SqlRelation) -> exp.Select:
    """The rows that have a partner, or those that have none."""
    query = select([aliased(column(name, _LEFT), name) for name in child.selected], child.query, alias=_LEFT)
    how: Meeting = "anti" if join.negated else "semi"
    return joined(query, other.query, _RIGHT, on=_meeting(join.on, child, other), how=how)


def _meeting(on: tuple[tuple[str, str], ...], left: SqlRelation, right: SqlRelation) -> Sql:
    """NULL equals nothing; a whole number and a float are equal as doubles."""
    units = [same(UNIT, _LEFT, _RIGHT)] if right.has_owners else []
    return all_of([*units, *(_equal(first, second, left, right) for first, second in on)])


def _equal(first: str, second: str, left: SqlRelation, right: SqlRelation) -> Sql:
    sides: list[Sql] = [column(left.names[first], _LEFT), column(right.names[second], _RIGHT)]
    if left.kind(first) is not right.kind(second):
        sides = [cast(side, "DOUBLE") for side in sides]
    return operation(exp.EQ, *sides)


def _each_once(keys: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """A column that stands twice in an order decides nothing the second time."""
    first: dict[str, bool] = {}
    for name, descending in keys:
        first.setdefault(name, descending)
    return list(first.items())


_RANKS: Final = frozenset({RowFunction.RANK, RowFunction.DENSE_RANK})


def lower_window(relation: RowWindow, rows: SqlRelation) -> exp.Select:
    """Each row with a window over the rows of its unit; whether a term is NULL is told before it, as engines differ."""
    keys = list(relation.order)
    if relation.function not in _RANKS:  # which rows that are equal by the order share
        keys += [(name, False) for name in rows.names]
    order = [
        exp.Ordered(this=term, desc=descending)
        for name, descending in _each_once(keys)
        for term in (is_null(column(rows.names[name])), column(rows.names[name]))
    ]
    value: list[exp.Expr] = [] if relation.value is None else [column(rows.names[relation.value])]
    if relation.function in {RowFunction.LAG, RowFunction.LEAD}:
        value = [*value, figure(relation.distance)]
    within = [*rows.unit, *(column(rows.names[name]) for name in relation.within)]
    made = window(function(relation.function.value.upper(), *value), within, order)
    own = [column(name) for name in rows.selected]
    return select([*own, aliased(made, f"c{len(rows.names)}")], rows.query)


_COUNT, _TOTAL = "n", "t"


def lower_grouped(grouped: Grouped, rows: SqlRelation) -> exp.Select:
    """One row for each combination of the keys (of each unit, where rows have owners); none of no rows."""
    stored = [column(rows.names[key]) for key in grouped.keys]
    keys = [aliased(key, f"c{place}") for place, key in enumerate(stored)]
    folded = [term for place, one in enumerate(grouped.columns) for term in _aggregates(one, rows, place)]
    groups = [*rows.unit, *stored]
    some = None if groups else operation(exp.GT, _row_count(), figure(0))
    inner = select([*rows.unit, *keys, *folded], rows.query, group_by=groups, having=some)
    columns = [aliased(_made(one, rows, place), f"c{len(keys) + place}") for place, one in enumerate(grouped.columns)]
    return select([*rows.unit, *(column(f"c{place}") for place in range(len(keys))), *columns], inner)


def _aggregates(folded: Folded, rows: SqlRelation, place: int) -> list[Sql]:
    """What is computed of each group, to make the column of."""
    total, count = f"{_TOTAL}{place}", f"{_COUNT}{place}"
    if folded.value is None:
        return [aliased(_row_count(), total)]
    value = rows.term(folded.value)
    match folded.fold:
        case Fold.COUNT | Fold.MIN | Fold.MAX:
            return [aliased(function(folded.fold.value.upper(), value.settled), total)]
        case Fold.COUNT_DISTINCT:
            return [aliased(different(value.settled), total)]
        case _:
            steps = clamped_steps(value, _steps(folded.value, rows, folded.name))
            return [aliased(function("wide_sum", steps), total), aliased(function("COUNT", value.settled), count)]


def _made(folded: Folded, rows: SqlRelation, place: int) -> Sql:
    """The column, made of the aggregates."""
    total, count = column(f"{_TOTAL}{place}"), column(f"{_COUNT}{place}")
    if folded.value is None or folded.fold not in {Fold.SUM, Fold.MEAN}:
        return total
    resolution = _steps(folded.value, rows, folded.name).resolution
    if folded.fold is Fold.SUM and rows.term(folded.value).kind is Kind.INTEGER:
        return _whole_product(total, resolution)
    number = function("nearest_double", total)
    if folded.fold is Fold.MEAN:
        number = function("double_quotient", number, cast(count, "DOUBLE"))
    return limited(operation(exp.Mul, number, double(float(resolution))))


def _whole_product(total: Sql, resolution: Fraction) -> Sql:
    """A sum of whole numbers, whose resolution is whole too; NULL beyond 64 bits, before it is multiplied."""
    step = int(resolution)
    ends = (figure(-(-MIN_INT64 // step)), figure(MAX_INT64 // step))
    within = guarded(total, lambda x: between(x, *ends))
    return cast(operation(exp.Mul, within, figure(step)), "BIGINT")


def _steps(value: Expression, rows: SqlRelation, name: str) -> LatticeValue:
    return steps_of(value, facts_of(value, rows.shape.columns), bounds=None, what=name)


def _row_count() -> Sql:
    return function("COUNT", exp.Star())
