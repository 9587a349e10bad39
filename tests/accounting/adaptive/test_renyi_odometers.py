from fractions import Fraction
from itertools import pairwise

import pytest
from tests.accounting.adaptive.adversaries import Move, crossing_probability, finite, leaky_response, response, swapped
from tests.accounting.adaptive.odometer_contract import OdometerContract

from sfumato.accounting.adaptive.renyi_odometers import ODOMETER_ORDERS, RDPOdometer, ZCDPOdometer
from sfumato.accounting.gaussian.zcdp import zcdp_epsilon_up
from sfumato.errors import ParameterError
from sfumato.privacy.events import ApproxEvent, FiniteEvent, GaussianEvent, NonPrivateEvent, PureEvent, ZCDPEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

FIRST, AFTER_LUCK, OTHERWISE = (
    finite("0.01", "0.0017377"),
    finite("0.999", "0.00095486"),
    finite("0.009016", "0.0000044593"),
)
MIXED = tuple(m for move in (finite("2/3", "1/2"), finite("1/5", "1/20")) for m in (move, swapped(move)))
MILLIONTH = Fraction(1, 10**6)


class TestRDPOdometer(OdometerContract):
    def make(self, relation=ADD_OR_REMOVE_ONE):
        return RDPOdometer("1e-6", neighboring_relation=relation)


class TestZCDPOdometer(OdometerContract):
    def make(self, relation=ADD_OR_REMOVE_ONE):
        return ZCDPOdometer("1e-6", neighboring_relation=relation)


@pytest.mark.parametrize("orders", [(2,), (2, 8), ("3/2", 3, 10)])
@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(1, 20)])
def test_no_adaptive_strategy_makes_the_loss_pass_the_reading_at_any_time_more_often_than_delta(orders, delta):
    odometer = RDPOdometer(delta, orders)
    passed = crossing_probability(odometer, (*MIXED, response(4)), depth=4)
    assert passed <= delta


def test_every_order_must_be_paid_for():
    """At δ = 2% two orders of weight 1/2 read what each would read alone at δ = 1%; their minimum is passed in 1.8%."""
    moves, orders = (FIRST, AFTER_LUCK, OTHERWISE), (2, 8)
    passed = crossing_probability(RDPOdometer("0.02", orders), moves, depth=2)
    assert Fraction(18, 1000) < passed <= Fraction(2, 100)
    for order in orders:
        assert crossing_probability(RDPOdometer("0.01", (order,)), moves, depth=2) <= Fraction(1, 100)


def test_weights_say_which_orders_pay():
    even = RDPOdometer("1e-6", (2, 8)).compose(GaussianEvent(1))
    all_on_two = RDPOdometer("1e-6", (2, 8), ("0.999", "0.001")).compose(GaussianEvent(1))
    all_on_eight = RDPOdometer("1e-6", (2, 8), ("0.001", "0.999")).compose(GaussianEvent(1))
    assert all_on_eight.epsilon < even.epsilon < all_on_two.epsilon


@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(1, 10)])
def test_concentrated_readings_hold_at_every_time(delta):
    odometer = ZCDPOdometer(delta, orders=("3/2", 2, 4, 12))
    assert crossing_probability(odometer, (response("3/2"), response(3), response(6)), depth=5) <= delta


@pytest.mark.parametrize("kind", [RDPOdometer, ZCDPOdometer])
def test_what_leaks_is_added_to_delta(kind):
    odometer = kind("1e-6").compose(ApproxEvent("0.1", "1e-7"), count=3)
    assert odometer.delta == MILLIONTH * Fraction(13, 10)


@pytest.mark.parametrize("kind", [RDPOdometer, ZCDPOdometer])
def test_a_leaky_response_passes_the_reading_only_as_often_as_it_may(kind):
    leak = leaky_response(2, "1/20")
    passed = crossing_probability(kind("1/10"), (leak, response(2)), depth=3)
    assert Fraction(1, 20) <= passed <= Fraction(1, 10) + 3 * Fraction(1, 20)


@pytest.mark.parametrize("kind", [RDPOdometer, ZCDPOdometer])
def test_an_outcome_that_names_the_database_is_paid_for_though_its_event_states_no_delta(kind):
    telling = FiniteEvent(("0.2", "0.8", 0), (0, "0.8", "0.2"))
    move = Move(telling, telling.p, telling.q)
    assert crossing_probability(kind("1/10"), (move, response(2)), depth=2) <= Fraction(1, 10)
    assert kind("1/10").compose(telling).epsilon == float("inf")


def test_for_gaussian_noise_both_read_the_same():
    for count in (1, 100, 10**4, 10**8):
        concentrated = ZCDPOdometer("1e-6").compose(GaussianEvent(100), count=count)
        renyi = RDPOdometer("1e-6").compose(GaussianEvent(100), count=count)
        assert float(renyi.epsilon) == pytest.approx(float(concentrated.epsilon), rel=1e-9)


@pytest.mark.parametrize(("rho", "ratio"), [("1e-4", "1.6"), ("1e-2", "1.4"), (1, "1.2"), (100, "1.07")])
def test_reading_at_all_times_costs_little_more_than_one_time_fixed_beforehand(rho, ratio):
    reading = ZCDPOdometer("1e-6").compose(ZCDPEvent(rho)).epsilon
    assert 1 < reading / zcdp_epsilon_up(rho=rho, delta="1e-6") < Fraction(ratio)


def test_a_pure_event_is_read_at_its_epsilon_while_that_is_less():
    assert RDPOdometer("1e-6").compose(PureEvent("0.5")).epsilon == Fraction(1, 2)
    assert RDPOdometer("1e-6").compose(PureEvent("0.01"), count=10**4).epsilon < 10


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("delta_slack", lambda: RDPOdometer(0)),
        ("delta_slack", lambda: ZCDPOdometer(1)),
        ("orders", lambda: RDPOdometer("0.1", (1,))),
        ("orders", lambda: RDPOdometer("0.1", ())),
        ("weights", lambda: RDPOdometer("0.1", (2, 3), ("0.5",))),
        ("weights", lambda: RDPOdometer("0.1", (2, 3), ("0.5", "0.6"))),
        ("weights", lambda: RDPOdometer("0.1", (2, 3), (1, 0))),
    ],
)
def test_parameters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()


def test_the_orders_lie_a_factor_of_two_apart():
    assert all((b - 1) == 2 * (a - 1) for a, b in pairwise(ODOMETER_ORDERS))


def test_readings_beyond_floats_are_exact_or_infinite():
    orders = (1 + Fraction(1, 10**400), Fraction(10**400))
    for kind in (RDPOdometer, ZCDPOdometer):
        odometer = kind("1e-6", orders=orders).compose(PureEvent("1e390"))
        assert odometer.epsilon == 10**390
        assert odometer.compose(NonPrivateEvent()).delta > 0
        assert odometer.compose(NonPrivateEvent()).epsilon >= 10**390
