"""A number in a window around the true one, or outside of it: the distribution behind two mechanisms, on a lattice.

There are T + 1 true places s = 0, …, T and T + w outputs o = 0, …, T + w − 1. The window of s is s, …, s + w − 1. Each
output in the window has probability R/(wR + T), each other one 1/(wR + T).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.odds import event_of
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.privacy.events import FiniteEvent


@dataclass(frozen=True, slots=True)
class WindowLaw:
    """The distribution of an output given the true place.

    **Guarantee**: two places have ratios of at most R, which is reached: ε = ln R. Proof:
    proofs/local/means/windows.md.

    Attributes:
        steps: T, at least 1.
        width: w, at least 1.
        ratio: R, above 1.

    Example:
        >>> law = WindowLaw(2, 1, Fraction(3))
        >>> [str(probability) for probability in law.probabilities(0)]
        ['3/5', '1/5', '1/5']
    """

    steps: int
    width: int
    ratio: Fraction

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.steps + self.width

    @property
    def outside(self) -> Fraction:
        """The probability of each output outside of the window."""
        return 1 / (self.width * self.ratio + self.steps)

    @property
    def inside(self) -> Fraction:
        """The probability of each output in the window."""
        return self.ratio * self.outside

    @property
    def excess(self) -> Fraction:
        """How much more probable the window is than w outputs outside of it: w·(inside − outside)."""
        return self.width * (self.inside - self.outside)

    def probabilities(self, place: int) -> list[Fraction]:
        """The probability of each output, for one true place."""
        window = range(place, place + self.width)
        return [self.inside if output in window else self.outside for output in range(self.outputs)]

    @property
    def event(self) -> FiniteEvent:
        """Of the two ends, whose windows overlap least."""
        apart = min(self.width, self.steps)
        alone, other = apart * self.inside, apart * self.outside
        same = 1 - alone - other
        return event_of(((alone, other), (other, alone), (same, same)))

    def draw(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """An output for each true place: a coin for the window, then a uniform output in it or outside of it."""
        is_in = bernoulli(self.width * self.inside, len(places))
        hit, missed = np.flatnonzero(is_in), np.flatnonzero(~is_in)
        outputs = np.empty(len(places), dtype=np.int64)
        outputs[hit] = places[hit] + uniform_below(self.width, len(hit))
        rest = uniform_below(self.steps, len(missed))
        outputs[missed] = rest + np.where(rest >= places[missed], self.width, 0)  # skips the window
        return outputs

    def numbers(self) -> NDArray[np.float64]:
        """For each output the number between −C and C of which the mean is the true one, −1 at place 0 and 1 at T.

        (2·o − (T + w − 1))/(T·excess): the window is centered at s + (w − 1)/2, all outputs at (T + w − 1)/2.
        """
        scale = 1 / float(self.steps * self.excess)
        numbers: NDArray[np.float64] = scale * np.arange(1 - self.outputs, self.outputs, 2).astype(np.float64)
        return numbers

    def squares(self) -> tuple[Fraction, Fraction]:
        """The slope and the intercept of E[number²] in the square of the true one: 1/excess, and what is left at 0.

        Example:
            >>> WindowLaw(2, 1, Fraction(3)).squares()
            (Fraction(5, 2), Fraction(5, 2))
        """
        spread = self.excess * (self.width**2 - 1) + (1 - self.excess) * (self.outputs**2 - 1)
        return 1 / self.excess, spread / (3 * (self.steps * self.excess) ** 2)
