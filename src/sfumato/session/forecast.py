"""The error of an answer, predicted before anything is spent: from the law of the noise, never from the data."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, assert_never

from sfumato.query.auto_bounds import automatic
from sfumato.query.plan import (
    CovarianceOutput,
    LinearOutput,
    MeanOutput,
    Output,
    PrivatePlan,
    QuantileChoice,
    QuantileOutput,
    Section,
    TopChoice,
    TopOutput,
    VarianceOutput,
)
from sfumato.session.answer import error_of, estimators

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
    """The predicted error of every column, of the first section if there are several.

    Args:
        plan: What would be released.
        confidence: Such as 0.95.
        size: How many values a mean is presumed to be over; None presumes 1,000 and says so.
    """
    section = plan.sections[0]
    chosen = {name for name, _ in automatic(plan.question)} if plan.bounds is not None else set()
    found = (_one(output, section, confidence, size or TYPICAL_SIZE) for output in section.outputs)
    return tuple(_with_widest(one) if one.column in chosen else one for one in found)


def _with_widest(prediction: Forecast) -> Forecast:
    presumed = (*filter(None, [prediction.assumption]), "with the widest bounds that can be chosen")
    return replace(prediction, assumption=", ".join(presumed))


def _one(output: Output, section: Section, confidence: Fraction, size: int) -> Forecast:
    match output:
        case LinearOutput(name=name, resolution=resolution):
            error = error_of(section, output.measurement, confidence)
            return Forecast(column=name, half_width=float(resolution) * error)
        case MeanOutput():
            return _of_presumed(output, section, confidence, size, "around the middle of the bounds")
        case VarianceOutput() | CovarianceOutput():
            return _of_presumed(output, section, confidence, size, "spread evenly over the bounds")
        case QuantileOutput(name=name):
            return Forecast(
                column=name, half_width=_ranks(section, output.measurement, confidence), assumption="in ranks of values"
            )
        case TopOutput(name=name):
            width = _ranks(section, output.measurement, confidence, candidates=len(output.values))
            return Forecast(column=name, half_width=width, assumption="in the count of the value")
        case _:
            assert_never(output)


def _ranks(section: Section, measurement: int, confidence: Fraction, *, candidates: int = 1) -> float:
    match section.measurements[measurement]:
        case QuantileChoice(mechanism=mechanism):
            return float(mechanism.accuracy(confidence))
        case TopChoice(mechanism=mechanism):
            return float(mechanism.accuracy(confidence, candidates=candidates))
        case _:
            raise TypeError("a choice is predicted in ranks")


def _of_presumed(
    output: MeanOutput | VarianceOutput | CovarianceOutput, section: Section, confidence: Fraction, size: int, how: str
) -> Forecast:
    """The interval of an answer over so many values, which are independent; centred, they add up to 0."""
    measured = [(0,)] * len(section.measurements)
    measured[output.count] = (size,)
    if isinstance(output, VarianceOutput):
        measured[output.squares] = (_evenly_spread(output.steps.ends, size),)
    elif isinstance(output, CovarianceOutput) and output.squares is not None:
        for place, steps in zip(output.squares, output.steps, strict=True):
            measured[place] = (_evenly_spread(steps.ends, size),)
    estimator = estimators(section, confidence)[section.outputs.index(output)]
    (found,) = estimator([[numbers] for numbers in measured])
    return Forecast(column=output.name, half_width=found.half_width, assumption=f"over {size:,} values {how}")


def _evenly_spread(ends: tuple[int, int], size: int) -> int:
    """The sum of squares of values that are spread evenly between two ends around 0."""
    return size * (ends[1] - ends[0]) ** 2 // 12
