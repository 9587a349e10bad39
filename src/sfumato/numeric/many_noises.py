"""Half-widths of weighted sums of many integer noises, by their characteristic functions.

For independent noises Zᵢ and weights w, S = Σ wᵢ·Zᵢ has the characteristic function Π φᵢ(wᵢ·u), each factor of which is
known and lies between 0 and 1. With a narrow normal V added, that of S + V falls fast, so that few terms of a Fourier
series give the probability that S + V lies within ±t, on a circle too long for S to go around. Nothing is assumed of
how near S is to a normal law, and all that is left out is bounded.

Proof: proofs/numeric/moments.md.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from scipy.special import erf

from sfumato.numeric.distributions import discrete_laplace_variance
from sfumato.numeric.noise_sums import Floats, IntegerNoise, NoiseSums

MOST_WORK: Final = 1 << 20
"""So many different weights may all sums have that are asked at once: some seconds."""

LEAST_FAILURE: Final = Fraction(1, 10**6)
"""Below it Chernoff's bound is taken: what is left out of a series must be small beside it."""

_NARROW: Final = 1 / 400  # the stddev of V, beside that of S
_SHIFT: Final = 3.0  # stddevs of V by which S may be farther out than S + V
_BEYOND: Final = 8.0  # stddevs of V that it passes less often than once in 10^15
_FALLEN: Final = 22.0  # V alone makes the terms beyond the last one less than e^−22
_NEGLIGIBLE: Final = 1e-15  # a term that is left out
_ROUNDING: Final = 1e-9  # more than that of all terms that are added up, and than what is beyond the last one
_ALIAS: Final = Fraction(1, 10**4)  # of the failure: how often S may go around the circle, or be moved by rounding
_UNIT: Final = 2.0**-40  # of the widest part; so that weights that differ by rounding alone are one
_HALVINGS: Final = 20
_PORTIONS: Final = (0, 4, 16, 64, None)  # the largest weights first, after which most terms are negligible
_BLOCK: Final = 256  # so many weights are looked at at once, so that little memory is needed
_STEP: Final = math.sqrt(2 * _FALLEN) / (2 * math.pi) / (1 << 16)  # so that no series has more than 2^16 terms or so
_WORK_OF_A_SUM: Final = 256  # different weights that take as long as what a sum takes beside them
_MOST_SUMS: Final = 1 << 12
_MOST_WEIGHTS: Final = 1 << 22
_MOST_FEW: Final = 6  # so many noises are convolved in closed form
_FEW: Final = 1e-3  # of the largest weight is the stddev where noise is so rare that a union bound is sharp
_TILTS: Final = np.linspace(0.02, 0.98, 49)[:, np.newaxis]  # every one gives a bound
_LEAST: Final = 1e-300
_WIDE: Final = 1  # from this stddev of a Gaussian on, the series of Poisson's formula is the shorter one
_PERIODS: Final = (2 * math.pi * np.arange(-2, 3)).tolist()
_STEPS: Final = range(1, 13)


class _Part(NamedTuple):
    """One distribution in a sum: the different sizes of its weights, from the largest on, and how often each stands."""

    noise: IntegerNoise
    sizes: Floats
    times: Floats

    @property
    def variance(self) -> float:
        """Of this part of the sum; of a Gaussian one a bit more."""
        scale = self.noise.scale
        of_one = discrete_laplace_variance(scale) if self.noise.law == "laplace" else float(scale) ** 2
        return float(self.times @ self.sizes**2) * of_one


def are_few(sums: int, noises: int) -> bool:
    """Whether there are so few sums, of so few noises, that each may be looked at by itself."""
    return sums <= _MOST_SUMS and sums * noises <= _MOST_WEIGHTS


