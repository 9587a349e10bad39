"""Zero-concentrated differential privacy as an accountant: ρ adds up, exactly."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Final

from sfumato.accounting.core.accountant import EpsilonInterval
from sfumato.accounting.core.additive import EXACT_ANSWER, AdditivePrice, is_priced, total_price
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.core.tallied import TalliedAccountant
from sfumato.accounting.core.tally import Tally, response_epsilon_up
from sfumato.accounting.gaussian.gaussian_bound import GaussianBound, certifiable_down, epsilon_down
from sfumato.accounting.gaussian.smoothing import longest_move
from sfumato.accounting.gaussian.zcdp import (
    discrete_laplace_to_zcdp,
    exponential_to_zcdp,
    laplace_to_zcdp,
    pure_to_zcdp,
    zcdp_delta_up,
    zcdp_epsilon_up,
)
from sfumato.numeric.rounding import dyadic_up
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation

_LARGEST: Final = Fraction(2) ** 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ZCDPAccountant(TalliedAccountant):
    """Zero-concentrated differential privacy: releases of ρᵢ-zCDP cost ρ = Σ ρᵢ, and ε by the tightest conversion.

    Events with a δ of their own are δ₀-approximately zCDP; Σ δ₀ is spent from the δ asked for:
    ρ-zCDP with δ₀ gives (ε, δ₀ + (1 - δ₀) δ') where ρ-zCDP gives (ε, δ').

    **Guarantee**: never below the truth, for its neighbouring relation and for adaptively chosen events. ρ and δ₀ are
    exact rationals or rounded up. `interval.lower` is what Gaussian mechanisms with the Gaussian and zCDP events among
    them need.

    Edge cases: ε is infinite where δ is below Σ δ₀, or equal to it with a ρ above 0, also for pure events alone:
    their Σ ε is the `BasicAccountant`'s. Sampled events, mixtures and selections are refused.

    Args:
        neighboring_relation: Between which databases the events' sensitivities and the guarantee hold.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> spent = ZCDPAccountant().compose(GaussianEvent(10), count=100)
        >>> spent.rho
        Fraction(1, 2)
        >>> round(float(spent.epsilon("1e-6")), 6)
        5.221534

    References:
        [BS16] Definitions 1.1 and 8.1; [CKS20] Proposition 12.
    """

    @property
    def rho(self) -> Fraction | float:
        """ρ of everything composed; infinite where it has none."""
        return self._price.measure

    @property
    def approximation(self) -> Fraction | float:
        """δ₀, up to which ρ-zCDP holds: what the events with a δ of their own add up to."""
        return self._price.slack

    @property
    def _price(self) -> AdditivePrice:
        return _total(self.tally, self.neighboring_relation)

    def _supports(self, event: Event) -> bool:
        return is_priced(event, self.neighboring_relation, concentrated_price)

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        rho, slack = _short_up(self.rho), self.approximation
        upper: Fraction | float = math.inf
        if rho is not None and slack <= delta:
            upper = zcdp_epsilon_up(rho=rho, delta=(delta - Fraction(slack)) / (1 - Fraction(slack)))
        return EpsilonInterval(min(_lower(self.tally, self.neighboring_relation, delta), upper), upper)

    def _delta(self, epsilon: Fraction) -> Fraction | float:
        rho, slack = _short_up(self.rho), self.approximation
        if rho is None or slack >= 1:
            return Fraction(1)
        delta = zcdp_delta_up(rho=rho, epsilon=certifiable_down(epsilon))
        return Fraction(slack) + (1 - Fraction(slack)) * Fraction(delta)


@lru_cache(maxsize=4096)
def concentrated_price(event: Event) -> AdditivePrice | None:
    """ρ of an event that is neither composed nor partitioned, and beside it δ₀; None where none is known."""
    match event:
        case NonPrivateEvent():
            return EXACT_ANSWER
        case GaussianEvent():
            return AdditivePrice(1 / (2 * event.noise_multiplier**2))
        case DiscreteGaussianEvent():
            square, _ = longest_move(event.l2_sensitivity, event.l0_sensitivity)
            return AdditivePrice(square / (2 * event.stddev**2))
        case ZCDPEvent():
            return AdditivePrice(event.rho)
        case LaplaceEvent():
            return AdditivePrice(laplace_to_zcdp(1 / event.noise_multiplier))
        case DiscreteLaplaceEvent():
            return _discrete_laplace(event)
        case ExponentialEvent():
            return AdditivePrice(exponential_to_zcdp(event.epsilon))
        case _:
            return _by_epsilon(event)


def _by_epsilon(event: Event) -> AdditivePrice | None:
    """The price of an event of which only ε is used."""
    match event:
        case PureEvent():
            return _pure(event.epsilon)
        case ApproxEvent():
            return AdditivePrice(pure_to_zcdp(event.epsilon), event.delta)
        case RandomizedResponseEvent():
            return _pure(response_epsilon_up(event))
        case FiniteEvent():
            return _pure(smallest_epsilon(event.p, event.q))
        case GroupEvent(FiniteEvent() as finite, size):
            return _pure(smallest_epsilon(finite.p, finite.q) * size)
        case _:
            return None


def _pure(epsilon: Fraction | float | None) -> AdditivePrice:
    return AdditivePrice(pure_to_zcdp(epsilon)) if isinstance(epsilon, Fraction) else EXACT_ANSWER


def _discrete_laplace(event: DiscreteLaplaceEvent) -> AdditivePrice:
    steps = floor(event.l1_sensitivity)
    return AdditivePrice(discrete_laplace_to_zcdp(scale=event.scale, l1_sensitivity=steps) if steps else Fraction(0))


@lru_cache(maxsize=4096)
def _total(tally: Tally, relation: NeighboringRelation) -> AdditivePrice:
    return total_price(tally, relation, concentrated_price)


def _gaussian_part(event: Event) -> AdditivePrice:
    """μ² = 2ρ of the events that a Gaussian mechanism can have; nothing of the others."""
    match event:
        case GaussianEvent() | ZCDPEvent() | NonPrivateEvent():
            price = concentrated_price(event)
            return price.times(2) if price else AdditivePrice()
        case _:
            return AdditivePrice()


@lru_cache(maxsize=4096)
def _lower(tally: Tally, relation: NeighboringRelation, delta: Fraction) -> Fraction | float:
    squared_mu = total_price(tally, relation, _gaussian_part).measure
    return epsilon_down((GaussianBound(squared_mu),), delta) if isinstance(squared_mu, Fraction) else math.inf


def _short_up(rho: Fraction | float) -> Fraction | None:
    """ρ rounded up to so few bits that arithmetic stays cheap after many different prices; None where it is too large.

    Conversions are certified between 2^-500 and 2^500.
    """
    if rho > _LARGEST:
        return None
    return max(dyadic_up(Fraction(rho), 64), 1 / _LARGEST) if rho else Fraction(0)
