"""Several questions for one total: planned together, so that what they have in common is measured once.

Ways to group the same rows by the same keys are one section, whichever question asks, so their statistics share noisy
numbers (`sharing`). Sections of counts and sums over the same rows by other keys may be one workload (`workloads`),
if that errs clearly less. One allocation splits the total over all of it.

**Guarantee**: the event of a batch lists all that is measured, each once, and its charge covers that event. What each
question makes of it is post-processing. The plan follows from the questions, the policy and the total alone.

Proof: proofs/query/planning/batch.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.strategies import NoiseKind
from sfumato.numeric.arguments import is_one_of
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.events import ComposedEvent, Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.keys import grouping_sets
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Relation
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import Measure
from sfumato.query.planning.allocation import Need, Share, Weight, allocate
from sfumato.query.planning.auto_bounds import automatic
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Aggregate, Presented, folded_question
from sfumato.query.planning.sections import UnpricedSection, check_size, draft
from sfumato.query.planning.windows import RowsFrame, WindowFunction
from sfumato.query.planning.workloads import (
    Axis,
    Draft,
    Marginal,
    base_of,
    drafted,
    error_of,
    is_bounded_once,
    is_linear,
    over_base,
)
from sfumato.query.statistics.measurements import LAWS, CenteredOutput, FittedOutput, Law, LinearOutput, Output, Section
from sfumato.query.statistics.recipes import NoisyMeasures
from sfumato.query.statistics.workloads import FittedCells, Workload

WORTH: Final = 0.9
"""A workload is measured together if the squares of its errors are then less than this part of what they are apart: its
numbers are fractions, which counts that are measured alone are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Several questions with one cost: nothing about it depends on the data.

    Attributes:
        plans: For each question what it shows, of the sections that it reads.
        sections: What is measured; its outputs are those of all questions.
        workloads: What several of these sections have their numbers from.
        places: For each question, which section each of its own is.
        charge: The cost that is charged to the account.
        event: All that is released, for the accountants.
    """

    plans: tuple[PrivatePlan, ...]
    sections: tuple[Section, ...]
    workloads: tuple[Workload, ...]
    places: tuple[tuple[int, ...], ...]
    charge: PureDP | ApproxDP
    event: ComposedEvent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = [section.events for section in self.sections if not section.is_fitted]
        events: list[Event] = [*chain.from_iterable(own), *(one.event for one in self.workloads)]
        set_fields(self, event=ComposedEvent(tuple(events)))


Fits: TypeAlias = tuple[Draft, ...]
"""Workloads without their noise."""


def compile_batch(
    questions: Sequence[Presented],
    total: PureDP | ApproxDP,
    *,
    neighboring_relation: NeighboringRelation,
    law: Law | None = None,
) -> BatchPlan:
    """The plan that answers several questions for at most `total` together.

    Args:
        questions: What is asked.
        total: What all of it may cost together.
        neighboring_relation: What may change between neighboring databases.
        law: The distribution that additive noise must have; None takes the better one for each measure.

    Raises:
        NotPrivateError: Private keys without δ, or a question that looks at two units at once.
        UnboundedSensitivityError: A sum without bounds, or a unit without limits.
        ParameterError: A question leaves bounds to be chosen, or cannot be planned; or there is no such distribution.
    """
    if law is not None and not is_one_of(law, LAWS):
        raise ParameterError("mechanism", law, f"must be one of: {', '.join(LAWS)}")
    asked = [folded_question(question.child) for question in questions]
    for name in (name for question in asked for name, _ in automatic(question)):
        raise ParameterError("bounds", name, "must be stated in a batch; choose bounds by a query of its own")
    ways = _ways(asked, neighboring_relation, law)
    check_size([way.draft for way in ways])
    best = _priced(ways, (), total, law)
    noise: NoiseKind = "laplace" if law == "laplace" or total.delta == 0 else "gaussian"
    running = tuple(map(_running_sums, questions))
    for common in _common_rows(questions, ways, running):
        fits = common.fits(neighboring_relation, noise)
        if not fits:
            continue
        try:
            trial = _priced(ways, (*best.fits, *fits), total, law)
        except ParameterError:  # its noise would be wider than any that can be drawn
            continue
        if trial.is_worth(fits, best):
            best = trial
    return best.plan(asked, running)


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to group that some questions have in common."""

    draft: UnpricedSection
    asked: dict[int, tuple[int, ...]]
    """For each question which statistics of the draft are its own."""


def _ways(asked: Sequence[Aggregate], relation: NeighboringRelation, law: Law | None) -> list[_Way]:
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
    return [_Way(made(one, keys), owners) for one, keys, owners in found]


