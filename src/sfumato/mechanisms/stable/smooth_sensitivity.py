"""Noise in proportion to a smooth bound of the local sensitivity: little where the data at hand are well-behaved."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.noise.laws.discrete_cauchy import discrete_cauchy
from sfumato.noise.laws.discrete_laplace import universal_laplace
from sfumato.noise.uniform.integers import drawable
from sfumato.numeric.rationals import Number, positive, probability, set_fields, sqrt_up
from sfumato.numeric.rounding import dyadic_up, exp_down, exp_up, log_up
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.secret import Secret

_SMALLEST_SMOOTHNESS: Final = Fraction(1, 1 << 20)  # finer ones could not be told from rounding
_CAUCHY_SHARE: Final = Fraction(7, 10)  # β/ε: a scale ∝ 1/(β·√(ε² − β²)) is smallest near 1/√2
_LATTICE_SHARE: Final = Fraction(1, 40)  # above 2πs/sinh(2πs) for s ≥ 1: what normalizing on integers adds, per β


class SmoothedValue(NamedTuple):
    """An exact integer, and a smooth upper bound of how far a neighbor's lies from it; both are secret."""

    value: int
    sensitivity: Fraction | int


@dataclass(frozen=True, slots=True, init=False)
class SmoothSensitivity:
    """Adds integer noise of a scale in proportion to S(x), a smooth upper bound of the local sensitivity at the data x.

    For an integer function f, S must satisfy for all neighbors x, x′

        |f(x) − f(x′)| ≤ S(x)    and    S(x) ≤ e^β·S(x′),    with β = `smoothness`,

    and |f(x) − f(x′)| ≤ `largest_sensitivity`; S(x) is clamped to between 1 and that, which changes neither.

    * δ = 0: P(k) ∝ 1/(s² + k²), a discrete Cauchy distribution of scale s = max(1, c·S(x)).
    * δ > 0: P(k) ∝ exp(−|k|/s), a discrete Laplace distribution of scale s = c·S(x). Here β is smaller by a factor of
      about ln(1/δ), so S is larger. This noise is smaller only in the tails.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation of S, for the integers that are really
    drawn, whose distribution has another normalizing constant than a real-valued one. The scale is secret: it is never
    released, names no table and is in no error. Proof: proofs/mechanisms/stable/smooth_sensitivity.md.

    ======================================  =========================================================
    Edge case                               What happens
    ======================================  =========================================================
    S(x) below 1, or above the largest      it counts as 1, or as the largest
    epsilon = 0, or β below 2^−20           ParameterError when constructed
    a scale below 1/1000 or above 2^50      ParameterError when constructed, if any S(x) would lead to it
    ======================================  =========================================================

    There is no `accuracy`: the size of the noise depends on the data, and telling it would cost.

    Args:
        epsilon: The privacy parameter of one release, above 0.
        delta: Below 1; 0 for Cauchy noise and pure differential privacy, more for Laplace noise.
        largest_sensitivity: A public bound of the difference of f between neighbors, at least 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> noise = SmoothSensitivity(epsilon=1, largest_sensitivity=100)
        >>> noise.smoothness, round(float(noise.scale_factor), 3)
        (Fraction(7, 10), 0.978)
        >>> isinstance(noise.release(SmoothedValue(42, 3)), int)
        True

    References:
        [NRS07] Section 2, with Cauchy and Laplace noise on the real line; [BS19] for Student's distributions.
    """

    epsilon: Fraction
    delta: Fraction
    largest_sensitivity: Fraction
    smoothness: Fraction
    """The β that S must have; S may be smoother."""
    scale_factor: Fraction
    """c, the scale of the noise for each unit of S."""

    def __init__(self, *, epsilon: Number, delta: Number = 0, largest_sensitivity: Number) -> None:
        set_fields(
            self,
            epsilon=positive(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            largest_sensitivity=positive(largest_sensitivity, "largest_sensitivity"),
        )
        if self.delta == 1:
            raise ParameterError("delta", delta, "must be below 1")
        if self.largest_sensitivity < 1:
            raise ParameterError("largest_sensitivity", largest_sensitivity, "must be at least 1")
        set_fields(self, smoothness=_smoothness(self.epsilon, self.delta))
        if self.smoothness < _SMALLEST_SMOOTHNESS:
            raise ParameterError("epsilon", epsilon, "must be larger: at this ε and δ, β would be below 2^-20")
        set_fields(self, scale_factor=_scale_factor(self.epsilon, self.delta, self.smoothness))
        drawable(self._scale(Fraction(1)), "scale")
        drawable(self._scale(self.largest_sensitivity), "scale")

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """The event of one release, for accountants."""
        return ApproxEvent(self.epsilon, self.delta) if self.delta else PureEvent(self.epsilon)

    def release(self, exact: SmoothedValue | Secret[SmoothedValue]) -> int:
        """The exact integer with noise.

        Args:
            exact: The value and its smooth bound, in this order.

        Raises:
            ParameterError: The value is no integer, or the bound neither an integer nor a Fraction.
        """
        value, sensitivity = _pair(opened(exact))
        draw = discrete_cauchy if self.delta == 0 else universal_laplace
        return value + int(draw(self._scale(sensitivity), 1)[0])

    def _scale(self, sensitivity: Fraction) -> Fraction:
        scale = self.scale_factor * min(max(sensitivity, Fraction(1)), self.largest_sensitivity)
        return max(scale, Fraction(1)) if self.delta == 0 else scale


def _smoothness(epsilon: Fraction, delta: Fraction) -> Fraction:
    if delta == 0:
        return _CAUCHY_SHARE * epsilon
    return -log_up(1 / (1 + epsilon / (2 * _tail_up(epsilon, delta))))  # ln(1 + ε/(2τ)), rounded down


def _tail_up(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A τ ≥ 1 with τ·e^τ ≥ ε/δ or e^τ ≥ 2/δ: how many scales of Laplace noise may count before δ has to pay."""
    textbook = max(Fraction(1), log_up(2 / delta))
    low = max(Fraction(1), log_up(epsilon / (delta * textbook)))
    high = max(Fraction(1), log_up(epsilon / (delta * low)))
    return min(textbook, max(low, high))


def _scale_factor(epsilon: Fraction, delta: Fraction, smoothness: Fraction) -> Fraction:
    if delta > 0:
        return 2 / epsilon
    left = epsilon - _LATTICE_SHARE * smoothness
    return dyadic_up(sqrt_up(1 / min(_harnack_down(left, Fraction(0)), _harnack_down(left, smoothness))))


def _harnack_down(epsilon: Fraction, smoothness: Fraction) -> Fraction:
    """(e^(ε+β) − 1)·(1 − e^(−(ε−β))), rounded down: the largest (S/s)² where scales differ by e^β, for a loss of ε."""
    return (Fraction(exp_down(epsilon + smoothness)) - 1) * (1 - Fraction(exp_up(smoothness - epsilon)))


def _pair(exact: Any) -> tuple[int, Fraction]:
    match exact:
        case (int() | np.integer() as value, int() | Fraction() as sensitivity):
            return int(value), Fraction(sensitivity)
        case _:
            requirement = "must be an integer with an integer or a Fraction, its smooth bound"
            raise ParameterError("exact", type(exact).__name__, requirement)
