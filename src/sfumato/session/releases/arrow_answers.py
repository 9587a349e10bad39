"""Answers as Arrow tables, whose types follow from the question alone, never from what was released."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa

from sfumato.engines.values import Cell
from sfumato.query.model.kinds import Kind
from sfumato.query.model.names import with_ends
from sfumato.query.statistics.estimates import Estimate

ARROW_TYPES: Final = {
    Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip
"""What the values of each kind are in Arrow."""


def answer_schema(keys: Sequence[str], statistics: Sequence[str], kinds: Sequence[Kind]) -> Any:
    """The names and types of the columns: keys, then each statistic with the two ends of its interval."""
    shown = [(name,) for name in keys] + [with_ends(name) for name in statistics]
    fields = [(name, ARROW_TYPES[kind]) for names, kind in zip(shown, kinds, strict=True) for name in names]
    return pa.schema(fields)


def answer_table(columns: Iterable[Any], schema: Any) -> Any:
    """Columns, in the order of a schema and of its types, as a table."""
    return pa.table([pa.array(own, field.type) for own, field in zip(columns, schema, strict=True)], schema=schema)


def answer_columns(
    groups: Sequence[Sequence[Cell]], estimates: Sequence[Sequence[Estimate]], schema: Any
) -> list[list[Any]]:
    """The rows of an answer, column by column."""
    rows = [
        [*group, *(figure for one in row for figure in figures(one))]
        for group, row in zip(groups, estimates, strict=True)
    ]
    return [[row[place] for row in rows] for place in range(len(schema))]


def figures(estimate: Estimate) -> tuple[Any, Any, Any]:
    """A value and the ends of its interval."""
    return estimate.value, estimate.low, estimate.high
