"""The ways to group of several questions, and which of them are sums over the cells of one histogram.

Proof: proofs/query/planning/batch.md.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from sfumato.mechanisms.workloads.planning import WorkloadPlan, plan_workload
from sfumato.mechanisms.workloads.strategies import NoiseKind
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.keys import grouping_sets
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.simplify import simplify, text_of
from sfumato.query.model.expressions import And, ColumnRef, Condition, Expression
from sfumato.query.model.relations import Filter, Relation
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import Measure, Statement
from sfumato.query.planning.axes import CellAxis, Want, axis_of, compared, parts_of
from sfumato.query.planning.questions import Aggregate, Presented
from sfumato.query.planning.sections import UnpricedSection, draft
from sfumato.query.planning.windows import RowsFrame, WindowFunction
from sfumato.query.planning.workloads import (
    Draft,
    Marginal,
    base_of,
    drafted,
    is_bounded_once,
    is_linear,
    over_base,
)
from sfumato.query.statistics.measurements import CenteredOutput, Law, LinearOutput
from sfumato.query.statistics.recipes import NoisyMeasures

Fits: TypeAlias = tuple[Draft, ...]
"""Workloads without their noise."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to group that some questions have in common."""

    draft: UnpricedSection
    asked: dict[int, tuple[int, ...]]
    """For each question which statistics of the draft are its own."""


def ways_of(asked: Sequence[Aggregate], relation: NeighboringRelation, law: Law | None) -> list[Way]:
    """The ways to group of all questions, each once, with the statistics of all that group so."""
    found: list[tuple[Aggregate, tuple[str, ...], dict[int, tuple[int, ...]]]] = []
    for index, question in enumerate(asked):
        weights = question.weights or (Fraction(1),) * len(question.statistics)
        for keys in grouping_sets(question.child):
            key = question.child.child, question.limits, keys
            known = [(one.child.child, one.limits, own) for one, own, _ in found]
            place = known.index(key) if key in known else len(found)
            if place == len(found):
                found.append((replace(question, statistics=(), weights=()), keys, {}))
            one, _, owners = found[place]
            before = len(one.statistics)
            owners[index] = tuple(range(before, before + len(question.statistics)))
            both = replace(one, statistics=one.statistics + question.statistics, weights=one.weights + weights)
            found[place] = (both, keys, owners)
    made = partial(draft, neighboring_relation=relation, law=law)
    return [Way(made(one, keys), owners) for one, keys, owners in found]


Running: TypeAlias = Mapping[str, tuple[str, str]]
"""For windows that are running sums of a statistic by a key, all other keys apart: the statistic and the key."""


