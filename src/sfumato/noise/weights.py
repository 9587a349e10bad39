"""Weights of the discrete Laplace and Gaussian laws, enclosed by integers: what certified tables are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
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


def _product(first: Bounds, second: Bounds, precision: int) -> Bounds:
    return first[0] * second[0] >> precision, (first[1] * second[1] >> precision) + 1
