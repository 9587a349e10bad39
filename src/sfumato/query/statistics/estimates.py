"""From what was released to estimates with error bars: free post-processing, output by output."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, assert_never

import numpy as np

from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.ratios import ratio_errors
from sfumato.query.model.intervals import Interval
from sfumato.query.model.measures import Steps
from sfumato.query.statistics.measurements import (
    Additive,
    AdditiveNoise,
    CovarianceOutput,
    LinearOutput,
    MeanOutput,
    Output,
    QuantileIntervalOutput,
    QuantileOutput,
    Section,
    TopOutput,
    VarianceOutput,
)
from sfumato.query.statistics.ranks import Misrank, misrank_of
from sfumato.query.statistics.spreads import Spread, moments_of, parts_of, spread_ends, spread_values

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
    error: as of a quotient by what may be 0. How far a chosen value is off depends on the data; what is known of it is
    how many ranks it may be off.
    """

    value: Any  # a number; of a choice perhaps another key; None where nothing was released
    low: int | float | None
    high: int | float | None
    misrank: Misrank | None = None  # of a chosen value, and of what is computed from one

    @property
    def half_width(self) -> float:
        """The longer side of the interval."""
        if self.low is None or self.high is None or not isinstance(self.value, int | float):
            return math.inf
        return max(self.high - self.value, self.value - self.low)

    @property
    def is_mostly_noise(self) -> bool:
        """Whether the error may be as large as the value itself; of a choice, whether any value would be as right."""
        if self.misrank is not None and self.misrank.is_noise:
            return True
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            return False
        if self.low is None or self.high is None:
            may_be_0 = (self.low is None or self.low <= 0) and (self.high is None or self.high >= 0)
            return self.misrank is None and may_be_0
        return self.half_width >= abs(self.value) and self.low != self.high

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing bounds the error of a number on one side, or on both."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return is_number and self.misrank is None and (self.low is None or self.high is None)


NOTHING: Final = Estimate(value=None, low=None, high=None)


def estimators(section: Section, confidence: Fraction, *, size: int | None = None) -> tuple[Estimator, ...]:
    """How each output of a section is made of what was measured of all groups.

    Args:
        section: What was released.
        confidence: How often an interval is to hold the exact value, such as 0.95.
        size: Of how many values a group is presumed to have been chosen from, where no count of them was released.
    """
    return tuple(_estimator(output, section, confidence, size) for output in section.outputs)


def shared(confidence: Fraction, parts: int) -> Fraction:
    """The confidence that each of several intervals needs, so that all hold at once with this one."""
    return 1 - (1 - confidence) / parts


def _estimator(output: Output, section: Section, confidence: Fraction, size: int | None) -> Estimator:
    match output:
        case LinearOutput():
            return _linear(output, section, confidence)
        case MeanOutput():
            return _mean(output, section, confidence)
        case VarianceOutput() | CovarianceOutput():
            return _spread(output, section, confidence)
        case QuantileOutput():
            misrank = misrank_of(section, output.measurement, confidence, size=size)
            return _by_row(lambda row: _quantile(output, row, misrank(row)))
        case QuantileIntervalOutput():
            misrank = misrank_of(section, output.measurement, confidence, size=size)
            return _by_row(lambda row: _quantile_interval(output, row, misrank(row)))
        case TopOutput():
            count = len(output.values)
            misrank = misrank_of(section, output.measurement, confidence, size=size, candidates=count)
            return _by_row(lambda row: _top(output, row, misrank(row)))
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


def estimated(
    value: Any, around: Interval, *, is_whole: bool = False, misrank: Misrank | None = None
) -> Estimate:  # fmt: skip
    """A value and what is known of the exact one; the value lies inside, however doubles are rounded."""
    outside = around.rounded() if is_whole else around
    low, high = (
        None if end is None else figure(*end.as_integer_ratio(), is_whole=is_whole)
        for end in (outside.lower, outside.upper)
    )
    if isinstance(value, int | float):
        low, high = (None if low is None else min(low, value)), (None if high is None else max(high, value))
    return Estimate(value=value, low=low, high=high, misrank=misrank)


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


def _spread(output: Spread, section: Section, confidence: Fraction) -> Estimator:
    """A variance, covariance or correlation, with the confidence set of just that; see `numeric.moments`."""
    found = [noise_of(section, part) for part in parts_of(output)]
    noises = [noise for noise in found if noise is not None]
    if len(noises) < len(found):
        return _by_row(lambda _: NOTHING)

    def estimate(measured: Measured) -> Sequence[Estimate]:
        moments = moments_of(output, [[row[0] for row in measured[part]] for part in parts_of(output)], noises)
        values, (low, high) = spread_values(output, moments), spread_ends(output, moments, confidence)
        lows, highs = np.minimum(low, values).tolist(), np.maximum(high, values).tolist()
        triples = zip(values.tolist(), lows, highs, strict=True)
        return [Estimate(value=value, low=low, high=high) for value, low, high in triples]

    return estimate


def _quantile(output: QuantileOutput | QuantileIntervalOutput, row: Row, misrank: Misrank) -> Estimate:
    """The middle of the chosen bin."""
    first, last = _bin(output, row[output.measurement][0])
    middle = (first + last) // 2 * output.bins.steps.resolution
    value = figure(*middle.as_integer_ratio(), is_whole=output.is_whole)
    return Estimate(value=value, low=None, high=None, misrank=misrank)


def _quantile_interval(output: QuantileIntervalOutput, row: Row, misrank: Misrank) -> Estimate:
    """From the first step of the lower bin to the last one of the upper; chosen apart, they may have changed sides."""
    bins = [_bin(output, row[end][0]) for end in output.ends]
    step = output.bins.steps.resolution
    around = Interval(min(first for first, _ in bins) * step, max(last for _, last in bins) * step)
    near = _quantile(output, row, misrank)
    return estimated(near.value, around, is_whole=output.is_whole, misrank=misrank)


def _bin(output: QuantileOutput | QuantileIntervalOutput, place: int) -> tuple[int, int]:
    """The first and the last step of a bin."""
    bins = output.bins
    first = bins.steps.lower + place * bins.width
    return first, min(first + bins.width - 1, bins.steps.upper)


def _top(output: TopOutput, row: Row, misrank: Misrank) -> Estimate:
    value = output.values[row[output.measurement][output.coordinate]]
    return Estimate(value=value, low=None, high=None, misrank=misrank)


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
