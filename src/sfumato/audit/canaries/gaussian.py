"""Lower bounds on μ for mechanisms whose privacy curve is Gaussian: from guesses, and from how far scores lie apart.

A mechanism of μ-GDP has (ε, δ_μ(ε)) for every ε, so the smallest p-value of the guesses along the curve refutes the μ.
What follows for the ε at some δ assumes that the true curve is Gaussian.
"""

import math
from typing import Final

import numpy as np
from scipy.special import erfcx, ndtr
from scipy.stats import nct

from sfumato.audit.canaries.guesses import Floats, Guesses, Scored, p_values
from sfumato.numeric.rounding import RELATIVE_MARGIN

_POINTS: Final = 48
_LARGEST_MU: Final = 20.0  # its ε at δ = 1e-5 is 283
_HALVINGS: Final = 24
_DEVIATIONS: Final = 6.0  # of the privacy loss, beyond which δ is next to nothing
_SMALLEST_DELTA: Final = 1e-304
_FEWEST: Final = 2
_LARGEST_STATISTIC: Final = 1e5  # where the noncentral t is still computed

_SEPARATION_HALVINGS: Final = 50


def gaussian_p_value(guesses: Guesses, *, mu: float) -> float:
    """The smallest `exact_p_value` at 48 points of the curve of N(0, 1) against N(μ, 1).

    **Guarantee**: if the mechanism has μ-GDP for each canary, this is below α with probability at most α; the rest as
    for `exact_p_value`. Choosing the point after the guesses costs nothing. Proof:
    proofs/audit/canaries/gaussian.md.

    Args:
        guesses: How many guesses were made, and how many were right.
        mu: μ, above 0.

    Example:
        >>> found = Guesses(right=75, made=100, canaries=1000)
        >>> gaussian_p_value(found, mu=0.1) < 0.01 < gaussian_p_value(found, mu=0.5)
        True

    References:
        [MMC24] for tests of a whole curve in one run, by a recursion that is finer than this; [DRS22].
    """
    epsilon = np.linspace(0, mu * mu / 2 + _DEVIATIONS * mu, _POINTS)
    return float(np.min(p_values(guesses, wrong=1 / (1 + np.exp(epsilon)), delta=_curve(mu, epsilon))))


def refuted_mu(guesses: Guesses, *, significance: float, above: float = 0.0) -> float:
    """The largest μ that these guesses refute; `above` if they refute none beyond it.

    Args:
        guesses: How many guesses were made, and how many were right.
        significance: The largest p-value that refutes.
        above: The μ where the search starts.

    Example:
        >>> round(refuted_mu(Guesses(right=75, made=100, canaries=1000), significance=0.05), 2)
        0.26
    """
    if above > 0 and gaussian_p_value(guesses, mu=above) > significance:
        return above
    low, high = above, _LARGEST_MU
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_p_value(guesses, mu=middle) <= significance else (low, middle)
    return low


def _curve(mu: float, epsilon: Floats) -> Floats:
    """δ_μ(ε) = Q(a) − e^ε·Q(a + μ) with a = ε/μ − μ/2, from above; both tails share e^(−a²/2) where a ≥ 0."""
    low = epsilon / mu - mu / 2
    far = np.maximum(low, 0)
    tail = np.where(low >= 0, np.exp(-far * far / 2) * erfcx(far / np.sqrt(2)) / 2, ndtr(-low))
    other = np.exp(-low * low / 2) * erfcx((low + mu) / np.sqrt(2)) / 2
    delta: Floats = np.maximum(tail - other + RELATIVE_MARGIN * tail, _SMALLEST_DELTA)
    return delta


def mu_of_separation(seen: Scored, *, significance: float) -> float:
    """A lower limit on μ = (mean included − mean omitted)/σ, from the noncentral t distribution.

    t = (x̄₁ − x̄₀)/(s·√(1/n₁ + 1/n₀)) with the pooled s has n₁ + n₀ − 2 degrees of freedom and noncentrality
    μ/√(1/n₁ + 1/n₀).

    **Guarantee**: if scores are independent, Gaussian, and of the same standard deviation, this lies above μ with a
    chance of at most `significance`. Proof: proofs/audit/canaries/gaussian.md.

    Edge cases: fewer than two canaries on a side, or scores that do not vary, say nothing: 0. A t beyond 10^5, as of
    scores almost without spread, counts as 10^5, which only lowers the limit.

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
    statistic = min(float(np.mean(above) - np.mean(below)) / (spread * unit), _LARGEST_STATISTIC)
    return unit * _least_noncentrality(statistic, freedom, significance=significance)


def _squares(scores: Floats) -> float:
    return float(np.sum((scores - np.mean(scores)) ** 2))


def _least_noncentrality(statistic: float, freedom: int, *, significance: float) -> float:
    """Where P(T ≥ statistic) is the significance; 0 if it is more than that without any separation."""
    low, high = 0.0, max(statistic, 0.0)  # at a noncentrality of the statistic itself the probability is near one half
    for _ in range(_SEPARATION_HALVINGS):
        middle = (low + high) / 2
        refuted = float(nct.sf(statistic, freedom, middle)) <= significance
        low, high = (middle, high) if refuted else (low, middle)
    return low
