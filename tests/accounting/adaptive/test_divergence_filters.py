from fractions import Fraction
from functools import partial
from itertools import pairwise

import pytest
from scipy.stats import norm
from tests.accounting.adaptive.adversaries import Move, finite, leaky_response, moment, response, swapped, worst_laws
from tests.accounting.adaptive.filter_contract import FilterContract

from sfumato.accounting.adaptive.divergence_filters import GDPFilter, RDPFilter, ZCDPFilter
from sfumato.accounting.adaptive.odometers import OdometerFilter, RDPOdometer
from sfumato.accounting.core.finite import smallest_delta
from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.accounting.gaussian.zcdp import zcdp_delta_up, zcdp_epsilon_up
from sfumato.errors import ParameterError
from sfumato.numeric.rounding import exp_down, exp_up
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    FullyAdaptiveEvent,
    GaussianEvent,
    NonPrivateEvent,
    PartitionEvent,
    PureEvent,
    SampledWithoutReplacementEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

ROUNDING = Fraction(1, 10**12)
RESPONSES = (response("3/2"), response(2), response(4))
CUTS = (-4, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 4)


class TestZCDPFilter(FilterContract):
    filling = GaussianEvent(10), 10

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return ZCDPFilter("0.05", "1e-6", neighboring_relation=relation)


class TestGDPFilter(FilterContract):
    filling = GaussianEvent(10), 25

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return GDPFilter("0.5", neighboring_relation=relation)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("rho", ["1/4", "3/4"])
def test_no_adaptive_strategy_passes_a_concentrated_budget_at_any_order(order, rho):
    account = ZCDPFilter(rho)
    p, q = worst_laws(account, RESPONSES, depth=5, gain=lambda a, b: a**order / b ** (order - 1))
    bound = exp_up((order - 1) * order * account.rho)
    assert Fraction(exp_up(account.rho)) < moment(p, q, order) <= bound
    assert moment(q, p, order) <= bound


def test_no_adaptive_strategy_passes_an_approximately_concentrated_budget():
    account, delta = ZCDPFilter("3/4", "1/10"), Fraction(1, 10)
    moves = (*RESPONSES[:2], leaky_response("3/2", "1/20"), leaky_response(2, "1/10"))
    for epsilon in map(Fraction, ("1", "2", "3")):
        weight = Fraction(exp_down(epsilon))
        laws = worst_laws(account, moves, depth=4, gain=lambda p, q, weight=weight: max(p - weight * q, 0))
        worst = smallest_delta(*laws, epsilon=epsilon)
        assert delta <= worst + ROUNDING
        assert worst <= delta + (1 - delta) * Fraction(zcdp_delta_up(rho=account.rho, epsilon=epsilon))


def binned(mu):
    """A Gaussian answer that the analyst only sees rounded: which of the cells between the cuts it falls into."""
    scaled = [cut + mu / 2 for cut in CUTS]
    tables = ([0, *norm.cdf(scaled, loc=shift), 1] for shift in (mu, 0))
    p, q = (tuple(map(float, (b - a for a, b in pairwise(t)))) for t in tables)
    return Move(GaussianEvent(Fraction(1) / Fraction(str(mu))), p, q)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_no_adaptive_strategy_passes_a_gaussian_budget(epsilon):
    account = GDPFilter(1)
    moves = [move for mu in (0.5, 0.6, 0.8, 1.0) for move in (binned(mu), swapped(binned(mu)))]
    weight = exp_down(Fraction(epsilon))
    p, q = worst_laws(account, moves, depth=3, gain=lambda a, b: max(float(a) - weight * float(b), 0))
    worst = sum(max(a - weight * b, 0) for a, b in zip(p, q, strict=True))
    truth = gaussian_delta_up(noise_multiplier=1, epsilon=epsilon)
    assert 0.9 * truth < worst < truth * (1 + 1e-9)


def test_discrete_noise_is_not_gaussian():
    discrete = DiscreteGaussianEvent(10, 1)
    assert not GDPFilter(10).supports(discrete)
    assert ZCDPFilter("0.005").can_spend(discrete)
    assert not ZCDPFilter("0.004999").can_spend(discrete)


def test_budgets_are_exact():
    account = ZCDPFilter("0.5")
    for _ in range(100):
        account = account.spend(GaussianEvent(10))
    assert account.remaining["rho"] == 0
    gaussian = GDPFilter("0.3").spend(GaussianEvent(10), count=9)
    assert gaussian.remaining["squared_mu"] == 0
    assert not gaussian.can_spend(GaussianEvent(10**9))


def test_pure_events_cost_less_than_half_their_squared_epsilon():
    account = ZCDPFilter("0.5")
    assert account.can_spend(PureEvent(1))
    assert ZCDPFilter("0.463").can_spend(PureEvent(1))
    assert not ZCDPFilter("0.462").can_spend(PureEvent(1))


def test_a_concentrated_budget_without_delta_refuses_every_delta():
    assert not ZCDPFilter(10).can_spend(ApproxEvent("0.1", "1e-100"))
    assert ZCDPFilter(10, "1e-100").can_spend(ApproxEvent("0.1", "1e-100"))


def test_the_whole_run_fills_an_equal_filter():
    for account in (ZCDPFilter("0.7"), ZCDPFilter("0.7", "1e-6"), GDPFilter("0.7")):
        assert {number for _, number in account.spend(account.event).remaining.numbers} == {0}
    assert ZCDPFilter(1).event == FullyAdaptiveEvent(ZCDPEvent(1))
    assert isinstance(ZCDPFilter(1, "0.1").event, ComposedEvent)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("rho", lambda: ZCDPFilter(-1)),
        ("delta", lambda: ZCDPFilter(1, 1)),
        ("delta", lambda: ZCDPFilter(1, -1)),
        ("mu", lambda: GDPFilter(0)),
    ],
)
def test_parameters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()


def test_a_sample_of_everybody_may_move_a_unit_from_one_part_to_another():
    moved = SampledWithoutReplacementEvent(10, 10, PartitionEvent((GaussianEvent(1), GaussianEvent(1)), 1))
    assert not GDPFilter(1).can_spend(moved)


def test_an_exact_answer_is_refused_also_beside_a_rho_that_no_float_holds():
    assert not ZCDPFilter("1e390").spend(ZCDPEvent("1e380")).can_spend(NonPrivateEvent())


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


def test_an_order_that_no_float_has_is_priced_at_the_pure_loss():
    account = RDPFilter((10**400,), (1,), "1e-6")
    assert account.can_spend(PureEvent(1))
    assert not account.can_spend(PureEvent("1.1"))
    assert not account.can_spend(GaussianEvent(100))


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
def test_parameters_of_renyi_filters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()
