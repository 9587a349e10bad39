"""How loudly events speak: by the ε that the test of each would refute, if it came out as in the search."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sfumato.audit.search.bets import along, growth

Counts: TypeAlias = NDArray[np.int64]

_WIDEST: Final = 24.0  # of ε, either way; no sample that anybody draws comes near it
_PRECISION: Final = 2.0**-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What the test that follows a search will ask of an event.

    An event that is only a little likelier than a claim allows may still be the one that bounds ε best, and one that
    happened five times of five the one that bounds it worst. So events are not scored by how far they lie beyond the
    claim, but by their lower limit.

    Args:
        runs: On each side of the search.
        delta: The claimed δ.
        significance: Of the test.
        distance: How many steps apart the databases are.

    Example:
        >>> pure = Ranking(runs=1000, delta=Fraction(0), significance=1e-6)
        >>> limit, place = pure.strongest(np.array([5, 500]), np.array([0, 50]))
        >>> place, round(limit, 1)
        (1, 1.6)
    """

    runs: int
    delta: Fraction
    significance: float
    distance: int = 1

    def strongest(self, likelier: Counts, other: Counts) -> tuple[float, int]:
        """The largest ε that one of many events would refute, and the place of that event.

        Args:
            likelier: How often each event happened on the side where it is thought to be likelier.
            other: On the other side.
        """
        wanted = -math.log(self.significance)
        low, high, kept = -_WIDEST, _WIDEST, np.arange(len(likelier))
        strengths = self._evidence(likelier, other, low)
        while high - low > _PRECISION:
            middle = (low + high) / 2
            tried = self._evidence(likelier[kept], other[kept], middle)
            enough = tried >= wanted
            if enough.any():
                low, kept, strengths = middle, kept[enough], tried[enough]
            else:
                high = middle
        return low, int(kept[strengths.argmax()])

    def _evidence(self, likelier: Counts, other: Counts, epsilon: float) -> NDArray[np.float64]:
        """About −ln of what the test would say of each event against this ε, or 0 where the two agree."""
        factors, growths = along(np.array([epsilon]), distance=self.distance)
        factor, delta = float(factors[0]), float(self.delta) * float(growths[0])
        if self.delta == 0:  # Chernoff's exponent of the conditional binomial test
            total, share = likelier + other, factor / (1 + factor)
            exponent = xlogy(likelier, likelier / np.maximum(total * share, 1e-300))
            exponent += xlogy(other, other / np.maximum(total * (1 - share), 1e-300))
            return np.where(likelier > total * share, exponent, 0.0)
        if delta >= 1:
            return np.zeros(len(likelier))
        return growth(likelier, other, runs=self.runs, factor=factor, delta=delta)
