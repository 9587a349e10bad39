"""The error of an answer, predicted before anything is spent: from the law of the noise, never from the data.

Accuracy first: the smallest ε at which the predicted errors are small enough, from the same public facts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Final, assert_never

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.noise_sums import POINTS, public_points
from sfumato.numeric.rationals import Number, positive
from sfumato.query.planning.auto_bounds import automatic
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.statistics.estimates import error_of, estimators, noise_of
from sfumato.query.statistics.measurements import (
    CovarianceOutput,
    LinearOutput,
    MeanOutput,
    Output,
    QuantileChoice,
    QuantileIntervalOutput,
    QuantileOutput,
    Section,
    TopChoice,
    TopOutput,
    VarianceOutput,
)
from sfumato.query.statistics.ranks import misranked
from sfumato.query.statistics.spreads import Spread, moments_of, parts_of, spread_ends, spread_values

TYPICAL_SIZE: Final = 1_000
_FEWEST: Final = 40  # points beyond a quantile

STEP: Final = Fraction(1, 10**6)
"""ε is found to six decimals."""

LARGEST: Final = 10**6
"""No error target is worth more: a promise of this ε is none."""


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
            return _mean(output, section, confidence, size)
        case VarianceOutput() | CovarianceOutput():
            return _spread(output, section, confidence, size)
        case QuantileOutput(name=name) | QuantileIntervalOutput(name=name):
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
        case QuantileChoice() | TopChoice() as choice:
            return misranked(choice, confidence, candidates=candidates)
        case _:
            raise TypeError("a choice is predicted in ranks")


def _mean(output: MeanOutput, section: Section, confidence: Fraction, size: int) -> Forecast:
    """The interval of a mean over so many values that add up to 0 around the middle."""
    measured = [(0,)] * len(section.measurements)
    measured[output.count] = (size,)
    estimator = estimators(section, confidence)[section.outputs.index(output)]
    (found,) = estimator([[numbers] for numbers in measured])
    presumed = f"over {size:,} values around the middle of the bounds"
    return Forecast(column=output.name, half_width=found.half_width, assumption=presumed)


def _spread(output: Spread, section: Section, confidence: Fraction, size: int) -> Forecast:
    """How far values are moved by public points of the noise's law, over values that are independent and even.

    Where hardly a point lies beyond the confidence, the interval of such an answer says it.
    """
    noises = [noise_of(section, part) for part in parts_of(output)]
    presumed = f"over {size:,} values spread evenly over the bounds"
    drawn = tuple(noise for noise in noises if noise is not None)
    if len(drawn) < len(noises):
        return Forecast(column=output.name, half_width=inf, assumption=presumed)
    exact = [float(number) for number in _presumed(output, size)]
    true = moments_of(output, [[number] for number in exact], drawn)
    (value,) = spread_values(output, true)
    if (1 - confidence) * POINTS < _FEWEST:
        (low,), (high,) = spread_ends(output, true, confidence)
        return Forecast(column=output.name, half_width=max(value - low, high - value), assumption=presumed)
    moved = spread_values(output, moments_of(output, list((public_points(drawn) + exact).T), drawn))
    width = float(np.quantile(np.abs(moved - value), float(confidence)))
    return Forecast(column=output.name, half_width=width, assumption=presumed)


def _presumed(output: Spread, size: int) -> tuple[int, ...]:
    """What would be measured without noise: centred values that add up to 0, and so do their products."""
    if isinstance(output, VarianceOutput):
        return size, 0, _evenly_spread(output.steps.ends, size)
    squares = () if output.squares is None else tuple(_evenly_spread(steps.ends, size) for steps in output.steps)
    return size, 0, 0, 0, *squares


def _evenly_spread(ends: tuple[int, int], size: int) -> int:
    """The sum of squares of values that are spread evenly between two ends around 0."""
    return size * (ends[1] - ends[0]) ** 2 // 12


def least_epsilon(predicted: Callable[[Fraction], Sequence[Forecast]], targets: Mapping[str, Number]) -> Fraction:
    """A multiple of 10^-6 at which no column errs by more than its target, while one does at the multiple below.

    It is the smallest there is where errors never grow with ε: always without δ. With δ, where Laplace noise takes over
    from Gaussian noise of the same variance, half-widths may rise by a few percent once.

    Args:
        predicted: The errors at an ε. That noise for a small ε cannot be drawn counts as any error.
        targets: The largest error of each column that matters.

    Raises:
        ParameterError: No target, an unknown column, one that no ε meets, or the question has no answer at any ε.
    """
    if not isinstance(targets, Mapping):
        raise ParameterError("error", targets, "must state the largest error of a column, such as {'n': 25}")
    limits = {name: positive(target, f"error of {name}") for name, target in targets.items()}
    if not limits:
        raise ParameterError("error", {}, "must state the largest error of a column, such as {'n': 25}")
    known = _columns(predicted)
    if unknown := sorted(set(limits) - known):
        wanted = f"must be a statistic that is released, not computed of others: {', '.join(sorted(known))}"
        raise ParameterError("error", unknown[0], wanted)

    def is_enough(steps: int) -> bool:
        try:
            errors = {one.column: one.half_width for one in predicted(steps * STEP)}
        except ParameterError:  # it can be planned at another ε, so it is the noise that cannot be drawn
            return False
        return all(errors[name] <= limit for name, limit in limits.items())

    low, high = 0, int(1 / STEP)
    while not is_enough(high):
        low, high = high, 4 * high
        if high * STEP > LARGEST:
            raise ParameterError("error", dict(targets), "is smaller than any noise can be; ask for a larger error")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high * STEP


def _columns(predicted: Callable[[Fraction], Sequence[Forecast]]) -> set[str]:
    """The columns of an answer, at any ε at which there is one."""
    try:
        found = predicted(Fraction(1))
    except ParameterError:
        found = predicted(Fraction(LARGEST))
    return {one.column for one in found}
