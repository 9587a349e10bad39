"""Several questions for one total: planned together, so that what they have in common is measured once.

Ways to group the same rows by the same keys are one section, whichever question asks, so their statistics share noisy
numbers (`sharing`). Sections of counts and sums over the same rows by other keys may be one workload (`workloads`),
if that errs clearly less. One allocation splits the total over all of it.

**Guarantee**: the event of a batch lists all that is measured, each once, and its charge covers that event. What each
question makes of it is post-processing. The plan follows from the questions, the policy and the total alone.

Proof: proofs/query/planning/batch.md.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from fractions import Fraction
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.events import ComposedEvent, Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.planning.allocation import Need, Share, Weight, allocate
from sfumato.query.planning.auto_bounds import automatic
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Aggregate, Presented, folded_question
from sfumato.query.planning.sections import check_size
from sfumato.query.planning.ways import CommonRows, Fits, Running, Way, common_rows, running_sums, ways_of
from sfumato.query.planning.workloads import Marginal, error_of
from sfumato.query.statistics.measurements import LAWS, CenteredOutput, FittedOutput, Law, LinearOutput, Output, Section
from sfumato.query.statistics.workloads import FittedCells, Workload

if TYPE_CHECKING:
    from sfumato.mechanisms.workloads.strategies import NoiseKind

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
        running: For each question its running sums.
        charge: The cost that is charged to the account.
        event: All that is released, for the accountants.
    """

    plans: tuple[PrivatePlan, ...]
    sections: tuple[Section, ...]
    workloads: tuple[Workload, ...]
    places: tuple[tuple[int, ...], ...]
    running: tuple[Running, ...] = field(compare=False)
    charge: PureDP | ApproxDP
    event: ComposedEvent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = [section.events for section in self.sections if not section.is_fitted]
        events: list[Event] = [*chain.from_iterable(own), *(one.event for one in self.workloads)]
        set_fields(self, event=ComposedEvent(tuple(events)))


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
    ways = ways_of(asked, neighboring_relation, law)
    check_size([way.draft for way in ways])
    kinds: tuple[NoiseKind, ...] = LAWS if law is None else (law,)
    if total.delta == 0:
        kinds = ("laplace",)
    running = tuple(map(running_sums, questions))
    alike, apart = (common_rows(questions, ways, running, is_apart=is_apart) for is_apart in (False, True))
    plain = _priced(ways, (), total, law)

    def joined(common: Sequence[CommonRows]) -> Priced:
        """With workloads for those rows for which they err clearly less, planned for the better kind of noise."""
        best = plain
        for rows in common:
            tables = [table for _, own in rows.tables for table in own]
            trials = []
            for kind in kinds if rows.places.isdisjoint(best.fitted) else ():
                fits = rows.fits(neighboring_relation, kind)
                with suppress(ParameterError):  # its noise would be wider than any that can be drawn
                    trial = _priced(ways, (*best.fits, *fits), total, law)
                    if fits and trial.is_worth(fits, plain):
                        trials.append(trial)
            best = min(trials, key=lambda trial: trial.error(tables), default=best)
        return best

    best = joined(alike)
    if apart:  # one histogram may serve conditions that differ
        wider = joined([*apart, *alike])
        tables = [table for rows in alike for _, own in rows.tables for table in own]
        if wider.error(tables) < WORTH * best.error(tables):
            best = wider
    return best.plan(asked, running)


@dataclass(frozen=True, slots=True)
class Priced:
    """All ways to group and the workloads that some of them are measured by, with shares of the total."""

    ways: Sequence[Way]
    fits: Fits
    shares: dict[int, tuple[Share, ...]]
    """Of the ways that are measured by themselves."""
    of_fits: tuple[Share, ...]
    charge: PureDP | ApproxDP

    @property
    def fitted(self) -> frozenset[int]:
        """The ways that workloads measure."""
        return frozenset(table.section for fit in self.fits for table in fit.tables)

    def is_worth(self, fits: Fits, apart: "Priced") -> bool:
        """Whether some workloads that it has err clearly less than their parts do apart."""
        together = sum(fit.error(self.of_fits[self.fits.index(fit)]) for fit in fits)
        return together < WORTH * apart.error([table for fit in fits for table in fit.tables])

    def error(self, tables: Iterable[Marginal]) -> float:
        """The squares of the errors of some tables, each times its weight, added up."""
        fitted = sum(fit.error(share) for fit, share in zip(self.fits, self.of_fits, strict=True))
        alone = (one for one in tables if one.section not in self.fitted)
        return fitted + sum(one.error_apart(error_of(self.shares[one.section][one.component])) for one in alone)

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
            plans=plans, sections=tuple(sections), workloads=tuple(made), places=places, running=tuple(running),
            charge=self.charge,
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


def _priced(ways: Sequence[Way], fits: Fits, total: PureDP | ApproxDP, law: Law | None) -> Priced:
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
    return Priced(
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
