"""Optimal composition: the smallest ε that (ε, δ) guarantees alone can prove, exact on both sides.

The worst pure mechanisms are randomized responses: k of ε each, of which l are true, have the privacy loss (2l − k)ε,
and l is binomial. δ(ε) is the mean of 1 − e^(ε − loss) over larger losses: a sum of terms above 0, so that nothing
cancels.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.composition.basic import own_guarantee
from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.accounting.core.normal_form import EventCounts
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.numeric.binomial import MASS_ERROR, SUBNORMAL, Binomial, any_success
from sfumato.numeric.rounding import deflated, float_up, inflated
from sfumato.privacy.events import ApproxEvent, Event, NonPrivateEvent, PureEvent
from sfumato.privacy.guarantees import NoGuarantee
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalAccountant(TalliedAccountant):
    """The optimal composition theorem: of k events that are (εᵢ, δᵢ), and of which nothing more is known.

    δ(ε) = 1 − Π(1 − δᵢ) · (1 − E[max(1 − e^(ε − L), 0)]), where L = Σ ±εᵢ is the privacy loss of randomized responses,
    + with probability e^εᵢ/(1 + e^εᵢ). It is evaluated at every ε, not only on a grid.

    **Guarantee**: never below the truth, for its neighboring relation, for events whose answers may steer the later
    ones but whose εᵢ and δᵢ are fixed beforehand. If all events are a `PureEvent` or `ApproxEvent`, so is the lower end
    of `interval` never above the truth, as a rule within a relative 1e-9; it is 0 for others, of which more is known.

    Edge cases: δ = 0 gives Σ εᵢ exactly. Events with Gaussian noise have no (ε, δ) of their own and are refused.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> round(float(OptimalAccountant().compose(PureEvent("0.1"), count=100).epsilon("1e-6")), 4)
        4.7746

    References:
        [KOV15] Theorem 3.3; [MV16] Theorem 1.5.
    """

    def _supports(self, event: Event) -> bool:
        return own_guarantee(event, self.neighboring_relation) is not None

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        points = _points(self.tally, self.neighboring_relation)
        is_known = all(isinstance(event, NonPrivateEvent | PureEvent | ApproxEvent) for event, _ in self.tally)
        if points is None or points.delta_up > delta:
            is_infinite = is_known and (points is None or points.delta_down > delta)
            return EpsilonInterval(math.inf if is_infinite else Fraction(0), math.inf)
        curve = points.curve
        upper = curve.epsilon_up(_left(delta, points.delta_up))
        if not is_known:
            return EpsilonInterval(Fraction(0), upper)
        return EpsilonInterval(curve.epsilon_down(_left(delta, points.delta_down), start=upper), upper)

    def _delta(self, epsilon: Fraction) -> Fraction:
        points = _points(self.tally, self.neighboring_relation)
        if points is None:
            return Fraction(1)
        beyond = Fraction(points.curve.delta_up(epsilon))
        return points.delta_up + (1 - points.delta_up) * beyond


Counts: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Each ε above 0 once, and how many responses have it."""


class DeltaCurve(Protocol):
    """How δ falls in ε for responses_curve randomized responses, bounded on both sides."""

    def delta_up(self, epsilon: Fraction) -> float:
        """δ rounded up; exactly 0 from the highest loss on."""

    def epsilon_up(self, delta: Fraction) -> Fraction:
        """The smallest ε at δ, rounded up; at δ = 0 the highest loss."""

    def epsilon_down(self, delta: Fraction, *, start: Fraction) -> Fraction:
        """The smallest ε at δ, rounded down. The search goes down from `start`, the same rounded up."""


