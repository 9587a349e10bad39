"""Accounting by privacy loss distributions: the tightest for a batch of releases that is declared in advance.

One event, once, needs no grid: its profile and its tests are the answer.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.accounting.core.normal_form import EventCounts
from sfumato.accounting.gaussian.gaussian import GaussianBound, epsilon_down, least_epsilon_up
from sfumato.accounting.pld.bounds import (
    PRECISION,
    Pairs,
    both_orders,
    delta_bound,
    epsilon_bounds,
    highest_loss,
    infinite_loss_up,
)
from sfumato.accounting.pld.composite import composed, composed_profile
from sfumato.accounting.pld.discretize import LossDistribution
from sfumato.accounting.profiles.combined import BracketedProfile
from sfumato.accounting.profiles.finite import EVERYTHING
from sfumato.accounting.profiles.of_event import dominating_pair, has_dominating_pair
from sfumato.accounting.profiles.profile import ULP, Array, Profile, float_down, symmetric
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative, positive, set_fields, sqrt_up
from sfumato.numeric.rounding import float_up
from sfumato.privacy.events import Event, GaussianEvent, NonPrivateEvent, ZCDPEvent
from sfumato.privacy.neighbors import NeighboringRelation

_LARGEST_MU_SQUARED: Final = 16  # of one Gaussian factor, so that e^loss stays a float
_LARGEST_TOTAL: Final = Fraction(10**12)  # of all; beyond it nothing is promised
_LARGEST_EPSILON: Final = Fraction(2**100)  # δ is not asked for at a larger one
_FINEST_PRECISION: Final = Fraction(1, 10**6)
_COARSEST_PRECISION: Final = Fraction(1, 2)
_MANY: Final = 64
_INSIDE: Final = 1 - 1e-6
_SMALLEST_DELTA: Final = 1e-304
_NO_PROMISE: Final = symmetric(BracketedProfile(EVERYTHING))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PrivacyLoss:
    """L = ln(P(x)/Q(x)) for x drawn from P, between two distributions that reveal at least as much as the releases.

    **Guarantee**: `delta` is at or above the releases' δ, for the accountant's neighboring relation and order.
    """

    losses: Array
    probabilities: Array
    infinite_mass: float
    """With which L is infinite."""

    @classmethod
    def of(cls, law: LossDistribution) -> "PrivacyLoss":
        """What a distribution on a grid says."""
        return cls(losses=law.losses, probabilities=law.masses, infinite_mass=law.infinite_mass)

    @property
    def mean(self) -> float:
        """E[L] over the finite losses, to rounding: the Kullback-Leibler divergence of P from Q, if all are finite."""
        return float((self.losses * self.probabilities).sum())

    def tail(self, epsilon: Number) -> float:
        """Pr[L > ε], to rounding: a δ for that ε, though not the smallest."""
        above = self.losses > float(nonnegative(epsilon, "epsilon"))
        return min(1.0, float(self.probabilities[above].sum()) + self.infinite_mass)

    def delta(self, epsilon: Number) -> float:
        """δ(ε) = E[(1 − e^(ε − L))₊], to rounding."""
        excess = self.losses - float(nonnegative(epsilon, "epsilon"))
        gains = -np.expm1(-np.maximum(excess, 0.0)) * self.probabilities
        return min(1.0, float(gains.sum()) + self.infinite_mass)


@dataclass(frozen=True, slots=True, kw_only=True)
class PLDAccountant(TalliedAccountant):
    """Composes the privacy losses themselves, on a grid, by Fourier transform; bounded on both sides.

    **Guarantee**: `epsilon` and `delta` are never below the truth for the accountant's neighboring relation, every
    discretization, truncation and rounding counted; `interval.lower` is a lower bound for the worst mechanisms with
    these events, 0 where none is known. The bounds usually meet within 0.05%. Proof:
    proofs/accounting/pld/accountant.md.

    It is for a batch declared in advance; a filter is needed where parameters are chosen adaptively.

    Edge cases: gaussian releases alone have a closed form. Where counts are so large (above about 10^9) that rounding
    would drown the answer, the bound is the sum of the largest losses, or infinite.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.
        precision: How far apart, relatively, the bounds of ε may be before a grid is fine enough; 1e-6 to 1/2. A coarse
            one takes less time, and no bound is less certain.

    Example:
        >>> from sfumato.privacy.events import LaplaceEvent
        >>> accountant = PLDAccountant().compose(LaplaceEvent(Fraction(10)), count=100)
        >>> round(float(accountant.epsilon("1e-6")), 2)
        4.69

    References:
        [SMM19], [KJH20], [DGKKM22], [GLW21], [ZDW22].
    """

    precision: float = PRECISION

    def __post_init__(self) -> None:
        TalliedAccountant.__post_init__(self)
        found = positive(self.precision, "precision")
        if not _FINEST_PRECISION <= found <= _COARSEST_PRECISION:
            raise ParameterError("precision", self.precision, "must lie between 1e-6 and 1/2")
        set_fields(self, precision=float(found))

    def privacy_loss(self, *, with_unit: bool = True) -> PrivacyLoss:
        """The loss of all releases together, drawn from the database with the unit, else from the one without it.

        Raises:
            ParameterError: Nothing was released, or something exact.
        """
        if not self.tally.counts:
            raise ParameterError("tally", "empty", "must hold at least one event that releases something")
        pairs = _pairs(self.tally, self.neighboring_relation)
        if pairs is None:
            raise ParameterError("tally", "NonPrivateEvent", "must not hold an exact answer, whose loss is infinite")
        return PrivacyLoss.of(composed_profile(both_orders(pairs)[0 if with_unit else -1]).upper)

    def epsilon(self, delta: Number = 0) -> Fraction | float:
        """The upper end of `interval`; computed faster where many distinct events make the lower end expensive.

        Raises:
            ParameterError: δ is negative, or 1 or more.
        """
        allowed = nonnegative(delta, "delta")
        if len(self.tally.counts) < _MANY or allowed >= 1:
            return self.interval(delta).upper
        return _interval(self.tally, self.neighboring_relation, allowed, self.precision, needs_lower=False).upper

    def _supports(self, event: Event) -> bool:
        return has_dominating_pair(event, self.neighboring_relation)

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        return _interval(self.tally, self.neighboring_relation, delta, self.precision)

    def _delta(self, epsilon: Fraction) -> Fraction | float:
        return _delta(self.tally, self.neighboring_relation, epsilon)


@lru_cache(maxsize=1024)
def _interval(
    tally: EventCounts, relation: NeighboringRelation, delta: Fraction, precision: float, *, needs_lower: bool = True
) -> EpsilonInterval:
    pairs = _pairs(tally, relation)
    if pairs is None:
        return EpsilonInterval(math.inf, math.inf)
    if not delta:
        return max((_interval_at_zero(order) for order in both_orders(pairs)), key=lambda interval: interval.upper)
    if all(isinstance(event, GaussianEvent) for event, _ in tally):
        gaussian = (GaussianBound(_mu_squared(tally)),)
        upper = least_epsilon_up(gaussian, delta)
        return EpsilonInterval(min(epsilon_down(gaussian, delta), upper), upper)
    return (
        single_epsilon_bounds(pairs, delta)
        if is_single(pairs)
        else epsilon_bounds(pairs, delta, needs_lower=needs_lower, precision=precision)
    )


@lru_cache(maxsize=1024)
def _delta(tally: EventCounts, relation: NeighboringRelation, epsilon: Fraction) -> float:
    pairs = _pairs(tally, relation)
    if pairs is None:
        return 1.0
    if all(isinstance(event, GaussianEvent) for event, _ in tally):
        return GaussianBound(_mu_squared(tally)).delta_up(epsilon)
    asked = min(epsilon, _LARGEST_EPSILON)
    found = single_delta_up(pairs, asked) if is_single(pairs) else delta_bound(pairs, asked)
    # Only beyond all losses is there none; else floats did not reach so low.
    return found if found or all(_is_beyond(order, asked) for order in both_orders(pairs)) else _SMALLEST_DELTA


def _is_beyond(pairs: Pairs, epsilon: Fraction) -> bool:
    highest = highest_loss(pairs)
    return highest is not None and epsilon >= highest


def _interval_at_zero(pairs: Pairs) -> EpsilonInterval:
    """At δ = 0: the sum of the highest losses, each of which is attained where a test shows it."""
    highest = highest_loss(pairs)
    if highest is None or infinite_loss_up(pairs) > 0:
        return EpsilonInterval(0.0, math.inf)
    lower = 0.0
    for pair, count in pairs:
        at = pair.forward.highest_loss * _INSIDE
        first, second = pair.forward.test_down(np.array([at]))
        lower += count * at * _INSIDE if first[0] > math.exp(min(at, 700.0)) * second[0] else 0.0
    return EpsilonInterval(min(lower, float(highest)), math.nextafter(float(highest), math.inf))


def _pairs(tally: EventCounts, relation: NeighboringRelation) -> Pairs | None:
    """The pairs of all events, Gaussian ones merged, and concentrated ones; None where an answer is exact."""
    if any(isinstance(event, NonPrivateEvent) for event, _ in tally):
        return None
    counts: Counter[Event] = Counter(
        {event: count for event, count in tally if not isinstance(event, GaussianEvent | ZCDPEvent)}
    )
    mu_squared = _mu_squared(tally)
    if 0 < mu_squared <= _LARGEST_TOTAL:
        # Gaussians compose to one Gaussian, which is also a composition of equal ones, none of them too large.
        factors = math.ceil(mu_squared / _LARGEST_MU_SQUARED)
        counts[GaussianEvent(1 / sqrt_up(mu_squared / factors))] = factors
    rho = sum((event.rho * count for event, count in tally if isinstance(event, ZCDPEvent)), start=Fraction(0))
    if rho:
        counts[ZCDPEvent(rho)] = 1
    pairs = tuple((dominating_pair(event, relation, composed), count) for event, count in counts.items())
    return pairs if mu_squared <= _LARGEST_TOTAL else (*pairs, (_NO_PROMISE, 1))


def _mu_squared(tally: EventCounts) -> Fraction:
    """Σ (sensitivity/σ)² of the Gaussian events, exactly."""
    return sum(
        (count / event.noise_multiplier**2 for event, count in tally if isinstance(event, GaussianEvent)),
        start=Fraction(0),
    )


_LARGEST: Final = 100  # octaves; a larger ε is no promise
_SMALLEST: Final = -120
_PARTS: Final = 64
_ROUNDS: Final = 8  # each narrows the bracket 64-fold; floats hold no more


def is_single(pairs: Pairs) -> bool:
    """Whether there is one event, composed once."""
    return len(pairs) == 1 and pairs[0][1] == 1


def single_delta_up(pairs: Pairs, epsilon: Fraction) -> float:
    """At or above δ at an ε, in either order."""
    asked = np.array([max(float_down(epsilon), 0.0)])
    return max(float(order[0][0].forward.delta_up(asked)[0]) for order in both_orders(pairs))


def single_epsilon_bounds(pairs: Pairs, delta: Fraction) -> EpsilonInterval:
    """The smallest ε at a δ above 0, in either order, between a lower and an upper bound."""
    profiles = [order[0][0].forward for order in both_orders(pairs)]
    upper = max(_epsilon_up(profile, float_down(delta)) for profile in profiles)
    return EpsilonInterval(min(max(_epsilon_down(profile, float_up(delta)) for profile in profiles), upper), upper)


def _epsilon_up(profile: Profile, delta: float) -> float:
    """An ε found at which δ is enough, just after one at which it is not."""
    return _bracket(lambda epsilon: profile.delta_up(epsilon) > delta, profile.highest_loss)[1]


def _epsilon_down(profile: Profile, delta: float) -> float:
    """An ε found at which a test shows that δ is not enough; 0 where none does."""

    def fails(epsilon: Array) -> NDArray[np.bool_]:
        first, second = profile.test_down(epsilon)
        logs = np.log(np.where(second > 0, second, 1.0))
        error = 8 * ULP * (epsilon - logs + 8)
        lost = np.where(second > 0, np.exp(np.minimum(epsilon + logs, 0.0)) * (1 + 2 * np.minimum(error, 0.5)), 0.0)
        return np.asarray(first * (1 - 4 * ULP) - lost * (1 + 4 * ULP) > delta)

    return _bracket(fails, profile.highest_loss)[0]


def _bracket(fails: Callable[[Array], NDArray[np.bool_]], highest: float) -> tuple[float, float]:
    """The last ε found that fails, or 0; and the next one tried, which does not, or infinity."""
    ends = [0.0, highest] if math.isfinite(highest) else [0.0]
    points = np.unique(np.concatenate([ends, 2.0 ** np.arange(_SMALLEST, _LARGEST + 1)]))
    low, high = 0.0, math.inf
    for _ in range(_ROUNDS):
        failing = np.flatnonzero(fails(points))
        if not failing.size:
            return low, float(points[0])
        last = int(failing[-1])
        if last + 1 == len(points):
            return max(low, float(points[last])), high
        low, high = float(points[last]), float(points[last + 1])
        points = np.linspace(low, high, _PARTS + 1)
    return low, high
