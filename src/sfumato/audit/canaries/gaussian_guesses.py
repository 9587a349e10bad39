"""Guesses held against a whole Gaussian privacy curve, in place of one point (ε, δ) of it.

A mechanism of μ-GDP has (ε, δ_μ(ε)) for every ε, so the smallest p-value along the curve refutes the μ. What follows
for the ε at some δ assumes that the true curve is Gaussian.
"""

from typing import Final

import numpy as np
from scipy.special import erfcx, ndtr

from sfumato.audit.canaries.guesses import Floats, Guesses
from sfumato.audit.canaries.one_run import p_values
from sfumato.numeric.rounding import RELATIVE_MARGIN

_POINTS: Final = 48
_LARGEST: Final = 20.0  # of μ; its ε at δ = 1e-5 is 283
_HALVINGS: Final = 24
_DEVIATIONS: Final = 6.0  # of the privacy loss, beyond which δ is next to nothing
_SMALLEST_DELTA: Final = 1e-304


def gaussian_p_value(guesses: Guesses, *, mu: float) -> float:
    """The smallest `exact_p_value` at 48 points of the curve of N(0, 1) against N(μ, 1).

    **Guarantee**: if the mechanism has μ-GDP for each canary, this is below α with a chance of at most α; the rest as
    for `exact_p_value`. Choosing the point after the guesses costs nothing. Proof:
    proofs/audit/canaries/gaussian_guesses.md.

    Args:
        guesses: How many were right.
        mu: Above 0.

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
        guesses: How many were right.
        significance: Below or at which the p-value refutes.
        above: Where the search starts.

    Example:
        >>> round(refuted_mu(Guesses(right=75, made=100, canaries=1000), significance=0.05), 2)
        0.26
    """
    if above > 0 and gaussian_p_value(guesses, mu=above) > significance:
        return above
    low, high = above, _LARGEST
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