def half_widths_of_sums(noises: Sequence[IntegerNoise], weights: Floats, failure: Fraction) -> Floats:
    """For each row of weights what |Σ wᵢ·Zᵢ| passes with at most the probability `failure`.

    It is about a hundredth more than the quantile; of a single noise it is the quantile. Of very many different weights
    in all it is Chernoff's bound, which takes less time.

    Args:
        noises: The distribution of each Zᵢ.
        weights: One row a sum, one column a noise.
        failure: Between 0 and 1.

    Example:
        >>> counts = [IntegerNoise("laplace", Fraction(1))] * 100
        >>> half_widths_of_sums(counts, np.ones((1, 100)), Fraction(1, 20)).round(1).tolist()  # stddev 13.6
        [27.1]
    """
    columns: dict[IntegerNoise, list[int]] = {}
    for place, noise in enumerate(noises):
        if noise.scale > 0:
            columns.setdefault(noise, []).append(place)
    # All noises together lie within these, but for a ten-thousandth of the failures.
    reaches = {one: len(own) * one.half_width(failure * _ALIAS / len(noises)) for one, own in columns.items()}
    sums, moved = list[list[_Part]](), list[float]()
    for row in np.abs(weights):
        widest = max((float(row[own].max()) * float(noise.scale) for noise, own in columns.items()), default=0.0)
        units = {noise: widest / float(noise.scale) * _UNIT for noise in columns} if widest else {}
        sums.append([part for noise, unit in units.items() for part in _parts(noise, row[columns[noise]] / unit, unit)])
        moved.append(sum(unit / 2 * reaches[noise] for noise, unit in units.items()))
    is_quick = sum(_WORK_OF_A_SUM + sum(len(part.sizes) for part in parts) for parts in sums) <= MOST_WORK
    found = [
        _half_width(parts, failure, is_quick=is_quick)
        if sum(float(part.times.sum()) for part in parts) <= 1
        else _half_width(parts, failure * (1 - _ALIAS), is_quick=is_quick) + own
        for parts, own in zip(sums, moved, strict=True)
    ]
    return np.array(found)


@lru_cache(maxsize=256)
def half_width_of_equals(noise: IntegerNoise, number: int, failure: Fraction) -> float:
    """What the plain sum of so many equal noises passes with at most the probability `failure`.

    Example:
        >>> round(half_width_of_equals(IntegerNoise("laplace", Fraction(1)), 100, Fraction(1, 20)), 1)
        27.1
    """
    return _half_width(list(_parts(noise, np.array([1.0]), 1.0, number)), failure, is_quick=True)


def half_width_of_repeated(parts: Sequence[tuple[IntegerNoise, Floats, Floats]], failure: Fraction) -> float:
    """What a sum of very many noises with few different weights passes with at most the probability `failure`.

    Args:
        parts: A distribution, the sizes of its weights, and how often each stands.
        failure: Between 0 and 1.

    Example:
        >>> counts = (IntegerNoise("laplace", Fraction(1)), np.array([0.5, 1.0]), np.array([1e6, 100.0]))
        >>> round(half_width_of_repeated([counts], Fraction(1, 20)))
        1336
    """
    ordered = [(noise, *_descending(sizes, times)) for noise, sizes, times in parts]
    return _half_width([_Part(*part) for part in ordered if len(part[1])], failure, is_quick=True)


def _descending(sizes: Floats, times: Floats) -> tuple[Floats, Floats]:
    different, places = np.unique(sizes, return_inverse=True)
    return different[::-1], np.bincount(places, weights=times).astype(np.float64)[::-1]


def _parts(noise: IntegerNoise, steps: Floats, unit: float, number: int = 1) -> Iterator[_Part]:
    """The part of some weights in units; none if all round to 0, or the noise is 0."""
    sizes, times = np.unique(np.rint(steps), return_counts=True)
    is_there = sizes > 0
    if noise.scale > 0 and is_there.any():
        own: Floats = times[is_there][::-1].astype(np.float64)
        yield _Part(noise, sizes[is_there][::-1] * unit, own * number)


def _half_width(parts: Sequence[_Part], failure: Fraction, *, is_quick: bool) -> float:
    """What one sum passes with at most the probability `failure`; if not quick, a bound."""
    number = int(sum(float(part.times.sum()) for part in parts))
    if number <= 1:
        return sum(float(part.sizes[0]) * part.noise.half_width(failure) for part in parts)
    stddev = math.sqrt(sum(part.variance for part in parts))
    if stddev < max(float(part.sizes[0]) for part in parts) * _FEW:
        return sum(float(part.sizes @ part.times) * part.noise.half_width(failure / number) for part in parts)
    far = _chernoff(parts, stddev, failure)
    if failure < LEAST_FAILURE or not is_quick:
        return far
    found = min(far, _of_series(parts, stddev, failure, far))
    return min(found, _of_few(parts, failure)) if number <= _MOST_FEW else found


