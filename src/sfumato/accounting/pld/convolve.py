"""Composition of laws: tilt, transform, raise to powers, transform back; with a bound of every rounding error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.pld.cumulants import Cumulants
from sfumato.accounting.pld.law import UNIT, Law
from sfumato.accounting.profiles.profile import Array

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
    """The composed law within a window, tilted: mass i is masses[i]·exp(log_scale − tilt·(loss i − center)).

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
    laws: Sequence[Law], counts: Sequence[int], *, cumulants: Cumulants, tilt: float, is_upper: bool
) -> Composition | None:
    """The laws, so many times each, about the mean of the tilted composed loss.

    **Guarantee**: the bounds that the result states. Proof: proofs/accounting/pld/accountant.md §4.

    Edge cases: None where the window has too many losses, or where counts are so large that rounding drowns the result.

    Args:
        laws: All of the same step, each with some finite loss.
        counts: How often each is composed.
        cumulants: Of these laws and counts.
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
    """What adds up over the laws."""

    log_scale: float = 0.0
    transforms: float = 0.0
    """Σ count times the L2 error of the transform."""
    exponents: float = 0.0
    """Σ count times the relative error of the tilted masses."""
    growth: float = 0.0
    """By the exponential of this the moduli of all factors together may exceed 1."""


def _product(
    laws: Sequence[Law], counts: Sequence[int], centers: Sequence[int], *, tilt: float, size: int
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


def _tilted(law: Law, center: int, tilt: float) -> tuple[Array, float, float]:
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


def infinite_mass(laws: Sequence[Law], counts: Sequence[int], *, is_upper: bool) -> float:
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
