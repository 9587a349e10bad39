"""Gaussian noise on samples, and on numbers that a unit moves by a random amount: integrated at every real order."""

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Final

import numpy as np

from sfumato.accounting.renyi.bound import NOTHING, RenyiBound
from sfumato.accounting.renyi.gaussian_mixtures import POINT, Mixture, mixture_divergence
from sfumato.accounting.renyi.losses import Array, log_sum
from sfumato.accounting.renyi.sampling import SMALLEST_CHANCE, by_convexity, by_minkowski
from sfumato.numeric.rounding import dyadic_up, float_up, inflated, log_near

_ERROR: Final = 1e-14  # of the logarithm of a number near 1
_BITS: Final = 64  # of a probability whose powers are computed


def sampled_gaussian_bound(probability: Fraction, inner: RenyiBound, *, distance: Fraction) -> RenyiBound:
    """Of (1 − q)N(0, 1) + qN(distance, 1) and N(0, 1); removing the unit is the worse order [MTZ19]."""
    sample = _sample(probability, float_up(distance))

    def divergence(orders: Array) -> Array:
        return np.minimum(mixture_divergence(sample, POINT, orders), by_minkowski(probability, inner, orders))

    return RenyiBound(divergence=divergence, is_slow=True)


def exchanged_gaussian_bound(probability: Fraction, far: RenyiBound, *, distance: Fraction) -> RenyiBound:
    """Of (1 − q)N(0, 1) + qN(±distance, 1): of all values that lie so near to that of an absent unit, the worst."""
    shift = float_up(distance)
    with_one, with_other = _sample(probability, shift), _sample(probability, -shift)

    def divergence(orders: Array) -> Array:
        return np.minimum(mixture_divergence(with_one, with_other, orders), by_convexity(probability, far, orders))

    return RenyiBound(divergence=divergence, is_slow=True)


def sampled_group_bound(probability: Fraction, size: int, *, distance: Fraction) -> RenyiBound:
    """Of a group of units, each in the sample on its own: the worst shift all in one direction [Gan24]."""
    counts, q = range(size + 1), _short_up(probability)
    weights = [comb(size, k) * q**k * (1 - q) ** (size - k) for k in counts]
    return mixture_bound([k * distance for k in counts], weights)


def mixture_bound(shifts: Sequence[Fraction], probabilities: Sequence[Fraction]) -> RenyiBound:
    """Of a mixture of Gaussians of standard deviation 1 against N(0, 1), in the worse order of the two."""
    kept = sorted((shift, weight) for shift, weight in zip(shifts, probabilities, strict=True) if weight)
    if kept[-1][0] == 0:
        return NOTHING
    mixture = _in_floats(kept)
    log_weights = np.array([log_near(weight) for _, weight in kept])
    absent = sum((weight for shift, weight in kept if shift == 0), start=Fraction(0))
    log_absent = -log_near(absent) if absent else np.inf

    def divergence(orders: Array) -> Array:
        extra = orders - 1
        rho = np.array([float_up(shift * shift) for shift, _ in kept]) / 2
        with np.errstate(over="ignore"):
            removed = (log_sum(log_weights + np.outer(extra, rho)) + _ERROR) * orders / extra  # Minkowski's inequality
            added = (log_sum(log_weights + np.outer(orders * extra, rho)) + _ERROR) / extra  # convexity
        return np.maximum(
            np.minimum(mixture_divergence(mixture, POINT, orders), inflated(1.0) * removed),
            np.minimum(mixture_divergence(POINT, mixture, orders), inflated(1.0) * np.minimum(added, log_absent)),
        )

    return RenyiBound(divergence=divergence, is_slow=True)


def _sample(probability: Fraction, shift: float) -> Mixture:
    chance = max(probability, SMALLEST_CHANCE)
    return Mixture((0.0, shift), (float(1 - chance), float(chance)))


def _in_floats(components: Sequence[tuple[Fraction, Fraction]]) -> Mixture:
    """What is too unlikely for floats is moved to the largest shift, which is the worst."""
    *others, (largest, last) = components
    shown = [(shift, weight) for shift, weight in others if weight >= SMALLEST_CHANCE]
    rest = last + sum((weight for _, weight in others if weight < SMALLEST_CHANCE), start=Fraction(0))
    all_shown = (*shown, (largest, max(rest, SMALLEST_CHANCE)))
    return Mixture(tuple(float_up(shift) for shift, _ in all_shown), tuple(float(weight) for _, weight in all_shown))


def _short_up(probability: Fraction) -> Fraction:
    """A probability of few bits, rounded up where it has more."""
    if probability.denominator.bit_length() <= _BITS:
        return probability
    return min(max(dyadic_up(probability, _BITS), SMALLEST_CHANCE), Fraction(1))
