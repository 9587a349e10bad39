"""Odometers by Rényi divergences: Ville's inequality at each of several orders, all of them paid for."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.adaptive.amounts import Amount, Amounts, scaled, total
from sfumato.accounting.adaptive.event_prices import (
    as_amount,
    order_name,
    pure_price,
    renyi_orders,
    renyi_price,
    zcdp_price,
)
from sfumato.accounting.adaptive.odometers import AdditiveOdometer
from sfumato.accounting.core.parameters import open_delta
from sfumato.accounting.renyi.of_event import bound_of
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import positive
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import Event

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
        ParameterError: A parameter lies outside.
    """

    delta_slack: Fraction
    orders: tuple[Fraction, ...] = ODOMETER_ORDERS
    weights: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        AdditiveOdometer.__post_init__(self)
        object.__setattr__(self, "delta_slack", open_delta(self.delta_slack, "delta_slack"))
        object.__setattr__(self, "orders", renyi_orders(self.orders))
        given = tuple(positive(weight, "weights") for weight in listed(self.weights, "weights"))
        weights = given or (Fraction(1, len(self.orders)),) * len(self.orders)
        object.__setattr__(self, "weights", weights)
        if len(weights) != len(self.orders) or sum(weights) > 1:
            raise ParameterError("weights", given, f"must be {len(self.orders)}, one an order, and sum to at most 1")

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
        return price and price.plus(_epsilon(as_amount(bound_of(event, self.neighboring_relation).epsilon)))


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
