"""What a few programs of releases truly cost, in closed form: below it no accountant may go.

These are derived here once more, in plain floats, and share no code with `sfumato.accounting`, which they audit.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln, ndtr, xlogy

from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    PureEvent,
    RandomizedResponseEvent,
)
from sfumato.privacy.neighbors import REPLACE_ONE, NeighboringRelation

Profile: TypeAlias = Callable[[float], float]
"""δ at each ε of 0 or more."""


def true_profile(event: Event, count: int, *, relation: NeighboringRelation) -> Profile | None:
    """δ(ε) of an event, `count` times, in the worst case of what it says; None where there is no closed form here.

    Gaussian noise: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with μ² = count/σ². One answer with Laplace noise of scale b:
    1 − exp((ε − 1/b)/2). Pure and approximate guarantees, discrete Laplace noise and binary randomized response:
    optimal composition. Groups: the same noise on a move that is as many times longer.

    Args:
        event: What was released.
        count: How often.
        relation: Randomized response has a closed form for replaced units only.

    Example:
        >>> laplace = true_profile(LaplaceEvent(1), 1, relation=REPLACE_ONE)
        >>> round(laplace(0.5), 6), laplace(1.0)
        (0.221199, 0.0)

    References:
        [BW18] for Gaussian noise; [KOV15] Theorem 3.3.
    """
    match event:
        case GroupEvent(GaussianEvent(noise), size):
            return _gaussian(math.sqrt(count) * size / float(noise))
        case GroupEvent(LaplaceEvent(noise), size) if count == 1:
            return _laplace(size / float(noise))
        case GaussianEvent(noise):
            return _gaussian(math.sqrt(count) / float(noise))
        case LaplaceEvent(noise) if count == 1:
            return _laplace(1 / float(noise))
        case PureEvent(epsilon):
            return _optimal(float(epsilon), 0.0, count)
        case ApproxEvent(epsilon, delta):
            return _optimal(float(epsilon), float(delta), count)
        case DiscreteLaplaceEvent(scale, sensitivity) if sensitivity == 1:
            return _optimal(1 / float(scale), 0.0, count)
        case RandomizedResponseEvent(kept, categories) if categories == 2 and relation is REPLACE_ONE:  # noqa: PLR2004
            return _optimal(math.log((1 + float(kept)) / (1 - float(kept))), 0.0, count) if kept < 1 else None
        case _:
            return None


def _gaussian(mu: float) -> Profile:
    return lambda epsilon: float(
        ndtr(mu / 2 - epsilon / mu) - math.exp(min(epsilon, 700)) * ndtr(-mu / 2 - epsilon / mu)
    )


def _laplace(loss: float) -> Profile:
    return lambda epsilon: -math.expm1((epsilon - loss) / 2) if epsilon < loss else 0.0


def _optimal(epsilon: float, delta: float, count: int) -> Profile:
    """1 − (1 − δ)^k·(1 − E[max(1 − e^(ε′ − L), 0)]), with L the loss of k randomized responses."""
    heads = np.arange(count + 1)
    losses = (2 * heads - count) * epsilon
    log_mass = gammaln(count + 1) - gammaln(heads + 1) - gammaln(count - heads + 1)
    log_mass -= count * np.logaddexp(0, epsilon) - heads * epsilon
    mass = np.exp(log_mass)
    log_kept = float(xlogy(count, 1 - delta)) if delta < 1 else -math.inf

    def profile(at: float) -> float:
        beyond = float(mass @ -np.expm1(np.minimum(at - losses, 0)))
        return beyond if delta == 0 else 1 - math.exp(log_kept) * (1 - beyond)

    return profile