@dataclass(frozen=True, slots=True)
class _Points:
    """Of the events together: the mass of their δ, on both sides, and their ε with the counts."""

    delta_down: Fraction
    delta_up: Fraction
    counts: Counts

    @property
    def curve(self) -> DeltaCurve:
        """Of the randomized responses with these ε: a sum, or where it is too long their privacy loss distribution."""
        return responses_curve(self.counts) or _Distribution(self.counts)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Of randomized responses too many to sum over, by Fourier transform of their privacy losses."""

    counts: Counts

    @property
    def highest_loss(self) -> Fraction:
        """Where δ reaches 0."""
        return sum((epsilon * count for epsilon, count in self.counts), Fraction(0))

    def delta_up(self, epsilon: Fraction) -> float:
        """δ rounded up, from the distribution of losses; exactly 0 from the highest loss on."""
        return 0.0 if epsilon >= self.highest_loss else min(1.0, float_up(Fraction(self._losses().delta(epsilon))))

    def epsilon_up(self, delta: Fraction) -> Fraction:
        """The smallest ε at δ, rounded up, and never above the highest loss."""
        less = Fraction(-float_up(-delta))
        found = self._losses().epsilon(less) if less > 0 else math.inf
        return min(Fraction(found), self.highest_loss) if found < math.inf else self.highest_loss

    def epsilon_down(self, delta: Fraction, *, start: Fraction) -> Fraction:
        """The smallest ε at δ, rounded down, and never above `start`."""
        if delta <= 0:
            return self.highest_loss
        more = Fraction(float_up(delta))
        return min(Fraction(self._losses().interval(more).lower), start) if more < 1 else Fraction(0)

    def _losses(self) -> PLDAccountant:
        losses = PLDAccountant()
        for epsilon, count in self.counts:
            losses = losses.compose(PureEvent(epsilon), count=count)
        return losses


@lru_cache(maxsize=256)
def _points(tally: EventCounts, neighboring_relation: NeighboringRelation) -> _Points | None:
    """None where an event promises nothing."""
    counts: dict[Fraction, int] = {}
    deltas: dict[Fraction, int] = {}
    for event, count in tally.counts:
        promised = own_guarantee(event, neighboring_relation)
        if promised is None or isinstance(promised, NoGuarantee):
            return None
        counts[promised.epsilon] = counts.get(promised.epsilon, 0) + count
        deltas[promised.delta] = deltas.get(promised.delta, 0) + count
    counts.pop(Fraction(0), None)
    return _Points(*_any_fails(deltas), tuple(sorted(counts.items())))


def _any_fails(deltas: dict[Fraction, int]) -> tuple[Fraction, Fraction]:
    """1 − Π(1 − δᵢ), rounded down and up; exact for a single δ above 0."""
    total = sum((delta * count for delta, count in deltas.items()), Fraction(0))
    if total < SUBNORMAL:
        return max(*deltas, total * (1 - total)), total
    nearest = any_success(deltas.items())
    least = max(*deltas, Fraction(deflated(nearest)))
    most = min(total, Fraction(inflated(nearest)), Fraction(1))
    return min(least, most), most


def _left(delta: Fraction, failing: Fraction) -> Fraction:
    """What δ leaves to the losses."""
    return (delta - failing) / (1 - failing)


_MOST_EQUAL: Final = 1 << 42  # the sum runs over some 20 standard deviations of the number of true answers
_MOST_TABLED: Final = 1 << 20
_SMALLEST: Final = 1e-300  # above what is lost where masses leave the range of floats
_NEGLIGIBLE: Final = 1e-15
_BLUR: Final = 1e-14  # relative to the largest loss: above the error of a sum of up to 20 losses
_STEPS: Final = 100
_CLOSE: Final = 1e-12
_FINEST: Final = 1 << 80
_HIGHEST: Final = 10**15
_BELOW_ONE: Final = 1 - 2.0**-53


@dataclass(frozen=True, slots=True)
class HighestLossOnly:
    """Of a composition about which nothing is known but its highest loss."""

    highest_loss: Fraction

    def delta_up(self, epsilon: Fraction) -> float:
        """Nothing is known below the highest loss."""
        return float(epsilon < self.highest_loss)

    def epsilon_up(self, _delta: Fraction) -> Fraction:
        """The highest loss."""
        return self.highest_loss

    def epsilon_down(self, delta: Fraction, *, start: Fraction) -> Fraction:
        """The highest loss at δ = 0, else nothing is known."""
        return Fraction(0) if delta > 0 else start


@dataclass(frozen=True, slots=True)
class ResponsesCurve:
    """Of a composition whose losses can be summed over, with known errors; a δ below 1e-300 counts as 0."""

    highest_loss: Fraction
    blur: Fraction
    """By how much a loss in the sum may be wrong."""
    guess: float
    """An ε not far from the ones that matter, per standard deviation of the loss beyond its mean."""
    spread: float
    sum_beyond: Callable[[Fraction], tuple[float, float]]
    """At an ε: the mean of 1 − e^(ε − loss) over larger losses, and the mean of e^(ε − loss)."""

    def delta_up(self, epsilon: Fraction) -> float:
        """δ rounded up; exactly 0 from the highest loss on."""
        if epsilon >= self.highest_loss:
            return 0.0
        return min(1.0, self.sum_beyond(epsilon - self.blur)[0] * (1 + MASS_ERROR) + _SMALLEST)

    def delta_down(self, epsilon: Fraction) -> float:
        """δ rounded down."""
        return max(0.0, self.sum_beyond(epsilon + self.blur)[0] * (1 - MASS_ERROR) - _SMALLEST)

    def epsilon_up(self, delta: Fraction) -> Fraction:
        """The smallest ε at δ, rounded up."""
        if delta <= 0:
            return self.highest_loss
        if self.delta_up(Fraction(0)) <= delta:
            return Fraction(0)
        near = Fraction(self._nearest(min(float(delta), _BELOW_ONE)))
        step = self._step(near)
        while near < self.highest_loss and self.delta_up(near) > delta:
            near, step = near + step, 4 * step
        return min(near, self.highest_loss)

    def epsilon_down(self, delta: Fraction, *, start: Fraction) -> Fraction:
        """The smallest ε at δ, rounded down: δ at it is more. The search goes down from `start`."""
        if delta <= 0:
            return self.highest_loss
        near, step = start, self._step(start)
        while near > 0 and self.delta_down(near) <= delta:
            near, step = near - step, 4 * step
        return max(near, Fraction(0))

    def _step(self, epsilon: Fraction) -> Fraction:
        return epsilon * Fraction(_CLOSE) + self.highest_loss / _FINEST

    def _nearest(self, delta: float) -> float:
        """Where the curve is at δ, by Newton's method on its logarithm, halving a bracket where that leaves it."""
        low, high = 0.0, float(self.highest_loss)
        epsilon = self.guess + self.spread * math.sqrt(max(0.0, -2 * math.log(max(delta, _SMALLEST))))
        for _ in range(_STEPS):
            epsilon = epsilon if low < epsilon < high else (low + high) / 2
            height, slope = self.sum_beyond(Fraction(epsilon))
            low, high = (epsilon, high) if height > delta else (low, epsilon)
            step = height * math.log(height / delta) / slope if height and slope and delta else math.inf
            if abs(step) <= _CLOSE * epsilon or high - low <= _CLOSE * high:
                break
            epsilon += step
        return epsilon if low <= epsilon <= high else (low + high) / 2


