"""A privacy loss on a grid: what a pair of laws is replaced by before it is composed."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.accounting.profiles.profile import Array

UNIT: Final = 2.0**-53
"""The largest relative error of one rounded operation."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Law:
    """Masses of the first law by privacy loss: δ(ε) = infinite_mass + Σ over losses above ε of mass·(1 − e^(ε − loss)).

    Only sums of masses times such growing functions matter, so masses may add up to a little more or less than 1: a
    law that bounds another from above, or from below, at every ε of either sign, does so in every composition.
    """

    lowest: Fraction
    """The loss of the first mass; mass i has loss lowest + i·step, exactly."""
    step: float
    masses: Array
    infinite_mass: float

    @property
    def losses(self) -> Array:
        """The losses, rounded to nearest."""
        return np.asarray(float(self.lowest) + self.step * np.arange(len(self.masses)), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The losses lowest + i·step for i below `size`."""

    lowest: Fraction
    step: float
    size: int

    @property
    def losses(self) -> Array:
        """The losses, rounded to nearest."""
        return np.asarray(float(self.lowest) + self.step * np.arange(self.size), dtype=np.float64)
