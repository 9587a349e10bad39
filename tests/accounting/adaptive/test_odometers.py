import math
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.adaptive.adversaries import (
    Move,
    crossing_probability,
    finite,
    leaky_response,
    response,
    swapped,
    worst_laws,
)
from tests.accounting.adaptive.filter_contract import FilterContract
from tests.accounting.adaptive.odometer_contract import OdometerContract
from tests.accounting.contract import EVENTS

from sfumato.accounting.adaptive.divergence_filters import RDPFilter
from sfumato.accounting.adaptive.filters import ApproxFilter, PureFilter
from sfumato.accounting.adaptive.odometers import (
    ODOMETER_ORDERS,
    BasicOdometer,
    OdometerFilter,
    PureOdometer,
    RDPOdometer,
    ZCDPOdometer,
)
from sfumato.accounting.core.finite import smallest_delta
from sfumato.accounting.gaussian.zcdp import zcdp_epsilon_up
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.numeric.rounding import exp_down, log_up
from sfumato.privacy.events import ApproxEvent, FiniteEvent, GaussianEvent, NonPrivateEvent, PureEvent, ZCDPEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


class TestPureOdometer(OdometerContract):
    def make(self, relation=ADD_OR_REMOVE_ONE):
        return PureOdometer(neighboring_relation=relation)


class TestBasicOdometer(OdometerContract):
    def make(self, relation=ADD_OR_REMOVE_ONE):
        return BasicOdometer(neighboring_relation=relation)


def test_the_privacy_loss_never_passes_the_sum():
    assert crossing_probability(PureOdometer(), (response(2), response("3/2"), finite("1/5", "1/3")), depth=5) == 0


def test_a_sum_any_smaller_is_passed():
    truthful = response(3)
    shy = type(truthful)(PureEvent(log_up(Fraction(5, 2))), truthful.p, truthful.q)
    assert crossing_probability(PureOdometer(), (shy,), depth=1) == Fraction(3, 4)


def test_basic_odometer_adds_epsilon_and_delta():
    odometer = BasicOdometer().compose(ApproxEvent("0.1", "1e-7"), count=10).compose(PureEvent("0.5"))
    assert (odometer.epsilon, odometer.delta) == (Fraction(3, 2), Fraction(1, 10**6))


def test_exact_answers_are_read_as_no_protection():
    assert PureOdometer().compose(NonPrivateEvent()).epsilon == float("inf")
    assert BasicOdometer().compose(NonPrivateEvent()).delta == 1


@given(st.lists(st.sampled_from([event for event in EVENTS if BasicOdometer().supports(event)]), max_size=6))
def test_a_filter_of_what_was_read_is_just_filled_by_it(events):
    odometer = BasicOdometer()
    for event in events:
        odometer = odometer.compose(event)
    account = ApproxFilter(odometer.epsilon, odometer.delta)
    for event in events:
        account = account.spend(event)
    assert {number for _, number in account.remaining.numbers} == {0}


def test_an_exact_answer_is_read_also_after_an_epsilon_that_no_float_holds():
    assert PureOdometer().compose(PureEvent("1e390")).compose(NonPrivateEvent()).epsilon == math.inf


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


class TestOdometerFilter(FilterContract):
    filling = PureEvent(Fraction(1, 10)), 4

    def make(self, relation=ADD_OR_REMOVE_ONE):
        odometer = RDPOdometer("1e-6", (4, 16, 64), neighboring_relation=relation)
        return OdometerFilter("0.4", "1e-6", odometer=odometer)


class TestOdometerFilterOfPureOdometer(FilterContract):
    filling = PureEvent(Fraction(1, 10)), 4

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return OdometerFilter("0.4", 0, odometer=PureOdometer(neighboring_relation=relation))


@given(st.lists(st.sampled_from(EVENTS), max_size=6))
def test_over_the_odometers_of_sums_it_is_the_filter_of_sums(events):
    pairs = [
        (OdometerFilter("0.5", 0, odometer=PureOdometer()), PureFilter("0.5")),
        (OdometerFilter("0.5", "1e-7", odometer=BasicOdometer()), ApproxFilter("0.5", "1e-7")),
    ]
    for first, second in pairs:
        by_odometer, by_sums = first, second
        for event in events:
            assert by_odometer.can_spend(event) == by_sums.can_spend(event)
            if by_sums.can_spend(event):
                by_odometer, by_sums = by_odometer.spend(event), by_sums.spend(event)
        assert all(by_odometer.remaining[name] == by_sums.remaining[name] for name in ("epsilon", "delta"))


@pytest.mark.parametrize(
    "odometer",
    [RDPOdometer("1/10", (2, 6)), RDPOdometer("1/20", ("3/2", 3, 9)), ZCDPOdometer("1/20", orders=(2, 4, 8))],
    ids=["two orders", "three orders", "concentrated"],
)
@pytest.mark.parametrize("epsilon", ["1.5", "2.5"])
def test_no_adaptive_strategy_passes_the_budget(odometer, epsilon):
    account, weight = OdometerFilter(epsilon, "1/10", odometer=odometer), Fraction(exp_down(Fraction(epsilon)))
    moves = [m for move in (finite("2/3", "1/2"), finite("1/5", "1/20")) for m in (move, swapped(move))]
    pool = (*moves, response(3), leaky_response("3/2", "1/40"))
    laws = worst_laws(account, pool, depth=4, gain=lambda p, q: max(p - weight * q, 0))
    assert smallest_delta(*laws, epsilon=epsilon) <= account.delta


def test_it_allows_hardly_less_than_a_filter_at_the_best_order_and_more_than_one_at_a_poor_one():
    def steps(account):
        return bisect_left(range(1, 10**6), True, key=lambda k: not account.can_spend(GaussianEvent(50), count=k))

    at_orders = [RDPFilter.for_guarantee(2, "1e-6", order=order) for order in (8, 14, 30)]
    poor, best, other = map(steps, at_orders)
    any_order = steps(OdometerFilter(2, "1e-6", odometer=RDPOdometer("1e-6")))
    assert max(poor, other) < best
    assert 0.6 * best < any_order < best


def test_a_refusal_shows_readings():
    account = OdometerFilter(1, "1e-6", odometer=PureOdometer()).spend(PureEvent("0.5"))
    with pytest.raises(BudgetExceededError, match=r"costs epsilon 1\.1, delta 0 together with earlier releases"):
        account.spend(PureEvent("0.6"))


def test_the_run_has_the_guarantee_asked_for():
    account = OdometerFilter(1, "1e-6", odometer=RDPOdometer("1e-7"))
    assert account.event.budget == ApproxEvent(1, "1e-6")


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("epsilon", lambda: OdometerFilter(-1, 0, odometer=PureOdometer())),
        ("delta", lambda: OdometerFilter(1, 1, odometer=PureOdometer())),
        ("delta", lambda: OdometerFilter(1, "1e-7", odometer=RDPOdometer("1e-6"))),
        ("delta", lambda: OdometerFilter(1, 0, odometer=PureOdometer().compose(PureEvent(2)))),
    ],
)
def test_parameters_of_odometer_filters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()
