"""What an accountant must know of two neighbours' laws (P, Q): their privacy profile, bounded on both sides."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class Profile(Protocol):
    """The privacy profile δ(ε) = sup over sets S of P(S) − e^ε Q(S), for one order of a pair of laws (P, Q).

    It is only ever asked for ε ≥ 0: what happens below 0 is the profile of the pair in the other order, since
    δ_PQ(−ε) = 1 − e^−ε + e^−ε δ_QP(ε).
    """

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ at each ε of 0 or more, and never above 1; not increasing in ε."""

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of a set S for each ε, about the one that attains δ: P(S) rounded down, and Q(S) rounded up.

        The sets are of a pair of laws that the event really allows, the same pair for every ε and for both orders, so
        that P(S) − e^ε' Q(S) is a lower bound of δ at every ε'. Zeros where no such pair is known.
        """

    @property
    def highest_loss(self) -> float:
        """The smallest ε known at which δ is as small as it gets; infinite where it keeps falling."""


@dataclass(frozen=True, slots=True)
class DominatingPair:
    """The profiles of the laws with the unit against without it, and without it against with it.

    **Guarantee**: a mechanism has this pair if, for all its neighbours (D with the unit, D' without), its profile from
    D to D' is at most `forward`, and from D' to D at most `backward`. Such pairs compose: the profiles of products of
    dominating laws bound adaptive composition [ZDW22]. For replaced units the two are the same.
    """

    forward: Profile
    backward: Profile

    @property
    def is_symmetric(self) -> bool:
        """Whether both orders have the same profile."""
        return self.forward == self.backward