def running_sums(question: Presented) -> Running:
    """Those of a question that shows all of its rows."""
    keys = question.child.child.keys
    label = dict(zip(question.child.child.labels or keys, keys, strict=True))
    statistics = {name for name, _ in question.child.statistics}
    if question.having is not None or question.child.child.sets:
        return MappingProxyType({})
    found = {}
    for name, window in question.windows:
        is_sum = window.function is WindowFunction.SUM and window.frame in {None, RowsFrame(before=None, after=0)}
        ascending = [key.value for key in window.order if not key.descending]
        places = [one.name for one in (*ascending, *window.partition) if isinstance(one, ColumnRef)]
        names = [label.get(name, "") for name in places]
        is_by_keys = len(window.order) == len(ascending) == 1 and sorted(names) == sorted(keys)
        if is_sum and is_by_keys and isinstance(window.value, ColumnRef) and window.value.name in statistics:
            found[name] = (window.value.name, names[0])
    return MappingProxyType(found)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A way to group as sums over some rows: what each of them must be, beside what it is grouped by.

    Attributes:
        place: Which way it is.
        rows: The rows that it is about.
        apart: Conditions that compare an expression with constants, which are no part of `rows`.
        columns: What the columns of the way are over these rows.
    """

    place: int
    draft: UnpricedSection
    rows: Relation
    apart: tuple[Condition, ...]
    columns: Mapping[str, Expression]

    @property
    def main(self) -> Statement:
        return self.draft.statements[0]

    def wants(self, common: Collection[Condition]) -> dict[Expression, Want]:
        """What it asks of each expression, but for conditions that are common to all."""
        keys = {self.columns[key.name]: key.values or () for key in self.main.keys}
        apart = [(compared(one), one) for one in self.apart if one not in common]
        expressions = dict.fromkeys([*keys, *(about for about, _ in apart if about is not None)])
        return {
            one: Want(keys.get(one), tuple(condition for about, condition in apart if about == one))
            for one in expressions
        }


@dataclass(frozen=True, slots=True)
class CommonRows:
    """Ways to group the same rows under the same limits, as tables of one histogram for each of their measures."""

    rows: Relation
    limits: Limits
    axes: tuple[CellAxis, ...]
    tables: tuple[tuple[Measure, tuple[Marginal, ...]], ...]

    @property
    def places(self) -> frozenset[int]:
        """Which ways they are."""
        return frozenset(table.section for _, tables in self.tables for table in tables)

    def fits(
        self, relation: NeighboringRelation, noise: NoiseKind, *, plan_of: Callable[..., WorkloadPlan] = plan_workload
    ) -> Fits:
        """A workload for each measure; none where one of them has no use for it."""
        made = partial(drafted, limits=self.limits, neighboring_relation=relation, noise=noise, plan_of=plan_of)
        drafts = [made(self.rows, measure, self.axes, tables) for measure, tables in self.tables]
        known = tuple(one for one in drafts if one is not None)
        return known if len(known) == len(drafts) else ()


def common_rows(
    questions: Sequence[Presented], ways: Sequence[Way], running: Sequence[Running], *, is_apart: bool
) -> list[CommonRows]:
    """What may be measured as workloads: of questions of which every way to group can be, as all of them are shown.

    Args:
        questions: What is asked.
        ways: Their ways to group.
        running: Their running sums.
        is_apart: Whether rows are common that differ in conditions, if these compare expressions with constants; and
            only such rows are wanted.
    """
    found: list[list[_Asked]] = []
    for place in sorted(_linear_places(questions, ways)):
        asked = _asked(place, ways[place].draft, is_apart=is_apart)
        same = (own for own in found if (own[0].rows, own[0].main.limits) == (asked.rows, asked.main.limits))
        known = next(same, None)
        if known is None:
            found.append([asked])
        else:
            known.append(asked)
    if is_apart:
        found = [own for own in found if any(one.apart != own[0].apart for one in own)]
    made = (_tabled(own, ways, running) for own in found)
    return [one for one in made if one is not None]


def _linear_places(questions: Sequence[Presented], ways: Sequence[Way]) -> set[int]:
    """The ways that are counts and sums, of questions that have no other ones."""
    left = {place for place, way in enumerate(ways) if _is_linear(way.draft)}
    refused = {index for index, question in enumerate(questions) if question.consistent}
    while True:
        refused |= {index for place, way in enumerate(ways) if place not in left for index in way.asked}
        kept = {place for place in left if refused.isdisjoint(ways[place].asked)}
        if kept == left:
            return left
        left = kept


def _asked(place: int, draft: UnpricedSection, *, is_apart: bool) -> _Asked:
    """A way over the rows below its columns, and below its conditions where each row is a unit.

    Elsewhere a condition decides which rows of a unit count against its limits.
    """
    rows, columns = base_of(draft.statements[0].rows)
    if not is_apart or shape_of(rows).metric is not Metric.ROWS:
        return _Asked(place, draft, rows, (), columns)
    conditions = list[Condition]()
    while isinstance(rows, Filter):
        conditions += parts_of(simplify(rows.condition))
        rows = rows.child
    ordered = sorted(conditions, key=text_of)  # as they may be written in any order
    return _Asked(
        place, draft, _filtered(rows, [one for one in ordered if compared(one) is None]),
        tuple(one for one in ordered if compared(one) is not None),
        {name: simplify(column) for name, column in columns.items()},
    )  # fmt: skip


def _filtered(rows: Relation, conditions: Sequence[Condition]) -> Relation:
    return Filter(rows, And(tuple(conditions))) if conditions else rows


def _tabled(ways_asked: Sequence[_Asked], ways: Sequence[Way], running: Sequence[Running]) -> CommonRows | None:
    """The tables of ways about the same rows; None where some expression cannot be an axis for all of them."""
    first, *others = ways_asked
    common = [one for one in dict.fromkeys(first.apart) if all(one in other.apart for other in others)]
    rows = _filtered(first.rows, common)
    wants = [one.wants(common) for one in ways_asked]
    expressions = list(dict.fromkeys(chain.from_iterable(wants)))
    shape = shape_of(rows)
    axes = []
    for expression in expressions:
        own = [one[expression] for one in wants if expression in one]
        axis = axis_of(expression, facts_of(expression, shape.columns).kind, own)
        if axis is None:
            return None
        axes.append(axis)
    tables: dict[Measure, list[Marginal]] = {}
    for asked, wanted in zip(ways_asked, wants, strict=True):
        summed, sharing = _sums_wanted(ways[asked.place], running), asked.draft.sharing
        axis_at = {key.name: expressions.index(asked.columns[key.name]) for key in asked.main.keys}
        for component, noisy in enumerate(sharing.components):
            if isinstance(noisy, NoisyMeasures):
                table = Marginal(
                    section=asked.place, component=component, axes=tuple(axis_at.values()),
                    wants={expressions.index(expression): want for expression, want in wanted.items()},
                    running=tuple(axis_at[key] for key in summed.get(component, ())),
                    weight=sharing.weights[component].precision ** 2,
                )  # fmt: skip
                tables.setdefault(over_base(noisy.measures[0], asked.columns), []).append(table)
    return CommonRows(
        rows, first.main.limits, tuple(axes), tuple((measure, tuple(own)) for measure, own in tables.items())
    )


def _is_linear(draft: UnpricedSection) -> bool:
    """Whether all that it releases are counts and sums of public groups, of rows that are bounded once for all."""
    numbers = [one.measures for one in draft.sharing.components if isinstance(one, NoisyMeasures)]
    is_all = len(numbers) == len(draft.sharing.components) and not draft.is_selected
    outputs = chain.from_iterable(map(draft.outputs, range(len(draft.sharing.places))))
    return (
        is_all
        and all(len(measures) == 1 and is_linear(measures[0]) for measures in numbers)
        and all(isinstance(output, LinearOutput | CenteredOutput) for output in outputs)
        and is_bounded_once(draft.statements[0].limits)
    )


def _sums_wanted(way: Way, running: Sequence[Running]) -> dict[int, tuple[str, ...]]:
    """For each noisy number the keys by which its running sums are asked."""
    found: dict[int, tuple[str, ...]] = {}
    for index, statistics in way.asked.items():
        for statistic, key in running[index].values():
            for output in chain.from_iterable(map(way.draft.outputs, statistics)):
                if isinstance(output, LinearOutput) and output.name == statistic:
                    keys = (*found.get(output.measurement, ()), key)
                    found[output.measurement] = tuple(dict.fromkeys(keys))
    return found
