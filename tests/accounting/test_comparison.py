import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.contract import LEAVES, AccountantContract

from sfumato.accounting import comparison
from sfumato.accounting.comparison import ACCOUNTANTS, BestAccountant, best
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

AGREEING = (LEAVES[0], LEAVES[1], LEAVES[3], LEAVES[4], LEAVES[5], LEAVES[6], LEAVES[8])
SAMPLED = PoissonSampledEvent(Fraction(1, 10), GaussianEvent(Fraction(2)))


class TestBestAccountant(AccountantContract):
    delta_slack = Fraction(3, 100)  # the one it has of its members, that of privacy losses on a grid

    def make(self, relation: NeighboringRelation) -> BestAccountant:
        return BestAccountant(neighboring_relation=relation)


def applicable(event, relation):
    empty = [kind(neighboring_relation=relation) for kind in ACCOUNTANTS.values()]
    return [accountant for accountant in empty if accountant.supports(event)]


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("event", [LEAVES[0], LEAVES[2], LEAVES[3], LEAVES[4], LEAVES[6], SAMPLED], ids=repr)
def test_no_accountant_beats_the_best(event, relation):
    together = BestAccountant(neighboring_relation=relation).compose(event, count=10)
    intervals = [one.compose(event, count=10).interval("1e-6") for one in applicable(event, relation)]
    assert together.epsilon("1e-6") == min(interval.upper for interval in intervals)
    assert together.interval("1e-6").lower == max(interval.lower for interval in intervals)
    assert together.delta(1) == min(one.compose(event, count=10).delta(1) for one in applicable(event, relation))


@given(st.lists(st.tuples(st.sampled_from(AGREEING), st.integers(1, 20)), min_size=1, max_size=3))
@settings(max_examples=15)
def test_bounds_of_all_accountants_agree(batch):
    """Independent methods must not contradict each other: the largest lower bound is below the smallest upper one."""
    whole = ComposedEvent(tuple(SelfComposedEvent(event, count) for event, count in batch))
    intervals = [one.compose(whole).interval("1e-6") for one in applicable(whole, ADD_OR_REMOVE_ONE)]
    assert max(interval.lower for interval in intervals) <= min(interval.upper for interval in intervals)


@pytest.mark.parametrize(
    ("batch", "winners", "epsilon"),
    [
        ([(GaussianEvent(10), 100)], {"GDPAccountant", "PLDAccountant"}, 4.8866),
        ([(LaplaceEvent(10), 100)], {"PLDAccountant"}, 4.6927),
        ([(LaplaceEvent(1), 1)], {"PLDAccountant", "RDPAccountant"}, 1),
        ([(PureEvent("0.1"), 100)], {"OptimalAccountant", "PLDAccountant"}, 4.7746),
        ([(ZCDPEvent("0.1"), 1)], {"PLDAccountant", "RDPAccountant", "ZCDPAccountant"}, 2.1419),
        ([(GaussianEvent(10), 100), (LaplaceEvent(20), 50)], {"PLDAccountant"}, 5.2178),
    ],
)
def test_the_winner_is_the_one_whose_method_fits(batch, winners, epsilon):
    found = best(batch, delta="1e-6")
    assert found.accountant in winners
    assert float(found.epsilon) == pytest.approx(epsilon, rel=2e-4)
    assert found.lower_epsilon <= found.epsilon


def test_figures_are_sorted_and_say_who_has_no_price():
    figures = best([(RandomizedResponseEvent("0.5", 2), 100)], delta="1e-6").figures
    costs = [figure.cost for figure in figures if figure.cost is not None]
    assert costs == sorted(costs)
    assert {figure.accountant for figure in figures} == {kind.__name__ for kind in ACCOUNTANTS.values()}
    unpriced = best([(GaussianEvent(1), 1)], delta="1e-6").figures[-1]
    assert (unpriced.cost, unpriced.unpriced) == (None, GaussianEvent(1))


def test_delta_is_found_at_a_stated_epsilon():
    at_delta = best((GaussianEvent(1),), delta="1e-6")
    at_epsilon = best(GaussianEvent(1), epsilon=at_delta.epsilon)
    assert at_epsilon.solves_for == "delta"
    assert float(at_epsilon.delta) == pytest.approx(1e-6, rel=1e-3)
    assert at_epsilon.lower_epsilon <= at_epsilon.epsilon
    assert best(GaussianEvent(1), epsilon=1000).delta <= Fraction(1, 10**100)


def test_events_alone_in_pairs_and_in_batches_are_the_same():
    event = LaplaceEvent(2)
    figures = [best(batch, delta="1e-3") for batch in (event, (event,), [(event, 1)])]
    assert figures[0] == figures[1] == figures[2]


def test_nothing_and_everything():
    assert best((), delta=0).epsilon == 0
    exact = best(NonPrivateEvent(), delta="1e-3")
    assert exact.epsilon == math.inf
    assert best(NonPrivateEvent(), epsilon=5).delta == 1


def test_the_relation_is_that_of_the_account():
    assert best(GaussianEvent(1), delta="1e-6", neighboring_relation="replace_one").neighboring_relation is REPLACE_ONE