def responses_curve(counts: Counts) -> DeltaCurve | None:
    """The curve of some responses_curve randomized responses; None where they are too many to sum over.

    Edge cases: above a sum of 10^15, nothing but that sum is known of the curve.

    **Guarantee**: `delta_up` and `epsilon_up` are never below the truth, `delta_down` and `epsilon_down` never above.

    References:
        [KOV15] Theorem 3.3; [MV16] Theorem 1.5.
    """
    highest = sum((epsilon * count for epsilon, count in counts), Fraction(0))
    if highest > _HIGHEST:
        return HighestLossOnly(highest)
    if len(counts) == 1 and counts[0][1] <= _MOST_EQUAL:
        return _composed(counts, Fraction(0), lambda epsilon: _sum_of_equal(*counts[0], epsilon))
    if math.prod(count + 1 for _, count in counts) <= _MOST_TABLED:
        return _composed(counts, highest * Fraction(_BLUR), lambda epsilon: _sum_of_tabled(counts, epsilon))
    return None


def _composed(counts: Counts, blur: Fraction, sum_beyond: Callable[[Fraction], tuple[float, float]]) -> ResponsesCurve:
    highest = sum((epsilon * count for epsilon, count in counts), Fraction(0))
    slopes = [(float(epsilon), count, math.tanh(min(float(epsilon), 700.0) / 2)) for epsilon, count in counts]
    mean = math.fsum(epsilon * count * slope for epsilon, count, slope in slopes)
    variance = math.fsum(epsilon**2 * count * (1 - slope**2) for epsilon, count, slope in slopes)
    return ResponsesCurve(highest, blur, mean, math.sqrt(variance), sum_beyond)


def _sum_of_equal(epsilon_each: Fraction, count: int, epsilon: Fraction) -> tuple[float, float]:
    """Over l from the first with (2l − k)ε₀ > ε, or from where the mass begins, until what is left is negligible."""
    law = Binomial(count, epsilon_each)
    start = max(math.floor((epsilon / epsilon_each + count) / 2) + 1, law.lowest)
    above = beyond = 0.0
    for first, masses in law.blocks(start, count):
        gap = float((2 * first - count) * epsilon_each - epsilon)
        gaps = gap + 2 * float(epsilon_each) * np.arange(masses.size)
        above -= float(np.sum(masses * np.expm1(-gaps)))
        beyond += float(np.sum(masses * np.exp(-gaps)))
        ratio = law.ratio(first + masses.size - 1)
        if ratio < 1 and masses[-1] * ratio / (1 - ratio) <= _NEGLIGIBLE * above:
            break
    return above, beyond


def _sum_of_tabled(counts: Counts, epsilon: Fraction) -> tuple[float, float]:
    losses, masses = _table(counts)
    beyond = int(np.searchsorted(losses, float(epsilon), side="right"))
    gaps, masses = losses[beyond:] - float(epsilon), masses[beyond:]
    return float(np.sum(masses * -np.expm1(-gaps))), float(np.sum(masses * np.exp(-gaps)))


@lru_cache(maxsize=4)
def _table(counts: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every sum of losses and its mass, by growing loss."""
    losses, masses = np.zeros(1), np.ones(1)
    for epsilon, count in counts:
        steps = float(epsilon) * np.arange(-count, count + 1, 2, dtype=np.float64)
        losses = np.add.outer(losses, steps).ravel()
        masses = np.multiply.outer(masses, Binomial(count, epsilon).masses(0, count)).ravel()
    order = np.argsort(losses, kind="stable")
    return losses[order], masses[order]
