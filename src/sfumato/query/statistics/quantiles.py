"""Quantiles, among them medians and extremes: values chosen from bins, perhaps with an interval that is bought."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, exact, flag, probability
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.intervals import Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Fold, Folded
from sfumato.query.model.statement import Bins, Bounds
from sfumato.query.statistics.estimates import AnswerValue, Estimator, Forecast, Misrank, Row, by_row, estimated, figure
from sfumato.query.statistics.measurements import Output, Section
from sfumato.query.statistics.ranks import choice_of, misrank_of, misranked
from sfumato.query.statistics.recipes import BinQuantile, GroupedRows, Recipe
from sfumato.query.statistics.statistic import (
    BoundedStatistic,
    Ordering,
    Spelling,
    SqlReader,
    StatedBounds,
    Statistic,
    Value,
    bounds_sql,
    number_facts,
    number_sql,
    of_one,
    stated,
)

MAX_BINS: Final = 2**16
"""Of a quantile: its lattice is made coarser where the bounds have more steps."""

_HALF: Final = Fraction(1, 2)
_NAMES: Final = {Fraction(0): "MIN", _HALF: "MEDIAN", Fraction(1): "MAX"}
_FOLDS: Final = {Fraction(0): Fold.MIN, Fraction(1): Fold.MAX}


class BinOutput(Output):
    """An answer that is a chosen bin of a lattice; an INTEGER if `is_whole`."""

    __slots__ = ()
    measurement: int
    bins: Bins
    is_whole: bool

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """The middle of the chosen bin, and how many ranks it may be off."""
        misrank = misrank_of(section, self.measurement, confidence, size=size)
        return by_row(lambda row: self.estimate(row, misrank(row)))

    def estimate(self, row: Row, misrank: Misrank) -> AnswerValue:
        """The middle of the chosen bin; how far it is off depends on the data."""
        first, last = self.bins.ends(row[self.measurement][0])
        middle = (first + last) // 2 * self.bins.steps.resolution
        value = figure(*middle.as_integer_ratio(), is_whole=self.is_whole)
        return AnswerValue(value=value, low=None, high=None, misrank=misrank)

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """How many ranks it may be off."""
        width = misranked(choice_of(section, self.measurement), confidence)
        return Forecast(column=self.name, half_width=width, assumption="in ranks of values")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileOutput(BinOutput):
    """An answer that is a chosen bin alone."""

    stored: ClassVar = Names("QuantileOutput", "measurement", "bins", "is_whole", unwritten=("name",))

    name: str
    measurement: int
    bins: Bins
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileIntervalOutput(BinOutput):
    """An answer that is a chosen bin, with two more that lie surely on either side of the quantile."""

    stored: ClassVar = Names("QuantileIntervalOutput", "measurement", "ends", "bins", "is_whole", unwritten=("name",))

    name: str
    measurement: int
    ends: tuple[int, int]
    bins: Bins
    is_whole: bool

    def estimate(self, row: Row, misrank: Misrank) -> AnswerValue:
        """From the first step of the lower bin to the last one of the upper; chosen apart, they may change sides."""
        step = self.bins.steps.resolution
        one, other = (Interval(*(end * step for end in self.bins.ends(row[place][0]))) for place in self.ends)
        near = BinOutput.estimate(self, row, misrank)
        return estimated(near.value, one | other, is_whole=self.is_whole, misrank=misrank)


def _share(sql: SqlReader, node: Any) -> Fraction:
    share = sql.number(node)
    if share is None or not 0 <= share <= 1:
        raise ParameterError("quantile", sql.shown(node), "must be a number from 0 to 1, such as 0.5")
    return share


def _read(_: type[Any], sql: SqlReader, call: Any) -> Statistic:
    return Percentile(sql.value(call.this), _share(sql, call.args["quantile"]))


def _read_ordered(_: type[Any], sql: SqlReader, call: Any, ordering: Ordering) -> Statistic:
    sql.require_only(call, "this")
    share = _share(sql, call.this)
    return Percentile(ordering.value, 1 - share if ordering.descending else share)


@dataclass(frozen=True, slots=True)
class Percentile(BoundedStatistic):
    """PERCENTILE: a value with a share of about `quantile` below it; 0 is MIN, 1/2 MEDIAN, 1 MAX.

    With an `interval` two thirds of its cost go to a value surely at or below it, and one surely at or above it.
    """

    stored: ClassVar = Names("Quantile", "quantile", "bounds", "interval", unwritten=("value",))
    spellings: ClassVar = (
        of_one("MIN", node="Min", quantile=Fraction(0), is_fold=True),
        of_one("MAX", node="Max", quantile=Fraction(1), is_fold=True),
        of_one("MEDIAN", node="Median", quantile=_HALF),
        Spelling(names=("QUANTILE",), node="Quantile", arguments=("this", "quantile"), read=_read),
        Spelling(names=("PERCENTILE_CONT",), node="PercentileCont", ordered=_read_ordered),
        Spelling(names=("PERCENTILE_DISC",), node="PercentileDisc", ordered=_read_ordered),
    )
    outputs: ClassVar = (QuantileOutput, QuantileIntervalOutput)

    value: Expression
    quantile: Fraction
    bounds: Bounds = None
    interval: bool = False

    @property
    def has_bought_interval(self) -> bool:
        """Whether two thirds of its cost go to an interval."""
        return self.interval

    def with_bought_interval(self) -> "Percentile":
        """The same with an interval; MIN and MAX have none."""
        return self if self.quantile in _FOLDS else replace(self, interval=True)

    def with_bounds(self, bounds: tuple[Fraction, Fraction]) -> "Percentile":
        """The quantile of values clamped to other bounds."""
        return replace(self, bounds=bounds)

    def sql(self, values: Sequence[str]) -> str:
        """By its own name if it has one, else PERCENTILE_CONT."""
        inside = f"{values[0]}{bounds_sql(self.bounds)}{' /* with an interval */' if self.interval else ''}"
        if self.quantile in _NAMES:
            return f"{_NAMES[self.quantile]}({inside})"
        return f"PERCENTILE_CONT({number_sql(self.quantile)}) WITHIN GROUP (ORDER BY {inside})"

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """A number of the same kind as the values."""
        return (number_facts(facts_of(self.value, shape.columns).kind),)

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """The share lies between 0 and 1, both excluded if it has an interval; bounds are in order."""
        probability(self.quantile, "quantile")
        BoundedStatistic.check_parameters(self, name, shape, facts)
        if self.interval and self.quantile in _FOLDS:
            requirement = "needs a quantile between 0 and 1; for MIN and MAX the answer shows the error in ranks"
            raise ParameterError("interval", self.interval, requirement)

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """A choice from bins; with an interval, three choices from the same bins at the same cost."""
        steps = rows.steps(self.value, self.bounds, name)
        bins = Bins(steps=steps, width=-(-(steps.upper - steps.lower + 1) // MAX_BINS))
        is_whole = rows.facts(self.value).kind is Kind.INTEGER
        near = BinQuantile(rows.with_cells(bins), self.quantile)
        if not self.interval:
            return Recipe(
                (near,), lambda at: (QuantileOutput(name=name, measurement=at, bins=bins, is_whole=is_whole),)
            )
        return Recipe(
            (near, replace(near, side="lower"), replace(near, side="upper")),
            lambda at: (
                QuantileIntervalOutput(name=name, measurement=at, ends=(at + 1, at + 2), bins=bins, is_whole=is_whole),
            ),
        )

    def fold(self, name: str, shape: Shape) -> Folded | None:
        """The exact least or greatest value of one group."""
        if self.bounds is not None or self.quantile not in _FOLDS:
            return None
        return Folded(name, _FOLDS[self.quantile], self.value)


def quantile(value: Value, quantile: Number, *, bounds: StatedBounds = None, interval: bool = False) -> Statistic:
    """A quantile: a value below which about this share of the values lie.

    Args:
        value: A column, or an expression of columns.
        quantile: The share, from 0 to 1.
        bounds: The bounds to which values are clamped; default: those of the policy.
        interval: Whether to add a 95% interval for two thirds of its ε; only for shares between 0 and 1. Without one,
            the answer shows its error in ranks.

    Example:
        >>> quantile("hours", 0.9).quantile
        Fraction(9, 10)
    """
    share, is_bought = exact(quantile, "quantile"), flag(interval, "interval")
    return Percentile(expression_of(value), share, stated(bounds), is_bought)


def median(value: Value, *, bounds: StatedBounds = None, interval: bool = False) -> Statistic:
    """The median: `quantile` of 1/2; with `interval=True` it has a 95% interval, for two thirds of its ε.

    Example:
        >>> median("hours", interval=True).interval
        True
    """
    return Percentile(expression_of(value), _HALF, stated(bounds), flag(interval, "interval"))


def min(value: Value, *, bounds: StatedBounds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.min
    """A value near the smallest; in a sub-query (`fold`) exactly the smallest."""
    return Percentile(expression_of(value), Fraction(0), stated(bounds))


def max(value: Value, *, bounds: StatedBounds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.max
    """A value near the largest; in a sub-query (`fold`) exactly the largest."""
    return Percentile(expression_of(value), Fraction(1), stated(bounds))