def test_the_table_names_winner_interval_and_what_it_is_not():
    shown = str(best([(GaussianEvent(10), 100)], delta="1e-6"))
    assert shown.startswith("ε 4.8865")
    assert "add_or_remove_one" in shown
    assert "no cost for GaussianEvent" in shown
    assert "needs a filter" in shown


@pytest.mark.parametrize("target", [{}, {"delta": 0, "epsilon": 1}])
def test_exactly_one_target_is_stated(target):
    with pytest.raises(ParameterError, match="exactly one"):
        best(PureEvent(1), **target)


@pytest.mark.parametrize("target", [{"delta": 1}, {"delta": -1}, {"epsilon": -1}])
def test_targets_are_checked(target):
    with pytest.raises(ParameterError, match=next(iter(target))):
        best(PureEvent(1), **target)


def test_what_no_accountant_prices_together_is_refused():
    accountant = BestAccountant(among=(ACCOUNTANTS["optimal"], ACCOUNTANTS["gdp"])).compose(LaplaceEvent(1))
    assert accountant.supports(LaplaceEvent(2))
    assert not accountant.supports(GaussianEvent(1))
    with pytest.raises(UnsupportedEventError, match="BestAccountant"):
        accountant.compose(GaussianEvent(1))


class Failing(PLDAccountant):
    """Prices everything, and then finds that a number lies outside what it can work with."""

    def _interval(self, delta):
        raise ParameterError("delta", delta, "must be larger for this accountant")

    def _delta(self, epsilon):
        raise ParameterError("epsilon", epsilon, "must be larger for this accountant")


@pytest.mark.parametrize("target", [{"delta": "1e-6"}, {"epsilon": 1}])
def test_the_error_of_one_accountant_is_its_reason_and_stops_no_other(monkeypatch, target):
    kinds = {"basic": ACCOUNTANTS["basic"], "failing": Failing}
    monkeypatch.setattr(comparison, "ACCOUNTANTS", kinds)
    account = BestAccountant(among=tuple(kinds.values())).compose(PureEvent(1))
    assert (account.epsilon("1e-6"), account.delta(1)) == (1, 0)
    found = best(PureEvent(1), **target)
    assert (found.figures[-1].accountant, found.figures[-1].cost) == ("Failing", None)
    assert "must be larger for this accountant" in found.figures[-1].reason
    assert "must be larger for this accountant" in str(found)


def test_where_every_accountant_fails_its_error_is_raised():
    account = BestAccountant(among=(Failing,)).compose(PureEvent(1))
    with pytest.raises(ParameterError, match="must be larger"):
        account.epsilon("1e-6")


def test_composing_asks_about_each_event_once():
    asked = []

    class Counted(ACCOUNTANTS["basic"]):
        def supports(self, event):
            asked.append(event)
            return True

    account = BestAccountant(among=(Counted,))
    for parts in range(1, 51):
        account = account.compose(PureEvent(Fraction(1, parts)))
    assert len(asked) == 50


def test_the_event_that_no_accountant_prices_is_named():
    batch = ComposedEvent((LaplaceEvent(1), GaussianEvent(1)))
    with pytest.raises(UnsupportedEventError, match="GaussianEvent"):
        BestAccountant(among=(ACCOUNTANTS["optimal"],)).compose(batch)


def test_what_was_stated_is_printed_in_full():
    at_delta = best(ApproxEvent(1, "0.33333333"), delta="0.33333332")
    assert str(at_delta).startswith("ε ∞ at δ 0.33333332 by")
    assert str(best(PureEvent(1), epsilon="0.123456789")).startswith("ε 0.123456789 at δ ")


def test_the_lower_end_holds_at_the_delta_that_is_printed():
    found = best(PureEvent(1), epsilon="0.5")
    printed = Fraction(str(found).split("δ ")[1].split()[0])
    assert printed > found.delta
    assert 0 < found.lower_epsilon <= BestAccountant().compose(PureEvent(1)).interval(printed).lower


def test_deltas_below_the_floats_are_not_lost():
    assert best(ApproxEvent(1, "1e-330"), delta=0).epsilon == math.inf
    assert best(ApproxEvent(0, "1e-320"), epsilon=0).delta == Fraction(1, 10**320)
    assert best(GroupEvent(PoissonSampledEvent("1e-350", GaussianEvent(1)), 2), delta="1e-6").epsilon == 0


def test_sums_too_long_for_a_parameter_have_a_price():
    batch = [LaplaceEvent(Fraction(prime, 10**5)) for prime in PRIMES]
    exact = sum(Fraction(10**5, prime) for prime in PRIMES)
    found = best(batch, delta=0)
    assert exact <= found.epsilon <= exact * (1 + Fraction(1, 10**12))
    assert 0 < best([ApproxEvent(0, Fraction(1, prime**2)) for prime in PRIMES], epsilon=0).delta < Fraction(1, 10**9)


PRIMES = [n for n in range(10**6, 10**6 + 10**4) if all(n % step for step in range(2, 1001))]
