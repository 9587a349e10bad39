"""Variances, covariances and correlations of what was released: values and intervals of all groups at once."""

from collections.abc import Sequence
from fractions import Fraction
from sys import float_info
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.numeric.moments import (
    Intervals,
    Measured,
    correlation_ends,
    correlations,
    covariance_ends,
    covariances,
    variance_ends,
    variances,
)
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.model.measures import Steps
from sfumato.query.statistics.measurements import CovarianceOutput, VarianceOutput

Spread: TypeAlias = VarianceOutput | CovarianceOutput
Floats: TypeAlias = NDArray[np.float64]


def parts_of(output: Spread) -> tuple[int, ...]:
    """The measurements that it is made of: the count, sums, and sums of products."""
    if isinstance(output, VarianceOutput):
        return output.count, output.total, output.squares
    return output.count, *output.totals, output.products, *(output.squares or ())


def moments_of(output: Spread, numbers: Sequence[Sequence[Any] | Floats], noises: Sequence[IntegerNoise]) -> Measured:
    """What was measured, as arrays.

    Args:
        output: What is made of it.
        numbers: Of each part, in the order of `parts_of`, a number a group.
        noises: The noise of each part.
    """
    counts, *others = (np.array(part, dtype=np.float64) for part in numbers)
    columns = 1 if isinstance(output, VarianceOutput) else 2
    ends = tuple((float(one.ends[0]), float(one.ends[1])) for one in _steps(output))
    return Measured(
        counts=counts, totals=tuple(others[:columns]), products=tuple(others[columns:]), noises=tuple(noises), ends=ends
    )


def spread_values(output: Spread, measured: Measured) -> Floats:
    """The value of each group, in the unit of the answer."""
    if isinstance(output, VarianceOutput):
        return _shown(output, variances(measured, is_sample=not output.population))
    if output.squares is not None:
        return correlations(measured)
    return _shown(output, covariances(measured, is_sample=not output.population))


def spread_ends(output: Spread, measured: Measured, confidence: Fraction) -> Intervals:
    """The ends of the interval of each group, in the unit of the answer."""
    if isinstance(output, CovarianceOutput) and output.squares is not None:
        return correlation_ends(measured, confidence=confidence)
    ends = variance_ends if isinstance(output, VarianceOutput) else covariance_ends
    low, high = ends(measured, is_sample=not output.population, confidence=confidence)
    return _shown(output, low), _shown(output, high)


def _steps(output: Spread) -> tuple[Steps, ...]:
    return (output.steps,) if isinstance(output, VarianceOutput) else output.steps


def _shown(output: Spread, squared_steps: Floats) -> Floats:
    """From steps to the unit, within doubles; a root of a variance that is never below 0."""
    first, second = (_steps(output) * 2)[:2]
    with np.errstate(over="ignore"):
        shown = np.clip(
            squared_steps * float(first.resolution * second.resolution), -float_info.max, float_info.max
        )  # fmt: skip
    return np.sqrt(shown) if isinstance(output, VarianceOutput) and output.root else shown
