"""Odometers, which bound the privacy loss so far at every time at once: by sums, and by Rényi divergences.

Ville's inequality holds at each of several orders, and all of them are charged. The filter of an odometer goes on as
long as its reading stays within a budget.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Protocol, Self

from sfumato.accounting.adaptive.amounts import Amount, Amounts, scaled, total
from sfumato.accounting.adaptive.event_prices import (
    PriceSum,
    approx_price,
    as_amount,
    order_name,
    pure_price,
    renyi_orders,
    renyi_price,
    zcdp_price,
)
from sfumato.accounting.renyi.of_event import renyi_bound_of
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import nonnegative, open_probability, positive, set_fields
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import ApproxEvent, Event, FullyAdaptiveEvent
from sfumato.privacy.neighbors import NeighboringRelation


class Odometer(Protocol):
    """The cost so far of releases whose mechanisms, parameters and stopping time depend on the answers.

    A frozen value, grown by `compose`; it refuses nothing but events without a cost.

    **Guarantee**: outside an event of probability `delta`, the privacy loss Lₙ of the first n releases is at most
    `epsilon`, for the readings after every n at once. Hence, if the analyst stops at any time, and the readings
    never exceeded ε and δ, everything released is (ε, δ)-differentially private. Readings are rounded up.
    """

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """The neighboring relation for which the readings hold."""

    @property
    def epsilon(self) -> Amount:
        """The bound that the privacy loss has not exceeded so far."""

    @property
    def delta(self) -> Amount:
        """The probability with which the privacy loss has exceeded `epsilon` at any time so far."""

    def supports(self, event: Event) -> bool:
        """Whether there is a cost for the event and everything nested in it."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """The odometer after the event was released `count` times.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no cost here.
            ParameterError: The count is not at least 1.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveOdometer(PriceSum):
    """An odometer that reads sums of costs."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """The odometer after the event was released `count` times.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no cost here.
            ParameterError: The count is not at least 1.
        """
        return replace(self, spent=self.spent.plus(self.cost(event, count)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PureOdometer(AdditiveOdometer):
    """Reads Σ εᵢ, which the privacy loss never passes.

    **Guarantee**: Lₙ ≤ `epsilon` always. Sums are exact.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> PureOdometer().compose(PureEvent("0.1"), count=10).epsilon
        Fraction(1, 1)

    References:
        [RRUV16]
    """

    @property
    def epsilon(self) -> Amount:
        """The sum of all εᵢ so far."""
        return self.spent["epsilon"]

    @property
    def delta(self) -> Fraction:
        """Always 0."""
        return Fraction(0)

    def _price(self, event: Event) -> Amounts | None:
        return pure_price(event, self.neighboring_relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicOdometer(AdditiveOdometer):
    """Reads Σ εᵢ and Σ δᵢ.

    **Guarantee**: outside an event of probability E[Σ δᵢ], the distributions of the first n answers differ by at most a
    factor of e^`epsilon`, for every n at once. Sums are exact.

    Example:
        >>> from sfumato.privacy.events import ApproxEvent
        >>> odometer = BasicOdometer().compose(ApproxEvent("0.5", "1e-7"), count=2)
        >>> float(odometer.epsilon), float(odometer.delta)
        (1.0, 2e-07)

    References:
        [RRUV16]
    """

    @property
    def epsilon(self) -> Amount:
        """The sum of all εᵢ so far."""
        return self.spent["epsilon"]

    @property
    def delta(self) -> Amount:
        """Σ δᵢ; above 1 it says no more than 1."""
        return self.spent["delta"]

    def _price(self, event: Event) -> Amounts | None:
        return approx_price(event, self.neighboring_relation)


ODOMETER_ORDERS: Final = tuple(1 + Fraction(2) ** exponent for exponent in range(-4, 13))
"""1 + 2^i: a factor of two apart, so that for Gaussian noise one of them costs at most 6% more than the best order."""


@dataclass(frozen=True, slots=True)
class OrderedOdometer(AdditiveOdometer):
    """Reads min over orders αⱼ of Rₙ(αⱼ) + ln(1/(wⱼδ'))/(αⱼ − 1), and Σ εᵢ if that is less.

    Rₙ(α) is the sum of bounds of Rényi divergences, `_divergence`. The weights wⱼ sum to at most 1: each order pays for
    being chosen after the answers. Σ εᵢ holds always, and needs no weight. δ is δ' + Σ δᵢ, over events with a δ of
    their own.

    Args:
        delta_slack: δ', above 0 and below 1: with which probability the reading may fail.
        orders: Above 1, each once.
        weights: One for each order, above 0; equal ones if left out.

    Raises:
        ParameterError: A parameter is out of range.
    """

    delta_slack: Fraction
    orders: tuple[Fraction, ...] = ODOMETER_ORDERS
    weights: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        AdditiveOdometer.__post_init__(self)
        set_fields(
            self, delta_slack=open_probability(self.delta_slack, "delta_slack"), orders=renyi_orders(self.orders)
        )
        given = tuple(positive(weight, "weights") for weight in listed(self.weights, "weights"))
        weights = given or (Fraction(1, len(self.orders)),) * len(self.orders)
        set_fields(self, weights=weights)
        if len(weights) != len(self.orders) or sum(weights) > 1:
            raise ParameterError("weights", given, f"must be {len(self.orders)}, one per order, and sum to at most 1")

    @property
    def epsilon(self) -> Amount:
        """The smallest reading, rounded up; 0 as long as nothing was released."""
        pairs = zip(self.orders, self.weights, strict=True)
        readings = (
            total(self._divergence(order), log_up(1 / (weight * self.delta_slack)) / (order - 1))
            for order, weight in pairs
        )
        return min(self.spent["epsilon"], *readings)

    @property
    def delta(self) -> Amount:
        """δ' + Σ δᵢ; above 1 it says no more than 1."""
        return total(self.delta_slack, self.spent["delta"])

    @abstractmethod
    def _divergence(self, order: Fraction) -> Amount:
        """Rₙ of this order."""


@dataclass(frozen=True, slots=True)
class RDPOdometer(OrderedOdometer):
    """Reads the best of several orders: min over j of Σ D_αⱼ + ln(1/(wⱼδ'))/(αⱼ − 1), and Σ εᵢ if that is less.

    **Guarantee**: with probability 1 − `delta` or more, Lₙ ≤ `epsilon` for all n at once; the same in both directions
    of the privacy loss. Readings are rounded up.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> round(float(RDPOdometer("1e-6").compose(GaussianEvent(10), count=10).epsilon), 3)
        1.891

    References:
        [Vil39]; [FZ21]; [Lec21].
    """

    def _divergence(self, order: Fraction) -> Amount:
        return self.spent[order_name(order)]

    def _price(self, event: Event) -> Amounts | None:
        price = renyi_price(event, self.orders, self.neighboring_relation)
        return price and price.plus(_epsilon(as_amount(renyi_bound_of(event, self.neighboring_relation).epsilon)))


@dataclass(frozen=True, slots=True)
class ZCDPOdometer(OrderedOdometer):
    """Reads min over j of αⱼ Σ ρᵢ + ln(1/(wⱼδ'))/(αⱼ − 1), and Σ εᵢ if that is less.

    **Guarantee**: with probability 1 − `delta` or more, Lₙ ≤ `epsilon` for all n at once; the same in both directions
    of the privacy loss. Readings are rounded up.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> round(float(ZCDPOdometer("1e-6").compose(GaussianEvent(10), count=10).epsilon), 3)
        1.891

    References:
        [Vil39]; [WRRW23].
    """

    def _divergence(self, order: Fraction) -> Amount:
        return scaled(self.spent["rho"], order)

    def _price(self, event: Event) -> Amounts | None:
        price = zcdp_price(event, self.neighboring_relation)
        if price is None:
            return None
        # an ε that needs a δ of its own would be another split of the law than the one that ρ holds for
        pure = None if price["delta"] else pure_price(event, self.neighboring_relation)
        return price.plus(_epsilon(pure["epsilon"] if pure else math.inf))


def _epsilon(epsilon: Amount) -> Amounts:
    return Amounts((("epsilon", epsilon),))


@dataclass(frozen=True, slots=True)
class OdometerFilter:
    """Grants while the odometer would read at most ε and δ.

    With an `RDPOdometer` this is the filter that may use whichever order turns out best: the odometer has charged it.

    **Guarantee**: everything released together is (ε, δ)-differentially private, for the odometer's neighboring
    relation.

    Args:
        epsilon: 0 or more.
        delta: At least the odometer's reading, and below 1.
        odometer: Of what was released so far; a fresh one for a fresh budget.

    Raises:
        ParameterError: A parameter is out of range, or the odometer reads more already.

    Example:
        >>> from sfumato.accounting.adaptive.odometers import RDPOdometer
        >>> from sfumato.privacy.events import GaussianEvent
        >>> account = OdometerFilter(2, "1e-6", odometer=RDPOdometer("1e-6"))
        >>> account.can_spend(GaussianEvent(10), count=11), account.can_spend(GaussianEvent(10), count=12)
        (True, False)

    References:
        [RRUV16]; [FZ21]
    """

    epsilon: Fraction
    delta: Fraction
    odometer: Odometer

    def __post_init__(self) -> None:
        if isinstance(self.odometer, type) or not hasattr(self.odometer, "neighboring_relation"):
            raise ParameterError("odometer", self.odometer, "must be an odometer, such as PureOdometer()")
        set_fields(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=nonnegative(self.delta, "delta"))
        if self.delta >= 1 or not self._allows(self.odometer):
            raise ParameterError("delta", self.delta, "must be below 1, and the odometer's reading within ε and δ")

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """The neighboring relation of the odometer."""
        return self.odometer.neighboring_relation

    @property
    def budget(self) -> Amounts:
        """The budget: ε and δ."""
        return Amounts((("epsilon", self.epsilon), ("delta", self.delta)))

    @property
    def remaining(self) -> Amounts:
        """The amount by which the readings may still grow."""
        return _readings(self.odometer).left_of(self.budget)

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: an (ε, δ)-differentially private event."""
        return FullyAdaptiveEvent(ApproxEvent(self.epsilon, self.delta))

    def supports(self, event: Event) -> bool:
        """Whether there is a cost for the event and everything nested in it."""
        return self.odometer.supports(event)

    def can_spend(self, event: Event, *, count: int = 1) -> bool:
        """Whether the event may still be released `count` times; an event without a cost may not."""
        return self.supports(event) and self._allows(self.odometer.compose(event, count=count))

    def spend(self, event: Event, *, count: int = 1) -> Self:
        """The filter after the event was released `count` times.

        Raises:
            BudgetExceededError: The odometer would read more than ε or δ.
            UnsupportedEventError: The event, or one nested in it, has no cost by the odometer.
            ParameterError: The count is not at least 1.
        """
        grown = self.odometer.compose(event, count=count)
        if not self._allows(grown):
            raise BudgetExceededError(f"{_readings(grown)} together with earlier releases", self.remaining)
        return replace(self, odometer=grown)

    def _allows(self, odometer: Odometer) -> bool:
        return _readings(odometer).is_within(self.budget)


def _readings(odometer: Odometer) -> Amounts:
    return Amounts((("epsilon", odometer.epsilon), ("delta", odometer.delta)))
