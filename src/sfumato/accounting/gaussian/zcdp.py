"""Zero-concentrated differential privacy: the ρ of mechanisms, the tightest known (ε, δ) of ρ, and the accountant.

The costs of pure mechanisms, of Laplace noise on both domains, and of the exponential mechanism are the best there are
(proof: proofs/accounting/gaussian/zcdp.md).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Any, Final

from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.accounting.core.additive import EXACT_ANSWER, AdditivePrice, is_priced, total_price
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.core.integer_moves import longest_move
from sfumato.accounting.core.normal_form import EventCounts, NormalEvent, response_epsilon_up
from sfumato.accounting.gaussian.gaussian import GaussianBound, certifiable_down, epsilon_down, in_range_or_zero
from sfumato.numeric.rationals import (
    Number,
    nonnegative,
    open_probability,
    positive,
    positive_integer,
    probability,
    sqrt_up,
)
from sfumato.numeric.rounding import RELATIVE_MARGIN, dyadic_up, exp_up, inflated, log_up
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation

_STEPS: Final = 80  # halvings of a range of exponents: the best order to about 1e-16
_LARGEST_LOG: Final = 700.0
_SMALL: Final = Fraction(1, 2**20)  # below it the first term of a series is within 1e-12 of its sum
_FULL: Final = Fraction(100)  # from here on e^-ε is nothing beside 1
_ROUNDING: Final = 1e-15  # above the error of 1 - a/sinh(a), a quotient near 1


_LARGEST_RHO: Final = Fraction(2) ** 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ZCDPAccountant(TalliedAccountant):
    """Zero-concentrated differential privacy: releases of ρᵢ-zCDP cost ρ = Σ ρᵢ, and ε by the tightest conversion.

    Events with a δ of their own are δ₀-approximately zCDP; Σ δ₀ is spent from the δ asked for:
    ρ-zCDP with δ₀ gives (ε, δ₀ + (1 - δ₀) δ') where ρ-zCDP gives (ε, δ').

    **Guarantee**: never below the truth, for its neighboring relation and for adaptively chosen events. ρ and δ₀ are
    exact rationals or rounded up. `interval.lower` is what Gaussian mechanisms with the Gaussian and zCDP events among
    them need.

    Edge cases: ε is infinite where δ is below Σ δ₀, or equal to it with a ρ above 0, also for pure events alone:
    their Σ ε is the `BasicAccountant`'s. Sampled events, mixtures and selections are refused.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.

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
def concentrated_price(single: NormalEvent) -> AdditivePrice | None:
    """ρ of a release that is no partition, and beside it δ₀; None where none is known."""
    rule = _PRICES.get(type(single.event))
    return rule and rule(single.event, single.neighbors.size)


def _discrete_gaussian(event: DiscreteGaussianEvent, _size: int) -> AdditivePrice:
    square, _ = longest_move(event.l2_sensitivity, event.l0_sensitivity)
    return AdditivePrice(square / (2 * event.stddev**2))


def _discrete_laplace(event: DiscreteLaplaceEvent, _size: int) -> AdditivePrice:
    steps = floor(event.l1_sensitivity)
    return AdditivePrice(discrete_laplace_to_zcdp(scale=event.scale, l1_sensitivity=steps) if steps else Fraction(0))


def _pure(epsilon: Fraction | float | None) -> AdditivePrice:
    return AdditivePrice(pure_to_zcdp(epsilon)) if isinstance(epsilon, Fraction) else EXACT_ANSWER


_PRICES: Final[dict[type, Callable[[Any, int], AdditivePrice]]] = {
    NonPrivateEvent: lambda _event, _size: EXACT_ANSWER,
    GaussianEvent: lambda event, _size: AdditivePrice(1 / (2 * event.noise_multiplier**2)),
    DiscreteGaussianEvent: _discrete_gaussian,
    ZCDPEvent: lambda event, _size: AdditivePrice(event.rho),
    LaplaceEvent: lambda event, _size: AdditivePrice(laplace_to_zcdp(1 / event.noise_multiplier)),
    DiscreteLaplaceEvent: _discrete_laplace,
    ExponentialEvent: lambda event, _size: AdditivePrice(exponential_to_zcdp(event.epsilon)),
    PureEvent: lambda event, _size: _pure(event.epsilon),
    ApproxEvent: lambda event, _size: AdditivePrice(pure_to_zcdp(event.epsilon), event.delta),
    RandomizedResponseEvent: lambda event, _size: _pure(response_epsilon_up(event)),
    FiniteEvent: lambda event, size: _pure(smallest_epsilon(event.p, event.q) * size),
}
"""What each event costs a group of so many units, where the event has no rule for groups itself."""


