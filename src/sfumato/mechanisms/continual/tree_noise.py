"""The noise of a binary tree over ticks, and of what each release is made.

A node of level l covers 2^l ticks and has one noise. The total up to t is that of the nodes that stand for the set bits
of t. The noise of the total at t is that of the total at t without its lowest bit, plus that of the node that ends at
t, so a block of ticks needs a few strided sums.

In the online variant the noise of a node is the best estimate from its own measurement and those of all nodes below it:
e = z·a + (left + right)·(1 − a), from the leaves up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.continual.base import RunningNoise
from sfumato.mechanisms.continual.fixed_point import Multiplier
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import SAFE, Integers, largest, multiply_add
from sfumato.numeric.distributions import discrete_gaussian_variance, discrete_laplace_variance
from sfumato.numeric.noise_sums import IntegerNoise

LEVELS: Final = 31  # more than any horizon has

_ONLINE_BITS: Final = 16
_WIDE: Final = 1 << 24  # from this scale on, an estimate in whole units is near enough
_MOST_SUMMED: Final = 64  # so many noises add up to a total


class TreeNoise(RunningNoise):
    """The noise of a tree, tick after tick.

    Args:
        numbers: How many trees, side by side.
        noise: That of each node, in units of the data.
        online: Whether nodes are estimated from those below as well.
    """

    __slots__ = ("_noise", "_online", "_open")

    def __init__(self, numbers: int, noise: IntegerNoise, *, online: bool) -> None:
        super().__init__(numbers, online_bits(noise) if online else 0)
        self._noise, self._online = noise, online
        self._open: Integers = np.zeros((LEVELS, numbers), dtype=np.int64)
        """Of each level the noise of the node that stands for that bit of the step, if it is set."""

    def draw(self, ticks: int) -> Integers:
        """The noise of the next ticks: differences of the noise of totals."""
        start, stop = self.step, self.step + ticks
        ended = self._estimated(start, stop) if self._online else drawn(self._noise, ticks, self.numbers)
        if largest(ended) * _MOST_SUMMED > SAFE or self._open.dtype == object:
            ended = ended.astype(object)
        totals = ended.copy()
        for level in reversed(range(stop.bit_length())):
            size = 1 << level
            first = (start >> level | 1) << level  # the first node of this level that a total has, at or behind start
            first += 2 * size if first <= start else 0
            if first > stop:
                continue
            places = np.arange(first, stop + 1, 2 * size) - start - 1
            if places[0] < size:  # the total before it lies at or before the start
                totals[places[0]] += self._total_of(first - size)
                places = places[1:]
            totals[places] += totals[places - size]
        before = self._total_of(start)
        self._keep(ended, start, stop)
        return np.diff(totals, axis=0, prepend=before[np.newaxis])

    def state(self) -> dict[str, Integers]:
        """The noise of the open nodes."""
        return {"open": self._open}

    def restore(self, arrays: Mapping[str, Integers]) -> None:
        """Take a `state` over."""
        if arrays["open"].shape != self._open.shape:
            raise ValueError("a state of another shape")
        self._open = arrays["open"]

    def _total_of(self, step: int) -> Integers:
        """The noise of the total at a step that has only nodes that are open."""
        total = np.zeros(self.numbers, dtype=self._open.dtype)
        for level in range(step.bit_length()):
            if step >> level & 1:
                total += self._open[level]
        return total

    def _keep(self, ended: Integers, start: int, stop: int) -> None:
        if ended.dtype == object and self._open.dtype != object:
            self._open = self._open.astype(object)
        for level in range(stop.bit_length()):
            end = stop >> level << level
            if stop >> level & 1 and end > start:
                self._open[level] = ended[end - start - 1]

    def _estimated(self, start: int, stop: int) -> Integers:
        """Of each tick the estimate for the largest node that ends there."""
        bits = self.unit_bits
        below = multiply_add(1 << bits, drawn(self._noise, stop - start, self.numbers), np.zeros(1, dtype=np.int64))
        ended = below.copy()
        for level in range(1, stop.bit_length()):
            ends = np.arange((start >> level) + 1, (stop >> level) + 1) << level
            if not len(ends):
                break
            right = below[(ends >> level - 1) - (start >> level - 1) - 1]
            lefts = (ends >> level - 1) - (start >> level - 1) - 2
            left = below[np.maximum(lefts, 0)]
            if lefts[0] < 0:
                left[0] = self._open[level - 1]
            own = multiply_add(1 << bits, drawn(self._noise, len(ends), self.numbers), np.zeros(1, dtype=np.int64))
            below = left + right + shares()[level].times(own - left - right)
            if below.dtype == object:
                ended = ended.astype(object)
            ended[ends - start - 1] = below
        return ended


@dataclass(frozen=True, slots=True)
class Weights:
    """Of what a total is made: `times` independent noises of each node law with each of the `sizes` as weight."""

    sizes: NDArray[np.float64]
    times: NDArray[np.float64]

    @property
    def squared(self) -> float:
        """The sum of their squares."""
        return float(self.times @ self.sizes**2)


def drawn(noise: IntegerNoise, ticks: int, numbers: int) -> Integers:
    """Fresh noise, ticks × numbers."""
    size = ticks * numbers
    flat = discrete_laplace(noise.scale, size) if noise.law == "laplace" else discrete_gaussian(noise.scale**2, size)
    return flat.reshape(ticks, numbers)


def variance(noise: IntegerNoise) -> float:
    """Of one node."""
    of_law = discrete_laplace_variance if noise.law == "laplace" else discrete_gaussian_variance
    return of_law(noise.scale)


def online_bits(noise: IntegerNoise) -> int:
    """The binary digits of estimates behind the point."""
    return 0 if noise.scale > _WIDE else _ONLINE_BITS


@lru_cache(maxsize=1)
def shares() -> tuple[Multiplier, ...]:
    """How much of its own measurement is in the estimate of a node, by level: v_l, from v_0 = 1.

    v_l = 1/(1 + 1/(2·v_{l−1})) is also the variance of the estimate, beside that of a measurement.
    """
    found, share = [], Fraction(1)
    for _ in range(LEVELS):
        found.append(Multiplier.near(share))
        share = 2 * found[-1].value / (1 + 2 * found[-1].value)
    return tuple(found)


@lru_cache(maxsize=2)
def _gains(*, online: bool) -> NDArray[np.float64]:
    """[l, i]: the weight that each node of level i below a node of level l has in its noise."""
    gains = np.eye(LEVELS)
    if online:
        own = np.array([float(share.value) for share in shares()])
        for level in range(1, LEVELS):
            gains[level] = gains[level - 1] * (1 - own[level])
            gains[level, level] = own[level]
    return gains


def weights(step: int, before: int, *, online: bool) -> Weights:
    """Of what the noise of the total at a step, less that of the total at an earlier one (or 0), is made.

    Both totals share the nodes above the highest bit in which they differ. There `step` has a node within which the
    nodes of the earlier total lie.

    Example:
        >>> weights(7, 0, online=False).squared, weights(8, 7, online=False).squared
        (3.0, 4.0)
        >>> round(weights(8, 0, online=True).squared, 3)  # v_3
        0.533
    """
    gains = _gains(online=online)
    top = (step ^ before).bit_length() - 1
    sizes, times = list[float](), list[int]()
    for level in (level for level in range(top) if step >> level & 1):
        sizes += gains[level, : level + 1].tolist()
        times += [1 << level - below for below in range(level + 1)]
    inside = [level for level in range(top) if before >> level & 1]
    for below in range(top + 1):
        shared = [level for level in inside if level >= below]
        sizes += [gains[top, below] - gains[level, below] for level in shared] + [gains[top, below]]
        counts = [1 << level - below for level in shared]
        times += [*counts, (1 << top - below) - sum(counts)]
    kept = [(abs(size), count) for size, count in zip(sizes, times, strict=True) if size and count]
    return Weights(np.array([size for size, _ in kept]), np.array([float(count) for _, count in kept]))
