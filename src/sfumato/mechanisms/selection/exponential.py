"""The exponential mechanism: the choice of one candidate, better ones more often."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.selection.selection import Selection
from sfumato.noise.choice.selection import exponential_choice_of
from sfumato.noise.uniform.integers import Integers
from sfumato.privacy.events import ExponentialEvent


@dataclass(frozen=True, slots=True, init=False)
class Exponential(Selection):
    """Chooses candidate r with probability ∝ exp(ε·u(r)/(2Δ)), or ∝ exp(ε·u(r)/Δ) for monotonic utilities.

    It serves where an answer with noise is useless: a category cannot be half of another, and the revenue of an auction
    falls to nothing if its cost is a little too high. `PermuteAndFlip` chooses at least as well for the same ε; the
    exponential mechanism composes better.

    **Guarantee**: ε-differential privacy for the neighboring relation for which one unit changes each utility by at
    most Δ; if `monotonic`, for utilities that all rise or all fall with a unit, such as counts of rows under add or
    remove. The probabilities are exact. Proof: proofs/mechanisms/selection/exponential.md.

    ============================  ==================================================================
    Edge case                     Behavior
    ============================  ==================================================================
    epsilon = 0                   a uniform choice; the accuracy is ∞
    a utility is NaN or None      it counts as 0
    a utility is ±∞               as ±10^308; with a resolution, as ±2^62 steps
    a resolution                  Δ becomes ⌈Δ/resolution⌉ steps, so best one that divides Δ
    no candidate                  ParameterError: how many there are is public
    ============================  ==================================================================

    With probability at least the confidence, the utility of the choice lies at most
    (1/κ)·(ln candidates − ln(1 − confidence)) below the best, κ = ε/(2Δ), or ε/Δ if monotonic: `accuracy`.

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
        >>> sport = Exponential(utility_sensitivity=1, epsilon=1)
        >>> sport.probabilities(list(votes.values())).round(6).tolist()
        [0.999994, 6e-06, 0.0, 0.0]

    References:
        [MT07] Theorem 6; [DR14] Section 3.4, and Corollary 3.12 for the accuracy.
    """

    @property
    def event(self) -> ExponentialEvent:
        """The event of one choice, for accountants."""
        return ExponentialEvent(self.epsilon)

    def _choose(self, numerators: Integers, denominator: int, count: int) -> Integers:
        return exponential_choice_of(numerators, denominator, count)

    def _law(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        return chances / np.float64(chances.sum())

    def _worse(self, candidates: int) -> Fraction:
        return Fraction(candidates)
