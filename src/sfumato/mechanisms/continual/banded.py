"""Banded Toeplitz counters: a strategy of a few bands, so that events far enough apart never move the same number.

c(x) is (1 − x)^(−power) without all that is behind its first `bands` coefficients, which are rounded to whole multiples
of 2^−q. The power is chosen for the horizon; at 1/2 it is the square root, cut off.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.base import RunningNoise
from sfumato.mechanisms.continual.contribution import COUNT, Contribution
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, DecayingSum, SlidingWindow, Sums
from sfumato.mechanisms.continual.toeplitz import ToeplitzCounter, checked_counter, coarse_bits, set_noise
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian
from sfumato.noise.uniform.integers import SAFE, Integers, largest
from sfumato.numeric.rationals import Number, nonnegative, positive_integer, set_fields, sqrt_up
from sfumato.privacy.events import DiscreteGaussianEvent, Event, SelfComposedEvent

Floats = NDArray[np.float64]

LARGEST: Final = 1 << 20
"""So many ticks: the error is that of a recursion over all of them."""

MOST_BANDS: Final = 1 << 10
"""So many bands: as many ticks of noise are kept, and looked at again at each tick."""

_FINEST: Final = 30  # bits of a coefficient
_POWERS: Final = 64  # a power is a multiple of 1/64


@dataclass(frozen=True, slots=True, init=False)
class BandedToeplitz(ToeplitzCounter):
    """Releases the sum up to each tick with noise that depends on that of the last few ticks; for ρ-zCDP.

    The strategy is C with c_k = power·(power + 1)⋯(power + k − 1)/k! for k < `bands`, and 0 behind. Its noise is above
    that of the `SquareRoot` where the horizon is much longer than the bands. It is for units with many events, at least
    `bands` ticks apart: each then moves numbers of its own, by ‖c‖ in all, and k of them by √k·‖c‖ and no more. What
    one event moves is over `bands` ticks later, so that sampling amplifies [CGMMRTX23].

    **Guarantee**: ρ-zero-concentrated differential privacy of all releases together, for the privacy unit of
    `participation`, whose events keep to `contribution`. The stream may depend on earlier releases. The coefficients
    that count are the rounded ones, and no other rounding matters. Proof: proofs/mechanisms/continual/banded.md.

    ==============================================  ================================================================
    Edge case                                       Behavior
    ==============================================  ================================================================
    an empty tick                                   releases all the same
    behind the horizon                              ParameterError, and nothing is drawn
    events of a unit less than `bands` ticks apart  they move the same numbers, and noise is made for that
    more bands than ticks                           as many as ticks
    ==============================================  ================================================================

    Args:
        horizon: The last tick, at most 2^20.
        rho: ρ of all releases together, above 0.
        bands: From 1, which is independent noise at each tick, to 1,024.
        contribution: What one event may add at its tick.
        participation: How often the privacy unit has an event.
        sums: What is released.
        power: At least 0 and below 1, a multiple of 1/64; the one with the least largest error if not given.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> ten_passes = Participation(most=10, separation=100)
        >>> banded = BandedToeplitz(horizon=1000, rho="0.5", bands=100, participation=ten_passes)
        >>> round(banded.largest_stddev, 2), banded.memory, banded.power  # the square root has 16.54
        (14.39, 100, Fraction(39, 64))

    References:
        [CGMMRTX23] for bands; [KL24] for square roots that are cut off; [DMRST22] for streams that adapt.
    """

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    contribution: Contribution
    participation: Participation
    sums: Sums
    bands: int
    power: Fraction
    """Of (1 − x)^(−power)."""
    stddev_steps: Fraction
    lattice_bits: int
    event: Event = field(repr=False, compare=False)
    """The event of all releases of the horizon together, for accountants."""
    once: Event = field(repr=False, compare=False)
    """The event of all that one event of the unit moves: what sampling amplifies, if the unit is sampled each time."""

    def __init__(
        self,
        *,
        horizon: int,
        rho: Number,
        bands: int,
        contribution: Contribution = COUNT,
        participation: Participation = ONCE,
        sums: Sums = RUNNING_TOTAL,
        power: Number | None = None,
    ) -> None:
        set_fields(self, **checked_counter(horizon, LARGEST, rho, contribution, participation, sums))
        wide = min(positive_integer(bands, "bands", most=MOST_BANDS), self.horizon)
        set_fields(self, bands=wide, power=best_power(self.horizon, wide, sums) if power is None else _power(power))
        times = participation.within(self.horizon)
        bits = _FINEST
        while True:  # more noise may need a coarser lattice, for which coefficients are rounded anew
            column = rounded(self._exact, bits)
            set_noise(self, norm=sqrt_up(moved_squared(column, times, participation.separation, bits)), finest=bits)
            if self.lattice_bits == bits:
                break
            bits = self.lattice_bits
        alone = sqrt_up(moved_squared(column, 1, 1, bits)) * contribution.l2_sensitivity * (1 << bits)
        once = DiscreteGaussianEvent(self.stddev_steps, alone, contribution.l0_sensitivity * wide)
        set_fields(self, once=once)
        if times == 1 or participation.separation >= wide:
            set_fields(self, event=once if times == 1 else SelfComposedEvent(once, times))

    @property
    def memory(self) -> int:
        """The numbers that a running counter keeps for each number that it releases."""
        return self.bands + (self.sums.width if isinstance(self.sums, SlidingWindow) else 0)

    @property
    def _exact(self) -> tuple[Fraction, ...]:
        return coefficients(self.power, self.bands, self.sums.factor if isinstance(self.sums, DecayingSum) else 1)

    @property
    def _rounding_variance(self) -> float:
        unit_bits = coarse_bits(self.stddev_steps, self.lattice_bits)
        return 1 / 12 / 4.0**unit_bits if unit_bits < self.lattice_bits else 0.0

    def _noise(self, numbers: int) -> RunningNoise:
        column = rounded(self._exact, self.lattice_bits)
        unit_bits = coarse_bits(self.stddev_steps, self.lattice_bits)
        return BandedNoise(numbers, unit_bits, column, self.lattice_bits, self.stddev_steps**2)

    def _decoded_squared(self, step: int) -> float:
        return float(decoded_squares(self.horizon, self.bands, self.sums, self.power)[step - 1])


class BandedNoise(RunningNoise):
    """u_t = z_t − Σ c_k·u_{t−k}, rounded to steps; the last u are kept, in places that are used in turn."""

    __slots__ = ("_bits", "_coefficients", "_past", "_place", "_sizes", "_variance")

    def __init__(
        self, numbers: int, unit_bits: int, column: tuple[int, ...], lattice_bits: int, variance: Fraction
    ) -> None:
        super().__init__(numbers, unit_bits)
        self._coefficients, self._bits, self._variance = column[1:], lattice_bits, variance
        self._past: Integers = np.zeros((len(column) - 1, numbers), dtype=np.int64)
        self._sizes, self._place = [0] * (len(column) - 1), 0

    def draw(self, ticks: int) -> Integers:
        """The noise of the next ticks."""
        fresh = discrete_gaussian(self._variance, ticks * self.numbers).reshape(ticks, self.numbers)
        if largest(fresh.ravel()) << self.unit_bits > SAFE >> 1:
            fresh = fresh.astype(object)
        rows = [self._next(row) for row in fresh << self.unit_bits]
        return np.stack(rows) if rows else fresh

    def state(self) -> dict[str, Integers]:
        """The noise of the last ticks, the latest last."""
        return {"past": np.roll(self._past, -self._place, axis=0)}

    def restore(self, arrays: Mapping[str, Integers]) -> None:
        """Take a `state` over."""
        if arrays["past"].shape != self._past.shape:
            raise ValueError("a state of another shape")
        self._past, self._place = arrays["past"].copy(), 0
        self._sizes = [largest(row) for row in self._past]

    def _next(self, fresh: Integers) -> Integers:
        bands = len(self._coefficients)
        backward = [self._coefficients[(self._place - 1 - place) % bands] for place in range(bands)]
        most = sum(factor * size for factor, size in zip(backward, self._sizes, strict=True))
        past = self._past
        if most > SAFE >> 1 or object in (past.dtype, fresh.dtype):
            past, fresh = past.astype(object), fresh.astype(object)
        held = np.array(backward, dtype=past.dtype) @ past
        found: Integers = (fresh - held + (1 << self._bits - 1)) >> self._bits
        if bands:
            if found.dtype == object:
                self._past = self._past.astype(object)
            self._past[self._place], self._sizes[self._place] = found, largest(found)
            self._place = (self._place + 1) % bands
        return found


@lru_cache(maxsize=64)
def coefficients(power: Fraction, bands: int, factor: Fraction | int = 1) -> tuple[Fraction, ...]:
    """The first coefficients of (1 − factor·x)^(−power): positive, and falling.

    Example:
        >>> [str(each) for each in coefficients(Fraction(1, 2), 4)]
        ['1', '1/2', '3/8', '5/16']
    """
    found = [Fraction(1)]
    for place in range(1, bands):
        found.append(found[-1] * (power + place - 1) / place * factor)
    return tuple(found)


def rounded(column: tuple[Fraction, ...], bits: int) -> tuple[int, ...]:
    """Each in steps of 2^−bits, to the nearest: still none below 0 and none above the one before."""
    return tuple(floor(each * (1 << bits) + Fraction(1, 2)) for each in column)


def moved_squared(column: tuple[int, ...], times: int, separation: int, bits: int) -> Fraction:
    """At least ‖Σ_j c shifted by t_j‖² over ticks t_j of one unit; that of ticks that follow each other most closely.

    Inner products of columns fall with their distance, and are 0 from `bands` ticks on.

    Example:
        >>> [int(moved_squared((4, 2, 1), times=2, separation=apart, bits=0)) for apart in (1, 2, 3)]
        [62, 50, 42]
    """
    places = np.array(column, dtype=object)
    total = times * int(places @ places)
    for distance in range(1, min(times, -(-len(column) // separation))):
        lag = distance * separation
        total += 2 * (times - distance) * int(places[lag:] @ places[: len(column) - lag])
    return Fraction(total, 1 << 2 * bits)


@lru_cache(maxsize=16)
def decoded_squares(horizon: int, bands: int, sums: Sums, power: Fraction) -> Floats:
    """Of each tick ‖b‖², for the weights b of z in its sum: those of a(x)/c(x).

    Example:
        >>> decoded_squares(3, 2, RUNNING_TOTAL, Fraction(1, 2)).tolist()
        [1.0, 1.25, 1.8125]
    """
    factor = sums.factor if isinstance(sums, DecayingSum) else Fraction(1)
    column = np.array([float(each) for each in coefficients(power, bands, factor)])
    impulse = np.zeros(horizon)
    impulse[0] = 1.0
    summed = lfilter([1.0], [1.0, -float(factor)], lfilter([1.0], column, impulse))
    if isinstance(sums, SlidingWindow):
        summed[sums.width :] -= summed[: -sums.width].copy()
    found: Floats = np.cumsum(summed**2)
    found.setflags(write=False)
    return found


def _power(value: Number) -> Fraction:
    found = nonnegative(value, "power")
    if found >= 1 or _POWERS % found.denominator:
        raise ParameterError("power", value, f"must be a multiple of 1/{_POWERS} below 1")
    return found


@lru_cache(maxsize=64)
def best_power(horizon: int, bands: int, sums: Sums) -> Fraction:
    """The multiple of 1/64, at least 0 and below 1, with the least largest error; the error falls up to it, then grows.

    Example:
        >>> [str(best_power(256, bands, RUNNING_TOTAL)) for bands in (2, 16, 256)]
        ['55/64', '11/16', '1/2']
    """
    factor = sums.factor if isinstance(sums, DecayingSum) else 1

    def error(numerator: int) -> float:
        power = Fraction(numerator, _POWERS)
        norm = sum(float(each) ** 2 for each in coefficients(power, bands, factor))
        return norm * float(decoded_squares(horizon, bands, sums, power)[-1])

    low, high = 0, _POWERS - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= error(middle + 1) else (middle + 1, high)
    return Fraction(low, _POWERS)
