"""How often a Poisson sample overflows, and with what probability a unit is then among those kept."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

from sfumato.accounting.profiles.outward import MARGIN, TINY
from sfumato.numeric.binomial import MASS_ERROR, Binomial
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import TruncatedPoissonSampledEvent

_BEYOND: Final = 2e-20  # of the mass lies outside what is summed, on both sides
_REACH: Final = 24  # it lies further than √(24·trials) from the mean [Hoe63]
_ERROR: Final = 2 * MASS_ERROR + MARGIN


@dataclass(frozen=True, slots=True)
class Truncation:
    """What a truncated Poisson sample of n units, at most B of them, does to one unit.

    Args:
        fits_up: At or above the probability that fewer than B of the n − 1 others are drawn.
        full_up: At or above the probability that at least B of them are.
        kept_up: At or above the probability that the unit is drawn and kept if they are.
    """

    fits_up: float
    full_up: float
    kept_up: Fraction


@lru_cache(maxsize=256)
def truncation(event: TruncatedPoissonSampledEvent) -> Truncation:
    """Of an event; τ = Pr[Bin(n − 1, q) ≥ B], and the unit is kept with (B/n) Pr[Bin(n, q) > B]/τ if they overflow."""
    size, most, q = event.source_size, event.max_sample_size, event.sampling_probability
    if most > size - 1 or q == 1:
        return Truncation(1.0, 0.0, q) if most > size - 1 else Truncation(0.0, 1.0, Fraction(most, size))
    log_odds = log_up(q / (1 - q))
    low, high = _tail(Binomial(size - 1, log_odds), most)
    kept = Fraction(most, size) * Fraction(_tail(Binomial(size, log_odds), most + 1)[1])
    return Truncation(min(1 - low, 1.0), high, min(q, kept / Fraction(low)) if low else q)


def _tail(law: Binomial, first: int) -> tuple[float, float]:
    """Bounds of Pr[X ≥ first]."""
    start = max(first, law.lowest)
    last = min(law.trials, max(start, law.mode) + isqrt(_REACH * law.trials) + 2)
    total = sum(float(masses.sum()) for _, masses in law.blocks(start, last))
    left_out = TINY if start == first and last == law.trials else _BEYOND
    return total * (1 - _ERROR), min(total * (1 + _ERROR) + left_out, 1.0)