def _of_series(parts: Sequence[_Part], stddev: float, failure: Fraction, far: float) -> float:
    """The half-width by the Fourier series, whose ends lie within a bound; or infinity if it shows none."""
    span = far + _chernoff(parts, stddev, failure * _ALIAS)
    narrow = max(_NARROW * stddev, span * _STEP / (1 - (_SHIFT + _BEYOND) * _STEP))
    shift, circle = _SHIFT * narrow, span + (_SHIFT + _BEYOND) * narrow
    places = np.arange(1, math.ceil(math.sqrt(2 * _FALLEN) / narrow * circle / (2 * math.pi)) + 1)
    rates: Floats = np.asarray(2 * math.pi / circle * places, dtype=np.float64)
    terms, left_out = 2 / (math.pi * places) * np.exp(-((narrow * rates) ** 2) / 2), _ROUNDING
    for start, stop in pairwise(_PORTIONS):
        terms = terms * np.exp(_logs([_Part(n, s[start:stop], t[start:stop]) for n, s, t in parts], rates))
        kept = terms > _NEGLIGIBLE
        left_out += float(terms[~kept].sum())
        rates, terms = rates[kept], terms[kept]
    allowed = float(failure) * (float(erf(_SHIFT / math.sqrt(2))) - float(_ALIAS)) - left_out

    def holds(end: float) -> bool:
        return 1 - 2 * end / circle - float(terms @ np.sin(rates * end)) <= allowed

    near, end = 0.0, far + shift
    for _ in range(_HALVINGS):
        middle = (near + end) / 2
        near, end = (near, middle) if holds(middle) else (middle, end)
    return end + shift if holds(end) else math.inf


def _of_few(parts: Sequence[_Part], failure: Fraction) -> float:
    """What `noise_sums` says: less than this series where noise is wide, more where half a step counts."""
    noises = [part.noise for part in parts for _ in range(int(part.times.sum()))]
    sizes = np.concatenate([np.repeat(part.sizes, part.times.astype(np.int64)) for part in parts])
    return float(NoiseSums(tuple(noises), failure).half_widths(sizes[np.newaxis])[0])


def _chernoff(parts: Sequence[_Part], stddev: float, failure: Fraction) -> float:
    """The least of (ln(2/failure) + ln E e^(λS))/λ over some λ."""
    needed = math.log(2 / failure)
    limit = min((1 / (float(noise.scale) * sizes[0]) for noise, sizes, _ in parts if noise.law == "laplace"), default=0)
    rates = np.array([[math.sqrt(2 * needed) / stddev]])
    if limit:
        rates = np.concatenate([_TILTS * limit, np.minimum(rates, _TILTS[-1] * limit)])
    spread = np.zeros(len(rates))
    for noise, sizes, times in parts:
        tilted, scale = rates * sizes, float(noise.scale)
        if noise.law == "gaussian":
            each = (tilted * scale) ** 2 / 2
        else:
            both = np.expm1(tilted - 1 / scale) * np.expm1(-tilted - 1 / scale)
            each = 2 * math.log(-math.expm1(-1 / scale)) - np.log(both)
        spread += each @ times
    return float(((needed + spread) / rates[:, 0]).min()) * (1 + _ROUNDING)


def _logs(parts: Sequence[_Part], rates: Floats) -> Floats:
    """The logarithm of Π φᵢ(wᵢ·u) for each u."""
    found: Floats = np.zeros(len(rates))
    for noise, sizes, times in parts:
        for place in range(0, len(sizes), _BLOCK):
            own = slice(place, place + _BLOCK)
            found += times[own] @ _LAWS[noise.law](np.multiply.outer(sizes[own], rates), float(noise.scale))
    return found


def _log_of_laplace(angles: Floats, scale: float) -> Floats:
    """Of (1 − p)²/((1 − p)² + 4·p·sin²(u/2)) with p = e^(−1/b)."""
    rest, p = -math.expm1(-1 / scale), math.exp(-1 / scale)
    found: Floats = -np.log1p(4 * p * (np.sin(angles / 2) / rest) ** 2)
    return found


def _log_of_gaussian(angles: Floats, stddev: float) -> Floats:
    """Of Σ e^(−x²/2σ²)·cos(u·x) over Σ e^(−x²/2σ²); of wide ones by Poisson's formula, by e^(−σ²(u − 2πk)²/2)."""
    sums, whole = np.ones(angles.shape), 1.0
    if stddev < _WIDE:
        for steps in _STEPS:
            density = 2 * math.exp(-(steps**2) / (2 * stddev**2))
            sums, whole = sums + density * np.cos(steps * angles), whole + density
        return np.log(np.maximum(sums, _LEAST) / whole)
    turned = np.remainder(angles + math.pi, 2 * math.pi) - math.pi
    sums, whole = np.zeros(angles.shape), 0.0
    for period in _PERIODS:
        sums += np.exp(-(stddev**2) / 2 * period * (period - 2 * turned))
        whole += math.exp(-(stddev**2) / 2 * period**2)
    found: Floats = np.log(sums / whole) - (stddev * turned) ** 2 / 2
    return found


_LAWS: Final[Mapping[str, Callable[[Floats, float], Floats]]] = {
    "laplace": _log_of_laplace, "gaussian": _log_of_gaussian,
}  # fmt: skip
