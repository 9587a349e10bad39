"""Propose-test-release: noise for a proposed local sensitivity, if the data are far from any that exceed it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import drawable
from sfumato.numeric.distributions import discrete_laplace_half_width
from sfumato.numeric.rationals import Number, positive, probability, set_fields
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.secret import Secret


class StableValue(NamedTuple):
    """An exact integer, and how many units must change before its local sensitivity is too large; both are secret."""

    value: int
    distance: int


@dataclass(frozen=True, slots=True, init=False)
class ProposeTestRelease:
    """Releases f(x) with Laplace noise for the `proposed_sensitivity` Δ, or None if x may be near data that exceed it.

    The distance d(x), the number of units that must change before f has a local sensitivity above Δ, is tested first:

        None                  if d(x) + noise of scale 2/ε ≤ threshold,
        f(x) + noise of scale 2Δ/ε    otherwise.

    The threshold is the smallest integer t for which noise of scale 2/ε exceeds t with a probability of at most δ.
    None is an answer like any other and costs the same.

    **Guarantee**: (ε, δ)-differential privacy for a neighboring relation for which d changes by at most 1 between
    neighbors, and |f(x) − f(x′)| ≤ Δ for all neighbors x′ of an x with d(x) ≥ 1. δ is met by the discrete
    distribution's exact tail, the threshold being rounded up. Proof: proofs/mechanisms/stable/propose_test_release.md.

    Edge cases: a distance below 0 counts as 0; the smaller δ, the farther data must be, by about (2/ε)·ln(1/δ) units;
    epsilon = 0 and a scale that cannot be drawn are refused when constructed.

    Args:
        proposed_sensitivity: Δ, above 0: a guess that must not depend on the data.
        epsilon: Above 0, half for the test and half for the answer.
        delta: Above 0 and below 1/2.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> guarded = ProposeTestRelease(proposed_sensitivity=2, epsilon=1, delta="1e-6")
        >>> guarded.threshold, guarded.release(StableValue(42, 0)), guarded.accuracy(0.95)
        (26, None, 12)
        >>> isinstance(guarded.release(StableValue(42, 1000)), int)
        True

    References:
        [DL09]; [DR14] Section 7.2.
    """

    proposed_sensitivity: Fraction
    epsilon: Fraction
    delta: Fraction

    def __init__(self, *, proposed_sensitivity: Number, epsilon: Number, delta: Number) -> None:
        set_fields(
            self,
            proposed_sensitivity=positive(proposed_sensitivity, "proposed_sensitivity"),
            epsilon=positive(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
        )
        if not 0 < self.delta < Fraction(1, 2):
            raise ParameterError("delta", delta, "must be above 0 and below 1/2")
        drawable(self.test_scale, "scale")
        drawable(self.scale, "scale")

    @property
    def test_scale(self) -> Fraction:
        """The scale of the noise on the distance, in units."""
        return 2 / self.epsilon

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on the answer."""
        return self.proposed_sensitivity * 2 / self.epsilon

    @property
    def threshold(self) -> int:
        """What a noisy distance must exceed: the smallest t with P(noise > t) = q^(t+1)/(1 + q) ≤ δ, q = e^(−ε/2)."""
        return discrete_laplace_half_width(self.test_scale, 1 - 2 * self.delta)  # both tails together have 2δ

    @property
    def event(self) -> ApproxEvent:
        """The event of one release, for accountants, with an answer or without."""
        return ApproxEvent(self.epsilon, self.delta)

    def release(self, exact: StableValue | Secret[StableValue]) -> int | None:
        """The exact integer with noise, or None.

        Args:
            exact: The value and its distance, in this order.

        Raises:
            ParameterError: One of them is no integer.
        """
        value, distance = _pair(opened(exact))
        if max(distance, 0) + int(discrete_laplace(self.test_scale, 1)[0]) <= self.threshold:
            return None
        return value + int(discrete_laplace(self.scale, 1)[0])

    def accuracy(self, confidence: Number = "0.95") -> int:
        """The smallest half-width t with P(|answer − exact| ≤ t) ≥ confidence, for an answer that is not None."""
        return discrete_laplace_half_width(self.scale, confidence)


def _pair(exact: Any) -> tuple[int, int]:
    match exact:
        case (int() | np.integer() as value, int() | np.integer() as distance):
            return int(value), int(distance)
        case _:
            raise ParameterError("exact", type(exact).__name__, "must be an integer with an integer, its distance")
