"""Half-widths of weighted sums of many integer noises, by their characteristic functions.

For independent noises Zᵢ and weights w, S = Σ wᵢ·Zᵢ has the characteristic function Π φᵢ(wᵢ·u), each factor of which is
known and lies between 0 and 1. With a narrow normal V added, that of S + V falls fast, so that few terms of a Fourier
series give the probability that S + V lies within ±t, on a circle too long for S to go around. Nothing is assumed of
how near S is to a normal law, and all that is left out is bounded.

Proof: proofs/numeric/moments.md.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from scipy.special import erf

from sfumato.numeric.distributions import discrete_laplace_variance
from sfumato.numeric.noise_sums import Floats, IntegerNoise, NoiseSums

LEAST_FAILURE: Final = Fraction(1, 10**6)
"""Below it Chernoff's bound is taken: what is left out of a series must be small beside it."""

Parts: TypeAlias = tuple[tuple[IntegerNoise, float, int], ...]
"""Noises of which none is 0, the size of their weight, and how many of them have it."""

_NARROW: Final = 1 / 400  # the stddev of V, beside that of S
_SHIFT: Final = 3.0  # stddevs of V by which S may be farther out than S + V
_BEYOND: Final = 8.0  # stddevs of V that it passes less often than once in 10^15
_FALLEN: Final = 22.0  # V alone makes the terms beyond the last one less than e^−22
_NEGLIGIBLE: Final = 1e-15  # a term that is left out
_ROUNDING: Final = 1e-9  # more than that of all terms that are added up, and than what is beyond the last one
_ALIAS: Final = Fraction(1, 10**4)  # of the failure: how often S may go around the circle, or be moved by rounding
_UNIT: Final = 2.0**-40  # of the widest part; so that weights that differ by rounding alone are one
_HALVINGS: Final = 20
_PORTIONS: Final = (0, 4, 16, 64, None)  # the widest parts first, after which most terms are negligible
_BLOCK: Final = 256  # so many parts are looked at at once, so that little memory is needed
_MOST_FEW: Final = 6  # so many noises are convolved in closed form
_FEW: Final = 1e-3  # of the largest weight is the stddev where noise is so rare that a union bound is sharp
_TILTS: Final = np.linspace(0.02, 0.98, 49)[:, np.newaxis]  # every one gives a bound
_LEAST: Final = 1e-300
_WIDE: Final = 1  # from this stddev of a Gaussian on, the series of Poisson's formula is the shorter one
_PERIODS: Final = (2 * math.pi * np.arange(-2, 3)).tolist()
_STEPS: Final = range(1, 13)


