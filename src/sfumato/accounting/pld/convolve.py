"""Composition of distributions: tilt, transform, raise to powers, transform back; with a bound of every rounding error.

Exponential tilting weights large losses up: cumulants say where the composed loss then lies, and how far it spreads.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.pld.discretize import UNIT, LossDistribution
from sfumato.accounting.profiles.profile import Array

_MOST_AT_HIGHEST: Final = 0.7
_SMALLEST_TILT: Final = 2.0**-40
_TURNS: Final = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0)


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the composed loss with weights e^(tilt·loss): the logarithm of their sum, the mean, and the variance."""

    log_sum: float
    mean: float
    variance: float


class Cumulants:
    """The finite losses of some distributions, composed so many times each, as functions of the tilt.

    They only say where to look; no bound rests on them but through `log_sum`, which counts masses that all are
    positive.
    """

    def __init__(self, laws: Sequence[LossDistribution], counts: Sequence[int]) -> None:
        masses = [law.masses for law in laws]
        losses = [law.losses for law in laws]
        kept = [np.flatnonzero(mass) for mass in masses]
        self._losses = np.concatenate([loss[index] for loss, index in zip(losses, kept, strict=True)])
        self._logs = np.log(np.concatenate([mass[index] for mass, index in zip(masses, kept, strict=True)]))
        self._starts = np.cumsum([0, *(len(index) for index in kept)])[:-1]
        self._sizes = np.array([len(index) for index in kept])
        self._counts = np.array([float(count) for count in counts])
        self._log_highest = float(self._counts @ self._logs[np.append(self._starts[1:], len(self._logs)) - 1])
        self._step = laws[0].step
        self._lowests = np.array([float(law.lowest) for law in laws])
        self._finest_variance = (self._step / 64) ** 2
        self.lowest = float(self._counts @ np.minimum.reduceat(self._losses, self._starts))
        self.highest = float(self._counts @ np.maximum.reduceat(self._losses, self._starts))

    def single_positions(self, tilt: float) -> list[float]:
        """The tilted mean of each distribution, as an index of its masses."""
        means = np.add.reduceat(self._tilted(tilt)[1] * self._losses, self._starts)
        return [float(place) for place in (means - self._lowests) / self._step]

    def moments(self, tilt: float) -> Moments:
        """Moments of the composed loss at a tilt."""
        logs, weights = self._tilted(tilt)
        means = np.add.reduceat(weights * self._losses, self._starts)
        centered = self._losses - np.repeat(means, self._sizes)
        variances = np.add.reduceat(weights * centered**2, self._starts)
        return Moments(float(self._counts @ logs), float(self._counts @ means), float(self._counts @ variances))

    def log_sum(self, tilt: float) -> float:
        """The logarithm of the sum of all composed masses, weighted by e^(tilt·loss)."""
        return float(self._counts @ self._tilted(tilt)[0])

    def tilt_for_delta(self, delta: float) -> float:
        """The tilt whose Chernoff bound is about δ where the tilted losses lie: tilt·mean − log_sum = ln 1/δ.

        Where the highest loss of all is likelier than δ, a tilt at which it is about as likely as all others together.
        """

        def is_enough(tilt: float) -> bool:
            moments = self.moments(tilt)
            return tilt * moments.mean - moments.log_sum >= -math.log(delta) or self._is_at_end(tilt, moments)

        return self._smallest_tilt(is_enough)

    def tilt_for_loss(self, epsilon: float) -> float:
        """The tilt of 0 or more that brings the mean to about ε, or as above where ε lies near or beyond all losses."""
        if self.moments(0.0).mean >= epsilon:
            return 0.0

        def is_enough(tilt: float) -> bool:
            moments = self.moments(tilt)
            return moments.mean >= epsilon or self._is_at_end(tilt, moments)

        return self._smallest_tilt(is_enough)

    def _is_at_end(self, tilt: float, moments: Moments) -> bool:
        """Whether the highest loss has about half of the tilted probability."""
        return self._log_highest + tilt * self.highest - moments.log_sum > -_MOST_AT_HIGHEST

    def window(self, tilt: float, stray: float) -> tuple[float, float]:
        """Losses below the first, and above the second, have at most a tilted probability `stray` each (Chernoff)."""
        center = self.moments(tilt)
        wanted = -math.log(stray)
        typical = math.sqrt(2 * wanted / max(center.variance, self._finest_variance))
        bottom, top = self.lowest, self.highest
        for turn in (typical * factor for factor in _TURNS):
            above = (self.log_sum(tilt + turn) - center.log_sum + wanted) / turn
            below = (center.log_sum - self.log_sum(tilt - turn) - wanted) / turn
            bottom, top = max(bottom, below), min(top, above)
        return min(bottom, center.mean), max(top, center.mean)

    def _smallest_tilt(self, is_enough: Callable[[float], bool]) -> float:
        """About the smallest tilt that is enough; none sets neighboring losses more than e^40 apart."""
        highest, tilt = 40 / self._step, 1.0
        while tilt < highest and not is_enough(tilt):
            tilt *= 2
        while tilt > _SMALLEST_TILT and is_enough(tilt / 2):
            tilt /= 2
        enough = tilt
        tilt *= 0.75
        for share in (enough / 8, enough / 16):
            tilt += -share if is_enough(tilt) else share
        return min(tilt, highest)

    def _tilted(self, tilt: float) -> tuple[Array, Array]:
        """The log-sum of each distribution, and the weights of its losses, which add up to 1."""
        exponents = self._logs + tilt * self._losses
        largest = np.maximum.reduceat(exponents, self._starts)
        weights = np.exp(exponents - np.repeat(largest, self._sizes))
        sums = np.add.reduceat(weights, self._starts)
        return largest + np.log(sums), weights / np.repeat(sums, self._sizes)


