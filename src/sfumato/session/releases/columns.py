"""A batch of what was released as the columns of an answer: what `presenting` shows, without making rows of it."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Presented
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.statistics.estimates import LARGEST_WHOLE, Estimator, error_of, estimators
from sfumato.query.statistics.measurements import LinearOutput, Section
from sfumato.session.releases.arrow_answers import answer_columns, answer_schema, answer_table, figures
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Released
from sfumato.session.releases.streaming import Batch, Numbers

_EXACT: Final = 2**53
"""Up to here whole numbers are doubles, so that dividing them rounds once."""


class Columns:
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

    def table(self, batch: Batch) -> Any:
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

    def _arrays(self, name: str, batch: Batch) -> Sequence[Any]:
        """A key, or a statistic and the ends of its interval."""
        if name in self._keys:
            own = [key.name for key in self._section.keys]
            return [batch.keys[own.index(self._keys[name])] if self._keys[name] in own else [None] * len(batch)]
        output, estimate = self._outputs[name]
        found = _linear(output, self._section, self._confidence, batch) if isinstance(output, LinearOutput) else None
        return _estimated(estimate, batch) if found is None else found


def _estimated(estimate: Estimator, batch: Batch) -> list[list[Any]]:
    """Row by row."""
    triples = [figures(one) for one in estimate([numbers.tolist() for numbers in batch.measured])]
    return [[triple[place] for triple in triples] for place in range(3)]


def _linear(output: LinearOutput, section: Section, confidence: Fraction, batch: Batch) -> list[Numbers] | None:
    """All rows at once, where 64 bits and doubles hold what `answer` computes exactly; else None."""
    error, steps = error_of(section, output.measurement, confidence), batch.measured[output.measurement]
    numerator, denominator = output.resolution.as_integer_ratio()
    most = LARGEST_WHOLE if output.is_whole and output.resolution == 1 else _EXACT
    if steps.dtype != np.int64 or np.isinf(error) or not len(batch):
        return None
    own, reach = steps[:, output.coordinate], int(error)
    largest = max(abs(int(own.min())), abs(int(own.max()))) + reach
    if largest * numerator > most or denominator > _EXACT or (output.is_whole and denominator != 1):
        return None
    ends = [(own + move) * numerator for move in (0, -reach, reach)]
    return ends if output.is_whole else [end / denominator for end in ends]
