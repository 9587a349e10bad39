import math
from fractions import Fraction
from math import comb

import pytest
from tests.accounting.contract import AccountantContract

from sfumato.accounting.composition.advanced import AdvancedAccountant, advanced_composition
from sfumato.accounting.core.finite import smallest_delta
from sfumato.errors import ParameterError
from sfumato.privacy.events import ApproxEvent, GaussianEvent, PureEvent
from sfumato.privacy.neighbors import NeighboringRelation


class TestAdvancedAccountant(AccountantContract):
    def make(self, relation: NeighboringRelation) -> AdvancedAccountant:
        return AdvancedAccountant(neighboring_relation=relation)


# Dwork, Rothblum and Vadhan (2010) at slack 1e-6, evaluated to 4 digits.
PUBLISHED = [("0.1", 100, 6.308), ("0.01", 1000, 1.763), ("0.1", 1000, 27.14), ("1", 50, 123.1)]


@pytest.mark.parametrize(("epsilon", "count", "total"), PUBLISHED)
def test_the_bound_has_its_published_values(epsilon, count, total):
    bound = advanced_composition(epsilon=epsilon, delta=0, count=count, delta_slack="1e-6")
    assert float(bound.epsilon) == pytest.approx(total, rel=1e-3)
    assert bound.delta == Fraction(1, 10**6)


def test_the_bound_is_rounded_up_and_tight():
    bound = advanced_composition(epsilon="0.3", delta="1e-9", count=7, delta_slack="1e-5")
    formula = math.sqrt(14 * math.log(1e5)) * 0.3 + 2.1 * math.expm1(0.3)
    assert formula * (1 - 1e-15) <= float(bound.epsilon) <= formula * (1 + 1e-12)
    assert bound.delta == Fraction("1.0007e-5")


@pytest.mark.parametrize("count", [1, 10, 100])
def test_the_exact_composition_of_randomized_responses_keeps_the_bound(count):
    truth = Fraction(11, 21)
    epsilon = Fraction(math.log(1.1)) + Fraction(1, 10**12)
    laws = [[comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)] for p in (truth, 1 - truth)]
    bound = advanced_composition(epsilon=epsilon, delta=0, count=count, delta_slack="1e-3")
    assert smallest_delta(*laws, epsilon=bound.epsilon) <= Fraction(1, 1000)


def test_nothing_composed_with_slack_costs_no_epsilon():
    assert advanced_composition(epsilon=0, delta=0, count=5, delta_slack="1e-6").epsilon == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("epsilon", -1), ("epsilon", 701), ("delta", "0.5"), ("delta", -1), ("count", 0), ("delta_slack", 0)],
)
def test_parameters_are_checked_by_name(name, value):
    fine = {"epsilon": "0.1", "delta": "1e-9", "count": 3, "delta_slack": "1e-6"}
    with pytest.raises(ParameterError, match=name):
        advanced_composition(**(fine | {name: value}))


@pytest.mark.parametrize(("epsilon", "count"), [("0.1", 100), ("0.01", 1000), ("1", 50)])
def test_the_accountant_of_equal_events_is_the_theorem(epsilon, count):
    accountant = AdvancedAccountant().compose(ApproxEvent(epsilon, "1e-9"), count=count)
    bound = advanced_composition(epsilon=epsilon, delta="1e-9", count=count, delta_slack="1e-6")
    assert accountant.epsilon(bound.delta) == bound.epsilon


def test_different_events_add_their_squares():
    accountant = AdvancedAccountant().compose(PureEvent("0.1"), count=30).compose(PureEvent("0.3"), count=10)
    squares, drift = 30 * 0.1**2 + 10 * 0.3**2, 3 * math.expm1(0.1) + 3 * math.expm1(0.3)
    wanted = math.sqrt(2 * math.log(1e5) * squares) + drift
    assert float(accountant.epsilon("1e-5")) == pytest.approx(wanted, rel=1e-12)
    assert float(accountant.epsilon("1e-5")) >= wanted * (1 - 1e-15)
    assert float(accountant.delta(wanted)) == pytest.approx(1e-5, rel=1e-9)


def test_without_slack_nothing_is_proved():
    accountant = AdvancedAccountant().compose(ApproxEvent("0.1", "1e-6"), count=2)
    assert accountant.epsilon("2e-6") == accountant.epsilon() == math.inf
    assert accountant.delta("0.02") == 1


def test_an_epsilon_of_zero_costs_its_delta():
    accountant = AdvancedAccountant().compose(ApproxEvent(0, "1e-6"), count=2)
    assert accountant.epsilon("3e-6") == 0
    assert accountant.delta(0) == Fraction(2, 10**6)


def test_curves_and_large_epsilons_have_no_bound():
    assert not AdvancedAccountant().supports(GaussianEvent(1))
    assert AdvancedAccountant().compose(PureEvent(701)).epsilon("0.1") == math.inf