LARGEST_SIZE: Final = 2**21
STRAY: Final = 1e-13
"""The tilted probability that a window may leave out on each side."""

_FFT_ERROR: Final = 8 * UNIT  # relative, in L2, for each doubling of the size [Hig02] Theorem 24.2
_PRODUCT_ERROR: Final = 2.5 * UNIT  # of a product of complex numbers: √5 u [BPZ07]
_UNDERFLOW: Final = 1e-290
_LARGEST_GROWTH: Final = 1.0
_LARGEST_DOUBT: Final = 100.0  # of the logarithm of what is composed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Composition:
    """The composed distribution within a window, tilted: mass i is masses[i]·exp(log_scale − tilt·(loss i − center)).

    What is not exact is bounded: the errors of `masses` by `error` in L2, that of the whole by the factor
    1 ± `relative_error`, and what lies outside the window by `stray` on each side, tilted.
    """

    center: Fraction
    first: int
    """The first mass has loss center + first·step."""
    step: float
    masses: Array
    tilt: float
    log_scale: float
    infinite_mass: float
    error: float
    relative_error: float
    stray: float
    is_complete_below: bool
    """Whether no loss lies below the window."""


def compose(
    laws: Sequence[LossDistribution], counts: Sequence[int], *, cumulants: Cumulants, tilt: float, is_upper: bool
) -> Composition | None:
    """The distributions, so many times each, about the mean of the tilted composed loss.

    **Guarantee**: the bounds that the result states. Proof: proofs/accounting/pld/accountant.md §4.

    Edge cases: None where the window has too many losses, or where counts are so large that rounding drowns the result.

    Args:
        laws: All of the same step, each with some finite loss.
        counts: How often each is composed.
        cumulants: Of these distributions and counts.
        tilt: 0 or more.
        is_upper: How the infinite mass is rounded.
    """
    step = laws[0].step
    bottom, top = cumulants.window(tilt, STRAY)
    size = _fft_size((top - bottom) / step + 4)
    if size > LARGEST_SIZE:
        return None
    centers = [round(position) for position in cumulants.single_positions(tilt)]
    found = _product(laws, counts, centers, tilt=tilt, size=size)
    if found is None:
        return None
    product, factors = found
    masses = np.fft.irfft(product, size)
    total, norm = sum(counts), _norm(masses) * 1.01
    products = _PRODUCT_ERROR * (total + len(laws)) * norm
    transforms = factors.transforms * math.exp(factors.growth) / math.sqrt(size) + 2 * _fft_error(size) * norm
    center = sum(
        (count * (law.lowest + at * Fraction(step)) for law, count, at in zip(laws, counts, centers, strict=True)),
        start=Fraction(0),
    )
    first = math.floor((Fraction(bottom) - center) / Fraction(step)) - 1
    is_complete_below = bottom <= cumulants.lowest
    return Composition(
        center=center,
        first=first,
        step=step,
        masses=np.maximum(np.roll(masses, -first % size), 0.0),
        tilt=tilt,
        log_scale=factors.log_scale,
        infinite_mass=infinite_mass(laws, counts, is_upper=is_upper),
        error=products + transforms + _UNDERFLOW,
        relative_error=math.expm1(factors.exponents),
        stray=0.0 if is_complete_below and top >= cumulants.highest else STRAY,
        is_complete_below=is_complete_below,
    )


