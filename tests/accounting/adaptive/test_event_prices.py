import math
from fractions import Fraction

import pytest
from tests.accounting.contract import EVENTS, name_of

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.event_prices import (
    PriceSum,
    approx_price,
    as_amount,
    gdp_price,
    order_name,
    pure_price,
    renyi_orders,
    renyi_price,
    zcdp_price,
)
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.divergences import renyi_divergence
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    NonPrivateEvent,
    PartitionEvent,
    PureEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

ORDERS = (Fraction(2), Fraction(8), Fraction(3, 2))
SKEWED = FiniteEvent(("0.5", "0.5"), ("0.1", "0.9"))
MEASURES = {
    "pure": pure_price,
    "approx": approx_price,
    "zcdp": zcdp_price,
    "gdp": gdp_price,
    "renyi": lambda event, relation: renyi_price(event, ORDERS, relation),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_prices_are_exact_or_infinite(measure, event):
    price = MEASURES[measure](event, ADD_OR_REMOVE_ONE)
    for _, number in price.numbers if price else ():
        assert isinstance(number, Fraction) or number == math.inf
        assert number >= 0


def test_prices_by_measure():
    gaussian = GaussianEvent(10)
    assert pure_price(PureEvent("0.3"), ADD_OR_REMOVE_ONE)["epsilon"] == Fraction(3, 10)
    assert pure_price(gaussian, ADD_OR_REMOVE_ONE)["epsilon"] == math.inf
    assert approx_price(gaussian, ADD_OR_REMOVE_ONE) is None
    assert approx_price(ApproxEvent("0.3", "0.01"), ADD_OR_REMOVE_ONE)["delta"] == Fraction(1, 100)
    assert zcdp_price(gaussian, ADD_OR_REMOVE_ONE)["rho"] == Fraction(1, 200)
    assert gdp_price(gaussian, ADD_OR_REMOVE_ONE)["squared_mu"] == Fraction(1, 100)
    assert gdp_price(ZCDPEvent(1), ADD_OR_REMOVE_ONE) is None


@pytest.mark.parametrize("measure", ["zcdp", "gdp", "renyi"])
def test_a_replaced_unit_touches_two_parts(measure):
    parts = PartitionEvent((GaussianEvent(10), GaussianEvent(10)), 1)
    single, pair = (MEASURES[measure](parts, relation) for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE))
    name, number = single.numbers[0]
    assert float(pair[name]) == pytest.approx(2 * float(number))


def test_an_exact_answer_has_no_finite_price():
    for price in (price(NonPrivateEvent(), ADD_OR_REMOVE_ONE) for price in MEASURES.values()):
        assert any(number == math.inf or (name == "delta" and number >= 1) for name, number in price.numbers)


def test_divergences_are_those_of_the_worse_direction_order_by_order():
    price = renyi_price(SKEWED, ORDERS, ADD_OR_REMOVE_ONE)
    for order in ORDERS:
        worse = max(
            renyi_divergence(*pair, order=float(order)) for pair in ((SKEWED.p, SKEWED.q), (SKEWED.q, SKEWED.p))
        )
        assert worse <= price[order_name(order)] <= worse * (1 + 1e-9)


def test_an_order_that_no_float_has_is_priced_at_the_next_float():
    order = Fraction(10**20, 3)
    (pair,) = renyi_price(GroupEvent(GaussianEvent(1), 2), (order,), ADD_OR_REMOVE_ONE).numbers[:1]
    assert pair[1] >= 2 * order


@pytest.mark.parametrize("orders", [(), (1,), ("0.5",), (2, 2.0), ("nan",)])
def test_orders_are_checked(orders):
    with pytest.raises(ParameterError, match="orders"):
        renyi_orders(orders)


def test_a_float_is_taken_exactly():
    assert as_amount(0.1) == Fraction(0.1)
    assert as_amount(math.inf) == math.inf


class PureMeter(PriceSum):
    def _price(self, event):
        return Amounts((("epsilon", event.epsilon),)) if isinstance(event, PureEvent) else None


def cost(event, count=1):
    return PureMeter().cost(event, count)["epsilon"]


def test_the_price_of_a_composition_is_the_sum_over_what_it_holds():
    inner = ComposedEvent((PureEvent(Fraction(1, 3)), SelfComposedEvent(PureEvent(Fraction(1, 7)), 2)))
    assert cost(SelfComposedEvent(inner, 5), count=3) == 15 * (Fraction(1, 3) + Fraction(2, 7))
    assert cost(GroupEvent(PureEvent(Fraction(1)), 4)) == 4
    assert PureMeter().cost(PureEvent(Fraction(1, 10)))["epsilon"] == Fraction(1, 10)
    assert cost(PureEvent(Fraction(1, 10)), count=10**30) == 10**29


def test_a_part_without_a_price_is_named():
    nested = ComposedEvent((PureEvent(Fraction(1)), SelfComposedEvent(GaussianEvent(Fraction(2)), 2)))
    assert not PureMeter().supports(nested)
    with pytest.raises(UnsupportedEventError, match=r"GaussianEvent.*PureMeter|PureMeter.*GaussianEvent"):
        PureMeter().cost(nested, 1)


def test_a_relation_is_checked():
    assert PureMeter(neighboring_relation="add_or_remove_one").neighboring_relation is ADD_OR_REMOVE_ONE
    with pytest.raises(ParameterError, match="neighboring_relation"):
        PureMeter(neighboring_relation="nearly")
