"""Optimal composition: the smallest ε that (ε, δ) guarantees alone can prove, exact on both sides."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sfumato.accounting.composition.pricing import point
from sfumato.accounting.core.accountant import EpsilonInterval
from sfumato.accounting.core.composed_responses import Counts, Curve, composed
from sfumato.accounting.core.tallied import TalliedAccountant
from sfumato.accounting.core.tally import Tally
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.numeric.binomial import SUBNORMAL, any_success
from sfumato.numeric.rounding import deflated, float_up, inflated
from sfumato.privacy.events import ApproxEvent, Event, NonPrivateEvent, PureEvent
from sfumato.privacy.guarantees import NoGuarantee
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalAccountant(TalliedAccountant):
    """The optimal composition theorem: of k events that are (εᵢ, δᵢ), and of which nothing more is known.

    δ(ε) = 1 − Π(1 − δᵢ) · (1 − E[max(1 − e^(ε − L), 0)]), where L = Σ ±εᵢ is the privacy loss of randomized responses,
    + with probability e^εᵢ/(1 + e^εᵢ). It is evaluated at every ε, not only on a grid.

    **Guarantee**: never below the truth, for its neighbouring relation, for events whose answers may steer the later
    ones but whose εᵢ and δᵢ are fixed beforehand. If all events are a `PureEvent` or `ApproxEvent`, so is the lower end
    of `interval` never above the truth, as a rule within a relative 1e-9; it is 0 for others, of which more is known.

    Edge cases: δ = 0 gives Σ εᵢ exactly. Events with Gaussian noise have no (ε, δ) of their own and are refused.

    Args:
        neighboring_relation: Between which databases the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> round(float(OptimalAccountant().compose(PureEvent("0.1"), count=100).epsilon("1e-6")), 4)
        4.7746

    References:
        [KOV15] Theorem 3.3; [MV16] Theorem 1.5.
    """

    def _supports(self, event: Event) -> bool:
        return point(event, self.neighboring_relation) is not None

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


@dataclass(frozen=True, slots=True)
class _Points:
    """Of the events together: the mass of their δ, on both sides, and their ε with the counts."""

    delta_down: Fraction
    delta_up: Fraction
    counts: Counts

    @property
    def curve(self) -> Curve:
        """Of the randomized responses with these ε: a sum, or where it is too long their privacy loss distribution."""
        return composed(self.counts) or _Distribution(self.counts)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Of randomized responses too many to sum over, by Fourier transform of their privacy losses."""

    counts: Counts

    @property
    def highest_loss(self) -> Fraction:
        """Where δ reaches 0."""
        return sum((epsilon * count for epsilon, count in self.counts), Fraction(0))

    def delta_up(self, epsilon: Fraction) -> float:
        """As in `Curve`."""
        return 0.0 if epsilon >= self.highest_loss else min(1.0, float_up(Fraction(self._losses().delta(epsilon))))

    def epsilon_up(self, delta: Fraction) -> Fraction:
        """As in `Curve`."""
        less = Fraction(-float_up(-delta))
        found = self._losses().epsilon(less) if less > 0 else math.inf
        return min(Fraction(found), self.highest_loss) if found < math.inf else self.highest_loss

    def epsilon_down(self, delta: Fraction, *, start: Fraction) -> Fraction:
        """As in `Curve`."""
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
def _points(tally: Tally, neighboring_relation: NeighboringRelation) -> _Points | None:
    """None where an event promises nothing."""
    counts: dict[Fraction, int] = {}
    deltas: dict[Fraction, int] = {}
    for event, count in tally.counts:
        promised = point(event, neighboring_relation)
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
