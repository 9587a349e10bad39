"""Variances, standard deviations, covariances and correlations: of noisy counts, sums and sums of products.

Values, intervals and forecasts are computed of all groups at once, in lattice steps; see `numeric.moments`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from sys import float_info
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.numeric.moments import (
    Intervals,
    NoisyMoments,
    correlation_ends,
    correlations,
    covariance_ends,
    covariances,
    variance_ends,
    variances,
)
from sfumato.numeric.noise_sums import POINTS, IntegerNoise, public_points
from sfumato.numeric.rationals import flag
from sfumato.privacy.stored_names import Names
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import Case, Expression, IsNull, Not, Null
from sfumato.query.model.statement import Bounds, LatticeValue, Measure, StepProduct, StepSum
from sfumato.query.statistics.estimates import NOTHING, AnswerValue, Estimator, Forecast, Measured, by_row, within
from sfumato.query.statistics.measurements import Output, Section
from sfumato.query.statistics.recipes import GroupedRows, NoisyMeasures, Recipe
from sfumato.query.statistics.statistic import (
    BoundedStatistic,
    StatedBounds,
    Statistic,
    Value,
    bounds_sql,
    of_one,
    of_two,
    stated,
)

Floats: TypeAlias = NDArray[np.float64]

_FEWEST: Final = 40  # points beyond a quantile


class MomentOutput(Output):
    """An answer made of a noisy count, noisy sums of one or two numbers and noisy sums of their products."""

    __slots__ = ()

    @property
    @abstractmethod
    def parts(self) -> tuple[int, ...]:
        """The measurements that it is made of: the count, sums, and sums of products."""

    @property
    @abstractmethod
    def lattices(self) -> tuple[LatticeValue, ...]:
        """The steps of each number."""

    @abstractmethod
    def presumed(self, size: int) -> tuple[int, ...]:
        """What would be measured without noise of so many centered values that are independent and spread evenly."""

    @abstractmethod
    def values(self, measured: NoisyMoments) -> Floats:
        """The value of each group, in the unit of the answer."""

    @abstractmethod
    def ends(self, measured: NoisyMoments, confidence: Fraction) -> Intervals:
        """The ends of the interval of each group, in the unit of the answer."""

    def moments(self, numbers: Sequence[Sequence[Any] | Floats], noises: Sequence[IntegerNoise]) -> NoisyMoments:
        """What was measured, as arrays.

        Args:
            numbers: Of each part, a number a group.
            noises: The noise of each part.
        """
        counts, *others = (np.array(part, dtype=np.float64) for part in numbers)
        columns = len(self.lattices)
        ends = tuple((float(steps.ends[0]), float(steps.ends[1])) for steps in self.lattices)
        return NoisyMoments(
            counts=counts, totals=tuple(others[:columns]), products=tuple(others[columns:]), noises=tuple(noises),
            ends=ends,
        )  # fmt: skip

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """The value with the confidence set of just that."""
        noises = section.noises(self.parts)
        if noises is None:
            return by_row(lambda _: NOTHING)

        def estimate(released: Measured) -> Sequence[AnswerValue]:
            measured = self.moments([[row[0] for row in released[part]] for part in self.parts], noises)
            values, (low, high) = self.values(measured), self.ends(measured, confidence)
            return within(values.tolist(), np.minimum(low, values).tolist(), np.maximum(high, values).tolist())

        return estimate

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """The changes of values by public points of the noise, for independent and evenly spread values.

        Where hardly a point lies beyond the confidence, the interval of such an answer says it.
        """
        noises = section.noises(self.parts)
        presumed = f"over {size:,} values spread evenly over the bounds"
        if noises is None:
            return Forecast(column=self.name, half_width=inf, assumption=presumed)
        exact = [float(number) for number in self.presumed(size)]
        true = self.moments([[number] for number in exact], noises)
        (value,) = self.values(true)
        if (1 - confidence) * POINTS < _FEWEST:
            (low,), (high,) = self.ends(true, confidence)
            return Forecast(column=self.name, half_width=max(value - low, high - value), assumption=presumed)
        moved = self.values(self.moments(list((public_points(noises) + exact).T), noises))
        width = float(np.quantile(np.abs(moved - value), float(confidence)))
        return Forecast(column=self.name, half_width=width, assumption=presumed)


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceOutput(MomentOutput):
    """An answer made of a noisy count, a noisy sum of steps and a noisy sum of their squares."""

    stored: ClassVar = Names(
        "VarianceOutput", "count", "total", "squares", "steps", "population", "root", unwritten=("name",)
    )

    name: str
    count: int
    total: int
    squares: int
    steps: LatticeValue
    population: bool
    root: bool

    @property
    def parts(self) -> tuple[int, ...]:
        """The count, the sum, and the sum of squares."""
        return self.count, self.total, self.squares

    @property
    def lattices(self) -> tuple[LatticeValue, ...]:
        """Of the one number."""
        return (self.steps,)

    def presumed(self, size: int) -> tuple[int, ...]:
        """Values that add up to 0."""
        return size, 0, _evenly_spread(self.steps, size)

    def values(self, measured: NoisyMoments) -> Floats:
        """The variance, or its root."""
        return self._shown(variances(measured, is_sample=not self.population))

    def ends(self, measured: NoisyMoments, confidence: Fraction) -> Intervals:
        """The ends of its interval."""
        low, high = variance_ends(measured, is_sample=not self.population, confidence=confidence)
        return self._shown(low), self._shown(high)

    def _shown(self, squared_steps: Floats) -> Floats:
        shown = _in_units(squared_steps, self.steps, self.steps)
        return np.sqrt(shown) if self.root else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class CovarianceOutput(MomentOutput):
    """An answer made of a noisy count, two noisy sums and a noisy sum of products; `squares` for a correlation."""

    stored: ClassVar = Names(
        "CovarianceOutput", "count", "totals", "products", "steps", "population", "squares", unwritten=("name",)
    )

    name: str
    count: int
    totals: tuple[int, int]
    products: int
    steps: tuple[LatticeValue, LatticeValue]
    population: bool
    squares: tuple[int, int] | None = None

    @property
    def parts(self) -> tuple[int, ...]:
        """The count, the sums, the sum of products, and of a correlation those of squares."""
        return self.count, *self.totals, self.products, *(self.squares or ())

    @property
    def lattices(self) -> tuple[LatticeValue, ...]:
        """Of both numbers."""
        return self.steps

    def presumed(self, size: int) -> tuple[int, ...]:
        """Values that add up to 0, and so do their products."""
        squares = () if self.squares is None else tuple(_evenly_spread(steps, size) for steps in self.steps)
        return size, 0, 0, 0, *squares

    def values(self, measured: NoisyMoments) -> Floats:
        """The covariance, or the correlation."""
        if self.squares is not None:
            return correlations(measured)
        return _in_units(covariances(measured, is_sample=not self.population), *self.steps)

    def ends(self, measured: NoisyMoments, confidence: Fraction) -> Intervals:
        """The ends of its interval."""
        if self.squares is not None:
            return correlation_ends(measured, confidence=confidence)
        low, high = covariance_ends(measured, is_sample=not self.population, confidence=confidence)
        return _in_units(low, *self.steps), _in_units(high, *self.steps)


def _in_units(products: Floats, first: LatticeValue, second: LatticeValue) -> Floats:
    """Products of steps in the unit of the answer, within doubles."""
    with np.errstate(over="ignore"):
        return np.clip(products * float(first.resolution * second.resolution), -float_info.max, float_info.max)


def _evenly_spread(steps: LatticeValue, size: int) -> int:
    """The sum of squares of so many values that are spread evenly between two ends around 0."""
    return size * (steps.ends[1] - steps.ends[0]) ** 2 // 12


@dataclass(frozen=True, slots=True)
class Variance(BoundedStatistic):
    """VAR_SAMP(x), or VAR_POP(x) if `population`; their square roots if `root` (STDDEV)."""

    stored: ClassVar = Names("Variance", "bounds", "population", "root", unwritten=("value",))
    spellings: ClassVar = (
        of_one("VARIANCE", "VAR_SAMP", node="Variance"),
        of_one("VAR_POP", node="VariancePop", population=True),
        of_one("STDDEV", node="Stddev", root=True),
        of_one("STDDEV_SAMP", node="StddevSamp", root=True),
        of_one("STDDEV_POP", node="StddevPop", population=True, root=True),
    )
    outputs: ClassVar = (VarianceOutput,)

    value: Expression
    bounds: Bounds = None
    population: bool = False
    root: bool = False

    def with_bounds(self, bounds: tuple[Fraction, Fraction]) -> "Variance":
        """The variance of values clamped to other bounds."""
        return replace(self, bounds=bounds)

    def sql(self, values: Sequence[str]) -> str:
        """VAR_SAMP(x), and its like."""
        name = f"{'STDDEV' if self.root else 'VAR'}_{'POP' if self.population else 'SAMP'}"
        return f"{name}({values[0]}{bounds_sql(self.bounds)})"

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """Noise on a count, a sum and a sum of squares, each alone."""
        steps = rows.steps(self.value, self.bounds, name, centered=True, is_factor=True)
        measures: tuple[Measure, ...] = rows.present(self.value), StepSum(steps), StepProduct(steps, steps)
        return Recipe(
            tuple(NoisyMeasures((measure,)) for measure in measures),
            lambda places: (
                VarianceOutput(
                    name=name, count=places[0], total=places[1], squares=places[2], steps=steps,
                    population=self.population, root=self.root,
                ),
            ),
            parts=(2, 3, 4),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Covariance(Statistic):
    """COVAR_SAMP(x, y), or COVAR_POP if `population`; CORR(x, y) if `normalized`."""

    stored: ClassVar = Names("Covariance", "population", "normalized", unwritten=("first", "second"))
    spellings: ClassVar = (
        of_two("COVAR_SAMP", node="CovarSamp"),
        of_two("COVAR_POP", node="CovarPop", population=True),
        of_two("CORR", node="Corr", normalized=True),
    )
    outputs: ClassVar = (CovarianceOutput,)
    of_numbers: ClassVar = True

    first: Expression
    second: Expression
    population: bool = False
    normalized: bool = False

    def sql(self, values: Sequence[str]) -> str:
        """COVAR_SAMP(x, y), and its like."""
        name = "CORR" if self.normalized else "COVAR_POP" if self.population else "COVAR_SAMP"
        return f"{name}({', '.join(values)})"

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """Noise on a count, sums and sums of products, each alone; of each value where the other is present, too."""
        first = _where_present(rows, self.first, self.second)
        second = _where_present(rows, self.second, self.first)
        x, y = (rows.steps(value, None, name, centered=True, is_factor=True) for value in (first, second))
        measures: list[Measure] = [rows.present(first, second), StepSum(x), StepSum(y), StepProduct(x, y)]
        if self.normalized:
            measures += [StepProduct(x, x), StepProduct(y, y)]
        return Recipe(
            tuple(NoisyMeasures((measure,)) for measure in measures),
            lambda places: (
                CovarianceOutput(
                    name=name, count=places[0], totals=(places[1], places[2]), products=places[3], steps=(x, y),
                    population=self.population, squares=(places[4], places[5]) if self.normalized else None,
                ),
            ),
            parts=(2, 3, 3, 4, 2, 2) if self.normalized else (2, 3, 3, 4),
        )  # fmt: skip


def _where_present(rows: GroupedRows, value: Expression, other: Expression) -> Expression:
    """A value, NULL where another one is."""
    is_nullable = rows.facts(other).nullable
    return Case(((Not(IsNull(other)), value),), Null(rows.facts(value).kind)) if is_nullable else value


def variance(value: Value, *, bounds: StatedBounds = None, population: bool = False) -> Statistic:
    """The variance of values clamped to bounds: of a sample (over n − 1), or of a whole population (over n)."""
    return Variance(expression_of(value), stated(bounds), population=flag(population, "population"))


def stddev(value: Value, *, bounds: StatedBounds = None, population: bool = False) -> Statistic:
    """The standard deviation: the square root of `variance`."""
    return Variance(expression_of(value), stated(bounds), population=flag(population, "population"), root=True)


def covariance(first: Value, second: Value, *, population: bool = False) -> Statistic:
    """The covariance of two values: of a sample, or of a whole population."""
    return Covariance(expression_of(first), expression_of(second), population=flag(population, "population"))


def correlation(first: Value, second: Value) -> Statistic:
    """The correlation of two values, between −1 and 1."""
    return Covariance(expression_of(first), expression_of(second), normalized=True)