def half_widths_of_sums(noises: Sequence[IntegerNoise], weights: Floats, failure: Fraction) -> Floats:
    """For each row of weights what |Σ wᵢ·Zᵢ| passes with at most the probability `failure`.

    It is about a hundredth more than the quantile; of a single noise it is the quantile.

    Args:
        noises: The distribution of each Zᵢ.
        weights: One row a sum, one column a noise.
        failure: Above 0 and at most 1/2.

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
    found: Floats = np.zeros(len(weights))
    for place, row in enumerate(np.abs(weights)):
        widest = max((float(row[own].max()) * float(noise.scale) for noise, own in columns.items()), default=0.0)
        parts, moved = list[tuple[IntegerNoise, float, int]](), 0.0
        for noise, own in columns.items() if widest else ():
            unit = widest / float(noise.scale) * _UNIT
            sizes, times = np.unique(np.rint(row[own] / unit), return_counts=True)
            pairs = zip((sizes * unit).tolist(), times.tolist(), strict=True)
            parts += [(noise, size, number) for size, number in pairs if size]
            moved += unit / 2 * reaches[noise]
        if len(parts) == 1 and parts[0][2] == 1:
            found[place] = half_width_of_sum(tuple(parts), failure)
        else:
            found[place] = half_width_of_sum(tuple(parts), failure * (1 - _ALIAS)) + moved
    return found


@lru_cache(maxsize=4096)
def half_width_of_sum(parts: Parts, failure: Fraction) -> float:
    """What one sum passes with at most the probability `failure`.

    Args:
        parts: Its noises, in any order.
        failure: Above 0 and at most 1/2.

    Example:
        >>> round(half_width_of_sum(((IntegerNoise("laplace", Fraction(1)), 1.0, 100),), Fraction(1, 20)), 1)
        27.1
    """
    if not parts:
        return 0.0
    if len(parts) == 1 and parts[0][2] == 1:
        ((noise, size, _),) = parts
        return size * noise.half_width(failure)
    parts = tuple(sorted(parts, key=lambda part: float(part[0].scale) * part[1], reverse=True))
    variance = {
        one: discrete_laplace_variance(one.scale) if one.law == "laplace" else float(one.scale) ** 2
        for one, _, _ in parts
    }
    stddev = math.sqrt(sum(own * size**2 * variance[noise] for noise, size, own in parts))
    if stddev < parts[0][1] * _FEW:
        number = sum(own for _, _, own in parts)
        return sum(own * size * noise.half_width(failure / number) for noise, size, own in parts)
    far = _chernoff(parts, stddev, failure)
    if failure < LEAST_FAILURE:
        return far
    narrow = _NARROW * stddev
    shift = _SHIFT * narrow
    circle = far + _chernoff(parts, stddev, failure * _ALIAS) + shift + _BEYOND * narrow
    places = np.arange(1, math.ceil(math.sqrt(2 * _FALLEN) / narrow * circle / (2 * math.pi)) + 1)
    rates: Floats = np.asarray(2 * math.pi / circle * places, dtype=np.float64)
    terms, left_out = 2 / (math.pi * places) * np.exp(-((narrow * rates) ** 2) / 2), _ROUNDING
    for start, stop in pairwise(_PORTIONS):
        terms = terms * np.exp(_logs(parts[start:stop], rates))
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
    found = end + shift if holds(end) else far
    return min(found, _of_few(parts, failure)) if sum(own for _, _, own in parts) <= _MOST_FEW else found


def _of_few(parts: Parts, failure: Fraction) -> float:
    """What `noise_sums` says: less than this series where noise is wide, more where half a step counts."""
    noises = [noise for noise, _, own in parts for _ in range(own)]
    sizes = [size for _, size, own in parts for _ in range(own)]
    return float(NoiseSums(tuple(noises), failure).half_widths(np.array([sizes]))[0])


def _chernoff(parts: Parts, stddev: float, failure: Fraction) -> float:
    """The least of (ln(2/failure) + ln E e^(λS))/λ over some λ."""
    needed = math.log(2 / failure)
    limit = min((1 / (float(noise.scale) * size) for noise, size, _ in parts if noise.law == "laplace"), default=None)
    rates = np.array([[math.sqrt(2 * needed) / stddev]])
    if limit is not None:
        rates = np.concatenate([_TILTS * limit, np.minimum(rates, _TILTS[-1] * limit)])
    spread = np.zeros(len(rates))
    for noise, sizes, times in _by_noise(parts):
        tilted, scale = rates * sizes, float(noise.scale)
        if noise.law == "gaussian":
            each = (tilted * scale) ** 2 / 2
        else:
            both = np.expm1(tilted - 1 / scale) * np.expm1(-tilted - 1 / scale)
            each = 2 * math.log(-math.expm1(-1 / scale)) - np.log(both)
        spread += each @ times
    return float(((needed + spread) / rates[:, 0]).min()) * (1 + _ROUNDING)


def _by_noise(parts: Parts) -> list[tuple[IntegerNoise, Floats, Floats]]:
    """Sizes and how often each stands, for each noise."""
    found: dict[IntegerNoise, list[tuple[float, int]]] = {}
    for noise, size, own in parts:
        found.setdefault(noise, []).append((size, own))
    return [(noise, *np.array(own, dtype=np.float64).T) for noise, own in found.items()]


def _logs(parts: Parts, rates: Floats) -> Floats:
    """The logarithm of Π φᵢ(wᵢ·u) for each u."""
    found: Floats = np.zeros(len(rates))
    for noise, sizes, times in _by_noise(parts):
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
