"""From noisy integers to the columns of an answer, with error bars: free post-processing of what was released."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.query.plan import AdditiveNoise, CountOutput, MeanOutput, Output, PrivatePlan, SumOutput

Figure: TypeAlias = int | float | None
_TWO_63: Final = 2**63
HalfWidth: TypeAlias = int | float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One value of an answer and the interval that holds the exact one with the stated confidence.

    The exact one is that of the bounded data: what clamping and sampling took away is not in the interval. None means
    that nothing was released.
    """

    value: Figure
    low: Figure
    high: Figure

    @property
    def half_width(self) -> float:
        """The longer side of the interval."""
        if self.value is None or self.low is None or self.high is None:
            return math.inf
        return max(self.high - self.value, self.value - self.low)


NOTHING = Estimate(value=None, low=None, high=None)


def estimates(plan: PrivatePlan, noisy: Sequence[Sequence[int]], confidence: Fraction) -> list[list[Estimate]]:
    """The estimates of each group, one for each output.

    Args:
        plan: The plan that was released.
        noisy: For each group, the noisy measures in lattice steps.
        confidence: How often an interval is to hold the exact value, such as 0.95.
    """
    estimators = [_estimator(output, plan.mechanisms, confidence) for output in plan.outputs]
    return [[estimate(row) for estimate in estimators] for row in noisy]


def _estimator(
    output: Output, mechanisms: Sequence[AdditiveNoise], confidence: Fraction
) -> Callable[[Sequence[int]], Estimate]:
    match output:
        case CountOutput(count=index):
            return _scaled(index, Fraction(1), mechanisms[index].accuracy(confidence))
        case SumOutput(total=index, resolution=resolution):
            return _scaled(index, resolution, mechanisms[index].accuracy(confidence))
        case MeanOutput():
            each = both_hold(confidence)
            count_error = mechanisms[output.count].accuracy(each)
            total_error = mechanisms[output.total].accuracy(each)
            return lambda row: _mean(output, row, count_error, total_error)


def both_hold(confidence: Fraction) -> Fraction:
    """The confidence that each half of a mean needs, so that both hold at once with this one."""
    return 1 - (1 - confidence) / 2


def _scaled(index: int, resolution: Fraction, error: HalfWidth) -> Callable[[Sequence[int]], Estimate]:
    """A lattice point times its resolution, plus or minus the error of the noise."""
    if math.isinf(error):
        return lambda _: NOTHING

    def estimate(row: Sequence[int]) -> Estimate:
        steps = row[index]
        low, value, high = (figure(s, resolution) for s in (steps - int(error), steps, steps + int(error)))
        return Estimate(value=value, low=low, high=high)

    return estimate


def _mean(output: MeanOutput, row: Sequence[int], count_error: HalfWidth, total_error: HalfWidth) -> Estimate:
    """The centre plus noisy sum over noisy count, inside the public bounds."""
    if math.isinf(count_error) or math.isinf(total_error):
        return NOTHING
    count, total = row[output.count], row[output.total]
    counts = [max(1, count - int(count_error)), max(1, count + int(count_error))]
    totals = [total - int(total_error), total + int(total_error)]
    corners = [_bounded_mean(output, t, n) for t in totals for n in counts]
    value = _bounded_mean(output, total, max(1, count))
    return Estimate(value=float(value), low=float(min(*corners, value)), high=float(max(*corners, value)))


def _bounded_mean(output: MeanOutput, total: int, count: int) -> Fraction:
    steps = output.centre + Fraction(total, count)
    return output.resolution * min(max(steps, Fraction(output.lower)), Fraction(output.upper))


def figure(steps: int, resolution: Fraction) -> int | float:
    """A lattice point as a whole number where the lattice is whole and 64 bits hold it, else as the nearest double."""
    value = steps * resolution
    return int(value) if resolution.denominator == 1 and abs(value) < _TWO_63 else float(value)
