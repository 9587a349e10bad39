"""Square-root counters: nearly the least error for totals, windows and decaying sums, at a horizon's memory.

The sums are A·x with a(x) = 1/(1 − x), or its like, and C = A^(1/2) is Toeplitz with the coefficients of a(x)^(1/2).
Here they are rounded to whole multiples of 2^−q, and u to multiples of 2^−s, so that C·x is a vector of whole steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from sfumato.mechanisms.continual.base import RunningNoise
from sfumato.mechanisms.continual.contribution import COUNT, Contribution
from sfumato.mechanisms.continual.convolution import convolved
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, DecayingSum, SlidingWindow, Sums
from sfumato.mechanisms.continual.toeplitz import ToeplitzCounter, checked_counter, coarse_bits, rounded_up, set_noise
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian
from sfumato.noise.uniform.integers import SAFE, Integers, largest
from sfumato.numeric.rationals import Number, set_fields, sqrt_up
from sfumato.privacy.events import Event

Floats = NDArray[np.float64]

LARGEST: Final = 1 << 20
"""So many ticks: all earlier noise is kept, and looked at again at each tick."""

_FINEST: Final = 30  # bits of a coefficient
_DIRECT: Final = 64  # ticks of a block that are gone through one by one
_FLOAT_MARGIN: Final = 1 + 1e-6  # what squares of a window's coefficients may lose in a Fourier transform


@dataclass(frozen=True, slots=True, init=False)
class SquareRoot(ToeplitzCounter):
    """Releases the sum up to each tick with nearly the least noise that any strategy has; for ρ-zCDP.

    The largest standard deviation of running totals is ‖c‖²/√(2ρ) times the L2 sensitivity, with c_k = C(2k, k)/4^k, so
    that ‖c‖² ≤ 1 + (0.58 + ln n)/π: 4.6 at 2^16 ticks, where a tree has 16.5. `BufferedToeplitz` comes within 0.5% of
    that with four numbers of memory; this one keeps the noise of all ticks.

    A sliding window and a decaying sum have a strategy of their own, a(x)^(1/2) for a(x) = (1 − x^width)/(1 − x) and
    a(x) = 1/(1 − factor·x). Their noise stays the same however long the horizon is.

    **Guarantee**: ρ-zero-concentrated differential privacy of all releases together, for the privacy unit of
    `participation`, whose events keep to `contribution`. The stream may depend on earlier releases. The coefficients
    that count are the rounded ones, and no other rounding matters. Proof: proofs/mechanisms/continual/square_root.md.

    ==================  ==============================================
    Edge case           Behavior
    ==================  ==============================================
    an empty tick       releases all the same
    behind the horizon  ParameterError, and nothing is drawn
    ==================  ==============================================

    Args:
        horizon: The last tick, at most 2^20.
        rho: ρ of all releases together, above 0.
        contribution: What one event may add at its tick.
        participation: How often the privacy unit has an event.
        sums: What is released.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> weekly = SquareRoot(horizon=1024, rho="0.5", sums=SlidingWindow(7))
        >>> round(SquareRoot(horizon=1024, rho="0.5").largest_stddev, 3), round(weekly.largest_stddev, 3)
        (3.285, 1.802)

    References:
        [FHU23], [HUU23] for the square root; [DMRST22] for streams that adapt.
    """

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    contribution: Contribution
    participation: Participation
    sums: Sums
    stddev_steps: Fraction
    lattice_bits: int
    event: Event = field(repr=False, compare=False)
    """The event of all releases of the horizon together, for accountants."""

    def __init__(
        self,
        *,
        horizon: int,
        rho: Number,
        contribution: Contribution = COUNT,
        participation: Participation = ONCE,
        sums: Sums = RUNNING_TOTAL,
    ) -> None:
        set_fields(self, **checked_counter(horizon, LARGEST, rho, contribution, participation, sums))
        times = participation.within(self.horizon)
        ideal = rounded_up(moved_squared(coefficients(self.horizon, sums), participation, sums), times)
        off = sqrt_up(Fraction(self.horizon)) * times
        # Each coefficient is off by less than a step, and so by less than that the columns of one unit together.
        # More noise may need a coarser lattice, on which they are off by more: until the lattice stays.
        finest = _FINEST
        set_noise(self, norm=ideal + off / (1 << finest), finest=finest)
        while self.lattice_bits < finest:
            finest = self.lattice_bits
            set_noise(self, norm=ideal + off / (1 << finest), finest=finest)

    @property
    def memory(self) -> int:
        """The numbers that a running counter keeps for each number that it releases."""
        return self.horizon + 1 + (self.sums.width if isinstance(self.sums, SlidingWindow) else 0)

    @property
    def unit_bits(self) -> int:
        """The steps of u are 2^−unit_bits."""
        return coarse_bits(self.stddev_steps, self.lattice_bits)

    @property
    def _rounding_variance(self) -> float:
        return 1 / 12 / 4.0**self.unit_bits if self.unit_bits < self.lattice_bits else 0.0

    def _noise(self, numbers: int) -> RunningNoise:
        steps = rounded_coefficients(self.horizon, self.sums, self.lattice_bits)
        return SquareRootNoise(numbers, self.unit_bits, steps, self.lattice_bits, self.stddev_steps**2)

    def _decoded_squared(self, step: int) -> float:
        row = coefficients(self.horizon, self.sums)[:step]
        return float(row @ row)


class SquareRootNoise(RunningNoise):
    """u_t = z_t − Σ c_k·u_{t−k}, rounded to steps; all earlier u are kept."""

    __slots__ = ("_bits", "_coefficients", "_past", "_variance")

    def __init__(self, numbers: int, unit_bits: int, steps: Integers, lattice_bits: int, variance: Fraction) -> None:
        super().__init__(numbers, unit_bits)
        self._coefficients, self._bits, self._variance = steps, lattice_bits, variance
        self._past: Integers = np.zeros((0, numbers), dtype=np.int64)

    def draw(self, ticks: int) -> Integers:
        """The noise of the next ticks."""
        noise = discrete_gaussian(self._variance, ticks * self.numbers).reshape(ticks, self.numbers)
        held = self._of_past(ticks)
        noise = (
            noise << self.unit_bits
            if largest(noise.ravel()) << self.unit_bits <= SAFE >> 1
            else (noise.astype(object) << self.unit_bits)
        )
        drawn = self._solved(noise - held)
        self._past = np.concatenate([self._past, drawn])
        return drawn

    def state(self) -> dict[str, Integers]:
        """All earlier noise."""
        return {"past": self._past}

    def restore(self, arrays: Mapping[str, Integers]) -> None:
        """Take a `state` over."""
        if arrays["past"].ndim != 2 or arrays["past"].shape[1] != self.numbers:  # noqa: PLR2004 # ticks × numbers
            raise ValueError("a state of another shape")
        self._past = arrays["past"]

    def _of_past(self, ticks: int) -> Integers:
        """Of each next tick Σ c_k·u over what was before the first of them."""
        before = len(self._past)
        if before == 0 or ticks == 0:
            return np.zeros((ticks, self.numbers), dtype=np.int64)
        if ticks == 1:
            return _product(self._coefficients[before:0:-1], self._past)[np.newaxis]
        whole = convolved(self._coefficients[: before + ticks], self._past)
        return whole[before : before + ticks]

    def _solved(self, rest: Integers) -> Integers:
        """U for what z leaves: the first half, and the second without what the first half adds to it."""
        if len(rest) <= _DIRECT:
            return self._one_by_one(rest)
        half = len(rest) // 2
        first = self._solved(rest[:half])
        added = convolved(self._coefficients[: len(rest)], first)[half : len(rest)]
        return np.concatenate([first, self._solved(rest[half:] - added)])

    def _one_by_one(self, rest: Integers) -> Integers:
        found = np.zeros(rest.shape, dtype=rest.dtype)
        half = 1 << self._bits - 1
        for tick, row in enumerate(rest):
            held = _product(self._coefficients[tick:0:-1], found[:tick]) if tick else 0
            found[tick] = (row - held + half) >> self._bits
        return found


def _product(factors: Integers, rows: Integers) -> Integers:
    """Σ factor·row, exactly."""
    if rows.dtype != object and len(rows) * largest(rows.ravel()) * largest(factors) > SAFE:
        rows = rows.astype(object)
    total: Integers = factors @ rows
    return total


@lru_cache(maxsize=16)
def coefficients(horizon: int, sums: Sums) -> Floats:
    """The first coefficients of a(x)^(1/2), to a few units in the last place.

    Example:
        >>> coefficients(4, RUNNING_TOTAL).tolist(), coefficients(4, SlidingWindow(2)).tolist()
        ([1.0, 0.5, 0.375, 0.3125], [1.0, 0.5, -0.125, 0.0625])
    """
    places = np.arange(1, horizon)
    found: Floats = np.cumprod(np.concatenate([[1.0], (2 * places - 1) / (2 * places)]))
    if isinstance(sums, DecayingSum):
        found = found * float(sums.factor) ** np.arange(horizon)
    elif isinstance(sums, SlidingWindow) and sums.width < horizon:
        found = _of_window(horizon, sums.width)
    found.setflags(write=False)
    return found


def _of_window(horizon: int, width: int) -> Floats:
    """By the differential equation of f = ((1 − x^w)/(1 − x))^(1/2).

    (1 − x)(1 − x^w)·f′ = ½·(1 − x^w − w·x^(w−1)·(1 − x))·f, compared coefficient by coefficient.
    """
    found = [0.0] * width + [1.0]  # so many zeros before the first, so that no place is negative
    for place in range(horizon - 1):
        here, after, before = found[place + width], found[place + 1], found[place]
        sloped = place * here + (place + 1 - width) * after - (place - width) * before
        found.append((sloped + (here - before - width * (after - before)) / 2) / (place + 1))
    return np.array(found[width:])


@lru_cache(maxsize=16)
def rounded_coefficients(horizon: int, sums: Sums, bits: int) -> Integers:
    """Coefficients in steps of 2^−bits, of which the first is 1: differences of rounded sums, so that errors cancel."""
    edges = np.rint(np.cumsum(coefficients(horizon, sums)) * 2.0**bits).astype(np.int64)
    return np.diff(edges, prepend=0)


def moved_squared(column: Floats, participation: Participation, sums: Sums) -> float:
    """At least ‖Σ_j c shifted by t_j‖² for the ticks t_j of one unit, within the horizon.

    Coefficients of totals and decaying sums are at least 0 and fall, so the worst is to start at
    the first tick and come as often as allowed. Those of windows change their sign; there the inner products of |c|
    with itself at all distances that are allowed are taken.
    """
    times, apart = participation.within(len(column)), participation.separation
    sizes = np.abs(column)
    if times == 1:
        return float(sizes @ sizes)
    if not isinstance(sums, SlidingWindow) and bool((np.diff(column) <= 0).all() and column[-1] >= 0):
        moved = np.zeros(len(column))
        for start in range(0, times * apart, apart):
            moved[start:] += column[: len(column) - start]
        return float(moved @ moved)
    length = next_fast_len(2 * len(sizes))
    products = irfft(np.abs(rfft(sizes, length)) ** 2, length)[: len(sizes)] * _FLOAT_MARGIN
    worst = np.maximum.accumulate(products[::-1])[::-1]
    lags = np.arange(1, times)
    return float(times * products[0] + 2 * ((times - lags) @ worst[lags * apart]))
