"""Sub-queries with GROUP BY in SQL, as `reference_folds` has them: sums of whole numbers, so that order is nothing."""

from fractions import Fraction

from sqlglot import exp

from sfumato.engines.sql.expressions.kinds import limited
from sfumato.engines.sql.expressions.terms import (
    Sql,
    aliased,
    between,
    cast,
    column,
    different,
    double,
    figure,
    function,
    guarded,
    operation,
)  # fmt: skip
from sfumato.engines.sql.queries import select
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.steps import clamped_steps
from sfumato.engines.values import MAX_INT64, MIN_INT64
from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.kinds import Kind
from sfumato.query.model.measures import Steps, steps_of
from sfumato.query.model.relations import Fold, Folded, Grouped

_COUNT, _TOTAL = "n", "t"


def lower_grouped(grouped: Grouped, rows: Rows) -> exp.Select:
    """One row for each combination of the keys (of each unit, where rows have owners); none of no rows."""
    stored = [column(rows.names[key]) for key in grouped.keys]
    keys = [aliased(key, f"c{place}") for place, key in enumerate(stored)]
    folded = [term for place, one in enumerate(grouped.columns) for term in _aggregates(one, rows, place)]
    groups = [*rows.unit, *stored]
    some = None if groups else operation(exp.GT, _row_count(), figure(0))
    inner = select([*rows.unit, *keys, *folded], rows.query, group_by=groups, having=some)
    columns = [aliased(_made(one, rows, place), f"c{len(keys) + place}") for place, one in enumerate(grouped.columns)]
    return select([*rows.unit, *(column(f"c{place}") for place in range(len(keys))), *columns], inner)


def _aggregates(folded: Folded, rows: Rows, place: int) -> list[Sql]:
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


def _made(folded: Folded, rows: Rows, place: int) -> Sql:
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


def _steps(value: Expression, rows: Rows, name: str) -> Steps:
    return steps_of(value, facts_of(value, rows.shape.columns), bounds=None, what=name)


def _row_count() -> Sql:
    return function("COUNT", exp.Star())
