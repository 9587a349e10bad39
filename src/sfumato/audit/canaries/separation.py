"""How far apart the scores of included and omitted canaries lie, if both are Gaussian with one standard deviation."""

import math
from typing import Final

import numpy as np
from scipy.stats import nct

from sfumato.audit.canaries.guesses import Floats, Scored

_FEWEST: Final = 2
_HALVINGS: Final = 50


def mu_of_separation(seen: Scored, *, significance: float) -> float:
    """A lower limit on μ = (mean included − mean omitted)/σ, from the noncentral law of Student's t.

    t = (x̄₁ − x̄₀)/(s·√(1/n₁ + 1/n₀)) with the pooled s has n₁ + n₀ − 2 degrees of freedom and noncentrality
    μ/√(1/n₁ + 1/n₀).

    **Guarantee**: if scores are independent, Gaussian, and of the same standard deviation, this lies above μ with a
    chance of at most `significance`. Proof: proofs/audit/canaries/separation.md.

    Edge cases: fewer than two canaries on a side, or scores that do not vary, say nothing: 0.

    Args:
        seen: Scores, and who was included.
        significance: Between 0 and 1.

    Example:
        >>> seen = Scored(scores=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0] * 20, included=([False] * 3 + [True] * 3) * 20)
        >>> round(mu_of_separation(seen, significance=0.05), 2)
        3.15

    References:
        [JW40] for limits from the noncentral t; [AKOOMS24] for an ε from the separation of Gaussian scores.
    """
    above, below = seen.scores[seen.included], seen.scores[~seen.included]
    if min(len(above), len(below)) < _FEWEST or not np.isfinite(seen.scores).all():
        return 0.0
    freedom = len(seen) - 2
    spread = math.sqrt((_squares(above) + _squares(below)) / freedom)
    if spread == 0:
        return 0.0
    unit = math.sqrt(1 / len(above) + 1 / len(below))
    statistic = float(np.mean(above) - np.mean(below)) / (spread * unit)
    return unit * _least_noncentrality(statistic, freedom, significance=significance)


def _squares(scores: Floats) -> float:
    return float(np.sum((scores - np.mean(scores)) ** 2))


def _least_noncentrality(statistic: float, freedom: int, *, significance: float) -> float:
    """Where P(T ≥ statistic) is the significance; 0 if it is more than that without any separation."""
    low, high = 0.0, max(statistic, 0.0)  # at a noncentrality of the statistic itself the chance is near one half
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        refuted = float(nct.sf(statistic, freedom, middle)) <= significance
        low, high = (middle, high) if refuted else (low, middle)
    return low
