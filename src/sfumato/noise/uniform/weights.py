"""Weights of discrete Laplace, Gaussian and Skellam laws, enclosed by integers: what certified tables are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from sfumato.numeric.enclosures import exp_bounds

Bounds: TypeAlias = tuple[int, int]
WeightStream: TypeAlias = Callable[[int], Iterator[Bounds]]
"""Of a precision: integers around 2^precision · weight, for the magnitudes 0, 1, 2, …; the weight of 0 is 1."""


@dataclass(frozen=True, slots=True)
class Law:
    """A discrete law by the weights of its magnitudes, which fall log-concavely.

    Atoms are numbered from 0 by growing magnitude: `first` atoms of magnitude 0, then `each` of every other one.
    """

    weights: WeightStream
    first: int
    each: int


def laplace_weights(scale: Fraction) -> WeightStream:
    """exp(−k/scale): powers of one ratio, whose errors add up linearly."""

    def stream(precision: int) -> Iterator[Bounds]:
        ratio, weight = exp_bounds(1 / scale, precision), (1 << precision, 1 << precision)
        while True:
            yield weight
            weight = _product(weight, ratio, precision)

    return stream


def gaussian_weights(variance: Fraction) -> WeightStream:
    """exp(−k²/(2·variance)): the ratio of neighbours, exp(−(2k + 1)/(2·variance)), falls by one factor each time."""

    def stream(precision: int) -> Iterator[Bounds]:
        ratio, factor = exp_bounds(1 / (2 * variance), precision), exp_bounds(1 / variance, precision)
        weight = (1 << precision, 1 << precision)
        while True:
            yield weight
            weight, ratio = _product(weight, ratio, precision), _product(ratio, factor, precision)

    return stream


def skellam_weights(mean: Fraction) -> WeightStream:
    """I_k(2·mean)/I_0(2·mean): products of ratios of neighbours, which fall as the law is log-concave."""

    def stream(precision: int) -> Iterator[Bounds]:
        weight = (1 << precision, 1 << precision)
        yield weight
        for ratio in _bessel_ratios(mean, precision):
            weight = _product(weight, ratio, precision)
            yield weight

    return stream


def _bessel_ratios(mean: Fraction, precision: int) -> Iterator[Bounds]:
    """I_(k+1)/I_k at 2·mean, for k = 0, 1, …, from r_(k−1) = 1/(k/mean + r_k), downward from a ratio between 0 and 1.

    Each step narrows what is not known by r². So where the start lies far enough out is a matter of width alone.
    """
    span = (isqrt(int(2 * mean)) + 4) * (isqrt(2 * precision) + 4)  # beyond it, weights are below 2^−precision
    first = 0
    while True:
        ratios: list[Bounds] = []
        bounds = (0, 1 << precision)
        for k in range(first + 2 * span, first, -1):
            bounds = _ratio_below(k / mean, bounds, precision)
            if k <= first + span:
                ratios.append(bounds)
        yield from reversed(ratios)
        first += span


def _ratio_below(slope: Fraction, above: Bounds, precision: int) -> Bounds:
    """1/(slope + r), of an r between bounds; it is below 1."""
    numerator, denominator = slope.as_integer_ratio()
    whole, one = (numerator << precision) // denominator, 1 << 2 * precision
    return one // (whole + 1 + above[1]), min(one // (whole + above[0]) + 1, 1 << precision)


def _product(first: Bounds, second: Bounds, precision: int) -> Bounds:
    return first[0] * second[0] >> precision, (first[1] * second[1] >> precision) + 1
