"""Privacy profiles of pairs of Gaussian mixtures whose loss grows along the line."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import log_ndtr

from sfumato.accounting.profiles.profile import (
    FAR,
    MARGIN,
    ULP,
    Array,
    Profile,
    below_roots,
    exp_down,
    float_down,
    share,
    tail_down,
    tail_up,
)
from sfumato.numeric.rounding import float_up, log_near

_GRID: Final = 1024

Components = tuple[tuple[Fraction, Fraction], ...]
"""Means, in standard deviations, and their probabilities."""


@dataclass(frozen=True, slots=True)
class GaussianMixtures(Profile):
    """Σ pᵢ N(aᵢ, 1) against Σ qⱼ N(bⱼ, 1), where no aᵢ is below 0 and no bⱼ above.

    The loss grows with x, so δ(ε) = P(X > t) − e^ε Q(X > t) with the t at which the loss is ε.

    **Guarantee**: at or above δ, by about 1e-13 of P(S): t is a float at which the loss ε', with the error of computing
    it, is at or below ε, and δ(ε) ≤ δ(ε').

    References:
        [Gan24]; [ZDW22].
    """

    p: Components
    q: Components

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        if not self._differs:
            return np.zeros_like(epsilon)
        # So far below ε that the true loss at t is not above it either: else what lies between them would be missed.
        t = self._thresholds(epsilon - 2 * self._largest_error())
        loss, error = _loss(self, t)
        exponent = np.minimum(epsilon, loss - error)
        log_second = _log_tail(self.q, t)
        error = 4 * ULP * (np.abs(exponent) + 2 * np.abs(log_second) + t**2 + 8)
        bound = _tail(self.p, t, is_up=True) - exp_down(exponent + log_second, error=error)
        return np.where(epsilon >= self.highest_loss, 0.0, share(bound))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the half-line beyond t."""
        if not self._differs:
            return np.zeros_like(epsilon), np.zeros_like(epsilon)
        t = self._thresholds(epsilon)
        return _tail(self.p, t, is_up=False), _tail(self.q, t, is_up=True)

    @property
    def highest_loss(self) -> float:
        """The limit far out: infinite if a mean of P is beyond every mean of Q, else a ratio of weights."""
        top_p, top_q = (max(mean for mean, weight in part if weight) for part in (self.p, self.q))
        if top_p > top_q:
            return math.inf
        weights = [sum(weight for mean, weight in part if mean == top_p) for part in (self.p, self.q)]
        return max(log_near(Fraction(weights[0]) / weights[1]), 0.0) * (1 + MARGIN)

    @property
    def _differs(self) -> bool:
        return any(mean and weight for mean, weight in (*self.p, *self.q))

    def _largest_error(self) -> float:
        """Of the computed loss; the logarithms of both densities are convex, so largest at an end of the line."""
        return float(_loss(self, np.array(self._ends()))[1].max())

    def _ends(self) -> tuple[float, float]:
        """Beyond which there is no probability to speak of."""
        return -FAR + float(min(mean for mean, _ in self.q)), FAR + float(max(mean for mean, _ in self.p))

    def _thresholds(self, epsilon: Array) -> Array:
        def curve(x: Array) -> tuple[Array, Array]:
            (first, rise), (second, fall) = _log_density(self.p, x), _log_density(self.q, x)
            return first - second, rise - fall

        return below_roots(curve, epsilon, grid=np.linspace(*self._ends(), _GRID))


def _loss(pair: GaussianMixtures, x: Array) -> tuple[Array, Array]:
    """The loss at x, and a bound of the error of the floats."""
    first, second = _log_density(pair.p, x)[0], _log_density(pair.q, x)[0]
    farthest = float(max(abs(mean) for mean, _ in (*pair.p, *pair.q)))
    return first - second, 8 * ULP * (np.abs(first) + np.abs(second) + farthest * (np.abs(x) + farthest) + 1)


def _log_density(components: Components, x: Array) -> tuple[Array, Array]:
    """The logarithm of Σ wᵢ e^(aᵢx − aᵢ²/2), and its slope, the mean of the aᵢ under x."""
    means, logs = _floats(components)
    exponents = [log + mean * (x - mean / 2) for mean, log in zip(means, logs, strict=True)]
    top = np.maximum.reduce(exponents)
    weights = [np.exp(exponent - top) for exponent in exponents]
    total = np.add.reduce(weights)
    slope = np.add.reduce([mean * weight for mean, weight in zip(means, weights, strict=True)]) / total
    return top + np.log(total), slope


def _tail(components: Components, t: Array, *, is_up: bool) -> Array:
    """The probability of more than t."""
    total = np.zeros_like(t)
    for mean, weight in components:
        center = float(mean)
        error = 2 * ULP * (np.abs(t) + abs(center))
        if is_up:
            total += float_up(weight) * tail_up(t - center, error=error)
        else:
            total += float_down(weight) * tail_down(t - center, error=error)
    return np.minimum(total * (1 + MARGIN), 1.0) if is_up else total * (1 - MARGIN)


def _log_tail(components: Components, t: Array) -> Array:
    """The logarithm of the probability of more than t."""
    means, logs = _floats(components)
    terms = [log + log_ndtr(mean - t) for mean, log in zip(means, logs, strict=True)]
    total: Array = np.logaddexp.reduce(terms)
    return total


@lru_cache(maxsize=256)
def _floats(components: Components) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Means, and logarithms of the weights, of those that have any."""
    kept = [(float(mean), log_near(weight)) for mean, weight in components if weight]
    return tuple(mean for mean, _ in kept), tuple(log for _, log in kept)


def presence(
    stddev: Fraction, sensitivities: tuple[Fraction, ...], probabilities: tuple[Fraction, ...]
) -> GaussianMixtures:
    """Noise on a number that the unit changes by a random amount, against noise on the number without the unit."""
    moves = tuple((size / stddev, weight) for size, weight in zip(sensitivities, probabilities, strict=True) if weight)
    return GaussianMixtures(moves, ((Fraction(0), Fraction(1)),))


def mirrored(pair: GaussianMixtures) -> GaussianMixtures:
    """The pair in the other order, with x for −x."""
    return GaussianMixtures(_negated(pair.q), _negated(pair.p))


def replacement(noise_multiplier: Fraction, weights: tuple[Fraction, ...]) -> GaussianMixtures:
    """Σ wₖ N(k, σ²) against Σ wₖ N(−k, σ²): k of a group are in a sample, on the one side or on the other."""
    moves = tuple((count / noise_multiplier, weight) for count, weight in enumerate(weights))
    return GaussianMixtures(moves, _negated(moves))


def group_presence(noise_multiplier: Fraction, weights: tuple[Fraction, ...]) -> GaussianMixtures:
    """What a sample of a group adds: as many steps as it holds of the group."""
    return presence(noise_multiplier, tuple(Fraction(count) for count in range(len(weights))), weights)


def _negated(components: Components) -> Components:
    return tuple((-mean, weight) for mean, weight in components)
