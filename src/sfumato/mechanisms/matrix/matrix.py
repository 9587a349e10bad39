"""The matrix mechanism: many linear queries of one histogram, computed from measurements that cost less.

An answer's error is a weighted sum of independent noises, which has no closed law: variances and certain half-widths.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.base import Vector, integers, opened
from sfumato.mechanisms.matrix.strategies import (
    IntegerMatrix,
    Matrix,
    Movement,
    Rationals,
    hierarchical,
    identity,
    movement,
    rationals,
    whole,
    whole_multiple,
)
from sfumato.noise.uniform.integers import SAFE, Integers, largest
from sfumato.numeric.distributions import discrete_laplace_variance, failure_probability
from sfumato.numeric.many_noises import are_few, half_widths_of_sums
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.rationals import Number, positive, set_fields, sqrt_up
from sfumato.numeric.rounding import RELATIVE_MARGIN, float_up, log_up
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

Strategy: TypeAlias = Literal["best", "identity", "workload", "hierarchical"] | Matrix
Floats: TypeAlias = NDArray[np.float64]
Noise: TypeAlias = Laplace | Gaussian

_DUST: Final = 1e-12  # what is smaller, relative to its row, is an error of the pseudo-inverse
_RESIDUAL: Final = 1e-9
_LARGEST_MEASUREMENT: Final = 1 << 100  # beyond any count; a float holds it and what is computed from it
_TILTS: Final = np.linspace(0.02, 0.98, 49)  # every one gives a bound; the best of them is within 1% of the best of all


@dataclass(frozen=True, slots=True, init=False)
class MatrixMechanism:
    """Answers W·x for a public matrix W of linear queries and a secret histogram x: W·A⁺·(A·x + noise).

    The strategy A, a matrix of whole numbers, is measured with noise. Its columns determine the sensitivity of the
    measurements: noise is scaled to the largest column in L1 (Laplace), or in L2 if a δ is given (Gaussian); under
    replacement, to the largest difference of two columns if that is more. A⁺ is the pseudo-inverse, so the answers are
    those of the histogram that fits the noisy measurements best in least squares. All come from that one histogram, so
    they are consistent: a query that is the sum of two others is answered by the sum of their answers.

    A is given, or one of "identity" (each cell), "workload" (W itself, in whole numbers), "hierarchical" (a binary tree
    of sums, good for ranges), or the "best": the one of these with the smallest predicted total squared error.

    **Guarantee**: (ε, δ)-differential privacy, δ = 0 without a delta, under `neighboring_relation`, for the whole
    vector of answers, if a unit is counted once at most, in one cell. Sensitivities are exact integers and the noise
    is exact; floats enter after it only. Proof: proofs/mechanisms/matrix/matrix.md.

    =======================================  ==============================================================
    Edge case                                Behavior
    =======================================  ==============================================================
    no unit moves any measurement            exact answers, PureEvent(0): all entries of the workload are 0
    W not computable from a given A          ParameterError when constructed
    epsilon = 0                              ParameterError when constructed
    a histogram of another length            ParameterError; the number of cells is public
    counts of any size, negative ones too    exact until the noise is added; answers are floats
    =======================================  ==============================================================

    Args:
        workload: W, queries × cells, numbers up to 2^20.
        epsilon: The privacy parameter of one release, above 0.
        delta: Above 0 and below 1 for Gaussian noise; None for Laplace noise.
        strategy: A, measurements × cells, whole numbers up to 2^20; or a name.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> running_totals = np.tril(np.ones((64, 64), dtype=int))
        >>> totals = MatrixMechanism(running_totals, epsilon=1, delta="1e-6")
        >>> len(totals.strategy), totals.noise.l0_sensitivity, totals.release(np.full(64, 100)).shape
        (127, 7, (64,))

    References:
        [LMHMR15]; [MMHM18] for strategies; [HRMS10] for the tree.
    """

    workload: Rationals = field(repr=False)
    strategy: tuple[tuple[int, ...], ...] = field(repr=False)
    noise: Noise
    neighboring_relation: NeighboringRelation
    _weights: Floats = field(repr=False, compare=False)
    """W·A⁺: of what noise each answer's error is made."""

    def __init__(
        self,
        workload: Matrix,
        *,
        epsilon: Number,
        delta: Number | None = None,
        strategy: Strategy = "best",
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        queries, budget, relation = rationals(workload), positive(epsilon, "epsilon"), as_relation(neighboring_relation)
        rounded = np.array([[float(entry) for entry in row] for row in queries])
        plans = [
            _Plan(
                strategy=measured,
                noise=_calibrated(movement(measured, relation), budget, delta),
                weights=_reconstruction(rounded, measured),
            )
            for measured in _candidates(strategy, queries)
        ]
        best = min(plans, key=lambda plan: plan.total_variance)
        set_fields(
            self,
            workload=queries,
            strategy=tuple(map(tuple, best.strategy.tolist())),
            noise=best.noise,
            neighboring_relation=relation,
            _weights=best.weights,
        )

    @property
    def epsilon(self) -> Fraction:
        """What one release promises, with the noise's δ if it is Gaussian."""
        return self.noise.epsilon

    @property
    def event(self) -> DiscreteLaplaceEvent | DiscreteGaussianEvent | PureEvent:
        """The event of one release, for accountants: the noisy measurements, of which all answers are made."""
        return self.noise.event

    @property
    def stddevs(self) -> Floats:
        """The standard deviation of each answer, known before anything is spent."""
        deviations: Floats = np.sqrt(variance(self.noise) * (self._weights**2).sum(axis=1))
        return deviations

    def accuracy(self, confidence: Number = "0.95") -> Floats:
        """For each answer a half-width t with P(|answer − exact| ≤ t) ≥ confidence, but for the rounding of floats.

        Exact where one measurement makes the answer, else larger than need be by a hundredth; or by up to twice at 95%
        and more, where there are more than some millions of weights.
        """
        return half_widths(self._weights, self.noise, confidence=confidence)

    def release(self, histogram: Vector | Secret[Vector]) -> Floats:
        """The answer to each query.

        Args:
            histogram: A whole number for each cell.

        Raises:
            ParameterError: A number is no integer, or there is not one for each cell.
        """
        answers: Floats = self._weights @ _floats(self._measured(histogram))
        return answers

    def _measured(self, histogram: Vector | Secret[Vector]) -> Integers:
        """A·x with noise: whatever is computed from it is private."""
        counts, measured = integers(opened(histogram)), np.array(self.strategy, dtype=np.int64)
        if len(counts) != measured.shape[1]:
            raise ParameterError(
                "histogram", f"{len(counts)} numbers", f"must have one for each of {measured.shape[1]} cells"
            )
        if largest(counts) * int(np.abs(measured).sum(axis=1).max()) > SAFE:
            counts, measured = counts.astype(object), measured.astype(object)
        noisy: Integers = self.noise.release(measured @ counts)
        return noisy


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A strategy, the noise it needs, and the weights of that noise in each answer."""

    strategy: IntegerMatrix
    noise: Noise
    weights: Floats

    @property
    def total_variance(self) -> float:
        return variance(self.noise) * float((self.weights**2).sum())


def _candidates(strategy: Strategy, queries: Rationals) -> list[IntegerMatrix]:
    cells = len(queries[0])
    if not isinstance(strategy, str):
        return [whole(strategy, cells=cells)]
    match strategy:
        case "identity":
            return [identity(cells)]
        case "hierarchical":
            return [hierarchical(cells)]
        case "workload":
            return [whole_multiple(queries)]
        case "best":
            found = [identity(cells), hierarchical(cells)]
            with suppress(ParameterError):  # its denominators may be too large
                found.append(whole_multiple(queries))
            return found
        case _:
            requirement = 'must be "best", "identity", "workload", "hierarchical" or a matrix'
            raise ParameterError("strategy", strategy, requirement)


def _calibrated(moved: Movement, epsilon: Fraction, delta: Number | None) -> Noise:
    if delta is None:
        return Laplace(l1_sensitivity=moved.l1, epsilon=epsilon)
    distance = sqrt_up(Fraction(moved.l2_squared))
    return Gaussian(l2_sensitivity=distance, epsilon=epsilon, delta=delta, l0_sensitivity=max(1, moved.l0))


def _reconstruction(workload: Floats, strategy: IntegerMatrix) -> Floats:
    """W·A⁺, if W·A⁺·A = W."""
    weights: Floats = workload @ np.linalg.pinv(strategy.astype(np.float64))
    if np.abs(weights @ strategy - workload).max() > _RESIDUAL * max(1.0, np.abs(workload).max()):
        requirement = "must let every query be computed: each row of the workload a combination of its rows"
        raise ParameterError("strategy", "a matrix", requirement)
    weights[np.abs(weights) < _DUST * np.abs(weights).max(axis=1, keepdims=True)] = 0
    weights.setflags(write=False)
    return weights


def _floats(measurements: Integers) -> Floats:
    """The nearest floats, of measurements of any size."""
    if measurements.dtype != object:
        return measurements.astype(np.float64)
    return np.array([float(max(-_LARGEST_MEASUREMENT, min(_LARGEST_MEASUREMENT, value))) for value in measurements])


def variance(noise: Noise) -> float:
    """Of one noise: exact for Laplace, the parameter σ², which is at least the variance, for Gaussian."""
    if isinstance(noise, Gaussian):
        return float(noise.stddev) ** 2
    return discrete_laplace_variance(noise.scale) if noise.scale else 0.0


def half_widths(weights: Floats, noise: Noise, *, confidence: Number) -> Floats:
    """For each row w of weights a t with P(|Σ w_i·noise_i| ≤ t) ≥ confidence: never too small.

    Exact where a row has one weight, else about a hundredth more than the quantile (`numeric.many_noises`). Of large
    matrices it is Chernoff's bound, from a moment generating function above that of the discrete noise: exp(s²σ²/2) for
    Gaussian, 1/(1 − s²·scale²) for Laplace. At 95% confidence and more that is about twice too large at most.
    Proof: proofs/mechanisms/matrix/matrix.md.

    Args:
        weights: Queries × noises.
        noise: The mechanism that draws the noises; its ε is above 0.
        confidence: Between 0 and 1, both excluded.

    Raises:
        ParameterError: The confidence is out of range.

    Example:
        >>> weights = np.array([[1.0, 0.0], [1.0, 1.0]])
        >>> half_widths(weights, Laplace(l1_sensitivity=1, epsilon="0.1"), confidence="0.95").round(1).tolist()
        [30.0, 41.2]
    """
    if are_few(*weights.shape):
        law = (
            IntegerNoise("laplace", noise.scale)
            if isinstance(noise, Laplace)
            else IntegerNoise("gaussian", noise.stddev)
        )
        certain = half_widths_of_sums((law,) * weights.shape[1], weights, failure_probability(confidence))
        return certain * (1 + RELATIVE_MARGIN)
    log_ratio = float_up(log_up(2 / failure_probability(confidence)))
    heaviest = np.abs(weights).max(axis=1)
    single = heaviest * float(noise.accuracy(confidence))
    if isinstance(noise, Gaussian):
        several = np.sqrt((weights**2).sum(axis=1)) * (float(noise.stddev) * sqrt(2 * log_ratio))
    else:  # the least (ln(2/failure) − Σ ln(1 − (tilt·relative weight)²))/tilt, times the scale and the largest weight
        squares = (weights / np.where(heaviest > 0, heaviest, 1)[:, np.newaxis]) ** 2
        of_tilts = [(log_ratio - np.log1p(-squares * tilt**2).sum(axis=1)) / tilt for tilt in _TILTS]
        several = np.min(of_tilts, axis=0) * heaviest * float(noise.scale)
    bounds: Floats = np.where(np.count_nonzero(weights, axis=1) <= 1, single, several) * (1 + RELATIVE_MARGIN)
    return bounds
