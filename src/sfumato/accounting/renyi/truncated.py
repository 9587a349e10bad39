"""Samples that are cut down to a largest size: whether they are is made public, which only helps the adversary."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.special import betainc

from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.losses import Array, from_log_excess
from sfumato.accounting.renyi.sampling import log_expm1
from sfumato.numeric.rounding import float_up
from sfumato.privacy.events import TruncatedPoissonSampledEvent

_MARGIN: Final = 1e-9  # above the relative error of the incomplete beta function, and of 1 minus it
_SMALLEST: Final = 1e-300
_MOST_UNITS: Final = 10**9  # the function is trusted that far; beyond it either case is taken for certain


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """Of a sample: how likely the other units alone do and do not fill it, and a unit's chance then; all rounded up."""

    probability: float
    not_probability: float
    chance: Fraction


def overflow_of(event: TruncatedPoissonSampledEvent, *, steps: int = 1) -> Overflow:
    """A unit is in a full sample with probability q E[B/(T + 1) | T ≥ B], T ~ Bin(n − 1, q) of the others sampled.

    It is (B/n) Pr[Bin(n, q) > B]/Pr[T ≥ B], and at most qB/(B + 1). With fewer units samples are full less often, and
    a unit's chance in them is larger.

    Args:
        event: For its q, n and B.
        steps: How many units are removed one after the other; what is found holds for each of them.
    """
    size, units, q = event.max_sample_size, event.source_size, event.sampling_probability
    most = q * Fraction(size, size + 1)
    if units > _MOST_UNITS:
        return Overflow(probability=1.0, not_probability=1.0, chance=most)
    up, fewest = float_up(q), max(units - steps + 1, 1)
    full, rarely_full = _at_least(units - 1, size, up), _at_least(fewest - 1, size, -float_up(-q))
    fuller = _at_least(fewest, size + 1, up)
    chance = Fraction(size, fewest) * Fraction(fuller) / Fraction(rarely_full) * Fraction(1 + _MARGIN)
    return Overflow(
        probability=min(full * (1 + _MARGIN), 1.0),
        not_probability=min((1 - rarely_full) * (1 + 4 * math.ulp(1)) + _MARGIN * rarely_full, 1.0),
        chance=min(chance, most),
    )


def _at_least(trials: int, successes: int, probability: float) -> float:
    if successes > trials:
        return _SMALLEST
    return max(float(betainc(successes, trials - successes + 1, probability)), _SMALLEST)


def truncated_bound(overflow: Overflow, poisson: RenyiBound, full: RenyiBound) -> RenyiBound:
    """E[L^α] is the mean of those of the two cases."""

    def divergence(orders: Array) -> Array:
        extra = orders - 1
        moments = (log_expm1(extra * poisson.divergence(orders)), log_expm1(extra * full.divergence(orders)))
        return from_log_excess(
            np.logaddexp(np.log(overflow.not_probability) + moments[0], np.log(overflow.probability) + moments[1]),
            orders,
        )

    return RenyiBound(
        divergence=divergence,
        epsilon=max(poisson.epsilon, full.epsilon),
        failure=max(poisson.failure, full.failure),
        is_slow=poisson.is_slow or full.is_slow,
    )
