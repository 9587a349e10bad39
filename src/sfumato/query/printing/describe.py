"""Questions and relations as people read them: the SQL that a frame stands for.

For receipts and pictures; no engine runs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.expressions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Expression,
    Literal,
    replaced,
)
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    GroupBy,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import Presented
from sfumato.query.planning.windows import OrderKey, window_sql
from sfumato.query.printing.expression_sql import Written, expression_sql, quoted


def described(question: Presented) -> str:
    """The query as one SELECT statement, with what SQL has no words for in comments.

    Example:
        >>> from sfumato.query.planning.questions import presented
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> from sfumato.query.statistics.counts import CountRows
        >>> people = Table(name="people", columns={"age": integer(0, 120)})
        >>> described(presented(Source(people), statistics=(("n", CountRows()),)))
        'SELECT COUNT(*) AS n FROM people'
    """
    aggregate = question.child
    block = block_of(aggregate.child.child)
    keys = {key: block.columns[key] for key in aggregate.child.keys}
    released = _released(question, block.columns)
    columns = question.columns or tuple((name, ColumnRef(name)) for name in _answer(question))
    selected = [as_name(expression_sql(replaced(column, released)), name) for name, column in columns]
    clauses = [
        f"SELECT {', '.join(selected)} {block.rows}",
        _groups(aggregate.child, keys),
        "" if question.having is None else f"HAVING {expression_sql(replaced(question.having, released))}",
        _order(question.order, released),
        "" if question.limit is None else f"LIMIT {question.limit}",
        f"OFFSET {question.offset}" if question.offset else "",
        "" if aggregate.limits is None else _limits(aggregate.limits),
    ]
    return " ".join(clause for clause in clauses if clause)


def _answer(question: Presented) -> tuple[str, ...]:
    """The columns of the answer where nothing else is said; a statistic of several as one."""
    group_by = question.child.child
    return (*(group_by.labels or group_by.keys), *(name for name, _ in question.child.statistics))


def _released(question: Presented, columns: Mapping[str, Expression]) -> dict[str, Expression]:
    """What the names of released columns stand for."""
    group_by = question.child.child
    labels = zip(group_by.labels or group_by.keys, group_by.keys, strict=True)
    released: dict[str, Expression] = {label: columns[key] for label, key in labels}
    for name, statistic in question.child.statistics:
        text = statistic.sql([expression_sql(replaced(value, columns)) for value in statistic.expressions])
        released[name] = Written(text)
        several = statistic.columns(name)
        if several != (name,):
            released |= {own: Written(f"{text}[{place}]") for place, own in enumerate(several, start=1)}
    windows = {
        name: Written(window_sql(window, lambda part: expression_sql(replaced(part, released))))
        for name, window in question.windows
    }
    return {**released, **windows}


def _groups(group_by: GroupBy, keys: Mapping[str, Expression]) -> str:
    texts = {key: expression_sql(column) for key, column in keys.items()}
    if group_by.sets:
        sets = (f"({', '.join(texts[key] for key in kept)})" for kept in group_by.sets)
        return f"GROUP BY GROUPING SETS ({', '.join(sets)})"
    return f"GROUP BY {', '.join(texts.values())}" if texts else ""


def _order(order: tuple[OrderKey, ...], released: Mapping[str, Expression]) -> str:
    keys = [expression_sql(replaced(key.value, released)) + " DESC" * key.descending for key in order]
    return f"ORDER BY {', '.join(keys)}" if keys else ""


def _limits(limits: Limits) -> str:
    """Limits of one unit, which belong to the policy in SQL."""
    stated = {
        "rows": limits.max_rows_per_unit,
        "groups": limits.max_groups_per_unit,
        "rows per group": limits.max_rows_per_group_per_unit,
    }
    return f"/* per unit at most {', '.join(f'{most} {name}' for name, most in stated.items() if most is not None)} */"


_LONGEST: Final = 200
"""A column whose text is longer is computed in a sub-query, so that columns of columns do not grow without limit."""

_SETS: Final[Mapping[type[Relation], str]] = {UnionAll: "UNION ALL", Intersect: "INTERSECT ALL", Except: "EXCEPT ALL"}
_FOLDS: Final[Mapping[Fold, str]] = {
    Fold.COUNT: "COUNT({})",
    Fold.COUNT_DISTINCT: "COUNT(DISTINCT {})",
    Fold.SUM: "SUM({})",
    Fold.MEAN: "AVG({})",
    Fold.MIN: "MIN({})",
    Fold.MAX: "MAX({})",
}


@dataclass(frozen=True, slots=True)
class Block:
    """What SELECT stands before: a source, conditions on its rows, and columns that are computed of its own."""

    source: str
    columns: Mapping[str, Expression]
    conditions: tuple[Condition, ...] = ()

    @property
    def rows(self) -> str:
        """FROM and WHERE."""
        if not self.conditions:
            return f"FROM {self.source}"
        together = self.conditions[0] if len(self.conditions) == 1 else And(self.conditions)
        return f"FROM {self.source} WHERE {expression_sql(together)}"

    @property
    def selected(self) -> str:
        """The list of columns."""
        return ", ".join(as_name(expression_sql(column), name) for name, column in self.columns.items())


def as_name(text: str, name: str) -> str:
    """A column under a name."""
    return text if text == quoted(name) else f"{text} AS {quoted(name)}"


def block_of(relation: Relation) -> Block:
    """The block whose rows and columns are those of a relation."""
    match relation:
        case Filter(child, condition):
            block = block_of(child)
            return replace(block, conditions=(*block.conditions, replaced(condition, block.columns)))
        case Select(child, columns):
            return _selected(block_of(child), columns)
        case PeoplePart(child=child, by=by, value=value):
            # As a constant, a whole number is an exact one.
            key = Literal(Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value)
            return block_of(Filter(child, Compare(Comparison.EQUAL, ColumnRef(by), key)))
        case _:
            return Block(_source(relation), {name: ColumnRef(name) for name in shape_of(relation).columns})


def _selected(block: Block, columns: tuple[tuple[str, Expression], ...]) -> Block:
    inlined = {name: replaced(expression, block.columns) for name, expression in columns}
    if all(len(expression_sql(column)) <= _LONGEST for column in inlined.values()):
        return replace(block, columns=inlined)
    inside = Block(f"({_statement(block)})", {name: ColumnRef(name) for name in block.columns})
    return replace(inside, columns={name: replaced(expression, inside.columns) for name, expression in columns})


def _source(relation: Relation) -> str:
    """What can stand behind FROM."""
    match relation:
        case Source(table):
            return quoted(table.name)
        case Join():
            kind = "LEFT JOIN" if relation.kind is JoinKind.LEFT else "JOIN"
            return f"{_operand(relation.left)} {kind} {_operand(relation.right, is_right=True)} {_on(relation.on)}"
        case SemiJoin():
            kind = "ANTI JOIN" if relation.negated else "SEMI JOIN"
            return f"{_operand(relation.child)} {kind} {_operand(relation.other, is_right=True)} {_on(relation.on)}"
        case _:
            return f"({relation_sql(relation)})"


def relation_sql(relation: Relation) -> str:
    """A relation as a SELECT.

    Example:
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> relation_sql(Filter(people, Compare(Comparison.LESS, ColumnRef("age"), ColumnRef("age"))))
        'SELECT age FROM people WHERE age < age'
    """
    match relation:
        case UnionAll(left, right) | Intersect(left, right) | Except(left, right):
            return f"({relation_sql(left)}) {_SETS[type(relation)]} ({relation_sql(right)})"
        case Distinct(child):
            return f"SELECT DISTINCT {block_of(child).selected} {block_of(child).rows}"
        case BoundRows(child, most):
            return f"{relation_sql(child)} LIMIT {most} PER UNIT"
        case RowWindow(child=child, name=name):
            block = block_of(child)
            return f"SELECT {block.selected}, {as_name(_row_window(relation, block), name)} {block.rows}"
        case Grouped(child, keys, columns):
            block = block_of(child)
            names = [as_name(expression_sql(block.columns[key]), key) for key in keys]
            folds = [as_name(_fold(column, block), column.name) for column in columns]
            unit = ["/* unit */"] if shape_of(child).metric is Metric.UNITS else []
            groups = unit + [expression_sql(block.columns[key]) for key in keys]
            text = f"SELECT {', '.join(names + folds)} {block.rows}"
            return f"{text} GROUP BY {', '.join(groups)}" if groups else text
        case _:
            return _statement(block_of(relation))


def _row_window(window: RowWindow, block: Block) -> str:
    """A window over the rows of a unit, which is in no column."""

    def written(name: str) -> str:
        return expression_sql(block.columns[name])

    arguments = [] if window.value is None else [written(window.value)]
    if window.distance != 1:
        arguments.append(str(window.distance))
    unit = ["/* unit */"] if shape_of(window.child).metric is Metric.UNITS else []
    within = [*unit, *map(written, window.within)]
    order = ", ".join(written(name) + " DESC" * descending for name, descending in window.order)
    clauses = [f"PARTITION BY {', '.join(within)}" if within else "", f"ORDER BY {order}" if order else ""]
    return f"{window.function.value.upper()}({', '.join(arguments)}) OVER ({' '.join(filter(None, clauses))})"


def _statement(block: Block) -> str:
    return f"SELECT {block.selected} {block.rows}"


def _operand(relation: Relation, *, is_right: bool = False) -> str:
    """A side of a join: its source if it is no more than that, and a chain of joins only on the left."""
    is_more = isinstance(relation, PeoplePart | Filter | Select) or (is_right and isinstance(relation, Join | SemiJoin))
    return f"({relation_sql(relation)})" if is_more else _source(relation)


def _on(on: tuple[tuple[str, str], ...]) -> str:
    """The columns that must be equal; within units, where both sides have owners, that says less than is meant."""
    if not on:
        return "ON TRUE"
    if all(first == second for first, second in on):
        return f"USING ({', '.join(quoted(first) for first, _ in on)})"
    return f"ON {' AND '.join(f'{quoted(first)} = {quoted(second)}' for first, second in on)}"


def _fold(column: Folded, block: Block) -> str:
    if column.value is None:
        return "COUNT(*)"
    return _FOLDS[column.fold].format(expression_sql(replaced(column.value, block.columns)))
