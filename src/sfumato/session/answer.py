"""From what was released to estimates with error bars: free post-processing, output by output."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, assert_never

import numpy as np

from sfumato.mechanisms.laplace import Laplace
from sfumato.numeric.ratios import IntegerNoise, ratio_errors
from sfumato.query.intervals import Interval, point
from sfumato.query.measures import Steps
from sfumato.query.plan import (
    Additive,
    AdditiveNoise,
    CovarianceOutput,
    LinearOutput,
    MeanOutput,
    Output,
    QuantileOutput,
    Section,
    TopOutput,
    VarianceOutput,
)

Row: TypeAlias = Sequence[Sequence[int]]
"""What was measured of one group: for each measurement its whole numbers."""

Measured: TypeAlias = Sequence[Sequence[Sequence[int]]]
"""What was measured of all groups: for each measurement, for each group, its whole numbers."""

Estimator: TypeAlias = Callable[[Measured], Sequence["Estimate"]]
"""One estimate a group."""

LARGEST_WHOLE: Final = 2**63 - 1
"""Whole numbers of an answer lie within 64 bits, so that the type of a column never depends on what is in it. What lies
beyond them is None: a value that is not shown, an end that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One value of an answer and the interval that holds the exact one with the stated confidence.

    The exact one is that of the bounded data: what clamping and sampling took away is not in the interval. None means
    that nothing was released, or that the type of the column does not hold it; or of an end that nothing bounds the
    error: that of a chosen value depends on the data.
    """

    value: Any  # a number; of a choice perhaps another key; None where nothing was released
    low: int | float | None
    high: int | float | None

    @property
    def half_width(self) -> float:
        """The longer side of the interval."""
        if self.low is None or self.high is None or not isinstance(self.value, int | float):
            return math.inf
        return max(self.high - self.value, self.value - self.low)

    @property
    def is_mostly_noise(self) -> bool:
        """Whether the error may be as large as the value itself."""
        if not isinstance(self.value, int | float) or self.low is None or self.high is None:
            return False
        return self.half_width >= abs(self.value) and self.low != self.high


NOTHING: Final = Estimate(value=None, low=None, high=None)


def estimators(section: Section, confidence: Fraction) -> tuple[Estimator, ...]:
    """How each output of a section is made of what was measured of all groups.

    Args:
        section: What was released.
        confidence: How often an interval is to hold the exact value, such as 0.95.
    """
    return tuple(_estimator(output, section, confidence) for output in section.outputs)


def shared(confidence: Fraction, parts: int) -> Fraction:
    """The confidence that each of several intervals needs, so that all hold at once with this one."""
    return 1 - (1 - confidence) / parts


def _estimator(output: Output, section: Section, confidence: Fraction) -> Estimator:
    match output:
        case LinearOutput():
            return _linear(output, section, confidence)
        case MeanOutput():
            return _mean(output, section, confidence)
        case VarianceOutput():
            parts = (output.count, output.total, output.squares)
            return _by_row(_of_errors(section, parts, confidence, lambda n, s, q: _variance(output, n, s, q)))
        case CovarianceOutput():
            parts = (output.count, *output.totals, output.products, *(output.squares or ()))
            return _by_row(_of_errors(section, parts, confidence, lambda *terms: _covariance(output, *terms)))
        case QuantileOutput():
            return _by_row(lambda row: _quantile(output, row))
        case TopOutput():
            return _by_row(lambda row: _top(output, row))
        case _:
            assert_never(output)


def _by_row(estimate: Callable[[Row], Estimate]) -> Estimator:
    return lambda measured: [estimate(row) for row in zip(*measured, strict=True)]


def error_of(section: Section, measurement: int, confidence: Fraction) -> float:
    """How far the noise of a measurement moves each of its numbers, at a confidence; infinite where ε is 0."""
    return float(_mechanism(section, measurement).accuracy(confidence))


def _mechanism(section: Section, measurement: int) -> AdditiveNoise:
    additive = section.measurements[measurement]
    if not isinstance(additive, Additive):
        raise TypeError("only additive noise has an error that does not depend on the data")
    return additive.mechanism


def noise_of(section: Section, measurement: int) -> IntegerNoise | None:
    """The law of a measurement's noise, of a scale of 0 where numbers are exact; None where nothing is released."""
    mechanism = _mechanism(section, measurement)
    if not isinstance(mechanism, Laplace):
        return IntegerNoise("gaussian", mechanism.stddev)
    is_nothing = mechanism.scale == 0 and mechanism.l1_sensitivity > 0
    return None if is_nothing else IntegerNoise("laplace", mechanism.scale)


