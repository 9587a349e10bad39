"""How far the answers to a planned workload may be off, before anything is measured.

Proof: proofs/mechanisms/workloads/workload_mechanism.md, "Half-widths".
"""

from fractions import Fraction
from math import isinf, prod, sqrt
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np

from sfumato.mechanisms.additive.gaussian import Gaussian, GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.workloads.components import Cells, Total
from sfumato.mechanisms.workloads.planning import WorkloadPlan
from sfumato.mechanisms.workloads.queries import Floats
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.many_noises import are_few, half_width_of_equals, half_widths_of_sums
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.rationals import Number
from sfumato.numeric.rounding import RELATIVE_MARGIN, float_up, log_up

Noise: TypeAlias = Gaussian | GaussianNoise | Laplace

_NARROWEST: Final = Fraction(1, 2)  # stddev, from which on normal distributions cover the noise
_TILTS: Final = np.linspace(0.02, 0.98, 49)  # every one gives a bound; the best of them is within 1% of the best of all


def half_widths(plan: WorkloadPlan, group: int, squares: Floats, *, noise: Noise, confidence: Number) -> Floats:
    """The half-widths of a group of answers; an array as that of the answers.

    Args:
        plan: What is measured.
        group: Which group of queries.
        squares: For each answer the square of the length of its weights.
        noise: The noise of every measured number.
        confidence: How often an answer is at least so near.
    """
    strategy, multiplier = plan.strategy, _multiplier_of_cells(plan, group)
    measured = [strategy.measurements[place] for place in strategy.sources[group]]
    if isinf(noise.accuracy(confidence)):
        own = np.full(squares.shape, np.inf)
    elif isinstance(noise, Laplace) and multiplier is not None:
        own = _of_counts(noise, np.rint(squares * multiplier**2), confidence) / multiplier
    elif isinstance(noise, Laplace) and are_few(squares.size, sum(each.size for each in measured)):
        weights = _weights(plan, group)
        law, failure = IntegerNoise("laplace", noise.scale), failure_probability(confidence)
        own = half_widths_of_sums((law,) * weights.shape[1], weights, failure).reshape(squares.shape)
    else:
        kinds = plan.kinds[group]
        numbers = sum(
            prod(part.used(kind) for part, kind in zip(each.components, kinds, strict=True)) for each in measured
        )
        own = np.sqrt(squares) * _of_one_length(noise, numbers, confidence)
    found: Floats = own * (1 + RELATIVE_MARGIN)
    return found


def _multiplier_of_cells(plan: WorkloadPlan, group: int) -> int | None:
    """The multiplier of the one measurement of whose numbers answers are plain sums; None if they are none."""
    (first, *others) = (plan.strategy.measurements[place] for place in plan.strategy.sources[group])
    is_even = all(
        isinstance(part, Cells) or (isinstance(part, Total) and kind == "total")
        for part, kind in zip(first.components, plan.kinds[group], strict=True)
    )
    return first.multiplier if is_even and not others else None


def _weights(plan: WorkloadPlan, group: int) -> Floats:
    """What each answer of a group is of the measured numbers: one row an answer."""
    parts = []
    for place in plan.strategy.sources[group]:
        measurement = plan.strategy.measurements[place]
        weights: Floats = np.full((1, 1), 1 / measurement.multiplier)
        for part, kind in zip(measurement.components, plan.kinds[group], strict=True):
            weights = np.asarray(np.kron(weights, part.recover(kind, np.eye(part.measured), 0)), dtype=np.float64)
        parts.append(weights)
    return np.concatenate(parts, axis=1)


def _of_one_length(noise: Noise, numbers: int, confidence: Number) -> float:
    """A certain half-width of Σ wᵢ·Zᵢ over so many noises, for weights whose squares add up to 1."""
    if numbers == 1:
        return float(noise.accuracy(confidence))
    failure = failure_probability(confidence)
    log_ratio = float_up(log_up(2 / failure))
    if isinstance(noise, Laplace):
        return float(noise.scale) * float(np.min((log_ratio - np.log1p(-(_TILTS**2))) / _TILTS))
    stddev = float(noise.stddev)
    of_moments = stddev * sqrt(2 * log_ratio)
    if noise.stddev < _NARROWEST:
        return of_moments
    normal = sqrt(stddev**2 + 0.25) * NormalDist().inv_cdf(1 - float(failure) / 2)
    return min(of_moments, normal + sqrt(numbers) / 2)


def _of_counts(noise: Laplace, counts: Floats, confidence: Number) -> Floats:
    """A certain half-width of the sum of so many noises."""
    law, failure = IntegerNoise("laplace", noise.scale), failure_probability(confidence)
    alike, places = np.unique(counts, return_inverse=True)
    widths = np.array([half_width_of_equals(law, int(count), failure) for count in alike])
    found: Floats = widths[places].reshape(counts.shape)
    return found