@lru_cache(maxsize=4096)
def _total(tally: EventCounts, relation: NeighboringRelation) -> AdditivePrice:
    return total_price(tally, relation, concentrated_price)


def _gaussian_part(single: NormalEvent) -> AdditivePrice | None:
    """μ² = 2ρ of the events that a Gaussian mechanism can have; nothing of the others."""
    if not isinstance(single.event, GaussianEvent | ZCDPEvent | NonPrivateEvent):
        return None
    price = concentrated_price(single)
    return price and price.times(2)


@lru_cache(maxsize=4096)
def _lower(tally: EventCounts, relation: NeighboringRelation, delta: Fraction) -> Fraction | float:
    squared_mu = total_price(tally, relation, _gaussian_part).measure
    return epsilon_down((GaussianBound(squared_mu),), delta) if isinstance(squared_mu, Fraction) else math.inf


def _short_up(rho: Fraction | float) -> Fraction | None:
    """ρ rounded up to so few bits that arithmetic stays cheap after many different prices; None where it is too large.

    Conversions are certified between 2^-500 and 2^500.
    """
    if rho > _LARGEST_RHO:
        return None
    return max(dyadic_up(Fraction(rho), 64), 1 / _LARGEST_RHO) if rho else Fraction(0)


def zcdp_delta_up(*, rho: Number, epsilon: Number) -> float:
    """The smallest δ at ε that ρ-zCDP implies by its Rényi divergences D_α ≤ αρ, rounded up.

    ln δ = min over α > 1 of (α - 1)(αρ - ε) + α ln(1 - 1/α) - ln(α - 1); every α gives a valid δ.

    Args:
        rho: 0 or more.
        epsilon: 0 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(zcdp_delta_up(rho="0.5", epsilon="5.221534"), 9)
        1e-06

    References:
        [CKS20] Proposition 12; [ALCKS20] Equation 20.
    """
    return _delta_up(in_range_or_zero(rho, "rho"), in_range_or_zero(epsilon, "epsilon"))


def zcdp_epsilon_up(*, rho: Number, delta: Number) -> Fraction | float:
    """The smallest ε at δ that ρ-zCDP implies, rounded up: the inverse of `zcdp_delta_up`.

    Edge cases: δ = 0 gives an infinite ε, except for ρ = 0, which gives 0.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(zcdp_epsilon_up(rho="0.5", delta="1e-6")), 6)
        5.221534
    """
    return _epsilon_up(in_range_or_zero(rho, "rho"), probability(delta, "delta"))


def bun_steinke_epsilon_up(*, rho: Number, delta: Number) -> Fraction:
    """The textbook ε of ρ-zCDP at δ, ρ + 2 √(ρ ln(1/δ)), rounded up: a comparator, above `zcdp_epsilon_up`.

    Raises:
        ParameterError: ρ is negative, or δ not between 0 and 1, both excluded.

    Example:
        >>> round(float(bun_steinke_epsilon_up(rho="0.5", delta="1e-6")), 5)
        5.75652

    References:
        [BS16] Proposition 1.3.
    """
    price = nonnegative(rho, "rho")
    return price + 2 * sqrt_up(price * log_up(1 / open_probability(delta, "delta")))


def pure_to_zcdp(epsilon: Number) -> Fraction:
    """The smallest ρ of all ε-differentially private mechanisms: ε tanh(ε/2), rounded up; at most ε²/2 and ε.

    **Guarantee**: every ε-differentially private mechanism is ρ-zCDP, for its neighboring relation. It is attained by
    randomized response, and below ε²/2 [BS16].

    Raises:
        ParameterError: ε is negative.

    Example:
        >>> round(float(pure_to_zcdp(1)), 6)
        0.462117

    References:
        [Ste24]; [BS16] Proposition 1.4, for ε²/2.
    """
    loss = nonnegative(epsilon, "epsilon")
    if loss <= _SMALL:
        return loss**2 / 2
    return loss * min(Fraction(inflated(math.tanh(float(min(loss, _FULL)) / 2))), Fraction(1))


