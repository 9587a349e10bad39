"""What one event costs in a measure whose costs add up, for filters and odometers; None where that is not known."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from sfumato.accounting.adaptive.amounts import Amount, Amounts
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.pricing import point
from sfumato.accounting.core.additive import EXACT_ANSWER, AdditivePrice, is_priced, total_price
from sfumato.accounting.core.tally import Tally
from sfumato.accounting.gaussian.concentrated import ZCDPAccountant
from sfumato.accounting.renyi.of_event import bound_of, renyi_bound
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact
from sfumato.numeric.rounding import float_up
from sfumato.privacy.events import Event, GaussianEvent, NonPrivateEvent
from sfumato.privacy.neighbors import NeighboringRelation

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
    guarantee = point(event, relation)
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
    return Amounts((("squared_mu", total_price(Tally(((event, 1),)), relation, _squared_mu).measure),))


def _squared_mu(event: Event) -> AdditivePrice | None:
    match event:
        case GaussianEvent():
            return AdditivePrice(1 / event.noise_multiplier**2)
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
        raise ParameterError("orders", found, "must be above 1, each once, at least one")
    return found


@lru_cache(maxsize=4096)
def renyi_price(event: Event, orders: tuple[Fraction, ...], relation: NeighboringRelation) -> Amounts | None:
    """Rényi divergences at these orders, in both directions, and the δ up to which they hold."""
    try:
        bound = bound_of(event, relation)
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
