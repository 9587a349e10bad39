"""The rewrite that enforces the policy's contribution limits: a `Bound` right above the analyst's rows."""

from dataclasses import replace

from sfumato.privacy.neighbors import EachRow
from sfumato.query.relations import Aggregate, Bound, table_of
from sfumato.query.schema import Limits


def enforce_limits(question: Aggregate) -> Aggregate:
    """Bound what each unit has in the question, after filters and before grouping; single rows need nothing."""
    table = table_of(question.child.child)
    if isinstance(table.unit, EachRow):
        return question
    limits = table.limits
    if not question.child.keys:
        limits = _ungrouped(limits)
    return replace(question, child=replace(question.child, child=Bound(question.child.child, limits)))


def _ungrouped(limits: Limits) -> Limits:
    """Without keys there is one group, so the limit per group is one on rows in all."""
    bounds = [n for n in (limits.max_rows_per_unit, limits.max_rows_per_group_per_unit) if n is not None]
    return Limits(max_rows_per_unit=min(bounds))
