"""Answers as Arrow tables, whose types follow from the query alone, never from what was released.

A batch of what was released becomes the columns that `presenting` shows, without rows being made of it where it can be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa

from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import with_ends
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Presented
from sfumato.query.statistics.estimates import LARGEST_WHOLE, AnswerValue, Estimator
from sfumato.query.statistics.measurements import Section, SumOutput, estimators
from sfumato.query.values.cells import Cell
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Numbers, Released, ReleasedBatch

ARROW_TYPES: Final = {
    Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip
"""What the values of each kind are in Arrow."""

_EXACT: Final = 2**53
"""Up to here whole numbers are doubles, so that dividing them rounds once."""


def answer_schema(keys: Sequence[str], statistics: Sequence[str], kinds: Sequence[Kind]) -> Any:
    """The names and types of the columns: keys, then each statistic with the two ends of its interval."""
    shown = [(name,) for name in keys] + [with_ends(name) for name in statistics]
    fields = [(name, ARROW_TYPES[kind]) for names, kind in zip(shown, kinds, strict=True) for name in names]
    return pa.schema(fields)


def answer_table(columns: Iterable[Any], schema: Any) -> Any:
    """Columns, in the order of a schema and of its types, as a table."""
    return pa.table([pa.array(own, field.type) for own, field in zip(columns, schema, strict=True)], schema=schema)


def answer_columns(
    groups: Sequence[Sequence[Cell]], estimates: Sequence[Sequence[AnswerValue]], schema: Any
) -> list[list[Any]]:
    """The rows of an answer, column by column."""
    rows = [
        [*group, *(figure for one in row for figure in figures(one))]
        for group, row in zip(groups, estimates, strict=True)
    ]
    return [[row[place] for row in rows] for place in range(len(schema))]


def figures(estimate: AnswerValue) -> tuple[Any, Any, Any]:
    """A value and the ends of its interval."""
    return estimate.value, estimate.low, estimate.high


class AnswerColumns:
    """How the batches of a section become columns.

    Args:
        question: How the answer is shown; without an order or a number of rows.
        plan: What was released.
        section: Which of its sections.
        confidence: Of every interval.
    """

    def __init__(self, question: Presented, plan: PrivatePlan, section: Section, confidence: Fraction) -> None:
        self._question, self._plan = question, replace(plan, sections=(section,))
        self._section, self._confidence = section, confidence
        nothing = Released(groups=(), measured=((),) * len(section.measurements))
        self.head = present(question, self._plan, [nothing], confidence)
        self.schema = answer_schema(self.head.keys, self.head.statistics, self.head.kinds)
        estimates = estimators(section, confidence)
        self._outputs = {output.name: (output, own) for output, own in zip(section.outputs, estimates, strict=True)}
        groups = question.child.child
        self._keys = dict(zip(groups.labels or groups.keys, groups.keys, strict=True))

    def table(self, batch: ReleasedBatch) -> Any:
        """The rows of a batch that are shown, as a pyarrow Table."""
        names = self._plain()
        if names is not None:
            return answer_table([own for name in names for own in self._arrays(name, batch)], self.schema)
        shown = present(self._question, self._plan, [batch.released], self._confidence)
        return answer_table(answer_columns(shown.groups, shown.estimates, self.schema), self.schema)

    def _plain(self) -> list[str] | None:
        """What is behind each column, where none is computed and no row left out."""
        shown = (*self.head.keys, *self.head.statistics)
        columns = dict(self._question.columns or ((name, ColumnRef(name)) for name in shown))
        behind = [columns[name] for name in shown]
        names = [expression.name for expression in behind if isinstance(expression, ColumnRef)]
        return names if len(names) == len(behind) and self._question.having is None else None

    def _arrays(self, name: str, batch: ReleasedBatch) -> Sequence[Any]:
        """A key, or a statistic and the ends of its interval."""
        if name in self._keys:
            own = [key.name for key in self._section.keys]
            return [batch.keys[own.index(self._keys[name])] if self._keys[name] in own else [None] * len(batch)]
        output, estimate = self._outputs[name]
        found = _summed(output, self._section, self._confidence, batch) if isinstance(output, SumOutput) else None
        return _estimated(estimate, batch) if found is None else found


def _estimated(estimate: Estimator, batch: ReleasedBatch) -> list[list[Any]]:
    """Row by row."""
    triples = [figures(one) for one in estimate([numbers.tolist() for numbers in batch.measured])]
    return [[triple[place] for triple in triples] for place in range(3)]


def _summed(output: SumOutput, section: Section, confidence: Fraction, batch: ReleasedBatch) -> list[Numbers] | None:
    """All rows at once, where 64 bits and doubles hold what `answer` computes exactly; else None."""
    reach = output.reach(section, confidence)
    numerator, denominator = output.resolution.as_integer_ratio()
    most = LARGEST_WHOLE if output.is_whole and output.resolution == 1 else _EXACT
    parts = [(batch.measured[own][:, at], factor) for (own, at), factor in output.terms]
    if reach is None or not len(batch) or any(numbers.dtype != np.int64 for numbers, _ in parts):
        return None
    sizes = (max(abs(int(own.min())), abs(int(own.max()))) * abs(factor) for own, factor in parts)
    if (sum(sizes) + reach) * numerator > most or denominator > _EXACT or (output.is_whole and denominator != 1):
        return None
    first, *others = (numbers * factor for numbers, factor in parts)
    steps = sum(others, start=first)
    ends = [(steps + move) * numerator for move in (0, -reach, reach)]
    return ends if output.is_whole else [end / denominator for end in ends]
