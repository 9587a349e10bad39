"""Sums and means of values clamped to bounds, and how a noisy sum over a noisy count is estimated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.numeric.ratios import ratio_errors
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Metric, Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import Expression, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Fold, Folded
from sfumato.query.model.statement import AUTO, Bounds, LatticeValue, StepSum, ValueCount, is_whole_sum
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.estimates import NOTHING, AnswerValue, Estimator, Forecast, Measured, by_row, within
from sfumato.query.statistics.measurements import CenteredOutput, Output, Section
from sfumato.query.statistics.recipes import CenteredSum, GroupedRows, NoisyMeasures, Recipe, single
from sfumato.query.statistics.statistic import (
    BoundedStatistic,
    StatedBounds,
    Statistic,
    Value,
    bounds_sql,
    clamped_to,
    number_facts,
    of_one,
    stated,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOutput(Output):
    """An answer made of a noisy count and a noisy sum of steps around their offset."""

    stored: ClassVar = Names("MeanOutput", "count", "total", "steps", unwritten=("name",))

    name: str
    count: int
    total: int
    steps: LatticeValue

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """The offset plus noisy sum over noisy count, inside the bounds; with the exact interval of a ratio."""
        total, count = section.noise(self.total), section.noise(self.count)
        if total is None or count is None:
            return by_row(lambda _: NOTHING)
        steps, step = self.steps, float(self.steps.resolution)
        ends = float(steps.ends[0]), float(steps.ends[1])
        lowest, highest = (_mean_value(steps, end, 1) for end in steps.ends)

        def estimate(measured: Measured) -> Sequence[AnswerValue]:
            totals, counts = ([row[0] for row in measured[part]] for part in (self.total, self.count))
            ratios = np.array([s / max(1, n) for s, n in zip(totals, counts, strict=True)], dtype=np.float64)
            below, above = ratio_errors(
                ratios, np.array(counts, dtype=np.float64), total=total, count=count, ends=ends, confidence=confidence
            )
            values = [_mean_value(steps, s, max(1, n)) for s, n in zip(totals, counts, strict=True)]
            lows = np.maximum(np.array(values) - below * step, lowest).tolist()
            return within(values, lows, np.minimum(np.array(values) + above * step, highest).tolist())

        return estimate

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """The interval of a mean over so many values that add up to 0 around the middle."""
        measured = [(0,)] * len(section.measurements)
        measured[self.count] = (size,)
        (found,) = self.estimator(section, confidence)([[numbers] for numbers in measured])
        presumed = f"over {size:,} values around the middle of the bounds"
        return Forecast(column=self.name, half_width=found.half_width, assumption=presumed)


def _mean_value(steps: LatticeValue, total: int, count: int) -> float:
    """Exact but for the last rounding."""
    lower, upper = steps.ends
    numerator, denominator = steps.resolution.as_integer_ratio()
    inside = min(max(total, lower * count), upper * count)
    return ((steps.offset * count + inside) * numerator) / (count * denominator)  # within the bounds, so a double


@dataclass(frozen=True, slots=True)
class Sum(BoundedStatistic):
    """SUM(x), of values clamped to bounds; 0 over nothing."""

    stored: ClassVar = Names("Sum", "bounds", unwritten=("value",))
    spellings: ClassVar = (of_one("SUM", node="Sum", is_fold=True),)
    adds_up: ClassVar = True

    value: Expression
    bounds: Bounds = None

    def with_bounds(self, bounds: tuple[Fraction, Fraction]) -> "Sum":
        """The sum of values clamped to other bounds."""
        return replace(self, bounds=bounds)

    def sql(self, values: Sequence[str]) -> str:
        """SUM(x)."""
        return f"SUM({values[0]}{bounds_sql(self.bounds)})"

    def folded(self, shape: Shape) -> Statistic:
        """COUNT(*), if what is added up is 1 for each row."""
        statistic = Statistic.folded(self, shape)
        return CountRows() if statistic == Sum(Literal(Fraction(1))) else statistic

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """A sum of whole numbers is one, if 64 bits hold it."""
        return (sum_facts(self.value, self.bounds, shape),)

    def wide_columns(self, name: str, shape: Shape) -> tuple[str, ...]:
        """A sum of whole numbers that 64 bits may not hold."""
        return (name,) if is_wide_sum(self.value, self.bounds, shape) else ()

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """One noisy sum of steps; or, where it errs less, one around the middle of the bounds and a noisy count."""
        steps = rows.steps(self.value, self.bounds, name)
        is_whole = is_whole_sum(rows.facts(self.value), self.bounds)
        return single(
            NoisyMeasures((StepSum(steps),)), name, resolution=steps.resolution, is_whole=is_whole,
            centered=_centered_sums(rows, name, steps, is_whole=is_whole),
        )  # fmt: skip

    def fold(self, name: str, shape: Shape) -> Folded | None:
        """The exact sum of one group, perhaps of clamped values."""
        return None if self.bounds is AUTO else Folded(name, Fold.SUM, clamped_to(self.value, self.bounds, shape))


@dataclass(frozen=True, slots=True)
class Mean(BoundedStatistic):
    """AVG(x), of values clamped to bounds: from one noisy sum and one noisy count."""

    stored: ClassVar = Names("Mean", "bounds", unwritten=("value",))
    spellings: ClassVar = (of_one("AVG", node="Avg", is_fold=True),)
    outputs: ClassVar = (MeanOutput,)

    value: Expression
    bounds: Bounds = None

    def with_bounds(self, bounds: tuple[Fraction, Fraction]) -> "Mean":
        """The mean of values clamped to other bounds."""
        return replace(self, bounds=bounds)

    def sql(self, values: Sequence[str]) -> str:
        """AVG(x)."""
        return f"AVG({values[0]}{bounds_sql(self.bounds)})"

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """A noisy count of values and a noisy sum of steps around the middle of the bounds."""
        return mean_recipe(rows, name, self.value, self.bounds)

    def fold(self, name: str, shape: Shape) -> Folded | None:
        """The exact mean of one group, perhaps of clamped values."""
        return None if self.bounds is AUTO else Folded(name, Fold.MEAN, clamped_to(self.value, self.bounds, shape))


def _centered_sums(rows: GroupedRows, name: str, steps: LatticeValue, *, is_whole: bool) -> tuple[CenteredSum, ...]:
    """A sum around the middle of its bounds, with a count of its values; perhaps with one of all rows, too.

    Of all rows a NULL is taken for 0, which changes nothing where no row is left out or scaled.
    """
    around = replace(steps, offset=(steps.lower + steps.upper) // 2)
    ways = [(rows.present(steps.value), around)]
    if steps.nullable and steps.lower <= 0 <= steps.upper and rows.shape.metric is Metric.ROWS:
        ways.append((ValueCount(()), replace(around, nullable=False)))

    def outputs(places: Sequence[int]) -> tuple[Output, ...]:
        count, total = places
        return (
            CenteredOutput(
                name=name, total=total, count=count, middle=around.offset, resolution=around.resolution,
                is_whole=is_whole,
            ),
        )  # fmt: skip

    return tuple(
        CenteredSum(NoisyMeasures((count,)), NoisyMeasures((StepSum(own),)), around.offset, outputs)
        for count, own in ways
        if around.offset
    )


def mean_recipe(rows: GroupedRows, name: str, value: Expression, bounds: Bounds) -> Recipe:
    """The noisy sum and the noisy count of which a mean is made."""
    steps = rows.steps(value, bounds, name, centered=True)
    components = NoisyMeasures((rows.present(value),)), NoisyMeasures((StepSum(steps),))
    return Recipe(
        components,
        lambda places: (MeanOutput(name=name, count=places[0], total=places[1], steps=steps),),
        parts=(2, 3),  # as where a mean lies anywhere between its bounds
    )


def sum_facts(value: Expression, bounds: Bounds, shape: Shape) -> Facts:
    """What is known of a sum; whether it is a whole number follows from bounds alone."""
    return number_facts(Kind.INTEGER if is_whole_sum(facts_of(value, shape.columns), bounds) else Kind.FLOAT)


def is_wide_sum(value: Expression, bounds: Bounds, shape: Shape) -> bool:
    """Whether it is a sum of whole numbers that 64 bits may not hold."""
    facts = facts_of(value, shape.columns)
    return facts.kind is Kind.INTEGER and not is_whole_sum(facts, bounds)


def sum(value: Value, *, bounds: StatedBounds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.sum
    """The sum of values clamped to bounds; 0 if there are no values.

    Example:
        >>> sum("hours", bounds=(0, 100))
        Sum(value=ColumnRef(name='hours'), bounds=(Fraction(0, 1), Fraction(100, 1)))
    """
    return Sum(expression_of(value), stated(bounds))


def mean(value: Value, *, bounds: StatedBounds = None) -> Statistic:
    """The mean of values clamped to bounds, from one noisy sum and one noisy count.

    Example:
        >>> mean("hours")
        Mean(value=ColumnRef(name='hours'), bounds=None)
    """
    return Mean(expression_of(value), stated(bounds))