def _linear(output: LinearOutput, section: Section, confidence: Fraction) -> Estimator:
    """A lattice point times its resolution, plus or minus the error of the noise."""
    error = error_of(section, output.measurement, confidence)
    if math.isinf(error):
        return _by_row(lambda _: NOTHING)
    reach = int(error)
    numerator, denominator = output.resolution.as_integer_ratio()

    def estimate(measured: Measured) -> Sequence[Estimate]:
        steps = [row[output.coordinate] for row in measured[output.measurement]]
        values, lows, highs = (
            figures_of([(place + move) * numerator for place in steps], denominator, is_whole=output.is_whole)
            for move in (0, -reach, reach)
        )
        return [Estimate(value=value, low=low, high=high) for value, low, high in zip(values, lows, highs, strict=True)]

    return estimate


Ends: TypeAlias = tuple[Interval, Interval]
"""What was measured, as a point and as an interval."""


def _of_errors(
    section: Section, parts: Iterable[int], confidence: Fraction, combined: Callable[..., Interval]
) -> Callable[[Row], Estimate]:
    """Interval arithmetic over several noisy numbers, whose intervals hold all at once with the confidence."""
    places = tuple(parts)
    errors = [error_of(section, place, shared(confidence, len(places))) for place in places]
    if any(math.isinf(error) for error in errors):
        return lambda _: NOTHING

    def estimate(row: Row) -> Estimate:
        measured = [Fraction(row[place][0]) for place in places]
        middle = combined(*map(point, measured))
        around = combined(*(Interval(m - int(e), m + int(e)) for m, e in zip(measured, errors, strict=True)))
        return _estimate(middle, around)

    return estimate


def _estimate(middle: Interval, around: Interval) -> Estimate:
    value = None if middle.lower is None else figure(*middle.lower.as_integer_ratio())
    return estimated(value, around)


def estimated(value: Any, around: Interval, *, is_whole: bool = False) -> Estimate:
    """A value and what is known of the exact one; the value lies inside, however doubles are rounded."""
    outside = around.rounded() if is_whole else around
    low, high = (
        None if end is None else figure(*end.as_integer_ratio(), is_whole=is_whole)
        for end in (outside.lower, outside.upper)
    )
    if isinstance(value, int | float):
        low, high = (None if low is None else min(low, value)), (None if high is None else max(high, value))
    return Estimate(value=value, low=low, high=high)


def _at_least_one(count: Interval) -> Interval:
    return count.greatest(point(Fraction(1)))


def _within(value: Interval, lower: Fraction, upper: Fraction) -> Interval:
    """Moved into public ends."""
    return value.greatest(point(lower)).least(point(upper))


def _mean(output: MeanOutput, section: Section, confidence: Fraction) -> Estimator:
    """The offset plus noisy sum over noisy count, inside the public bounds; with the exact interval of a ratio."""
    total, count = noise_of(section, output.total), noise_of(section, output.count)
    if total is None or count is None:
        return _by_row(lambda _: NOTHING)
    steps, step = output.steps, float(output.steps.resolution)
    ends = float(steps.ends[0]), float(steps.ends[1])
    lowest, highest = (_mean_value(steps, end, 1) for end in steps.ends)

    def estimate(measured: Measured) -> Sequence[Estimate]:
        totals, counts = ([row[0] for row in measured[part]] for part in (output.total, output.count))
        ratios = np.array([s / max(1, n) for s, n in zip(totals, counts, strict=True)], dtype=np.float64)
        below, above = ratio_errors(
            ratios, np.array(counts, dtype=np.float64), total=total, count=count, ends=ends, confidence=confidence
        )
        values = [_mean_value(steps, s, max(1, n)) for s, n in zip(totals, counts, strict=True)]
        lows = np.maximum(np.array(values) - below * step, lowest).tolist()
        highs = np.minimum(np.array(values) + above * step, highest).tolist()
        triples = zip(values, lows, highs, strict=True)
        return [Estimate(value=value, low=low, high=high) for value, low, high in triples]

    return estimate


