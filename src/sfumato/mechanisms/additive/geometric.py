"""The geometric mechanism on a public range: noise that never leads below what is possible, nor above it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.base import Answer, Exact
from sfumato.mechanisms.lattice import lattice_floats, to_lattice
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.numeric.rationals import Number, set_fields
from sfumato.numeric.rationals import exact as exact_number
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.secret import Secret

_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """Adds two-sided geometric noise, P(k) ∝ exp(−ε·|k|/Δ), and clamps the answer to lower, …, upper.

    The noise is that of `Laplace`, on integers or on the lattice of a resolution; the mass beyond either end is folded
    onto it. For a count (Δ = 1) out of
    a public number of people it is universally optimal: whatever an analyst believes of the count and however an error
    hurts, as long as larger ones hurt no less, some remapping of this answer is as good as the best mechanism of the
    same ε made for that analyst.

    **Guarantee**: ε-differential privacy for the neighboring relation of `l1_sensitivity`: that of `Laplace`, because
    clamping to public ends is post-processing. Proof: proofs/mechanisms/additive/geometric.md.

    ===========================  ==============================  ==============  ===========
    Edge case                    Answer                          Accuracy        Event
    ===========================  ==============================  ==============  ===========
    l1_sensitivity = 0           the exact one, clamped          0               PureEvent(0)
    epsilon = 0 otherwise        0, clamped                      upper − lower   PureEvent(0)
    lower = upper                that number                     0
    exact outside of the range   clamped after the noise         not covered
    ===========================  ==============================  ==============  ===========

    Args:
        lower: The smallest answer, a whole number, or a multiple of the resolution.
        upper: The largest answer, likewise, and at least `lower`.
        epsilon: The privacy parameter of one release, 0 or more.
        l1_sensitivity: The most by which one unit changes the exact vector in L1, 0 or more.
        resolution: The width of a lattice step, above 0; None where the exact values are integers.
        dimension: The length of the vectors to be released, which matters with a resolution only.
        l0_sensitivity: The most coordinates of the vector that one unit changes, if not all; matters likewise.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> voters = Geometric(lower=0, upper=100, epsilon="0.1", l1_sensitivity=1)
        >>> voters.accuracy(0.95), 0 <= voters.release(3) <= 100
        (30, True)
        >>> grades = Geometric(lower=0, upper=5, epsilon=1, l1_sensitivity="0.01", resolution="0.001")
        >>> 0 <= grades.release(4.9995) <= 5
        True

    References:
        [GRS09].
    """

    lower: int | Fraction
    upper: int | Fraction
    noise: Laplace

    def __init__(
        self,
        *,
        lower: Number,
        upper: Number,
        epsilon: Number,
        l1_sensitivity: Number,
        resolution: Number | None = None,
        dimension: int = 1,
        l0_sensitivity: int | None = None,
    ) -> None:
        noise = Laplace(
            l1_sensitivity=l1_sensitivity,
            epsilon=epsilon,
            resolution=resolution,
            dimension=dimension,
            l0_sensitivity=l0_sensitivity,
        )
        set_fields(
            self,
            noise=noise,
            lower=_end(lower, "lower", noise.resolution),
            upper=_end(upper, "upper", noise.resolution),
        )
        if self.upper < self.lower:
            raise ParameterError("upper", upper, "must not be below lower")

    @property
    def epsilon(self) -> Fraction:
        """What one release promises."""
        return self.noise.epsilon

    @property
    def event(self) -> DiscreteLaplaceEvent | PureEvent:
        """The event of one release, for accountants: that of the noise without the clamping."""
        return self.noise.event

    def release(self, exact: Exact | Secret[Exact]) -> Answer:
        """The exact number, or each of a vector of numbers, with noise and clamped.

        Raises:
            ParameterError: Something is no integer; with a resolution, no number, or there are not `dimension`.
        """
        noisy = self.noise.release(exact)
        if isinstance(noisy, np.ndarray):
            return self._clamped_vector(noisy)
        return self._clamped(noisy)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction:
        """A half-width t with P(|answer − exact| ≤ t) ≥ confidence, for an exact value within the range."""
        unclamped, width = self.noise.accuracy(confidence), self.upper - self.lower
        return width if unclamped >= width else cast("int | Fraction", unclamped)

    def probabilities(self, exact: Exact) -> NDArray[np.float64]:
        """The probability of each answer lower, …, upper for this exact value, as floats; used to remap answers.

        Secret if `exact` is: only an answer may be released.
        """
        first, last = self._ends
        center = int(exact) if self.noise.resolution is None else to_lattice(exact, self.noise.resolution)
        if not self.noise.scale:
            only = min(max(center if self.noise.l1_sensitivity == 0 else 0, first), last)
            return np.array([step == only for step in range(first, last + 1)], dtype=np.float64)
        below = [discrete_laplace_cdf(self.noise.scale, step - center) for step in range(first, last)]
        return np.diff(np.array([0.0, *below, 1.0], dtype=np.float64))

    @property
    def _ends(self) -> tuple[int, int]:
        """The range in lattice steps."""
        step = self.noise.resolution or 1
        return int(self.lower / step), int(self.upper / step)

    def _clamped_vector(self, values: Integers) -> Integers:
        """In machine numbers if the range meets theirs: then an end beyond them clamps as the last of them does."""
        first, last = self._ends
        if self.noise.resolution is not None:
            ends = lattice_floats(python_integers([first, last]), self.noise.resolution)
            return values.clip(*ends)
        if values.dtype == object or first > _LAST or last < _FIRST:
            return narrow(python_integers(map(self._clamped, values.tolist())))
        return values.clip(max(first, _FIRST), min(last, _LAST))

    def _clamped(self, value: Any) -> Any:
        return min(max(value, self.lower), self.upper)


def _end(value: Number, name: str, resolution: Fraction | None) -> int | Fraction:
    """An end of the range, which has to be a possible answer."""
    if resolution is None:
        return _whole(value, name)
    end = exact_number(value, name)
    if (end / resolution).denominator != 1:
        raise ParameterError(name, value, f"must be a multiple of the resolution, {resolution}")
    return end


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(name, value, "must be a whole number")
    return value