Running: TypeAlias = Mapping[str, tuple[str, str]]
"""For windows that are running sums of a statistic by a key, all other keys apart: the statistic and the key."""


def _running_sums(question: Presented) -> Running:
    """Those of a question that shows all of its rows."""
    keys = question.child.child.keys
    label = dict(zip(question.child.child.labels or keys, keys, strict=True))
    statistics = {name for name, _ in question.child.statistics}
    if question.having is not None or question.child.child.sets:
        return {}
    found = {}
    for name, window in question.windows:
        is_sum = window.function is WindowFunction.SUM and window.frame in {None, RowsFrame(before=None, after=0)}
        ascending = [key.value for key in window.order if not key.descending]
        places = [one.name for one in (*ascending, *window.partition) if isinstance(one, ColumnRef)]
        names = [label.get(name, "") for name in places]
        is_by_keys = len(window.order) == len(ascending) == 1 and sorted(names) == sorted(keys)
        if is_sum and is_by_keys and isinstance(window.value, ColumnRef) and window.value.name in statistics:
            found[name] = (window.value.name, names[0])
    return found


@dataclass(frozen=True, slots=True)
class _Common:
    """Ways to group the same rows under the same limits, and what they measure of them."""

    rows: Relation
    limits: Limits
    axes: list[Axis]
    tables: list[tuple[Measure, list[Marginal]]]

    def axis(self, key: Axis) -> int:
        """The axis of a key, which gets one if it has none."""
        if key not in self.axes:
            self.axes.append(key)
        return self.axes.index(key)

    def want(self, measure: Measure, table: Marginal) -> None:
        """Another table of a measure."""
        for known, tables in self.tables:
            if known == measure:
                tables.append(table)
                return
        self.tables.append((measure, [table]))

    def fits(self, relation: NeighboringRelation, noise: NoiseKind) -> Fits:
        """A workload for each measure; none where one of them has no use for it."""
        drafts = [
            drafted(
                self.rows, measure, self.axes, tables, limits=self.limits, neighboring_relation=relation, noise=noise
            )
            for measure, tables in self.tables
        ]
        known = tuple(one for one in drafts if one is not None)
        return known if len(known) == len(drafts) else ()


def _common_rows(questions: Sequence[Presented], ways: Sequence[_Way], running: Sequence[Running]) -> list[_Common]:
    """What may be measured as workloads: of questions of which every way to group can be, as all of them are shown."""
    left = {place for place, way in enumerate(ways) if _is_linear(way.draft)}
    refused = {index for index, question in enumerate(questions) if question.consistent}
    while True:
        refused |= {index for place, way in enumerate(ways) if place not in left for index in way.asked}
        kept = {place for place in left if refused.isdisjoint(ways[place].asked)}
        if kept == left:
            break
        left = kept
    found: list[_Common] = []
    for place in sorted(left):
        draft = ways[place].draft
        main = draft.statements[0]
        rows, columns = base_of(main.rows)
        same = (one for one in found if (one.rows, one.limits) == (rows, main.limits))
        common = next(same, None) or _Common(rows, main.limits, [], [])
        if common not in found:
            found.append(common)
        axes = {key.name: common.axis((columns[key.name], key.values or ())) for key in main.keys}
        wanted = _sums_wanted(ways[place], running)
        for component, noisy in enumerate(draft.sharing.components):
            if isinstance(noisy, NoisyMeasures):
                table = Marginal(
                    section=place, component=component, axes=tuple(axes.values()),
                    running=tuple(axes[key] for key in wanted.get(component, ())),
                    weight=draft.sharing.weights[component].precision ** 2,
                )  # fmt: skip
                common.want(over_base(noisy.measures[0], columns), table)
    return found


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


def _sums_wanted(way: _Way, running: Sequence[Running]) -> dict[int, tuple[str, ...]]:
    """For each noisy number the keys by which its running sums are asked."""
    found: dict[int, tuple[str, ...]] = {}
    for index, statistics in way.asked.items():
        for statistic, key in running[index].values():
            for output in chain.from_iterable(map(way.draft.outputs, statistics)):
                if isinstance(output, LinearOutput) and output.name == statistic:
                    keys = (*found.get(output.measurement, ()), key)
                    found[output.measurement] = tuple(dict.fromkeys(keys))
    return found