def laplace_to_zcdp(epsilon: Number) -> Fraction:
    """The smallest ρ of Laplace noise of scale Δ/ε on a vector of L1 sensitivity Δ: ε - 1 + e^-ε, rounded up.

    **Guarantee**: ρ-zCDP for the relation of the sensitivity; it is attained by a vector of which one coordinate
    changes.

    Raises:
        ParameterError: ε is negative.

    Example:
        >>> round(float(laplace_to_zcdp(1)), 6)
        0.367879
    """
    loss = nonnegative(epsilon, "epsilon")
    series = loss**2 / 2 - loss**3 / 6 + loss**4 / 24
    return min(series, loss - 1 + Fraction(exp_up(-loss)))


def discrete_laplace_to_zcdp(*, scale: Number, l1_sensitivity: int) -> Fraction:
    """The smallest ρ of noise ∝ exp(-|k|/scale) on integers that move by Δ: a(Δ - (1 - e^-aΔ)/sinh a), a = 1/scale.

    **Guarantee**: ρ-zCDP for the relation of the sensitivity, which is Δ in L1; rounded up. It is attained by a
    vector of which one coordinate changes. For Δ = 1 this is `pure_to_zcdp(a)`, for small a `laplace_to_zcdp(aΔ)`.

    Raises:
        ParameterError: The scale is not above 0, or the sensitivity not a whole number of at least 1.

    Example:
        >>> round(float(discrete_laplace_to_zcdp(scale=2, l1_sensitivity=2)), 6)
        0.393469
    """
    rate = 1 / positive(scale, "scale")
    loss = rate * positive_integer(l1_sensitivity, "l1_sensitivity")
    # 1 - e^-loss, at most the loss itself.
    gain = loss if loss <= _SMALL else Fraction(inflated(-math.expm1(-float(min(loss, _FULL)))))
    return min(pure_to_zcdp(loss), laplace_to_zcdp(loss) + gain * _lattice_gap_up(rate))


def exponential_to_zcdp(epsilon: Number) -> Fraction:
    """ρ of an ε-bounded-range mechanism, such as the exponential mechanism: ε²/8, or that of ε where it is less.

    **Guarantee**: ρ-zCDP for the relation of the utility's sensitivity. Permute-and-flip has no bounded range.

    Raises:
        ParameterError: ε is negative.

    Example:
        >>> exponential_to_zcdp(1)
        Fraction(1, 8)

    References:
        [CR21], [DDR20]
    """
    loss = nonnegative(epsilon, "epsilon")
    return min(loss**2 / 8, pure_to_zcdp(loss))


def _lattice_gap_up(rate: Fraction) -> Fraction:
    """1 - a/sinh(a), rounded up; at most a²/6 and 1."""
    gap = min(rate**2 / 6, Fraction(1))
    if _SMALL < rate < _LARGEST_LOG:
        return min(gap, Fraction(inflated(1 - float(rate) / math.sinh(float(rate)) + _ROUNDING)))
    return gap


@lru_cache(maxsize=4096)
def _epsilon_up(rho: Fraction, delta: Fraction) -> Fraction | float:
    if _delta_up(rho, Fraction(0)) <= delta:
        return Fraction(0)
    found = smallest_dyadic(lambda epsilon: _delta_up(rho, epsilon) <= delta, guess=rho, bits=40)
    return math.inf if found is None else found


def _delta_up(rho: Fraction, epsilon: Fraction) -> float:
    if rho == 0:
        return 0.0
    excess = _best_excess(float(rho), float(epsilon))
    logs = -excess * math.log1p(1 / excess) - math.log1p(excess)
    moment = Fraction(excess) * ((1 + Fraction(excess)) * rho - epsilon)
    margin = Fraction(RELATIVE_MARGIN * (1 - logs))
    return min(exp_up(moment + Fraction(logs) + margin), 1.0)


def _best_excess(rho: float, epsilon: float) -> float:
    """About the best α - 1: the root of (2α - 1)ρ + ln(1 - 1/α) = ε, whose left side grows with α."""
    low = -min(3 * rho + 1, _LARGEST_LOG)
    high = min(max(math.log(epsilon + 1) - math.log(rho), 0) + 1, _LARGEST_LOG)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        excess = math.exp(middle)
        if (2 * excess + 1) * rho - math.log1p(1 / excess) < epsilon:
            low = middle
        else:
            high = middle
    return math.exp(high)
