"""Guesses about canaries: the highest scores were included, the lowest were left out, and nothing is said of the rest.

How many guesses are made is fixed before anything is seen; only their order comes from the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError

Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]

SHARES: Final = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
"""Of all canaries that are guessed about: each is tried, half of it from either end, and from the upper end alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """How many guesses were right.

    Args:
        right: How many were.
        made: How many there were.
        canaries: Among how many canaries.

    Raises:
        ParameterError: Not 0 ≤ right ≤ made ≤ canaries.
    """

    right: int
    made: int
    canaries: int

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.made <= self.canaries:
            raise ParameterError(
                "right",
                f"{self.right} of {self.made}, {self.canaries} canaries",
                "must be some of the guesses, and there is at most one for each canary",
            )

    def __str__(self) -> str:
        return f"{self.right:,} of {self.made:,} guesses about {self.canaries:,} canaries right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Canaries after training: a score each, higher where it looks included, and whether it was.

    Raises:
        ParameterError: Lengths differ, there are fewer than two canaries, or a score is no number.
    """

    scores: Floats
    included: Booleans

    def __post_init__(self) -> None:
        scores, included = np.asarray(self.scores, float), np.asarray(self.included)
        if scores.ndim != 1 or scores.shape != included.shape or len(scores) < 2:  # noqa: PLR2004 # two are some
            raise ParameterError("scores", scores.shape, "must be a list, with one for each of two or more canaries")
        if included.dtype != bool:
            raise ParameterError("included", included.dtype, "must be True or False for each canary")
        if np.isnan(scores).any():
            raise ParameterError("scores", "NaN", "must be numbers; give a canary without a score −inf")
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "included", included)

    def __len__(self) -> int:
        return len(self.scores)

    def guesses(self, *, high: int, low: int) -> Guesses:
        """Guess that the `high` highest scores were included, and the `low` lowest left out.

        Ties go by the order of the canaries, which was there before the coins.

        Raises:
            ParameterError: More guesses than canaries.

        Example:
            >>> seen = Scored(scores=[0.1, 2.0, 0.3, 1.0], included=[False, True, True, False])
            >>> print(seen.guesses(high=1, low=2))
            2 of 3 guesses about 4 canaries right
        """
        if min(high, low) < 0 or high + low > len(self):
            raise ParameterError("high", (high, low), f"must be no more guesses than the {len(self)} canaries")
        order = np.argsort(self.scores, kind="stable")
        right = np.count_nonzero(~self.included[order[:low]])
        right += np.count_nonzero(self.included[order[len(self) - high :]])
        return Guesses(right=int(right), made=high + low, canaries=len(self))

    def tries(self, shares: Sequence[float] = SHARES) -> tuple[Guesses, ...]:
        """Guesses of each share from both ends, and from the upper end alone; those of the whole from both only."""
        whole = {round(share * len(self)) for share in shares}
        ends = {(made - made // 2, made // 2) for made in whole if made > 0}
        ends |= {(made, 0) for made in whole if 0 < made < len(self)}
        return tuple(self.guesses(high=high, low=low) for high, low in sorted(ends))