@dataclass(frozen=True, slots=True)
class _Priced:
    """All ways to group and the workloads that some of them are measured by, with shares of the total."""

    ways: Sequence[_Way]
    fits: Fits
    shares: dict[int, tuple[Share, ...]]
    """Of the ways that are measured by themselves."""
    of_fits: tuple[Share, ...]
    charge: PureDP | ApproxDP

    def is_worth(self, fits: Fits, apart: "_Priced") -> bool:
        """Whether some workloads that it has err clearly less than their parts do apart."""
        alone = {
            (place, component): error_of(share)
            for place, own in apart.shares.items()
            for component, share in enumerate(own)
        }
        together = (fit.error(self.of_fits[self.fits.index(fit)]) for fit in fits)
        return sum(together) < WORTH * sum(fit.error_apart(alone) for fit in fits)

    def plan(self, asked: Sequence[Aggregate], running: Sequence[Running]) -> BatchPlan:
        """The plan, with what each question shows of it."""
        made = [fit.workload(share) for fit, share in zip(self.fits, self.of_fits, strict=True)]
        sections, shown = list[Section](), dict[int, list[tuple[int, Section]]]()
        for place, way in enumerate(self.ways):
            measured = self._fitted(place, made)
            whole = way.draft.section(self.shares[place]) if not measured else way.draft.measured_by(measured)
            every: list[Output] = []
            for index, statistics in way.asked.items():
                outputs = tuple(chain.from_iterable(map(way.draft.outputs, statistics)))
                if measured:
                    outputs = tuple(_fitted_output(one, measured, running[index]) for one in outputs)
                every += outputs
                shown.setdefault(index, []).append((place, replace(whole, outputs=outputs)))
            sections.append(replace(whole, outputs=tuple(every)))
        plans = tuple(
            PrivatePlan(question=question, sections=tuple(one for _, one in shown[index]), charge=self.charge)
            for index, question in enumerate(asked)
        )
        places = tuple(tuple(place for place, _ in shown[index]) for index in range(len(asked)))
        return BatchPlan(
            plans=plans, sections=tuple(sections), workloads=tuple(made), places=places, charge=self.charge
        )  # fmt: skip

    def _fitted(self, place: int, made: Sequence[Workload]) -> tuple[FittedCells, ...]:
        """The numbers of a way that workloads measure, in the order of its components; none if it measures its own."""
        main, found = self.ways[place].draft.statements[0], dict[int, FittedCells]()
        for fit, workload in zip(self.fits, made, strict=True):
            for table, (cells, *sums) in zip(fit.tables, fit.groups, strict=True):
                if table.section == place:
                    keys = [main.keys[table.axes.index(axis)].name for axis in table.running]
                    found[table.component] = FittedCells(
                        statement=0, workload=workload, axes=table.axes, group=cells,
                        running=tuple(zip(keys, sums, strict=True)),
                    )  # fmt: skip
        return tuple(found[component] for component in sorted(found))


def _priced(ways: Sequence[_Way], fits: Fits, total: PureDP | ApproxDP, law: Law | None) -> _Priced:
    """Shares of the total for each way to group that no workload measures, and for each workload.

    A workload weighs what all that it measures would weigh, so that the others keep their shares.
    """
    fitted = {table.section for fit in fits for table in fit.tables}
    apart = [place for place in range(len(ways)) if place not in fitted]
    needs: list[Need] = [need for place in apart for need in ways[place].draft.needs] + [fit.need for fit in fits]
    weights = [weight for place in apart for weight in ways[place].draft.weights]
    for fit in fits:
        replaced = [ways[table.section].draft.sharing.weights[table.component] for table in fit.tables]
        epsilon, precision = (sum(parts, start=Fraction(0)) for parts in zip(*map(astuple, replaced), strict=True))
        weights.append(Weight(epsilon, precision))
    allocation = allocate(needs, total, weights=weights, law=law)
    shares = iter(allocation.shares)
    return _Priced(
        ways, fits, {place: tuple(islice(shares, len(ways[place].draft.needs))) for place in apart}, tuple(shares),
        allocation.charge,
    )  # fmt: skip


def _fitted_output(output: Output, measured: Sequence[FittedCells], running: Running) -> FittedOutput:
    """A count or a sum that a workload measures; running sums of it by the windows that show them."""
    if not isinstance(output, LinearOutput | CenteredOutput):
        raise TypeError("only counts and sums are parts of a workload")
    terms = tuple((measurement, factor) for (measurement, _), factor in output.terms)
    sums = dict(measured[terms[0][0]].running) if isinstance(output, LinearOutput) else {}
    windows = {window: key for window, (statistic, key) in running.items() if statistic == output.name and key in sums}
    return FittedOutput(
        name=output.name, terms=terms, resolution=output.resolution,
        running=tuple((window, sums[key]) for window, key in windows.items()),
    )  # fmt: skip
