"""Variances, covariances and correlations of noisy counts and sums: estimates and confidence sets, as arrays.

Of rows (x, y) the count N, the sums X and Y and the sum of products P are measured with independent noise. With the
means μ = X/N and ν = Y/N of the rows, the centered sum S = P − XY/N is P − νX − μY + μνN, so that for the covariance c

    (P̂ − νX̂ − μŶ + μνN̂) − c·N̂ = Z_P − ν·Z_X − μ·Z_Y + (μν − c)·Z_N

exactly: what is measured, on the left, is a sum of noises with weights. So {c : |left| ≤ q(weights)} would be Fieller's
set [Fie54], had one μ and ν. A variance is the covariance of x with itself. A correlation r has, with k² = S_yy/S_xx,

    S_xy − r·(k·S_xx + S_yy/k)/2 = 0,

which is of the same kind. What one has not, μ, ν and k, is

* taken as measured where the noise of the means is at most `PRECISE`; simulations find 94.5% to 97% of intervals hold;
* else anything in confidence sets of its own, which take `NUISANCE` of what intervals may fail [BB94].

Proof: proofs/numeric/moments.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from sfumato.numeric.noise_sums import Floats, IntegerNoise, NoiseSums, Truths, held_ends
from sfumato.numeric.ratios import ratio_errors

NUISANCE: Final = Fraction(1, 10)
"""Of 1 − confidence, so much is for what means and ratios of spreads may be."""

PRECISE: Final = 0.15
"""Errors of means, as parts of the bounds, at the confidence; one predicted as 0.1 is hardly ever measured larger."""

Ends: TypeAlias = tuple[float, float]
Intervals: TypeAlias = tuple[Floats, Floats]
"""The lower and the upper ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMoments:
    """What is measured of groups; one number a group in each array.

    Attributes:
        counts: How many rows there are.
        totals: The sum of x; for a covariance, and of y.
        products: The sum of x² or of x·y; for a correlation, and those of x² and y².
        noises: Of all these, in this order.
        ends: Between which each value lies.
    """

    counts: Floats
    totals: tuple[Floats, ...]
    products: tuple[Floats, ...]
    noises: tuple[IntegerNoise, ...]
    ends: tuple[Ends, ...]

    @property
    def positive(self) -> Floats:
        """The counts, or 1."""
        return np.maximum(self.counts, 1)


@dataclass(frozen=True, slots=True)
class _Range:
    """Two numbers a row, between which something lies."""

    low: Floats
    high: Floats

    def __add__(self, other: "_Range") -> "_Range":
        return _Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "_Range") -> "_Range":
        return _Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: "_Range") -> "_Range":
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _Range(np.minimum.reduce(products), np.maximum.reduce(products))

    @property
    def square(self) -> "_Range":
        """Of one number with itself, never below 0."""
        product = self * self
        return _Range(np.where((self.low > 0) | (self.high < 0), product.low, 0), product.high)

    @property
    def largest(self) -> Floats:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def least(self) -> Floats:
        """The smallest absolute value."""
        return np.maximum(np.maximum(self.low, -self.high), 0)


def variances(measured: NoisyMoments, *, is_sample: bool) -> Floats:
    """The mean of squares less the square of the mean, from 0 to what the ends allow; times N/(N − 1) of a sample."""
    (ends,) = measured.ends
    (totals,), (squares,) = measured.totals, measured.products
    means = np.clip(totals / measured.positive, *ends)
    return _scaled(np.clip(squares / measured.positive - means**2, 0, most(ends, ends)), measured, is_sample)


def covariances(measured: NoisyMoments, *, is_sample: bool) -> Floats:
    """The mean of products less the product of the means, within what the ends allow; times N/(N − 1) of a sample."""
    (first, second), (products,) = measured.totals, measured.products
    plain = products / measured.positive - first / measured.positive * (second / measured.positive)
    largest = most(*measured.ends)
    return _scaled(np.clip(plain, -largest, largest), measured, is_sample)


