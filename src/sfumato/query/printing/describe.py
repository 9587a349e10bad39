"""A question as people read it: the SQL that a frame stands for. For receipts and pictures; no engine runs it."""

from collections.abc import Mapping

from sfumato.query.model.expressions import ColumnRef, Expression, replaced
from sfumato.query.model.relations import GroupBy
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import OrderKey, Presented
from sfumato.query.printing.expression_sql import Written, expression_sql
from sfumato.query.printing.relation_sql import as_name, block_of


def described(question: Presented) -> str:
    """The question as one SELECT statement, with what SQL has no words for in comments.

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
    return released


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
