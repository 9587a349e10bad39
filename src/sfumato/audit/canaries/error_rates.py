"""Canaries as if each were a run of its own: rates of true and false positives, and their Clopper-Pearson limits.

That holds if the score of a canary depends on no other canary's coin. Training on all of them together does not promise
it, so what is found here stands apart from what needs no assumption. Thresholds are scores of fixed rank among the
canaries of one side, which leaves the limits of both sides exact, and no canary need be kept for choosing them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.special import ndtri

from sfumato.audit.canaries.guesses import Floats, Scored
from sfumato.audit.search.bounds import Count
from sfumato.numeric.binomial import lower_limit, upper_limit
from sfumato.numeric.rounding import float_up

LEVELS: Final = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Shares of the other side that may lie beyond the threshold: each is tried on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """An event, how often it happened on the side where it is likelier, and how often on the other.

    Attributes:
        event: In words.
        likelier: Among included canaries if the event is a high score, among the others if it is a low one.
        rarer: On the other side.
        significance: The significance of the two limits together.
    """

    event: str
    likelier: Count
    rarer: Count
    significance: float

    @property
    def limits(self) -> tuple[float, float]:
        """The least probability of the event on the likelier side, and the largest on the other."""
        half = self.significance / 2
        return (
            lower_limit(self.likelier.events, self.likelier.runs, significance=half),
            upper_limit(self.rarer.events, self.rarer.runs, significance=half),
        )

    def epsilon_lower_bound(self, *, delta: Fraction) -> float:
        """ln((p − δ)/q) at the limits; −∞ where they say nothing."""
        low, high = self.limits
        above = low - float_up(delta)
        return math.log(above) - math.log(high) if above > 0 else -math.inf

    @property
    def mu(self) -> float:
        """Φ⁻¹(p) − Φ⁻¹(q) at the limits; −∞ where they say nothing."""
        low, high = self.limits
        return float(ndtri(low) - ndtri(high)) if low > 0 else -math.inf

    def __str__(self) -> str:
        likelier, rarer = (f"{count.events:,} of {count.runs:,}" for count in (self.likelier, self.rarer))
        return f"{self.event}: {likelier} against {rarer}"


def independent_canaries(seen: Scored, *, delta: Fraction, significance: float) -> ErrorRates:
    """The event that says most about ε at this δ.

    **Guarantee**: if each score depends on its own canary's coin alone, and on nothing that scores share, its bound
    lies above the true ε with probability at most `significance`. Proof: proofs/audit/canaries/error_rates.md.

    Args:
        seen: Scores, and who was included.
        delta: The claimed δ.
        significance: Between 0 and 1, shared by all events that are tried.

    Example:
        >>> seen = Scored(scores=[float(i // 100) for i in range(400)], included=[i >= 200 for i in range(400)])
        >>> rates = independent_canaries(seen, delta=Fraction(0), significance=0.05)
        >>> print(rates, round(rates.epsilon_lower_bound(delta=Fraction(0)), 2))
        score > 1: 200 of 200 against 0 of 200 3.49

    References:
        [JUO20]; [CP34].
    """
    return max(_tried(seen, significance), key=lambda rates: rates.epsilon_lower_bound(delta=delta))


def mu_of_error_rates(seen: Scored, *, significance: float) -> float:
    """A μ below that of any Gaussian trade-off that allows these rates; −∞ where they say nothing.

    **Guarantee**: if scores are as for `independent_canaries` and the mechanism has μ-GDP, this lies above μ with a
    chance of at most `significance`. Proof: proofs/audit/canaries/error_rates.md.

    Args:
        seen: Scores, and who was included.
        significance: Between 0 and 1, shared by all events that are tried.

    References:
        [NHSBTJCT23]; [DRS22].
    """
    return max(rates.mu for rates in _tried(seen, significance))


def _tried(seen: Scored, significance: float) -> Iterator[ErrorRates]:
    """High scores, likelier among included canaries, and low ones, likelier among the others."""
    included, omitted = seen.scores[seen.included], seen.scores[~seen.included]
    share = significance / (2 * len(LEVELS))
    for level in LEVELS:
        yield _beyond(">", included, omitted, level=level, significance=share)
        yield _beyond("<", -omitted, -included, level=level, significance=share)


def _beyond(sign: str, likelier: Floats, rarer: Floats, *, level: float, significance: float) -> ErrorRates:
    """Scores beyond the one that `level` of the rarer side exceed."""
    allowed = math.floor(level * len(rarer))
    threshold = float(np.sort(rarer)[len(rarer) - 1 - allowed]) if len(rarer) else math.inf
    return ErrorRates(
        event=f"score {sign} {threshold if sign == '>' else -threshold:.4g}",
        likelier=Count(int(np.count_nonzero(likelier > threshold)), len(likelier)),
        rarer=Count(allowed, len(rarer)),
        significance=significance,
    )