@dataclass(slots=True)
class _Factors:
    """What adds up over the distributions."""

    log_scale: float = 0.0
    transforms: float = 0.0
    """Σ count times the L2 error of the transform."""
    exponents: float = 0.0
    """Σ count times the relative error of the tilted masses."""
    growth: float = 0.0
    """By the exponential of this the moduli of all factors together may exceed 1."""


def _product(
    laws: Sequence[LossDistribution], counts: Sequence[int], centers: Sequence[int], *, tilt: float, size: int
) -> tuple[NDArray[np.complex128], _Factors] | None:
    """None where the counts are so large that rounding may let it grow."""
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    factors, magnitude = _Factors(), 0.0
    for law, count, center in zip(laws, counts, centers, strict=True):
        tilted, log_sum, largest = _tilted(law, center, tilt)
        wrapped = _wrapped(tilted, center, size)
        transform = _fft_error(size) * math.sqrt(size) * _norm(wrapped)
        factors.log_scale += count * log_sum
        factors.transforms += count * transform
        factors.growth += count * (transform + UNIT * 64)
        if not factors.growth <= _LARGEST_GROWTH:
            return None
        product *= _power(np.fft.rfft(wrapped), count)
        factors.exponents += count * UNIT * (3 * largest + 4 * abs(log_sum) + 16 + len(tilted) / size)
        magnitude += count * abs(log_sum)
    factors.exponents += UNIT * len(laws) * 2 * magnitude
    return (product, factors) if factors.exponents <= _LARGEST_DOUBT else None


def _tilted(law: LossDistribution, center: int, tilt: float) -> tuple[Array, float, float]:
    """Masses times e^(tilt·(loss − loss of the center)), scaled to sum to 1; the scale; the largest exponent."""
    exponents = (tilt * law.step) * np.arange(-center, len(law.masses) - center)
    used = law.masses > 0
    with np.errstate(divide="ignore"):
        logs = np.log(law.masses) + exponents
    highest = float(logs.max())
    log_sum = highest + math.log(float(np.exp(logs - highest).sum()))
    # Of a mass near the smallest float the exponent may leave the range of exp, but half of it cannot.
    half = np.exp(np.where(used, (exponents - log_sum) / 2, 0.0))
    tilted = law.masses * half * half
    return tilted, log_sum, float(np.abs(exponents[used]).max())


def _wrapped(masses: Array, center: int, size: int) -> Array:
    """Mass i at place (i − center) mod size."""
    if len(masses) > size:
        padded = np.zeros(math.ceil(len(masses) / size) * size)
        padded[: len(masses)] = masses
        masses = padded.reshape(-1, size).sum(axis=0)
    result, turn = np.zeros(size), -center % size
    straight = masses[: size - turn]
    result[turn : turn + len(straight)] = straight
    result[: len(masses) - len(straight)] = masses[len(straight) :]
    return result


def _power(values: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """By repeated squaring: count − 1 products go into each result, each with its rounding error."""
    result: NDArray[np.complex128] | None = None
    while True:
        if count & 1:
            result = values if result is None else result * values
        count >>= 1
        if not count:
            return values if result is None else result
        values = values * values


def _norm(values: Array) -> float:
    """The L2 norm; NumPy's own starts threads for it."""
    return math.sqrt(float(np.square(values).sum()))


def _fft_size(least: float) -> int:
    """The next power of two, or one and a half of one."""
    power = 1 << max(4, math.ceil(math.log2(least)))
    return power * 3 // 4 if power * 3 // 4 >= least else power


def _fft_error(size: int) -> float:
    return _FFT_ERROR * math.log2(size)


def infinite_mass(laws: Sequence[LossDistribution], counts: Sequence[int], *, is_upper: bool) -> float:
    """Π (finite + infinite)^count − Π finite^count, rounded up or down: some loss is infinite."""
    log_total, log_finite = 0.0, 0.0
    for law, count in zip(laws, counts, strict=True):
        finite = float(law.masses.sum())
        total = finite + law.infinite_mass
        if not finite:
            return total if is_upper else 0.0
        log_total += count * math.log(total)
        log_finite += count * math.log1p(-law.infinite_mass / total)
    if not log_finite:
        return 0.0
    slack = 64 * UNIT * (sum(counts) + abs(log_total))
    sign = 1 if is_upper else -1
    bound = math.exp(min(log_total, 1.0) + sign * slack) * -math.expm1(log_finite) * (1 + sign * 1e-13)
    return min(bound, 1.0)
