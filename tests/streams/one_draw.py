"""A mechanism for tests, with one noise of 40 bits that each step adds again: at step t it is t times in the release.

Whatever loses its noise over a restart, or draws it again, shows a release that is no such multiple.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.mechanisms.continual.base import ContinualMechanism, RunningNoise
from sfumato.mechanisms.continual.contribution import Contribution
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, RunningTotal
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.rationals import positive
from sfumato.privacy.events import PureEvent


@dataclass(frozen=True, kw_only=True)
class OneDraw(ContinualMechanism):
    """One noise for all steps, which makes no private counter."""

    horizon: int
    epsilon: Fraction
    contribution: Contribution
    participation: Participation
    sums: RunningTotal = RUNNING_TOTAL
    rho: None = None

    def __post_init__(self):
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @property
    def event(self):
        return PureEvent(self.epsilon)

    @property
    def largest_stddev(self):
        return float(self.horizon)

    @property
    def memory(self):
        return 1

    def stddev(self, step):
        return float(step)

    def half_width(self, step, confidence="0.95"):
        return float(step * (2 if confidence == Fraction("0.95") else 4))

    def _noise(self, numbers):
        return OneNoise(numbers)


class OneNoise(RunningNoise):
    """The noise, one for each number."""

    __slots__ = ("noise",)

    def __init__(self, numbers):
        super().__init__(numbers, 0)
        self.noise = None

    def draw(self, ticks):
        if self.noise is None:
            drawn = [int.from_bytes(random_bytes(5), "big") for _ in range(self.numbers)]
            self.noise = np.array(drawn, dtype=np.int64)
        return np.repeat(self.noise[None, :], ticks, axis=0)

    def state(self):
        return {} if self.noise is None else {"noise": self.noise}

    def restore(self, arrays):
        self.noise = arrays.get("noise")
