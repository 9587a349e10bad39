"""The geometric mechanism on a public range: a count with noise that is never below 0 nor above what is possible."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import Answer, Exact
from sfumato.mechanisms.laplace import Laplace
from sfumato.noise.integers import narrow, python_integers
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.numeric.rationals import Number
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """Adds two-sided geometric noise, P(k) ∝ exp(−ε·|k|/Δ), and clamps the answer to lower, …, upper.

    The noise is that of `Laplace` on integers; the mass beyond either end is folded onto it. For a count (Δ = 1) out of
    a public number of people it is universally optimal: whatever an analyst believes of the count and however an error
    hurts, as long as larger ones hurt no less, some remapping of this answer is as good as the best mechanism of the
    same ε made for that analyst.

    **Guarantee**: ε-differential privacy for the neighbouring relation of `l1_sensitivity`: that of `Laplace`, because
    clamping to public ends is post-processing. Proof: proofs/mechanisms/geometric.md.

    ===========================  ==============================  ==============  ===========
    Edge case                    Answer                          Accuracy        Event
    ===========================  ==============================  ==============  ===========
    l1_sensitivity = 0           the exact one, clamped          0               PureEvent(0)
    epsilon = 0 otherwise        0, clamped                      upper − lower   PureEvent(0)
    lower = upper                that number                     0
    exact outside of the range   clamped after the noise         not covered
    ===========================  ==============================  ==============  ===========

    Args:
        lower: The smallest answer, a whole number.
        upper: The largest answer, a whole number of at least `lower`.
        epsilon: 0 or more.
        l1_sensitivity: How far one unit moves the exact vector in L1, 0 or more.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> voters = Geometric(lower=0, upper=100, epsilon="0.1", l1_sensitivity=1)
        >>> voters.accuracy(0.95), 0 <= voters.release(3) <= 100
        (30, True)

    References:
        [GRS09].
    """

    lower: int
    upper: int
    noise: Laplace

    def __init__(self, *, lower: int, upper: int, epsilon: Number, l1_sensitivity: Number) -> None:
        object.__setattr__(self, "lower", _whole(lower, "lower"))
        object.__setattr__(self, "upper", _whole(upper, "upper"))
        object.__setattr__(self, "noise", Laplace(l1_sensitivity=l1_sensitivity, epsilon=epsilon))
        if self.upper < self.lower:
            raise ParameterError("upper", upper, "must not be below lower")

    @property
    def epsilon(self) -> Fraction:
        """What one release promises."""
        return self.noise.epsilon

    @property
    def event(self) -> DiscreteLaplaceEvent | PureEvent:
        """What one release tells of the data: what it would tell without the clamping."""
        return self.noise.event

    def release(self, exact: Exact | Secret[Exact]) -> Answer:
        """The exact integer, or each of a vector of integers, with noise and clamped.

        Raises:
            ParameterError: Something is no integer.
        """
        noisy = self.noise.release(exact)
        if isinstance(noisy, np.ndarray):
            return narrow(python_integers(self._clamped(value) for value in noisy.tolist()))
        return self._clamped(noisy)

    def accuracy(self, confidence: Number = "0.95") -> int:
        """A half-width t with P(|answer − exact| ≤ t) ≥ confidence, for an exact value within the range."""
        unclamped = self.noise.accuracy(confidence)
        return int(min(unclamped, self.upper - self.lower))

    def probabilities(self, exact: int) -> NDArray[np.float64]:
        """The chance of each answer lower, …, upper in floats, if the exact value is this one: to remap answers with.

        Secret if `exact` is: only an answer may be released.
        """
        if not self.noise.scale:
            only = self.release(exact)
            return np.array([answer == only for answer in range(self.lower, self.upper + 1)], dtype=np.float64)
        below = [discrete_laplace_cdf(self.noise.scale, answer - exact) for answer in range(self.lower, self.upper)]
        return np.diff(np.array([0.0, *below, 1.0], dtype=np.float64))

    def _clamped(self, value: int) -> int:
        return min(max(value, self.lower), self.upper)


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(name, value, "must be a whole number")
    return value