def correlations(measured: NoisyMoments) -> Floats:
    """The covariance over both standard deviations, between −1 and 1; 0 where one of them is not above 0."""
    products, squares = measured.products[0], measured.products[1:]
    means = [totals / measured.positive for totals in measured.totals]
    parts = [np.maximum(own / measured.positive - mean**2, 0) for own, mean in zip(squares, means, strict=True)]
    scale = np.sqrt(parts[0]) * np.sqrt(parts[1])
    plain = products / measured.positive - means[0] * means[1]
    found: Floats = np.clip(np.divide(plain, scale, out=np.zeros_like(plain), where=scale > 0), -1, 1)
    return found


def variance_ends(measured: NoisyMoments, *, is_sample: bool, confidence: Fraction) -> Intervals:
    """Where variances lie, as often as the confidence says.

    Example:
        >>> noises = tuple(IntegerNoise("laplace", Fraction(scale)) for scale in (2, 100, 5_000))
        >>> group = NoisyMoments(
        ...     counts=np.array([1_000.0]), totals=(np.zeros(1),), products=(np.array([800_000.0]),), noises=noises,
        ...     ends=((-50, 50),),
        ... )
        >>> low, high = variance_ends(group, is_sample=False, confidence=Fraction(95, 100))
        >>> low.round().tolist(), variances(group, is_sample=False).tolist(), high.round().tolist()
        ([784.0], [800.0], [817.0])
    """
    (ends,), (totals,), (squares,) = measured.ends, measured.totals, measured.products
    failure = 1 - confidence
    (means,) = _means(measured, failure * NUISANCE)
    spread = _spread(measured, squares, (totals, totals), (means, means))

    def weights(places: Floats) -> Floats:
        return _columns((means.square - _point(places)).largest, 2 * means.largest, np.ones_like(places))

    sums = NoiseSums(measured.noises, failure * (1 - NUISANCE))
    return _ends(measured, spread, weights, sums, (0, most(ends, ends)), is_sample=is_sample)


def covariance_ends(measured: NoisyMoments, *, is_sample: bool, confidence: Fraction) -> Intervals:
    """Where covariances lie, as often as the confidence says."""
    failure = 1 - confidence
    first, second = _means(measured, failure * NUISANCE)
    spread = _spread(measured, measured.products[0], measured.totals, (first, second))

    def weights(places: Floats) -> Floats:
        count = (first * second - _point(places)).largest
        return _columns(count, second.largest, first.largest, np.ones_like(places))

    largest = most(*measured.ends)
    sums = NoiseSums(measured.noises, failure * (1 - NUISANCE))
    return _ends(measured, spread, weights, sums, (-largest, largest), is_sample=is_sample)


def correlation_ends(measured: NoisyMoments, *, confidence: Fraction) -> Intervals:
    """Where correlations lie, as often as the confidence says; anywhere where one may be of what does not vary."""
    failure = 1 - confidence
    means = _means(measured, failure * NUISANCE / 2)
    first, second = means
    spread = _spread(measured, measured.products[0], measured.totals, means)
    squares = [
        _spread(measured, own, (totals, totals), (mean, mean))
        for own, totals, mean in zip(measured.products[1:], measured.totals, means, strict=True)
    ]
    ratio, is_known = _ratio_of_spreads(measured, means, squares, failure * NUISANCE / 4)
    inverse = _Range(1 / ratio.high, 1 / ratio.low)
    scale, lever = ratio * squares[0] + inverse * squares[1], ratio * first.square + inverse * second.square

    def deviations(places: Floats) -> Floats:
        return (spread - scale * _point(places / 2)).least

    def weights(places: Floats) -> Floats:
        place = _point(places)
        return _columns(
            (first * second - lever * _point(places / 2)).largest, (second - ratio * first * place).largest,
            (first - inverse * second * place).largest, np.ones_like(places), np.abs(places) * ratio.high / 2,
            np.abs(places) * inverse.high / 2,
        )  # fmt: skip

    sums = NoiseSums(measured.noises, failure * (1 - NUISANCE))
    centers = correlations(measured)
    low, high = held_ends(
        centers, np.full_like(centers, -1), np.full_like(centers, 1),
        lambda places: ~is_known | sums.holds(weights(places), deviations(places)),
    )  # fmt: skip
    return low, high


def most(first: Ends, second: Ends) -> float:
    """The largest covariance of values between these ends: a quarter of the product of their distances."""
    return (first[1] - first[0]) * (second[1] - second[0]) / 4


def _point(places: Floats) -> _Range:
    return _Range(places, places)


