from fractions import Fraction
from functools import partial

import pytest
from tests.accounting.adaptive.adversaries import finite, moment, response, swapped, worst_laws
from tests.accounting.adaptive.filter_contract import FilterContract

from sfumato.accounting.adaptive.odometer_filter import OdometerFilter
from sfumato.accounting.adaptive.renyi_filter import RDPFilter
from sfumato.accounting.adaptive.renyi_odometers import RDPOdometer
from sfumato.accounting.core.finite import smallest_delta
from sfumato.accounting.gaussian.zcdp import zcdp_epsilon_up
from sfumato.errors import ParameterError
from sfumato.numeric.rounding import exp_down, exp_up
from sfumato.privacy.events import ApproxEvent, GaussianEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

EPSILON, DELTA = Fraction(6), Fraction(1, 100)
ORDERS = 2, 8
FIRST, AFTER_LUCK, OTHERWISE = finite("0.1", "0.04724"), finite("0.8", "0.0037"), finite("0.0162", "0.0000186")
MOVES = FIRST, AFTER_LUCK, OTHERWISE
MIXED = tuple(m for move in (finite("2/3", "1/2"), finite("1/5", "1/20")) for m in (move, swapped(move)))


class AnyOrderFilter(RDPFilter):
    """Content with whichever order keeps a bound from which the guarantee would follow, if it were the only one."""

    def _allows(self, total):
        return any(total[name] <= bound for name, bound in self.budget.numbers)


def at_order(order):
    return RDPFilter.for_guarantee(EPSILON, DELTA, order=order)


def worst_delta(account, moves=MOVES, depth=2):
    weight = Fraction(exp_down(EPSILON))
    return smallest_delta(
        *worst_laws(account, moves, depth=depth, gain=lambda p, q: max(p - weight * q, 0)), epsilon=EPSILON
    )


class TestRDPFilter(FilterContract):
    filling = PureEvent(Fraction(1, 10)), 7

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return RDPFilter((2, 8), ("0.07", 2), delta="1e-6", neighboring_relation=relation)


def moment_of(order, p, q):
    return p**order / q ** (order - 1)


@pytest.mark.parametrize("bounds", [(1, 2), ("1/2", 3), (3, "1/2")])
def test_no_adaptive_strategy_passes_a_bound_at_any_order(bounds):
    account = RDPFilter((2, 3), bounds, delta="1e-6")
    for order, bound in zip((2, 3), account.bounds, strict=True):
        laws = worst_laws(account, (*MIXED, response(2)), depth=5, gain=partial(moment_of, order))
        assert 1 < moment(*laws, order) <= Fraction(exp_up((order - 1) * bound))


def test_a_filter_content_with_any_order_is_beaten_by_an_analyst_who_chooses_it_after_an_answer():
    bounds = tuple(at_order(order).bounds[0] for order in ORDERS)
    careless, careful = (kind(ORDERS, bounds, DELTA) for kind in (AnyOrderFilter, RDPFilter))
    assert worst_delta(careless) > DELTA * Fraction(3, 2)
    assert worst_delta(careful) <= DELTA


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_chosen_beforehand_keeps_the_guarantee_and_nearly_fills_it(order):
    assert worst_delta(at_order(order), (FIRST, AFTER_LUCK, OTHERWISE, finite("0.085", "0.000186"))) <= DELTA


def test_a_filter_that_pays_for_all_its_orders_may_use_any():
    account = OdometerFilter(EPSILON, DELTA, odometer=RDPOdometer(DELTA, ORDERS))
    assert worst_delta(account, (*MOVES, finite("0.08", "0.0002"), finite("0.008", "0.00001")), depth=3) <= DELTA


def test_the_event_of_a_run_has_the_guarantee_asked_for():
    account = RDPFilter.for_guarantee("1.7", "1e-6", order=20)
    assert account.event.budget == ApproxEvent("1.7", "1e-6")
    assert RDPFilter((2, 20), (10, account.bounds[0]), delta="1e-6").event == account.event


def test_the_best_order_for_gaussian_noise_allows_as_much_as_concentrated_privacy_does():
    rho = Fraction(1, 10)
    epsilon = Fraction(zcdp_epsilon_up(rho=rho, delta="1e-6"))
    best = max((RDPFilter.for_guarantee(epsilon, "1e-6", order=order) for order in range(8, 20)), key=allowance)
    assert best.can_spend(GaussianEvent(100), count=1995)
    assert not best.can_spend(GaussianEvent(100), count=2001)


def allowance(account):
    return account.bounds[0] / account.orders[0]


def test_an_event_with_a_delta_of_its_own_is_never_granted():
    assert not RDPFilter((2,), (100,), delta="1e-6").can_spend(ApproxEvent("0.1", "1e-100"))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("orders", lambda: RDPFilter((), (), delta="0.1")),
        ("orders", lambda: RDPFilter((1,), (1,), delta="0.1")),
        ("orders", lambda: RDPFilter((2, 2), (1, 1), delta="0.1")),
        ("bounds", lambda: RDPFilter((2, 3), (1,), delta="0.1")),
        ("bounds", lambda: RDPFilter((2,), (-1,), delta="0.1")),
        ("delta", lambda: RDPFilter((2,), (1,), delta=0)),
        ("delta", lambda: RDPFilter((2,), (1,), delta=1)),
        ("order", lambda: RDPFilter.for_guarantee(1, "1e-6", order=2)),
    ],
)
def test_parameters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()


def test_an_order_that_no_float_has_is_priced_at_the_pure_loss():
    account = RDPFilter((10**400,), (1,), "1e-6")
    assert account.can_spend(PureEvent(1))
    assert not account.can_spend(PureEvent("1.1"))
    assert not account.can_spend(GaussianEvent(100))
