"""What events cost in measures whose costs add up, and the sums that filters and odometers keep of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from sfumato.accounting.adaptive.amounts import NOTHING, Amount, Amounts
from sfumato.accounting.composition.basic import BasicAccountant, own_guarantee
from sfumato.accounting.core.additive import EXACT_ANSWER, AdditivePrice, is_priced, total_price
from sfumato.accounting.core.normal_form import EventCounts, NeighborGroup, NormalEvent, flattened
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.renyi.of_event import renyi_bound, renyi_bound_of
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, positive_integer, set_fields
from sfumato.numeric.rounding import float_up
from sfumato.privacy.events import Event, GaussianEvent, NonPrivateEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation

_LARGEST_ORDER: Final = Fraction(10**15)  # above it only the infinite order is looked at


@lru_cache(maxsize=4096)
def pure_price(event: Event, relation: NeighboringRelation) -> Amounts | None:
    """ε at δ = 0, infinite where no ε will do."""
    accountant = BasicAccountant(neighboring_relation=relation)
    if not accountant.supports(event):
        return None
    return Amounts((("epsilon", accountant.compose(event).epsilon()),))


@lru_cache(maxsize=4096)
def approx_price(event: Event, relation: NeighboringRelation) -> Amounts | None:
    """ε and δ; None for a Gaussian curve, which has an ε for every δ."""
    guarantee = own_guarantee(event, relation)
    if guarantee is None:
        return None
    return Amounts((("epsilon", guarantee.epsilon), ("delta", guarantee.delta)))


@lru_cache(maxsize=4096)
def zcdp_price(event: Event, relation: NeighboringRelation) -> Amounts | None:
    """ρ and δ of approximate zero-concentrated privacy."""
    accountant = ZCDPAccountant(neighboring_relation=relation)
    if not accountant.supports(event):
        return None
    spent = accountant.compose(event)
    return Amounts((("rho", spent.rho), ("delta", spent.approximation)))


@lru_cache(maxsize=4096)
def gdp_price(event: Event, relation: NeighboringRelation) -> Amounts | None:
    """μ², of continuous Gaussian noise alone."""
    if not is_priced(event, relation, _squared_mu):
        return None
    return Amounts((("squared_mu", total_price(EventCounts(((event, 1),)), relation, _squared_mu).measure),))


def _squared_mu(single: NormalEvent) -> AdditivePrice | None:
    match single.event:
        case GaussianEvent(noise_multiplier):
            return AdditivePrice(1 / noise_multiplier**2)
        case NonPrivateEvent():
            return EXACT_ANSWER
        case _:
            return None


def order_name(order: Fraction) -> str:
    """Under which name a Rényi divergence of this order is added up."""
    return f"D_{order}"


def renyi_orders(orders: Iterable[Number]) -> tuple[Fraction, ...]:
    """Orders above 1, each once, at least one."""
    found = tuple(exact(order, "orders") for order in listed(orders, "orders"))
    if not found or len(set(found)) < len(found) or min(found) <= 1:
        raise ParameterError("orders", found, "must be at least one order, each above 1 and listed once")
    return found


@lru_cache(maxsize=4096)
def renyi_price(event: Event, orders: tuple[Fraction, ...], relation: NeighboringRelation) -> Amounts | None:
    """Rényi divergences at these orders, in both directions, and the δ up to which they hold."""
    try:
        bound = renyi_bound_of(event, relation)
    except UnsupportedEventError:
        return None
    # a divergence never falls as its order grows: the next float has no less, and an infinite order no less than any
    ranks = np.array([float_up(min(order, _LARGEST_ORDER)) for order in orders])
    found = zip(orders, renyi_bound(event, ranks, relation).tolist(), strict=True)
    divergences = ((order, value if order <= _LARGEST_ORDER else bound.epsilon) for order, value in found)
    return Amounts((*((order_name(order), as_amount(value)) for order, value in divergences), ("delta", bound.failure)))


def as_amount(bound: Fraction | float) -> Amount:
    """A bound as it is added up: exact, unless it is infinite."""
    return Fraction(bound) if bound < math.inf else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSum(ABC):
    """A sum of costs; a subclass says what one event costs. Sums are exact, so that order cannot matter.

    Args:
        neighboring_relation: The relation for which the events' sensitivities and the guarantee hold.
        spent: The costs so far, added up.
    """

    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    spent: Amounts = NOTHING

    def __post_init__(self) -> None:
        set_fields(self, neighboring_relation=as_relation(self.neighboring_relation))

    def supports(self, event: Event) -> bool:
        """Whether there is a cost for the event and everything nested in it."""
        try:
            self.cost(event, 1)
        except UnsupportedEventError:
            return False
        return True

    def cost(self, event: Event, count: int = 1) -> Amounts:
        """The cost of the event, `count` times, whatever the remaining budget.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no cost here.
            ParameterError: The count is not at least 1.
        """
        times, total = positive_integer(count, "count"), NOTHING
        for single, many in flattened(event, NeighborGroup(self.neighboring_relation)).counts:
            price = self._price(single)
            if price is None:
                raise UnsupportedEventError(single, type(self).__name__)
            total = total.plus(price.times(many * times))
        return total

    @abstractmethod
    def _price(self, event: Event) -> Amounts | None:
        """What one uncomposed event costs; None where that is not known."""
