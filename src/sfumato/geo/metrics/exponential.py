"""An exponential mechanism for any finite metric: near points are reported more often."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.geo.metrics.finite import PointMetric, has_constant_normalizer
from sfumato.mechanisms.base import opened
from sfumato.noise.choice.selection import exponential_choice_of
from sfumato.numeric.arguments import each
from sfumato.numeric.rationals import Number, flag, positive, set_fields
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True, init=False, eq=False)
class MetricExponential:
    """Reports point z for x with probability ∝ exp(−ε·d(x, z)/2); ∝ exp(−ε·d(x, z)) if `constant_normalizer`.

    The half pays for the normalizer, which differs between points. Where all points see the same distances it does not,
    and twice as much is left for the report. That is checked, never believed.

    **Guarantee**: ε·d-privacy in the metric, exactly: P(z | x) ≤ exp(ε·d(x, x′))·P(z | x′). Proof:
    proofs/geo/metrics/exponential.md.

    ====================================  ===============================================================
    Edge case                             Behavior
    ====================================  ===============================================================
    a value is no point of the metric     it counts as the one that the metric names for that
    the same point again                  a fresh report, which costs ε again
    ====================================  ===============================================================

    Args:
        metric: The points and their distances, such as a `FiniteMetric` or a `WordMetric`.
        epsilon: Per unit of distance of the metric, above 0.
        constant_normalizer: Whether the probabilities may fall twice as fast.

    Raises:
        ParameterError: A parameter is out of range, or the normalizer is not constant.

    Example:
        >>> from sfumato.geo.metrics.finite import FiniteMetric
        >>> wards = FiniteMetric(list("ABC"), [[0, 1, 2], [1, 0, 1], [2, 1, 0]], unit="floor")
        >>> noisy = MetricExponential(wards, epsilon=2)
        >>> noisy.release("A") in "ABC", noisy.probabilities("A").round(3).tolist()
        (True, [0.665, 0.245, 0.09])
        >>> str(noisy.guarantee)
        'ε 2 per floor'

    References:
        [CABP13] for the metric; [MT07] for the mechanism.
    """

    metric: PointMetric
    epsilon: Fraction
    constant_normalizer: bool

    def __init__(self, metric: PointMetric, *, epsilon: Number, constant_normalizer: bool = False) -> None:
        if not callable(getattr(metric, "steps_from", None)):
            raise ParameterError("metric", metric, "must be a metric, such as sf.geo.FiniteMetric")
        if flag(constant_normalizer, "constant_normalizer") and not has_constant_normalizer(metric):
            requirement = "must be False: points of this metric see different distances, so that ε would be doubled"
            raise ParameterError("constant_normalizer", True, requirement)
        set_fields(self, metric=metric, epsilon=positive(epsilon, "epsilon"), constant_normalizer=constant_normalizer)

    @property
    def guarantee(self) -> MetricDP:
        """What one report promises."""
        return MetricDP(self.epsilon, self.metric.unit)

    @property
    def rate(self) -> Fraction:
        """By how much the exponent falls with a step of the metric."""
        return self.epsilon * self.metric.step / (1 if self.constant_normalizer else 2)

    def release(self, exact: Any | Secret[Any]) -> Any:
        """A report of a point."""
        return self.metric.point(int(self._drawn(self.metric.index(opened(exact)), 1)[0]))

    def release_many(self, exact: Iterable[Any] | Secret[Any]) -> list[Any]:
        """A report of each of several points, each of which costs ε of its own.

        Raises:
            ParameterError: It is no list.
        """
        return [self.release(point) for point in each(opened(exact), "exact", of="points")]

    def probabilities(self, point: Any) -> NDArray[np.float64]:
        """The probability of each report of a point, in floats: for plans and pictures."""
        steps = self.metric.steps_from(self.metric.index(point))
        weights = np.exp(-float(self.rate) * steps)
        return np.asarray(weights / weights.sum())

    def _drawn(self, index: int, size: int) -> NDArray[Any]:
        """Numbers of reported points, exactly."""
        numerator, denominator = self.rate.as_integer_ratio()
        steps = self.metric.steps_from(index)
        exponents = steps * numerator if numerator < 1 << 20 else steps.astype(object) * numerator
        return exponential_choice_of(exponents, denominator, size)
