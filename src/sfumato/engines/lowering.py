"""Statements to SQL, built as a sqlglot tree and emitted from it; nothing an analyst wrote is ever spliced in.

typed table → listed parts → filters → (unit, keys, integers) → bounds → sums per group
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from sfumato.engines.sql_terms import column, constant, double, function, present, whole
from sfumato.privacy.neighbors import EachRow
from sfumato.query.expressions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    IsIn,
    IsNull,
    IsTrue,
    Literal,
    Not,
    Or,
    Scalar,
)
from sfumato.query.measures import Measure, RowCount, StepSum, ValueCount
from sfumato.query.plan import Statement
from sfumato.query.relations import Bound, Filter, Part, Rows, Source, table_of
from sfumato.query.schema import Key, Limits, Table

TYPED: Final = "typed"
"""The schema in which engines keep tables of declared types, apart from what they were made of."""

_UNIT: Final = "unit"
_COMPARE: Final = {
    Comparison.EQUAL: exp.EQ,
    Comparison.NOT_EQUAL: exp.NEQ,
    Comparison.LESS: exp.LT,
    Comparison.LESS_EQUAL: exp.LTE,
    Comparison.GREATER: exp.GT,
    Comparison.GREATER_EQUAL: exp.GTE,
}


def lower(statement: Statement, *, salt: str) -> exp.Select:
    """The SQL of a statement: one row for each non-empty group, its keys first, then its sums."""
    table = table_of(statement.rows)
    rows, limits = (statement.rows.child, statement.rows.limits) if isinstance(statement.rows, Bound) else (
        statement.rows, Limits(),
    )  # fmt: skip
    entries = _entries(rows, statement, table)
    bounded = _bounded(entries, limits, statement, salt)
    keys = [column(f"k{i}") for i in range(len(statement.keys))]
    sums = [exp.Sum(this=column(f"m{i}")) for i in range(len(statement.measures))]
    query = exp.select(*keys, *sums).from_(bounded.subquery("bounded"))
    return query.group_by(*keys) if keys else query


def _rows(rows: Rows) -> exp.Select:
    match rows:
        case Source(table):
            name, schema = (exp.to_identifier(text, quoted=True) for text in (table.name, TYPED))
            query = exp.select("*").from_(exp.Table(this=name, db=schema))
            return query if isinstance(table.unit, EachRow) else query.where(present(table.unit.column))
        case Part():
            return _part(rows)
        case Filter(child, condition):
            return exp.select("*").from_(_rows(child).subquery("rows")).where(lower_condition(condition))
        case Bound(child, _):
            return _rows(child)


def _part(part: Part) -> exp.Select:
    """The rows of one part, of units that keep it under the salt that all parts share."""
    unit = table_of(part).unit
    listed = exp.select("*").from_(_rows(part.child).subquery("rows")).where(_one_of(part.by, part.values))
    if not isinstance(unit, EachRow):
        order = [_hash(part.salt, [column(unit.column), column(part.by)]), column(part.by)]
        names = list(table_of(part).columns)
        listed = _ranked(listed, names, "DENSE_RANK", [column(unit.column)], order, part.max_parts_per_unit)
    here = exp.EQ(this=column(part.by), expression=constant(part.value))
    return exp.select("*").from_(listed.subquery("parts")).where(here)


def _one_of(name: str, values: Sequence[Key]) -> exp.In:
    return exp.In(this=column(name), expressions=[constant(value) for value in values])


def _entries(rows: Rows, statement: Statement, table: Table) -> exp.Select:
    """Each row as its unit, its keys and what it adds to each measure."""
    listed = exp.select("*").from_(_rows(rows).subquery("rows"))
    for key in statement.keys:
        listed = listed.where(_one_of(key.name, key.values))
    selected = [column(key.name).as_(f"k{i}") for i, key in enumerate(statement.keys)]
    selected += [lower_measure(m, table).as_(f"m{i}") for i, m in enumerate(statement.measures)]
    if not isinstance(table.unit, EachRow):
        selected.append(column(table.unit.column).as_(_UNIT))
    return exp.select(*selected).from_(listed.subquery("listed"))


def _bounded(entries: exp.Select, limits: Limits, statement: Statement, salt: str) -> exp.Select:
    """At most so many groups of each unit, then rows of each unit and group, then rows of each unit."""
    unit = column(_UNIT)
    keys: list[exp.Expr] = [column(f"k{i}") for i in range(len(statement.keys))]
    added = [column(f"m{i}") for i in range(len(statement.measures))]
    row = [unit, *keys, *added]
    names = [term.name for term in row]
    if (most := limits.max_groups_per_unit) is not None and keys:
        entries = _ranked(entries, names, "DENSE_RANK", [unit], [_hash(salt, [unit, *keys]), *keys], most)
    if (most := limits.max_rows_per_group_per_unit) is not None:
        entries = _ranked(entries, names, "ROW_NUMBER", [unit, *keys], [_hash(salt, row)], most)
    if (most := limits.max_rows_per_unit) is not None:
        entries = _ranked(entries, names, "ROW_NUMBER", [unit], [_hash(salt, row)], most)
    return entries


def _ranked(
    query: exp.Select, names: Sequence[str], rank: str, by: Sequence[exp.Expr], order: Sequence[exp.Expr], most: int
) -> exp.Select:
    """The rows whose rank within `by` is at most `most`."""
    window = exp.Window(
        this=function(rank), partition_by=[e.copy() for e in by],
        order=exp.Order(expressions=[exp.Ordered(this=e.copy()) for e in order]),
    )  # fmt: skip
    kept = exp.select(*map(column, names)).from_(query.subquery("rows"))
    # QUALIFY, because a rank with a name of its own could be shadowed by a column of the table that has the same one
    kept.set("qualify", exp.Qualify(this=exp.LTE(this=window, expression=exp.Literal.number(most))))
    return kept


def _hash(salt: str, values: Sequence[exp.Expr]) -> exp.Expr:
    """`sampling.rank_hash` in SQL."""
    text: exp.Expr = exp.Literal.string(salt)
    for value in values:
        text = exp.DPipe(this=text, expression=_encoded(value))
    return function("MD5", text)


def _encoded(value: exp.Expr) -> exp.Expr:
    text = exp.cast(value.copy(), exp.DataType.Type.VARCHAR)
    length = exp.cast(function("STRLEN", text.copy()), exp.DataType.Type.VARCHAR)
    prefix = exp.DPipe(this=exp.Literal.string("V"), expression=length)
    tagged = exp.DPipe(this=exp.DPipe(this=prefix, expression=exp.Literal.string(":")), expression=text)
    null = exp.Is(this=value.copy(), expression=exp.Null())
    return exp.Paren(this=exp.case().when(null, exp.Literal.string("N")).else_(tagged))


def lower_measure(measure: Measure, table: Table) -> exp.Expr:
    """`values.contribution` in SQL: what a row adds to a measure, never NULL."""
    match measure:
        case RowCount():
            return exp.Literal.number(1)
        case ValueCount(name, nullable):
            if not nullable:
                return exp.Literal.number(1)
            return exp.case().when(present(name), exp.Literal.number(1)).else_(exp.Literal.number(0))
        case StepSum():
            return _steps(measure, table.column(measure.column).resolution)


def _steps(measure: StepSum, resolution: Fraction) -> exp.Expr:
    """`values.clamped_steps` in SQL, every branch total."""
    value = exp.cast(column(measure.column), exp.DataType.Type.DOUBLE)
    scaled = exp.Div(this=value, expression=double(float(resolution)), typed=False, safe=False)
    rounded = exp.Floor(this=exp.Paren(this=exp.Add(this=scaled, expression=double(0.5))))
    steps = exp.TryCast(this=rounded, to=exp.DataType.build("BIGINT"))
    low, high = measure.lower - measure.offset, measure.upper - measure.offset
    clamped = function("GREATEST", function("LEAST", steps, whole(measure.upper)), whole(measure.lower))
    inner = exp.Sub(this=clamped, expression=exp.Paren(this=whole(measure.offset)))
    return (
        exp.case()
        .when(exp.Is(this=column(measure.column), expression=exp.Null()), whole(measure.null_amount))
        .when(exp.GTE(this=scaled.copy(), expression=double(float(measure.upper))), whole(high))
        .when(exp.LTE(this=scaled.copy(), expression=double(float(measure.lower))), whole(low))
        .else_(inner)
    )


def lower_condition(condition: Condition) -> exp.Expr:
    """`conditions.holds` in SQL."""
    match condition:
        case And(conditions):
            return exp.and_(*map(lower_condition, conditions)) if conditions else exp.true()
        case Or(conditions):
            return exp.or_(*map(lower_condition, conditions)) if conditions else exp.false()
        case Not(inner):
            return exp.Not(this=exp.Paren(this=lower_condition(inner)))
        case IsNull(reference):
            return exp.Is(this=column(reference.name), expression=exp.Null())
        case IsTrue(reference):
            return column(reference.name)
        case IsIn(reference, values):
            return _lower_is_in(reference, values)
        case Compare(comparison, left, right):
            return _COMPARE[comparison](this=_scalar(left), expression=_scalar(right))


def _lower_is_in(reference: ColumnRef, values: Sequence[Literal]) -> exp.Expr:
    """Constants of one type at a time, because a list of mixed types would be compared in the widest of them."""
    kinds: dict[object, list[exp.Expr]] = {}
    for value in values:
        term = constant(value.value)
        kinds.setdefault(term.args.get("to"), []).append(term)
    return exp.or_(*(exp.In(this=column(reference.name), expressions=terms) for terms in kinds.values()))


def _scalar(side: Scalar) -> exp.Expr:
    match side:
        case ColumnRef(name):
            return column(name)
        case Literal(value):
            return constant(value)
