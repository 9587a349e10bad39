from bisect import bisect_left
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.adaptive.adversaries import finite, leaky_response, response, swapped, worst_laws
from tests.accounting.adaptive.filter_contract import FilterContract
from tests.accounting.contract import EVENTS

from sfumato.accounting.adaptive.odometer_filter import OdometerFilter
from sfumato.accounting.adaptive.odometers import BasicOdometer, PureOdometer
from sfumato.accounting.adaptive.pure_filters import ApproxFilter, PureFilter
from sfumato.accounting.adaptive.renyi_filter import RDPFilter
from sfumato.accounting.adaptive.renyi_odometers import RDPOdometer, ZCDPOdometer
from sfumato.accounting.core.finite import smallest_delta
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.numeric.rounding import exp_down
from sfumato.privacy.events import ApproxEvent, GaussianEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


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
    with pytest.raises(BudgetExceededError, match=r"reading of epsilon 1\.1"):
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
def test_parameters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()
