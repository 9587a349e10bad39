"""Bounds chosen by a mechanism: of a noisy histogram of magnitudes, the outermost cells with more than noise in them.

The first part of the budget is spent on the histogram, before anything else of the query is measured; the rest is then
spent with the bounds that it gave, which are shown with the answer. See docs/decisions/0010.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Final

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.stability import sensitivity
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Edition
from sfumato.query.model.kinds import NUMBERS
from sfumato.query.model.statement import AUTO, RowCount, Statement
from sfumato.query.planning.allocation import laplace
from sfumato.query.planning.questions import Aggregate
from sfumato.query.statistics.histograms import cells_between
from sfumato.query.statistics.measurements import Additive, LinearOutput, Section
from sfumato.query.statistics.recipes import GroupedRows
from sfumato.query.statistics.statistic import BoundedStatistic, Statistic

SHARE: Final = Fraction(1, 4)
"""Of the share of a statistic, so much goes to its bounds."""

POWERS: Final = 40
"""Magnitudes are told apart from one step of the lattice to 2^40 of them."""

FALSE_ALARM: Final = Fraction(1, 20)
"""The probability that noise alone makes any empty cell count."""


def automatic(question: Aggregate) -> tuple[tuple[str, BoundedStatistic], ...]:
    """The statistics whose bounds are to be chosen."""
    return tuple(
        (name, s) for name, s in question.statistics if isinstance(s, BoundedStatistic) and s.bounds is AUTO
    )  # fmt: skip


def bounds_section(
    question: Aggregate,
    rows: GroupedRows,
    epsilons: Sequence[Fraction],
    neighboring_relation: NeighboringRelation,
    edition: Edition,
) -> Section:
    """The section that measures magnitudes, of all rows together; an output for each automatic statistic.

    Args:
        question: What is asked.
        rows: Its rows, without keys.
        epsilons: What each statistic gives for its histogram.
        neighboring_relation: What may change.
        edition: By which rules; since the second one statistics of one value share a histogram, for what all give.
    """
    wanted = [_histogram(rows, name, statistic) for name, statistic in automatic(question)]
    shares = edition is not Edition.FIRST
    statements = [one for index, one in enumerate(wanted) if not shares or one not in wanted[:index]]
    places = [statements.index(one) if shares else index for index, one in enumerate(wanted)]
    measurements = []
    for place, statement in enumerate(statements):
        moved = sensitivity(statement, RowCount(), neighboring_relation=neighboring_relation)
        epsilon = sum((own for own, at in zip(epsilons, places, strict=True) if at == place), start=Fraction(0))
        mechanism = laplace(moved, epsilon)
        measurements.append(Additive(statement=place, measures=(0,), sensitivity=moved, mechanism=mechanism))
    names = [name for name, _ in automatic(question)]
    return Section(
        keys=(), selection=None, statements=tuple(statements), measurements=tuple(measurements),
        outputs=tuple(LinearOutput(name=name, measurement=place) for name, place in zip(names, places, strict=True)),
    )  # fmt: skip


def with_bounds(question: Aggregate, bounds: Mapping[str, tuple[Fraction, Fraction]]) -> Aggregate:
    """The query with chosen bounds in place of automatic ones."""
    statistics: list[tuple[str, Statistic]] = [
        (name, s.with_bounds(bounds[name]) if isinstance(s, BoundedStatistic) and s.bounds is AUTO else s)
        for name, s in question.statistics
    ]
    return replace(question, statistics=tuple(statistics))


def stated_bounds(question: Aggregate) -> dict[str, tuple[Fraction, Fraction]]:
    """The bounds that a query states of its statistics."""
    bounded = ((name, s.bounds) for name, s in question.statistics if isinstance(s, BoundedStatistic))
    return {name: bounds for name, bounds in bounded if isinstance(bounds, tuple)}


def chosen_bounds(
    rows: GroupedRows, question: Aggregate, section: Section, measured: Sequence[Sequence[Sequence[int]]]
) -> dict[str, tuple[Fraction, Fraction]]:
    """The bounds that the released histograms give.

    Args:
        rows: What the histograms were made of.
        question: What is asked.
        section: What was released.
        measured: What was released of each histogram: one group of noisy counts.
    """
    found = {}
    for (name, statistic), output in zip(automatic(question), section.outputs, strict=True):
        if not isinstance(output, LinearOutput):
            raise TypeError("histograms are noisy numbers")
        measurement, (counts,) = section.measurements[output.measurement], measured[output.measurement]
        if not isinstance(measurement, Additive):
            raise TypeError("histograms are measured with additive noise")
        enough = measurement.mechanism.accuracy(1 - FALSE_ALARM / len(counts))
        found[name] = _outermost(_edges(rows, statistic.value), counts, float(enough))
    return found


def widest_bounds(rows: GroupedRows, question: Aggregate) -> dict[str, tuple[Fraction, Fraction]]:
    """The widest bounds that could be chosen, with which a plan is tried before anything is spent."""
    edges = {name: _edges(rows, statistic.value) for name, statistic in automatic(question)}
    return {name: (own[0], own[-1]) for name, own in edges.items()}


def _outermost(edges: Sequence[Fraction], counts: Sequence[int], enough: float) -> tuple[Fraction, Fraction]:
    """From the first cell with more than noise in it to the last; from 0 to one step if there is none."""
    kept = [cell for cell, count in zip(pairwise(edges), counts, strict=True) if count > enough]
    if not kept:
        middle = len(edges) // 2
        return edges[middle], edges[middle + 1]
    return kept[0][0], kept[-1][1]


def _edges(rows: GroupedRows, value: Expression) -> tuple[Fraction, ...]:
    """…, −4, −2, −1, 0, 1, 2, 4, … steps of the lattice; cells beyond the ends count as the outermost."""
    step = rows.facts(value).lattice
    powers = [step * 2**power for power in range(POWERS + 1)]
    return (*(-power for power in reversed(powers)), Fraction(0), *powers)


def _histogram(rows: GroupedRows, name: str, statistic: BoundedStatistic) -> Statement:
    value = statistic.value
    if rows.facts(value).kind not in NUMBERS:
        raise ParameterError("bounds", name, "can only be chosen for numbers")
    return rows.with_cells(cells_between(_edges(rows, value)[1:-1], value))