def _mean_value(steps: Steps, total: int, count: int) -> float:
    """Exact but for the last rounding."""
    lower, upper = steps.ends
    numerator, denominator = steps.resolution.as_integer_ratio()
    within = min(max(total, lower * count), upper * count)
    return ((steps.offset * count + within) * numerator) / (count * denominator)  # within the bounds, so a double


def _variance(output: VarianceOutput, count: Interval, total: Interval, squares: Interval) -> Interval:
    """The mean of squares less the square of the mean, between 0 and a quarter of the squared width of the bounds."""
    steps = output.steps
    at_least_one = _at_least_one(count)
    mean = _within(total / at_least_one, *map(Fraction, steps.ends))
    most = Fraction((steps.upper - steps.lower) ** 2, 4)
    variance = _within(squares / at_least_one - _square(mean), Fraction(0), most)
    if not output.population:
        variance = variance * _bessel(count)
    variance = variance * point(steps.resolution**2)
    return _root(variance) if output.root else variance


def _covariance(output: CovarianceOutput, count: Interval, *terms: Interval) -> Interval:
    first, second = output.steps
    at_least_one = _at_least_one(count)
    x, y, products, *squares = (term / at_least_one for term in terms)
    covariance = products - x * y
    if squares:
        scale = _root(_positive(squares[0] - _square(x))) * _root(_positive(squares[1] - _square(y)))
        if scale.upper == 0:
            return point(Fraction(0))
        return _within(covariance / scale, Fraction(-1), Fraction(1))
    most = Fraction((first.upper - first.lower) * (second.upper - second.lower), 4)
    covariance = _within(covariance, -most, most)
    if not output.population:
        covariance = covariance * _bessel(count)
    return covariance * point(first.resolution * second.resolution)


def _quantile(output: QuantileOutput, row: Row) -> Estimate:
    """The middle of the chosen bin."""
    bins, place = output.bins, row[output.measurement][0]
    first = bins.steps.lower + place * bins.width
    last = min(first + bins.width - 1, bins.steps.upper)
    middle = (first + last) // 2 * bins.steps.resolution
    return Estimate(value=figure(*middle.as_integer_ratio(), is_whole=output.is_whole), low=None, high=None)


def _top(output: TopOutput, row: Row) -> Estimate:
    return Estimate(value=output.values[row[output.measurement][output.coordinate]], low=None, high=None)


def _square(value: Interval) -> Interval:
    positive = value.absolute()
    return positive * positive


def _positive(value: Interval) -> Interval:
    return value.greatest(point(Fraction(0)))


def _bessel(count: Interval) -> Interval:
    """N / (n − 1), of counts of at least 2."""
    several = count.greatest(point(Fraction(2)))
    return point(Fraction(1)) + point(Fraction(1)) / (several - point(Fraction(1)))


def _root(value: Interval) -> Interval:
    squares = (None if end is None else figure(*end.as_integer_ratio()) for end in (value.lower, value.upper))
    lower, upper = (None if square is None else Fraction(math.sqrt(square)) for square in squares)
    return Interval(lower, upper)


def figures_of(numerators: Sequence[int], denominator: int, *, is_whole: bool) -> Sequence[int | float | None]:
    """`figure` of each numerator; of many it is faster."""
    fits = bool(numerators) and min(numerators) >= -LARGEST_WHOLE and max(numerators) <= LARGEST_WHOLE
    if fits and denominator == 1 and is_whole:
        return numerators
    if fits and not is_whole:
        return [numerator / denominator for numerator in numerators]  # of 64 bits, so that a double has room for it
    return [figure(numerator, denominator, is_whole=is_whole) for numerator in numerators]


def figure(numerator: int, denominator: int = 1, *, is_whole: bool = False) -> int | float | None:
    """A number as a whole one, or as the nearest double; None beyond 64 bits, or beyond all doubles.

    Example:
        >>> figure(7, is_whole=True), figure(7), figure(2**63, is_whole=True), figure(10**400, 3)
        (7, 7.0, None, None)
    """
    if is_whole:
        whole = numerator // denominator
        return whole if abs(whole) <= LARGEST_WHOLE else None
    try:
        return numerator / denominator
    except OverflowError:
        return None