def _columns(*columns: Floats) -> Floats:
    return np.stack(columns, axis=1)


def _scaled(values: Floats, measured: NoisyMoments, is_sample: bool) -> Floats:  # noqa: FBT001 # handed on by name
    return values * (1 + 1 / (np.maximum(measured.counts, 2) - 1)) if is_sample else values


def _means(measured: NoisyMoments, failure: Fraction) -> tuple[_Range, ...]:
    """Where the means of each column lie, but for the stated probability; where they are precise, as measured."""
    count, *others = measured.noises
    is_precise = _is_precise(measured, failure / NUISANCE)
    found = []
    for totals, ends, noise in zip(measured.totals, measured.ends, others, strict=False):
        ratios = totals / measured.positive
        middle = np.clip(ratios, *ends)
        below, above = np.zeros_like(middle), np.zeros_like(middle)
        if not is_precise.all():
            below, above = ratio_errors(
                ratios, measured.counts, total=noise, count=count, ends=ends,
                confidence=1 - failure / len(measured.totals),
            )  # fmt: skip
        low, high = np.maximum(middle - below, ends[0]), np.minimum(middle + above, ends[1])
        found.append(_Range(np.where(is_precise, middle, low), np.where(is_precise, middle, high)))
    return tuple(found)


def _is_precise(measured: NoisyMoments, failure: Fraction) -> Truths:
    """Whether the noise of counts and totals is small beside what counts, and totals at their ends, would be."""
    count, *others = (float(noise.half_width(failure)) for noise in measured.noises)
    errors = [count]
    for error, ends in zip(others, measured.ends, strict=False):
        errors.append(error / max(abs(ends[0]), abs(ends[1]), 1))
    return np.asarray(max(errors) <= PRECISE * measured.counts)


def _spread(
    measured: NoisyMoments, products: Floats, totals: tuple[Floats, ...], means: tuple[_Range, ...]
) -> _Range:  # fmt: skip
    """The centered sum as it was measured, for all means in their ranges: it is bilinear in them."""
    plain = [own / measured.positive for own in totals]
    first, second = (mean - _point(own) for mean, own in zip(means, plain, strict=True))
    moved = first.square if means[0] is means[1] else first * second
    return moved * _point(measured.positive) + _point(products - totals[0] * plain[1])


def _ends(
    measured: NoisyMoments, spread: _Range, weights: Callable[[Floats], Floats], sums: NoiseSums, room: Ends, *,
    is_sample: bool,
) -> Intervals:  # fmt: skip
    """All places x within the room with spread − x·divisor at most q(weights(x)); all the room of counts too small."""
    most_scaled = 2 if is_sample else 1  # N/(N − 1) is at most 2
    divisors = measured.counts - is_sample
    is_known = divisors >= 1
    safe = np.maximum(divisors, 1)

    def is_held(places: Floats) -> Truths:
        return ~is_known | sums.holds(weights(places), (spread - _point(places * safe)).least)

    lowest, highest = (np.full_like(safe, end * most_scaled) for end in room)
    return held_ends((spread.low + spread.high) / 2 / safe, lowest, highest, is_held)


def _ratio_of_spreads(
    measured: NoisyMoments, means: tuple[_Range, ...], squares: list[_Range], failure: Fraction
) -> tuple[_Range, Truths]:
    """Where √(S_yy/S_xx) lies, and where that is known: where both are surely above 0."""
    is_precise = means[0].low == means[0].high
    count, first, second = measured.noises[:3]
    widened = []
    for noises, mean, own in zip(
        ((count, first, measured.noises[4]), (count, second, measured.noises[5])), means, squares, strict=True
    ):
        weights = _columns(mean.square.high, 2 * mean.largest, np.ones_like(mean.low))
        error = np.where(is_precise, 0, NoiseSums(noises, failure).half_widths(weights))
        widened.append(_Range(own.low - error, own.high + error))
    is_known = (widened[0].low > 0) & (widened[1].low > 0) & (measured.counts >= 1)
    first_low, second_low = (np.where(is_known, own.low, 1) for own in widened)
    first_high, second_high = (np.where(is_known, own.high, 1) for own in widened)
    return _Range(np.sqrt(second_low / first_high), np.sqrt(second_high / first_low)), is_known
