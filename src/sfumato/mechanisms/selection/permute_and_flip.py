"""Permute-and-flip: the choice of one candidate, never worse than that of the exponential mechanism."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.selection.selection import Selection
from sfumato.noise.choice.selection import permute_and_flip_choice
from sfumato.noise.uniform.integers import Integers
from sfumato.privacy.events import LaplaceEvent, PureEvent


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip(Selection):
    """Takes candidates in random order and accepts r with probability exp(−κ·(best − u(r))); the first accepted wins.

    κ = ε/(2Δ), or ε/Δ for monotonic utilities. It is the distribution of the largest utility after exponential noise of
    scale 1/κ on each. The utility of its choice is, at the same ε, at least as high as that of the exponential
    mechanism, in the mean and at every quantile, and the difference is up to a factor 2 in the error: take it for a
    single choice.

    **Guarantee**: ε-differential privacy for the neighboring relation for which one unit changes each utility by at
    most Δ; if `monotonic`, for utilities that all rise or all fall with a unit, such as counts of rows under add or
    remove. The probabilities are exact. It is not of range ε, as the exponential mechanism is, so many choices may cost
    more than as many exponential ones; but it tells no more than Laplace noise of scale Δ/ε does, which is its event.
    Proof: proofs/mechanisms/selection/permute_and_flip.md.

    ============================  ==================================================================
    Edge case                     Behavior
    ============================  ==================================================================
    epsilon = 0                   a uniform choice; the accuracy is ∞, of a single candidate 0
    candidates tie for the best   one of them, each as likely as any other
    a utility is NaN or None      it counts as 0
    a utility is ±∞               as ±10^308; with a resolution, as ±2^62 steps
    a resolution                  Δ becomes ⌈Δ/resolution⌉ steps, so best one that divides Δ
    no candidate                  ParameterError: how many there are is public
    ============================  ==================================================================

    With probability at least the confidence, the utility of the choice lies at most
    (1/κ)·(ln((candidates − 1)/2) − ln(1 − confidence)) below the best, and not below it at all where that is negative:
    `accuracy`.

    Args:
        utility_sensitivity: Δ, the most by which one unit changes the utility of any one candidate, above 0.
        epsilon: 0 or more, for one choice.
        monotonic: Whether one unit changes all utilities in the same direction, if at all.
        resolution: Rounds utilities to its multiples, above 0, which is faster for real numbers; None takes them as
            they are.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> votes = {"Football": 49, "Volleyball": 25, "Basketball": 6, "Swimming": 2}
        >>> sport = PermuteAndFlip(utility_sensitivity=1, epsilon=1)
        >>> sport.probabilities(list(votes.values())).round(6).tolist()
        [0.999997, 3e-06, 0.0, 0.0]

    References:
        [MS20] Algorithm 1; [DKSSWXZ21] for exponential noise.
    """

    @property
    def event(self) -> LaplaceEvent | PureEvent:
        """The event of one choice, for accountants: no more costly than Laplace noise of the same ε."""
        return LaplaceEvent(1 / self.epsilon) if self.epsilon else PureEvent(self.epsilon)

    def _choose(self, numerators: Integers, denominator: int, count: int) -> Integers:
        return permute_and_flip_choice(numerators, denominator, count)

    def _law(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """q_i·∫₀¹ Π_{j≠i} (1 − q_j + q_j·s) ds: polynomials of degree n − 1, which ⌈n/2⌉ nodes integrate exactly."""
        nodes, weights = np.polynomial.legendre.leggauss((len(chances) + 1) // 2)
        factors = 1 - chances + np.outer((nodes + 1) / 2, chances)
        integrals: NDArray[np.float64] = (weights / 2 * factors.prod(axis=1)) @ (1 / factors)
        return chances * integrals

    def _worse(self, candidates: int) -> Fraction:
        return Fraction(candidates - 1, 2)
