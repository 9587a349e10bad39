"""The exponential mechanism: the choice of one candidate, better ones more often."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import as_rational
from sfumato.noise.integers import Integers
from sfumato.noise.selection import exponential_choice
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, nonnegative, positive, positive_integer
from sfumato.numeric.rounding import float_up, log_up
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.secret import Secret

Scores: TypeAlias = Sequence[Any] | NDArray[Any]
"""The utility of each candidate: numbers, in the order of the candidates."""


@dataclass(frozen=True, slots=True, init=False)
class Exponential:
    """Chooses candidate r with probability ∝ exp(ε·u(r)/(2Δ)), or ∝ exp(ε·u(r)/Δ) for monotonic utilities.

    It serves where an answer with noise is useless: a category cannot be half of another, and the revenue of an auction
    falls to nothing if its price is a little too high.

    **Guarantee**: ε-differential privacy for the neighbouring relation for which one unit moves each utility by at most
    Δ; if `monotonic`, for utilities that all rise or all fall with a unit, such as counts of rows under add or remove.
    The probabilities are exact. Proof: proofs/mechanisms/exponential.md.

    Edge cases: ε = 0 chooses uniformly; a utility that is NaN or None counts as 0, one that is infinite as ±10^400.

    Args:
        utility_sensitivity: Δ, how far one unit moves the utility of any one candidate, above 0.
        epsilon: 0 or more, for one choice.
        monotonic: Whether one unit moves all utilities in the same direction, if at all.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> votes = {"Football": 49, "Volleyball": 25, "Basketball": 6, "Swimming": 2}
        >>> sport = Exponential(utility_sensitivity=1, epsilon=1)
        >>> sport.probabilities(list(votes.values())).round(6).tolist()
        [0.999994, 6e-06, 0.0, 0.0]

    References:
        [MT07] Theorem 6; [DR14] Section 3.4.
    """

    utility_sensitivity: Fraction
    epsilon: Fraction
    monotonic: bool

    def __init__(self, *, utility_sensitivity: Number, epsilon: Number, monotonic: bool = False) -> None:
        object.__setattr__(self, "utility_sensitivity", positive(utility_sensitivity, "utility_sensitivity"))
        object.__setattr__(self, "epsilon", nonnegative(epsilon, "epsilon"))
        object.__setattr__(self, "monotonic", monotonic)

    @property
    def event(self) -> ExponentialEvent:
        """What one choice tells of the data."""
        return ExponentialEvent(self.epsilon)

    def release(self, scores: Scores | Secret[Scores]) -> int:
        """The index of the chosen candidate.

        Raises:
            ParameterError: There is no candidate, or a utility is no number.
        """
        return int(self.release_many(scores, 1)[0])

    def release_many(self, scores: Scores | Secret[Scores], count: int) -> Integers:
        """`count` independent choices, as indexes: as many events, each of its own cost.

        Raises:
            ParameterError: There is no candidate, a utility is no number, or the count is below 1.
        """
        return exponential_choice(self._exponents(scores), positive_integer(count, "count"))

    def probabilities(self, scores: Scores | Secret[Scores]) -> NDArray[np.float64]:
        """The probability of each candidate in floats, for tests and pictures.

        Secret: it is computed from the exact utilities. Only a choice may be released.
        """
        exponents = self._exponents(scores)
        weights = [exp(-min(exponent, Fraction(1000))) for exponent in exponents]
        return np.array(weights, dtype=np.float64) / np.float64(sum(weights))

    def accuracy(self, confidence: Number = "0.95", *, candidates: int) -> float:
        """How far, at most, the utility of the choice lies below the best, with this confidence.

        (2Δ/ε)·(ln candidates − ln(1 − confidence)), with Δ for 2Δ if monotonic; infinite at ε = 0. Rounded up.

        References:
            [DR14] Corollary 3.12.
        """
        ratio = positive_integer(candidates, "candidates") / failure_probability(confidence)
        return float_up(log_up(ratio) / self._weight_per_utility) if self.epsilon else inf

    @property
    def _weight_per_utility(self) -> Fraction:
        return self.epsilon / (self.utility_sensitivity * (1 if self.monotonic else 2))

    def _exponents(self, scores: Scores | Secret[Scores]) -> list[Fraction]:
        """How far each candidate lies below the best, as exponents of 1/e."""
        utilities = [as_rational(score) for score in opened(scores)]
        if not utilities:
            raise ParameterError("scores", "an empty sequence", "must hold at least one candidate")
        best = max(utilities)
        return [(best - utility) * self._weight_per_utility for utility in utilities]
