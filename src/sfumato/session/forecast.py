"""The error of an answer, predicted before anything is spent: from the law of the noise, never from the data."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.query.plan import CountOutput, MeanOutput, Output, PrivatePlan, SumOutput
from sfumato.session.answer import both_hold

TYPICAL_SIZE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Forecast:
    """How far one column of an answer will be from the exact value, at a confidence.

    Attributes:
        column: The column of the answer.
        half_width: The error that is not passed with this confidence, in the column's own unit.
        assumption: What the figure presumes; empty where it holds for any data.
    """

    column: str
    half_width: float
    assumption: str = ""

    def __repr__(self) -> str:
        return f"{self.column} ± {self.half_width:.6g}" + (f" ({self.assumption})" if self.assumption else "")


def forecast(plan: PrivatePlan, *, confidence: Fraction, size: int | None = None) -> tuple[Forecast, ...]:
    """The predicted error of every column.

    Args:
        plan: What would be released.
        confidence: Such as 0.95.
        size: How many values a mean is presumed to be over; None presumes 1,000 and says so.
    """
    return tuple(_one(output, plan, confidence, size or TYPICAL_SIZE) for output in plan.outputs)


def _one(output: Output, plan: PrivatePlan, confidence: Fraction, size: int) -> Forecast:
    match output:
        case CountOutput(name=name, count=index):
            return Forecast(column=name, half_width=float(plan.mechanisms[index].accuracy(confidence)))
        case SumOutput(name=name, total=index, resolution=resolution):
            steps = plan.mechanisms[index].accuracy(confidence)
            return Forecast(column=name, half_width=float(resolution) * float(steps))
        case MeanOutput(name=name):
            width = _mean_half_width(output, plan, confidence, size)
            return Forecast(
                column=name, half_width=width, assumption=f"over {size:,} values around the middle of the bounds"
            )


def _mean_half_width(output: MeanOutput, plan: PrivatePlan, confidence: Fraction, size: int) -> float:
    """At the middle of the bounds the centred sum is near 0, so that the error of the sum is all there is."""
    total_error = float(plan.mechanisms[output.total].accuracy(both_hold(confidence)))
    count_error = float(plan.mechanisms[output.count].accuracy(both_hold(confidence)))
    if math.isinf(total_error) or math.isinf(count_error):
        return math.inf
    widest = float(output.resolution) * (output.upper - output.lower)
    return min(widest, float(output.resolution) * total_error / max(1.0, size - count_error))
