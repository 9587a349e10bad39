"""How far a ratio of two numbers with independent noise may lie from the true one: exact confidence sets, as arrays.

Of a total S and a count N, measured as Ŝ = S + Z and N̂ = N + W, the true ratio r = S/N has Ŝ − r·N̂ = Z − r·W,
whatever S and N are. So the set {r : |Ŝ − r·N̂| ≤ q(r)} holds it with the confidence if, for each r that is possible,

    P(|Z − r·W| ≤ q(r)) ≥ confidence

which is Fieller's argument [Fie54]. q(r) is the least of several such numbers, all known before anything is measured:

* a + |r|·b for several splits of 1 − confidence, P(|Z| > a) having one part of it and P(|W| > b) the other;
* for two Gaussian or two Laplace noises, the quantile of |Z − r·W| for the continuous distributions and a margin for
  the lattice. The margin is half a step of Z where Z is so wide that it fills the gaps between the multiples of r, else
  half a step of each. Tests compute from the exact distributions that it is enough, and a whole step of each more so.

Each of these is convex in r, so that what is not held by it on one side of the measured ratio is in one piece. Shown is
an interval that holds all possible ratios that are held, and is longer where several splits leave gaps in other places.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np

from sfumato.numeric.noise_sums import Floats, IntegerNoise, NoiseSums, Truths, held_ends

Held: TypeAlias = Callable[[Floats, Floats], Truths]
"""Of ratios r and deviations |Ŝ − r·N̂|, which deviations are at most q(r)."""

EVEN: Final = (Fraction(1, 2),)
"""Parts of 1 − confidence that the total gets; for two Gaussian noises other parts gain nothing, and take long."""
NEARLY_ALL: Final = (*EVEN, Fraction(999, 1000))
"""For two Laplace noises: at r = 0 only the total counts, whose distribution on the lattice is narrower."""
SPLITS: Final = (*NEARLY_ALL, *(Fraction(part, 1000) for part in (1, 100, 250, 750, 900)))
"""Of one of each, of which nothing else is known."""
HALVINGS: Final = 30
"""From the reach of the splits to one that is longer than needed by 10^-9 of it at most."""
_NEARLY: Final = Fraction(101, 100)  # widths that were calibrated together are in proportion but for rounding
_TINY: Final = 1e-200
_LEAST_ROOM: Final = 1e-6  # of a divisor; with less, a set is as good as unbounded
_LONGER: Final = 1.01  # q is a norm but for the few thousandths by which scales are moved apart, and half steps
_ROUNDING: Final = 1e-14


def ratio_errors(
    ratios: Floats,
    counts: Floats,
    *,
    total: IntegerNoise,
    count: IntegerNoise,
    ends: tuple[float, float],
    confidence: Fraction,
) -> tuple[Floats, Floats]:
    """How far the true ratios may lie below and above the measured ones, these moved into the ends.

    Distances may lead beyond the ends; for noisy counts below 1, which tell too little, they are infinite.

    Args:
        ratios: Measured totals over measured counts (over 1 for smaller counts).
        counts: The measured counts.
        total: The noise of the totals.
        count: The noise of the counts.
        ends: Between which the true ratios are known to lie.
        confidence: How often a true ratio is to lie within both distances, between 0 and 1.

    Example:
        >>> noise = IntegerNoise("laplace", Fraction(100)), IntegerNoise("laplace", Fraction(2))
        >>> below, above = ratio_errors(
        ...     np.array([0.0, 40.0]), np.array([1_000.0, 1_000.0]), total=noise[0], count=noise[1], ends=(-50, 50),
        ...     confidence=Fraction(95, 100),
        ... )
        >>> below.round(3).tolist(), above.round(3).tolist()
        ([0.3, 0.372], [0.3, 0.375])

    References:
        [Fie54].
    """
    lowest, highest = ends
    positive = np.maximum(counts, 1)
    largest = Fraction(max(abs(lowest), abs(highest)))
    outside = ratios - np.clip(ratios, lowest, highest)
    towards = np.stack([ratios, -ratios])  # q is the same for r and −r
    room = np.maximum(np.stack([ratios - lowest, highest - ratios]), 0)
    reach = room
    for a, b in _half_widths(total, count, confidence):
        reach = np.minimum(reach, _reach_of_split(towards, positive, room, float(a), float(b)))
    by_law = _held_by_law(total, count, largest, 1 - confidence)
    if by_law is not None:
        reach = _reach_of_law(towards, positive, reach, by_law)
    below, above = np.where((counts < 1) & (count.scale > 0), np.inf, reach)
    return np.maximum(below - outside, 0), np.maximum(above + outside, 0)


def quotient_ends(
    measured: tuple[Floats, Floats], weights: tuple[Floats, Floats], sums: NoiseSums
) -> tuple[Floats, Floats]:  # fmt: skip
    """Between which numbers the quotients of two sums of noisy numbers lie: Fieller's set, infinite where it is.

    Args:
        measured: The measured dividends and divisors; a divisor of 0 tells nothing.
        weights: How much of each noise is in the dividend, and in the divisor.
        sums: The noises, and how often a quotient may lie outside.

    Example:
        >>> noises = IntegerNoise("laplace", Fraction(100)), IntegerNoise("laplace", Fraction(2))
        >>> sums = NoiseSums(noises, Fraction(1, 20))
        >>> low, high = quotient_ends(
        ...     (np.full(2, 40_000.0), np.array([1_000.0, 3.0])), (np.array([1.0, 0.0]), np.array([0.0, 1.0])), sums
        ... )
        >>> low.round(2).tolist(), high.round(2).tolist()
        ([39.61, -inf], [40.4, inf])

    References:
        [Fie54].
    """
    dividends, divisors = measured
    above, below = (np.broadcast_to(own, (len(dividends), len(own))) for own in weights)
    centers = np.divide(dividends, divisors, out=np.zeros_like(dividends), where=divisors != 0)
    # q(a + (x ± δ)·b) ≤ q(a + x·b) + δ·q(b), as q is a norm: so far, and no farther, is a quotient held
    room = np.abs(divisors) - sums.half_widths(below)
    is_bounded = room > _LEAST_ROOM * np.abs(divisors)
    widest = sums.half_widths(above - centers[:, None] * below) / np.where(is_bounded, room, 1)
    reach = widest * _LONGER + np.abs(centers) * _ROUNDING

    def is_held(places: Floats) -> Truths:
        deviations = np.abs(dividends - places * divisors)
        return ~is_bounded | sums.holds(above - places[:, None] * below, deviations)

    low, high = held_ends(centers, centers - reach, centers + reach, is_held)
    return np.where(is_bounded, low, -math.inf), np.where(is_bounded, high, math.inf)


def held(total: IntegerNoise, count: IntegerNoise, *, largest: Fraction, confidence: Fraction) -> Held:
    """Which deviations |Ŝ − r·N̂| are at most q(r), for |r| of at most `largest`: the definition of the set."""
    splits = [(float(a), float(b)) for a, b in _half_widths(total, count, confidence)]
    by_law = _held_by_law(total, count, largest, 1 - confidence)

    def test(ratios: Floats, deviations: Floats) -> Truths:
        found: Truths = np.logical_and.reduce([deviations <= a + np.abs(ratios) * b for a, b in splits])
        return found if by_law is None else found & by_law(ratios, deviations)

    return test


def _half_widths(total: IntegerNoise, count: IntegerNoise, confidence: Fraction) -> list[tuple[int, int]]:
    """Pairs a, b with P(|Z| > a) + P(|W| > b) ≤ 1 − confidence, the first an even split."""
    failure = 1 - confidence
    if 0 in (total.scale, count.scale):
        return [(total.half_width(failure), count.half_width(failure))]
    splits = SPLITS if total.law != count.law else NEARLY_ALL if total.law == "laplace" else EVEN
    return [(total.half_width(failure * part), count.half_width(failure * (1 - part))) for part in splits]


def _held_by_law(total: IntegerNoise, count: IntegerNoise, largest: Fraction, failure: Fraction) -> Held | None:
    """By a quantile of the continuous noise and a margin; None where it is unknown, not needed, or beyond doubles."""
    if total.law != count.law or 0 in (total.scale, count.scale) or failure < _TINY:
        return None
    is_filled = largest * count.scale <= total.scale * _NEARLY and (count.law == "laplace" or count.scale >= 1)
    margin = 0.0 if is_filled else 0.5  # of a step of the count; half a step of the total there is always
    first, second = float(total.scale), float(count.scale)
    normal_quantile = -NormalDist().inv_cdf(float(failure / 2))

    def test(ratios: Floats, deviations: Floats) -> Truths:
        sizes = np.abs(ratios)
        beyond = deviations - 0.5 - margin * sizes
        if total.law == "gaussian":
            return np.asarray(beyond <= normal_quantile * np.hypot(first, second * sizes))
        return _laplace_tail(beyond, first, second * sizes) >= float(failure)

    return test


def _laplace_tail(deviations: Floats, first: float, second: Floats) -> Floats:
    """P(|X + Y| > t) of two continuous Laplace distributions, (A²·e^(−t/A) − B²·e^(−t/B)) / (A² − B²), also near A = B.

    With A the larger scale, ρ = B/A, u = t/A and v = u·(1/ρ − 1) it is e^−u·(1 + u·ρ/(1 + ρ)·(1 − e^−v)/v).
    """
    larger = np.maximum(first, second)
    parts = np.maximum(np.minimum(first, second) / larger, _TINY)
    u = np.maximum(deviations, 0) / larger
    v = np.maximum(u * (1 / parts - 1), _TINY)
    tail: Floats = np.exp(-u) * (1 - u * parts / (1 + parts) * np.expm1(-v) / v)
    return tail


def _reach_of_split(towards: Floats, counts: Floats, room: Floats, a: float, b: float) -> Floats:
    """The δ with δ·N̂ = a + |r − δ|·b, in the direction in which r falls; all the room if that holds its end."""
    before = (a + towards * b) / (counts + b)  # r − δ is still of the sign of r, which is positive
    with np.errstate(divide="ignore", invalid="ignore"):
        behind = np.where(counts > b, (a - towards * b) / (counts - b), math.inf)
    is_room_held = room * counts <= a + np.abs(towards - room) * b
    return np.where(is_room_held, room, np.where(before <= towards, before, behind))


def _reach_of_law(towards: Floats, counts: Floats, reach: Floats, is_held: Held) -> Floats:
    """The same of q(r − δ), within `reach`: if its end is not held, what is held is in one piece, q being convex."""
    near, far = np.zeros_like(reach), reach
    is_all_held = is_held(towards - reach, reach * counts)
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        within = is_held(towards - middle, middle * counts)
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return np.where(is_all_held, reach, far)
