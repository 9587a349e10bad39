"""Models whose posterior may be released: a prior and a likelihood on a public grid, bounded away from the poles."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor, inf
from typing import Any, Final, Protocol, TypeAlias, assert_never

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.mechanisms.lattice import as_resolution, lattice_steps
from sfumato.numeric.rationals import Number, exact, nonnegative, positive, positive_integer, probability, set_fields
from sfumato.numeric.rounding import log_bounds, log_up
from sfumato.privacy.neighbors import NeighboringRelation

Interval: TypeAlias = tuple[Fraction, Fraction]
"""A real number lies between these two."""

LogDensity: TypeAlias = Callable[[Fraction, int], Interval]
"""Of a parameter and a number of bits: bounds, 2^−bits apart or less, of ln(prior · likelihood^power).

Terms that are the same for all parameters are left out.
"""

_SLACK: Final = 16  # bits that swallow the few units by which bounds of a logarithm are apart


class PosteriorModel(Protocol):
    """A prior on a grid of parameters, and the distribution of one observation for each of them."""

    @property
    def grid(self) -> tuple[Fraction, ...]:
        """The parameters that may be released, in rising order."""
        ...

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        """Two observations that say the most, each for other parameters; what lies beyond counts as they do."""
        ...

    def posterior(self, observations: Iterable[Any], power: Fraction) -> LogDensity:
        """What the observations make of the prior, their likelihood raised to a power."""
        ...

    def epsilon(self, neighboring_relation: NeighboringRelation) -> Fraction:
        """The cost of one draw of the posterior, rounded up: the most that one unit changes its log-density."""
        ...


_MOST_POINTS: Final = 100_000


@dataclass(frozen=True, slots=True, init=False)
class BetaBernoulli:
    """Coins of an unknown probability θ, with a Beta prior cut to [low, high]: ∝ θ^(alpha−1)·(1−θ)^(beta−1).

    θ lies on the grid of `points` equally spaced numbers from low to high. An observation is 0 or 1.

    One observation changes the log-posterior, between any two θ, by at most
    ε = max(ln(high/low), ln((1−low)/(1−high))) if it is added or removed, and by
    ε = ln(high·(1−low)/(low·(1−high))) if it is replaced. At low = 0 or high = 1 that is infinite.

    Args:
        low: The smallest θ, above 0.
        high: The largest θ, above low and below 1.
        alpha: Of the prior, above 0; 1 with beta = 1 is uniform.
        beta: Of the prior, above 0.
        points: How many θ, 2 or more.

    Raises:
        NotPrivateError: low is 0 or high is 1, so that a draw would have no finite ε.
        ParameterError: A parameter is out of range.

    Example:
        >>> coin = BetaBernoulli(low="0.25", high="0.75", points=3)
        >>> [str(theta) for theta in coin.grid], round(float(coin.epsilon(NeighboringRelation.REPLACE_ONE)), 4)
        (['1/4', '1/2', '3/4'], 2.1972)

    References:
        [DNMR14]; [WFS15].
    """

    low: Fraction
    high: Fraction
    alpha: Fraction
    beta: Fraction
    grid: tuple[Fraction, ...] = field(repr=False)

    def __init__(self, *, low: Number, high: Number, alpha: Number = 1, beta: Number = 1, points: int = 101) -> None:
        set_fields(self, low=probability(low, "low"), high=probability(high, "high"))
        if self.low == 0 or self.high == 1:
            raise _unbounded("[low, high] with low = 0 or high = 1", "choose 0 < low < high < 1")
        set_fields(self, alpha=positive(alpha, "alpha"), beta=positive(beta, "beta"))
        set_fields(self, grid=_equally_spaced(self.low, self.high, points))

    @property
    def maximum(self) -> int:
        """A coin shows 0 or 1."""
        return 1

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        """Either side of the coin."""
        return Fraction(0), Fraction(1)

    def posterior(self, observations: Iterable[Any], power: Fraction) -> LogDensity:
        """`log_density` of as many observations and ones, times the power."""
        return _of_sums(self, observations, power)

    def log_density(self, parameter: Fraction, *, count: Fraction, total: Fraction, bits: int) -> Interval:
        """Bounds of (alpha − 1 + total)·ln θ + (beta − 1 + count − total)·ln(1 − θ)."""
        ones = _times_log(self.alpha - 1 + total, parameter, bits + 1)
        zeros = _times_log(self.beta - 1 + count - total, 1 - parameter, bits + 1)
        return ones[0] + zeros[0], ones[1] + zeros[1]

    def epsilon(self, neighboring_relation: NeighboringRelation) -> Fraction:
        """The range of ln θ or of ln(1 − θ), whichever is wider; of their difference under replacement."""
        ones, zeros = self.high / self.low, (1 - self.low) / (1 - self.high)
        match neighboring_relation:
            case NeighboringRelation.ADD_OR_REMOVE_ONE:
                return log_up(max(ones, zeros))
            case NeighboringRelation.REPLACE_ONE:
                return log_up(ones * zeros)
            case _:
                assert_never(neighboring_relation)


@dataclass(frozen=True, slots=True, init=False)
class GammaPoisson:
    """Counts of an unknown rate θ, with a Gamma prior cut to [low, high]: ∝ θ^(shape−1)·exp(−rate·θ).

    θ lies on the grid of `points` equally spaced numbers from low to high. An observation is a whole number, clamped to
    0, …, maximum: one unit must not count for more than the public maximum.

    One observation x changes the log-posterior, between any two θ, by at most the range of x·ln θ − θ if it is added or
    removed, widest at x = 0 or x = maximum, and by ε = maximum·ln(high/low) if it is replaced.

    Args:
        low: The smallest θ, above 0.
        high: The largest θ, finite and above low.
        maximum: The largest observation, 1 or more.
        shape: Of the prior, above 0; 1 with rate = 0 is uniform on the grid.
        rate: Of the prior, 0 or more.
        points: How many θ, 2 or more.

    Raises:
        NotPrivateError: low is 0 or high is infinite, so that a draw would have no finite ε.
        ParameterError: A parameter is out of range.

    Example:
        >>> visits = GammaPoisson(low=1, high=4, maximum=2, points=4)
        >>> [str(theta) for theta in visits.grid], round(float(visits.epsilon(NeighboringRelation.REPLACE_ONE)), 4)
        (['1', '2', '3', '4'], 2.7726)

    References:
        [DNMR14]; [WFS15].
    """

    low: Fraction
    high: Fraction
    maximum: int
    shape: Fraction
    rate: Fraction
    grid: tuple[Fraction, ...] = field(repr=False)

    def __init__(
        self, *, low: Number, high: Number, maximum: int, shape: Number = 1, rate: Number = 0, points: int = 101
    ) -> None:
        if (isinstance(high, float | Decimal) and high == inf) or nonnegative(low, "low") == 0:
            raise _unbounded("[low, high] with low = 0 or an infinite high", "choose 0 < low < high")
        set_fields(
            self,
            low=positive(low, "low"),
            high=exact(high, "high"),
            maximum=positive_integer(maximum, "maximum"),
            shape=positive(shape, "shape"),
            rate=nonnegative(rate, "rate"),
        )
        set_fields(self, grid=_equally_spaced(self.low, self.high, points))

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        """The least and the largest count."""
        return Fraction(0), Fraction(self.maximum)

    def posterior(self, observations: Iterable[Any], power: Fraction) -> LogDensity:
        """`log_density` of as many observations and their sum, times the power."""
        return _of_sums(self, observations, power)

    def log_density(self, parameter: Fraction, *, count: Fraction, total: Fraction, bits: int) -> Interval:
        """Bounds of (shape − 1 + total)·ln θ − (rate + count)·θ."""
        lower, upper = _times_log(self.shape - 1 + total, parameter, bits)
        linear = (self.rate + count) * parameter
        return lower - linear, upper - linear

    def epsilon(self, neighboring_relation: NeighboringRelation) -> Fraction:
        """maximum·ln(high/low) under replacement; else the range of maximum·ln θ − θ on the grid, or of −θ if wider.

        maximum·ln θ − θ is concave, so it is smallest at an end.
        """
        match neighboring_relation:
            case NeighboringRelation.ADD_OR_REMOVE_ONE:
                ranges = [
                    self.maximum * log_up(parameter / end) - (parameter - end)
                    for parameter in self.grid
                    for end in (self.low, self.high)
                ]
                return max(self.high - self.low, *ranges)
            case NeighboringRelation.REPLACE_ONE:
                return self.maximum * log_up(self.high / self.low)
            case _:
                assert_never(neighboring_relation)


@dataclass(frozen=True, slots=True, init=False)
class LaplaceLocation:
    """Numbers around an unknown center θ: one observation has a density ∝ exp(−|x − θ|/scale), uniform prior.

    θ lies on the grid of `points` equally spaced numbers from low to high. Observations may be any numbers; they are
    rounded to multiples of `resolution`. The posterior is largest at their median.

    The log-likelihood is Lipschitz, in θ and in x, with constant 1/scale [DNMR14]. So one observation, however far out,
    changes the log-posterior, between any two θ, by at most ε = (high − low)/scale if it is added or removed, and by
    twice that if it is replaced. If it is replaced by one at most d away, `epsilon_of_move` says by how much less: that
    is a guarantee for small moves within the one for all of them.

    Args:
        low: The smallest θ.
        high: The largest θ, above low.
        scale: How far observations spread, above 0.
        resolution: The width of a lattice step of observations, above 0.
        points: How many θ, 2 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> center = LaplaceLocation(low=0, high=10, scale=5, resolution="0.1", points=11)
        >>> str(center.epsilon(NeighboringRelation.ADD_OR_REMOVE_ONE)), str(center.epsilon_of_move(1))
        ('2', '2/5')

    References:
        [DNMR14].
    """

    low: Fraction
    high: Fraction
    scale: Fraction
    resolution: Fraction
    grid: tuple[Fraction, ...] = field(repr=False)

    def __init__(self, *, low: Number, high: Number, scale: Number, resolution: Number, points: int = 101) -> None:
        set_fields(
            self,
            low=exact(low, "low"),
            high=exact(high, "high"),
            scale=positive(scale, "scale"),
            resolution=as_resolution(resolution),
        )
        set_fields(self, grid=_equally_spaced(self.low, self.high, points))

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        """Numbers beyond the ends say as much as the ends: |x − θ| differs by the same for every θ."""
        return self.low, self.high

    def posterior(self, observations: Iterable[Any], power: Fraction) -> LogDensity:
        """−power · Σ|xᵢ − θ|/scale, exactly."""
        steps = sorted(lattice_steps(observations, self.resolution).tolist())
        sums = [0, *accumulate(steps)]

        def log_density(parameter: Fraction, bits: int) -> Interval:
            del bits
            below = bisect_right(steps, floor(parameter / self.resolution))
            beyond = (sums[-1] - 2 * sums[below]) * self.resolution
            distance = beyond + (2 * below - len(steps)) * parameter
            found = -power * distance / self.scale
            return found, found

        return log_density

    def epsilon(self, neighboring_relation: NeighboringRelation) -> Fraction:
        """(high − low)/scale, and twice that under replacement."""
        match neighboring_relation:
            case NeighboringRelation.ADD_OR_REMOVE_ONE:
                return (self.high - self.low) / self.scale
            case NeighboringRelation.REPLACE_ONE:
                return 2 * (self.high - self.low) / self.scale
            case _:
                assert_never(neighboring_relation)

    def epsilon_of_move(self, distance: Number) -> Fraction:
        """What it costs that one observation changes by a distance: 2·distance/scale, in whole steps of the resolution.

        That is at power 1; a tempered posterior costs `power` times as much.

        Raises:
            ParameterError: The distance is below 0.
        """
        steps = ceil(nonnegative(distance, "distance") / self.resolution)
        return min(2 * steps * self.resolution / self.scale, self.epsilon(NeighboringRelation.REPLACE_ONE))


def _of_sums(model: BetaBernoulli | GammaPoisson, observations: Iterable[Any], power: Fraction) -> LogDensity:
    """A likelihood that depends on how many observations there are and on their sum."""
    steps = lattice_steps(observations, Fraction(1)).tolist()
    total = power * sum(min(max(step, 0), model.maximum) for step in steps)
    count = power * len(steps)
    return lambda parameter, bits: model.log_density(parameter, count=count, total=total, bits=bits)


def _unbounded(interval: str, suggestion: str) -> NotPrivateError:
    reason = "the log-likelihood of one observation has no bound there, so no finite ε holds for a draw"
    return NotPrivateError(f"a posterior on {interval}", reason, suggestion)


def _equally_spaced(low: Fraction, high: Fraction, points: int) -> tuple[Fraction, ...]:
    if high <= low:
        raise ParameterError("high", high, "must be above low")
    if positive_integer(points, "points", most=_MOST_POINTS) == 1:
        raise ParameterError("points", points, "must be 2 or more")
    return tuple(low + (high - low) * step / (points - 1) for step in range(points))


def _times_log(coefficient: Fraction, value: Fraction, bits: int) -> Interval:
    """Bounds of coefficient · ln(value), 2^−bits apart or less."""
    precision = bits + int(abs(coefficient)).bit_length() + _SLACK
    lower, upper = (coefficient * Fraction(bound, 1 << precision) for bound in log_bounds(value, precision))
    return (lower, upper) if lower <= upper else (upper, lower)
