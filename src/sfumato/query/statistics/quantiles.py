"""Quantiles, among them medians and extremes: values chosen from bins, perhaps with an interval that is bought."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Final, TypeAlias

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.numeric.rationals import Number, exact, flag, probability
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.handles.conditions import clamped, literal
from sfumato.query.model.expressions import Call, Expression, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import YEARS, Interval, date_at, place_of
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.relations import Fold, Folded
from sfumato.query.model.statement import AUTO, Bins, Bounds
from sfumato.query.statistics.estimates import AnswerValue, Estimator, Forecast, Misrank, Row, by_row, estimated, figure
from sfumato.query.statistics.measurements import Output, Section
from sfumato.query.statistics.ranks import choice_of, misrank_of, misranked
from sfumato.query.statistics.recipes import BinQuantile, GroupedRows, Outputs, Recipe
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

StatedEnds: TypeAlias = StatedBounds | tuple[date, date]
"""What values are clamped to, days and times too."""

_HALF: Final = Fraction(1, 2)
_NAMES: Final = {Fraction(0): "MIN", _HALF: "MEDIAN", Fraction(1): "MAX"}
_FOLDS: Final = {Fraction(0): Fold.MIN, Fraction(1): Fold.MAX}


@dataclass(frozen=True, slots=True, kw_only=True)
class BinOutput(Output):
    """An answer that is a chosen bin of a lattice.

    Attributes:
        name: Its column.
        measurement: The choice.
        coordinate: Which of the quantiles that are chosen at once.
        bins: What is chosen from.
    """

    name: str
    measurement: int
    coordinate: int = 0
    bins: Bins

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """The middle of the chosen bin, and how many ranks it may be off."""
        misrank = misrank_of(section, self.measurement, confidence, coordinate=self.coordinate, size=size)
        return by_row(lambda row: self.estimate(row, misrank(row)))

    @abstractmethod
    def estimate(self, row: Row, misrank: Misrank) -> AnswerValue:
        """The middle of the chosen bin; how far it is off depends on the data."""

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """How many ranks it may be off."""
        width = misranked(choice_of(section, self.measurement), confidence, coordinate=self.coordinate)
        return Forecast(column=self.name, half_width=width, assumption="in ranks of values")

    def chosen(self, row: Row) -> tuple[int, int]:
        """The first and the last step of the chosen bin."""
        return self.bins.ends(row[self.measurement][self.coordinate])


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileOutput(BinOutput):
    """An answer that is a chosen bin alone; an INTEGER if `is_whole`."""

    stored: ClassVar = Names("QuantileOutput", "measurement", "bins", "is_whole", unwritten=("name", "coordinate"))

    is_whole: bool

    def estimate(self, row: Row, misrank: Misrank) -> AnswerValue:
        """The middle of the chosen bin; how far it is off depends on the data."""
        middle = sum(self.chosen(row)) // 2 * self.bins.steps.resolution
        value = figure(*middle.as_integer_ratio(), is_whole=self.is_whole)
        return AnswerValue(value=value, low=None, high=None, misrank=misrank)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileIntervalOutput(QuantileOutput):
    """An answer that is a chosen bin, with two more that lie surely on either side of the quantile."""

    stored: ClassVar = Names(
        "QuantileIntervalOutput", "measurement", "ends", "bins", "is_whole", unwritten=("name", "coordinate")
    )

    ends: tuple[int, int]

    def estimate(self, row: Row, misrank: Misrank) -> AnswerValue:
        """From the first step of the lower bin to the last one of the upper; chosen apart, they may change sides."""
        step = self.bins.steps.resolution
        one, other = (Interval(*(end * step for end in self.bins.ends(row[place][0]))) for place in self.ends)
        near = QuantileOutput.estimate(self, row, misrank)
        return estimated(near.value, one | other, is_whole=self.is_whole, misrank=misrank)


@dataclass(frozen=True, slots=True, kw_only=True)
class DateOutput(BinOutput):
    """An answer that is a chosen bin of days or seconds: a DATE or a TIMESTAMP, perhaps with `ends` of an interval."""

    stored: ClassVar = Names("DateOutput", "measurement", "ends", "bins", "kind", unwritten=("name", "coordinate"))

    ends: tuple[int, ...]
    kind: Kind

    def estimate(self, row: Row, misrank: Misrank) -> AnswerValue:
        """The middle of the chosen bin, and from the first step of the lower bin to the last one of the upper."""
        middle = sum(self.chosen(row)) // 2
        around = sorted([middle, *(end for place in self.ends for end in self.bins.ends(row[place][0]))])
        value, low, high = (
            _moment_at(step * self.bins.steps.resolution, self.kind) for step in (middle, around[0], around[-1])
        )
        if not self.ends:
            return AnswerValue(value=value, low=None, high=None, misrank=misrank)
        return AnswerValue(value=value, low=low, high=high, misrank=misrank)


_START: Final = {Kind.DATE: date.min, Kind.TIMESTAMP: datetime.combine(date.min, time.min)}
_UNIT: Final = {Kind.DATE: 1, Kind.TIMESTAMP: 10**6}
"""How many places of an interval one number of a day or a time is: a day, or a second."""


def _moment_at(number: Fraction, kind: Kind) -> date:
    """The day that is so many days, or the time that is so many seconds after the first one that there is."""
    place, years = place_of(_START[kind]) + floor(number) * _UNIT[kind], YEARS[kind]
    return date_at(place if years.holds(place) else years.upper or place, kind)


def _number_of(moment: Expression, kind: Kind) -> Expression:
    """How many days, or whole seconds, a day or a time is after the first one that there is; NULL of NULL."""
    first = Literal(date.min)
    if kind is Kind.DATE:
        return Call(Function.DAYS_BETWEEN, (moment, first))
    number: Expression = Call(Function.DAYS_BETWEEN, (Call(Function.TO_DATE, (moment,)), first))
    for part, per in ((Function.HOUR, 24), (Function.MINUTE, 60), (Function.SECOND, 60)):
        larger = Call(Function.MULTIPLY, (number, Literal(Fraction(per))))
        number = Call(Function.ADD, (larger, Call(part, (moment,))))
    return number


def _numbered_bounds(facts: Facts, name: str) -> tuple[Fraction, Fraction]:
    """The bounds of days or times, as numbers of them."""
    lower, upper = facts.interval.lower, facts.interval.upper
    if lower is None or upper is None:
        raise UnboundedSensitivityError("expression", name, f"It has no bounds. {_HOW_TO_BOUND}")
    first, unit = place_of(_START[facts.kind]), _UNIT[facts.kind]
    return Fraction((lower - first) // unit), Fraction((upper - first) // unit)


_HOW_TO_BOUND: Final = (
    "Declare bounds in the policy, such as sf.date('2020-01-01', '2026-12-31'), or state some: bounds=(first, last) in "
    "Python, in SQL CASE WHEN d IS NOT NULL THEN LEAST(GREATEST(d, DATE '2020-01-01'), DATE '2026-12-31') END."
)


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
    outputs: ClassVar = (QuantileOutput, QuantileIntervalOutput, DateOutput)
    of_times: ClassVar = True

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
        """A number, a day or a time, of the same kind as the values."""
        return (number_facts(facts_of(self.value, shape.columns).kind),)

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """The share lies between 0 and 1, both excluded if it has an interval; bounds are in order."""
        probability(self.quantile, "quantile")
        BoundedStatistic.check_parameters(self, name, shape, facts)
        if facts[0].kind in TIMES and self.bounds is not None:
            shown = "auto" if self.bounds is AUTO else "numbers"
            raise ParameterError(f"bounds of {name}", shown, f"must be two {facts[0].kind}s, as the values are")
        if self.interval and self.quantile in _FOLDS:
            requirement = "needs a quantile between 0 and 1; for MIN and MAX the answer shows the error in ranks"
            raise ParameterError("interval", self.interval, requirement)

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """A choice from bins; with an interval, three choices from the same bins at the same cost."""
        facts, value, bounds = rows.facts(self.value), self.value, self.bounds
        if facts.kind in TIMES:
            value, bounds = _number_of(value, facts.kind), _numbered_bounds(facts, name)
        steps = rows.steps(value, bounds, name)
        bins = Bins(steps=steps, width=-(-(steps.upper - steps.lower + 1) // MAX_BINS))
        near = BinQuantile(rows.with_cells(bins), self.quantile)
        sides = (replace(near, side="lower"), replace(near, side="upper")) if self.interval else ()
        if facts.kind not in TIMES:
            return Recipe((near, *sides), self._numbers(name, bins, is_whole=facts.kind is Kind.INTEGER))
        return Recipe(
            (near, *sides),
            lambda places: (
                DateOutput(
                    name=name,
                    measurement=places[0],
                    ends=tuple(places[1:]),
                    bins=bins,
                    kind=facts.kind,
                ),
            ),
        )

    def _numbers(self, name: str, bins: Bins, *, is_whole: bool) -> Outputs:
        """The output of numbers."""
        if not self.interval:
            return lambda places: (QuantileOutput(name=name, measurement=places[0], bins=bins, is_whole=is_whole),)
        return lambda places: (
            QuantileIntervalOutput(
                name=name, measurement=places[0], ends=(places[1], places[2]), bins=bins, is_whole=is_whole
            ),
        )

    def fold(self, name: str, shape: Shape) -> Folded | None:
        """The exact least or greatest value of one group."""
        if self.bounds is not None or self.quantile not in _FOLDS:
            return None
        return Folded(name, _FOLDS[self.quantile], self.value)


def quantile(value: Value, quantile: Number, *, bounds: StatedEnds = None, interval: bool = False) -> Statistic:
    """A quantile: a value below which about this share of the values lie.

    Args:
        value: A column, or an expression of columns.
        quantile: The share, from 0 to 1.
        bounds: The bounds to which values are clamped: two numbers, two dates or two timestamps; default: those of the
            policy.
        interval: Whether to add a 95% interval for two thirds of its ε; only for shares between 0 and 1. Without one,
            the answer shows its error in ranks.

    Example:
        >>> quantile("hours", 0.9).quantile
        Fraction(9, 10)
    """
    share, is_bought = exact(quantile, "quantile"), flag(interval, "interval")
    return Percentile(*_bounded(value, bounds, share), interval=is_bought)


def median(value: Value, *, bounds: StatedEnds = None, interval: bool = False) -> Statistic:
    """The median: `quantile` of 1/2; with `interval=True` it has a 95% interval, for two thirds of its ε.

    Example:
        >>> median("hours", interval=True).interval
        True
    """
    return Percentile(*_bounded(value, bounds, _HALF), interval=flag(interval, "interval"))


def min(value: Value, *, bounds: StatedEnds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.min
    """A value near the smallest; in a sub-query (`fold`) exactly the smallest."""
    return Percentile(*_bounded(value, bounds, Fraction(0)))


def max(value: Value, *, bounds: StatedEnds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.max
    """A value near the largest; in a sub-query (`fold`) exactly the largest."""
    return Percentile(*_bounded(value, bounds, Fraction(1)))


def _bounded(value: Value, bounds: Any, share: Fraction) -> tuple[Expression, Fraction, Bounds]:
    """A value, the share and the bounds of a quantile; a day or a time is moved into its bounds at once."""
    expression = expression_of(value)
    match bounds:
        case (date() as lower, date() as upper):
            ends = literal(lower), literal(upper)
            if type(lower) is not type(upper) or not lower < upper:
                requirement = "must be two dates or two timestamps, the lower bound below the upper bound"
                raise ParameterError("bounds", (str(lower), str(upper)), requirement)
            kind = Kind.TIMESTAMP if isinstance(lower, datetime) else Kind.DATE
            return clamped(expression, *ends, Facts(kind=kind)), share, None
        case _:
            return expression, share, stated(bounds)
