"""What stored answers say of a question that was not asked: least squares over noisy numbers, for free.

Counts and sums are linear functions of the cells of a table (`query.analysis.cells`, `query.planning.linear`), stored
ones and asked ones. Where an asked one is a sum of stored ones, the weights of least variance give its estimate.

**Guarantee**: no data is read. Estimates are post-processing of what the account has. Which numbers are used and how
they are weighted follows from plans alone, never from what was released: so intervals hold as often as they say for
whatever was to be asked before these numbers were seen.

Proof: proofs/session/asking/free_answers.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.engines.base import groups as public_groups
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.distributions import discrete_laplace_variance
from sfumato.numeric.many_noises import half_widths_of_sums
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.cells import CellGroups, Group, Held, TableCells, Unknown, held_by
from sfumato.query.model.schema import Table
from sfumato.query.planning.auto_bounds import automatic
from sfumato.query.planning.linear import MOST_NUMBERS, LinearSection, linear_section
from sfumato.query.planning.plan import PrivatePlan, compile_plan
from sfumato.query.planning.questions import Aggregate
from sfumato.query.statistics.estimates import NOTHING, AnswerValue, Estimator, Forecast
from sfumato.query.statistics.measurements import Output, Section, SumOutput
from sfumato.session.asking.planning import Planning
from sfumato.session.asking.stored_sections import (
    Members,
    StoredSection,
    Variable,
    bases_of,
    coefficients,
    stored_sections,
)
from sfumato.session.releases.releasing import Released

MOST_CELLS: Final = 20_000
"""A question whose columns have more cells is not looked for in stored answers."""

_NEAR: Final = 1e-9  # relative: how exactly stored numbers must add up to what is asked
_NOTHING: Final = 1e-12  # weights below it, relative to the largest, are rounding
_FLOOR: Final = (
    0.01  # no standard deviation counts as less, so that sums of exact and of noisy numbers are computed well
)
_EPSILON: Final = float(np.finfo(np.float64).eps)  # times the largest singular value and the size: what is 0
_REFINEMENTS: Final = 2  # of a solution, which take away what rounding left

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatedOutput(Output):
    """A count or a sum as it follows from what was released before; a FLOAT, or nothing where that does not say it.

    Attributes:
        name: Its column.
        values: For each group the estimate; None where it is not determined.
        reaches: Half-widths for a confidence, one a group.
    """

    stored: ClassVar = Names("EstimatedOutput", unwritten=("name", "values", "reaches"))
    is_estimate: ClassVar = True

    name: str
    values: tuple[float | None, ...]
    reaches: Callable[[Fraction], Sequence[float]]

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:  # noqa: ARG002 # as of all outputs
        """What is known of each group, whatever is measured."""
        found = [
            NOTHING if value is None else AnswerValue(value=value, low=value - reach, high=value + reach)
            for value, reach in zip(self.values, self.reaches(confidence), strict=True)
        ]
        return lambda _: found

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:  # noqa: ARG002 # likewise
        """The error of the group in which it is largest; infinite where one is not determined."""
        is_known = None not in self.values
        return Forecast(column=self.name, half_width=max(self.reaches(confidence)) if is_known else inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeAnswer:
    """A plan whose outputs are estimates, and from which answers these are.

    Attributes:
        plan: The question with estimates for outputs.
        released: The groups of each section.
        sources: The questions of which stored answers were used.
        undetermined: How many numbers no stored answer determines.
    """

    plan: PrivatePlan
    released: tuple[Released, ...]
    sources: tuple[str, ...]
    undetermined: int


def free_answer(planning: Planning, question: Aggregate) -> FreeAnswer:
    """What the stored answers of an account say of a question; no data is read and nothing is spent.

    Args:
        planning: Whose answers.
        question: The question.

    Raises:
        ParameterError: It has other statistics than counts and sums, or bounds that are to be chosen, reads more than
            one table, has too many cells, or nothing of it is determined.
        NotPrivateError: Its groups are not public, or its rows have owners.
    """
    if automatic(question):
        raise ParameterError("bounds", automatic(question)[0][0], "must be stated to be found in stored answers")
    plan = compile_plan(question, PureDP(1), neighboring_relation=planning.policy.neighboring_relation)
    wanted = [_wanted(section) for section in plan.sections]
    table = planning.policy.tables[wanted[0].table]
    stored = list(stored_sections(planning, table, wanted[0].part))
    system = _System.of(table, wanted, stored)
    sections, estimates = list[Section](), list[_Estimate]()
    for linear, section in zip(wanted, plan.sections, strict=True):
        own = [system.estimate(linear, output, _groups(section)) for output in section.outputs]
        pairs = zip(section.outputs, own, strict=True)
        outputs = tuple(EstimatedOutput(name=o.name, values=e.values, reaches=e.reaches) for o, e in pairs)
        sections.append(replace(section, outputs=outputs, measurements=()))
        estimates += own
    undetermined = sum(one.values.count(None) for one in estimates)
    if undetermined == sum(len(one.values) for one in estimates):
        raise ParameterError("question", "of stored answers", _why(stored, system))
    return FreeAnswer(
        plan=replace(plan, sections=tuple(sections), charge=PureDP(0)),
        released=tuple(Released(groups=_groups(section), measured=()) for section in sections),
        sources=tuple(sorted(frozenset().union(*(one.sources for one in estimates)))), undetermined=undetermined,
    )  # fmt: skip


def _wanted(section: Section) -> LinearSection:
    """What is asked of one way to group."""
    if section.selection is not None:
        raise NotPrivateError(
            "a stored answer", "which private keys exist is chosen by noise, anew for each answer",
            "Group by keys that the policy lists.",
        )  # fmt: skip
    found = linear_section(section)
    if found is None:
        raise NotPrivateError(
            "a stored answer", "it serves other queries only where each row of one table is a unit",
            "Release this query.",
        )  # fmt: skip
    return found


def _groups(section: Section) -> tuple[Group, ...]:
    return tuple(public_groups(section.statements[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Estimate:
    """An output in all groups: estimates, how far each may be off, and of which answers they are made."""

    values: tuple[float | None, ...]
    reaches: Callable[[Fraction], Sequence[float]]
    sources: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _System:
    """Noisy numbers as rows of a matrix, each divided by its standard deviation, over the variables as its columns.

    Attributes:
        members: Which cells are in which groups.
        places: The column of each variable.
        scaled: The matrix, transposed.
        inverse: Its pseudo-inverse.
        stddevs: Of the numbers.
        values: The numbers.
        noises: Their noise.
        questions: Of which answer each number is.
    """

    members: Members
    places: Mapping[Variable, int]
    scaled: Floats
    inverse: Floats
    stddevs: Floats
    values: Floats
    noises: tuple[IntegerNoise, ...]
    questions: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, wanted: Sequence[LinearSection], stored: Sequence[StoredSection]) -> "_System":
        """All that bears on what is wanted, as far as it is not too much; chosen by plans alone."""
        chosen, cells, groupings = _chosen(table, wanted, stored)
        members = _atoms(cells, groupings)
        rows = list[dict[Variable, float]]()
        values, noises, questions = list[float](), list[IntegerNoise](), list[str]()
        for one in chosen:
            for measurement, numbers in enumerate(one.linear.numbers):
                noise = one.linear.noises[measurement]
                for coordinate, bases in enumerate(numbers):
                    if noise is None or bases is None:
                        continue
                    own = one.measured[measurement]
                    rows += one.rows(bases, members)
                    values += [float(row[coordinate]) for row in own]
                    noises += [noise] * len(own)
                    questions += [one.question] * len(own)
        places = {name: place for place, name in enumerate(dict.fromkeys(name for row in rows for name in row))}
        stddevs = np.array([_stddev(noise) for noise in noises])
        scaled = np.zeros((len(places), len(rows)))
        for number, parts in enumerate(rows):
            for name, factor in parts.items():
                scaled[places[name], number] = factor / stddevs[number]
        inverse: Floats = np.asarray(np.linalg.pinv(scaled, max(scaled.shape) * _EPSILON), dtype=np.float64)
        return cls(
            members=members, places=places, scaled=scaled, inverse=inverse, stddevs=stddevs,
            values=np.array(values), noises=tuple(noises), questions=tuple(questions),
        )  # fmt: skip

    def estimate(self, linear: LinearSection, output: Output, groups: Sequence[Group]) -> _Estimate:
        """The estimates of least variance of an output in some groups."""
        if not isinstance(output, SumOutput):
            raise ParameterError("question", output.name, "must be a count or a sum to be made of stored answers")
        wanted, is_known = np.zeros((len(self.places), len(groups))), np.ones(len(groups), dtype=np.bool_)
        for place, group in enumerate(groups):
            for (measurement, coordinate), factor in output.terms:
                bases = linear.numbers[measurement][coordinate]
                if bases is None:
                    requirement = "must be a count or a sum of one number to be made of stored answers"
                    raise ParameterError("question", output.name, requirement)
                for name, own in coefficients(bases, linear.signature, group, self.members).items():
                    is_known[place] &= name in self.places
                    if name in self.places:
                        wanted[self.places[name], place] += factor * own
        found: Floats = np.zeros((len(self.values), len(groups)))
        for _ in range(1 + _REFINEMENTS):
            found = found + self.inverse @ (wanted - self.scaled @ found)
        missed = np.abs(self.scaled @ found - wanted).max(axis=0, initial=0.0)
        is_known &= missed <= _NEAR * np.abs(wanted).max(axis=0, initial=0.0)
        resolution = float(output.resolution)
        weights: Floats = (found / self.stddevs[:, np.newaxis]).T
        weights[np.abs(weights) < _NOTHING * np.abs(weights).max(initial=0.0)] = 0
        used = {self.questions[number] for number in np.flatnonzero(np.abs(weights[is_known]).sum(axis=0))}
        return _Estimate(
            values=tuple(
                float(value) * resolution if known else None
                for value, known in zip(weights @ self.values, is_known, strict=True)
            ),
            reaches=lambda confidence: (resolution * self._reaches(weights, 1 - confidence)).tolist(),
            sources=frozenset(used),
        )  # fmt: skip

    def _reaches(self, weights: Floats, failure: Fraction) -> Floats:
        """How far the noise of each weighted sum may move it."""
        used = np.flatnonzero(weights.any(axis=0))
        noises = [self.noises[place] for place in used]
        return half_widths_of_sums(noises, weights[:, used], failure) * (1 + _NEAR)


def _chosen(
    table: Table, wanted: Sequence[LinearSection], stored: Sequence[StoredSection]
) -> tuple[list[StoredSection], TableCells, dict[str, CellGroups]]:
    """The stored sections that are used, the cells of all columns that they and the question read, and who is where.

    Those that read the fewest other columns come first.
    """
    groupings = {one.signature: CellGroups(table, one.where, one.keys) for one in wanted}
    columns: dict[str, tuple[Held, ...]] = {}
    for name in sorted(frozenset().union(*(one.columns for one in groupings.values()))):
        held = held_by(table, name)
        if held is None:
            raise ParameterError("question", name, "must have public values to be looked for in stored answers")
        columns[name] = held
    cells = TableCells(table=table, columns=columns)
    if cells.count > MOST_CELLS:
        shown = f"{cells.count:,} cells of {', '.join(columns)}"
        raise ParameterError("question", shown, f"must have at most {MOST_CELLS:,} to be looked for in stored answers")
    bases = {basis for one in wanted for basis in bases_of(one)}
    known = [
        (one, CellGroups(table, one.linear.where, one.linear.keys)) for one in stored if bases & bases_of(one.linear)
    ]
    chosen, numbers = list[StoredSection](), 0
    for one, grouping in sorted(known, key=lambda pair: len(pair[1].columns - columns.keys())):
        more = {name: held_by(table, name) for name in sorted(grouping.columns - cells.columns.keys())}
        public = {name: held for name, held in more.items() if held is not None}
        wider = TableCells(table=table, columns={**cells.columns, **public})
        if len(public) < len(more) or wider.count > MOST_CELLS or numbers + one.size > MOST_NUMBERS:
            continue
        cells, numbers = wider, numbers + one.size
        chosen.append(one)
        groupings[one.linear.signature] = grouping
    return chosen, cells, groupings


def _atoms(cells: TableCells, groupings: Mapping[str, CellGroups]) -> Members:
    """The groups of cells by signature; cells that are in the same groups of all are one."""
    found: dict[str, dict[Group | Unknown, list[int]]] = {name: {} for name in groupings}
    for atom, groups in enumerate(
        dict.fromkeys(tuple(one.group(cell) for one in groupings.values()) for cell in cells)
    ):
        for name, group in zip(groupings, groups, strict=True):
            if group is not None:
                found[name].setdefault(group, []).append(atom)
    return found


def _stddev(noise: IntegerNoise) -> float:
    """Of a noise; of hardly any a small one."""
    variance = float(noise.scale) ** 2 if noise.law == "gaussian" else discrete_laplace_variance(noise.scale)
    return max(float(np.sqrt(variance)), _FLOOR)


def _why(stored: Sequence[StoredSection], system: _System) -> str:
    """What is missing."""
    if not stored:
        return "must follow from what this account released of the same data; it has no count or sum of this table"
    if not len(system.values):
        return "must follow from stored counts or sums of the same numbers; there is none"
    return (
        "is not determined by stored answers; rows with NULL, with values that are not listed or beyond bounds are in "
        "no group, so ask for listed values alone, such as WHERE age BETWEEN 17 AND 90"
    )
