from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.adaptive.filters import fits, remaining
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP, guarantee

SPENDING = st.builds(guarantee, st.fractions(0, 2), st.fractions(0, Fraction(1, 4)))


def test_a_budget_can_be_spent_to_the_last_bit():
    spent = PureDP(0)
    for _ in range(10):
        assert fits(spent=spent, request=PureDP(0.1), budget=PureDP(1))
        spent = spent + PureDP(0.1)
    assert spent == PureDP(1)
    assert not fits(spent=spent, request=PureDP(Fraction(1, 10**100)), budget=PureDP(1))
    assert fits(spent=spent, request=PureDP(0), budget=PureDP(1))


def test_a_pure_budget_refuses_every_delta():
    assert not fits(spent=PureDP(0), request=ApproxDP(0, Fraction(1, 10**100)), budget=PureDP(1))
    assert fits(spent=PureDP(0), request=ApproxDP(1, 0), budget=PureDP(1))


def test_epsilon_and_delta_are_both_capped():
    budget = ApproxDP(1, "1e-6")
    assert fits(spent=ApproxDP("0.5", "5e-7"), request=ApproxDP("0.5", "5e-7"), budget=budget)
    assert not fits(spent=ApproxDP("0.5", "5e-7"), request=ApproxDP(0, "5.1e-7"), budget=budget)
    assert not fits(spent=ApproxDP("0.5", "5e-7"), request=PureDP("0.51"), budget=budget)


def test_no_guarantee_fits_only_a_budget_without_one():
    assert not fits(spent=PureDP(0), request=NO_GUARANTEE, budget=ApproxDP(10**9, "0.99"))
    assert fits(spent=PureDP(0), request=NO_GUARANTEE, budget=NO_GUARANTEE)


@given(st.lists(SPENDING, max_size=12), SPENDING)
def test_whatever_an_adversary_asks_the_sum_stays_within_the_budget(requests, budget):
    spent = PureDP(0)
    for request in requests:
        if fits(spent=spent, request=request, budget=budget):
            spent = spent + request
    assert spent <= budget
    rest = remaining(budget=budget, spent=spent)
    assert fits(spent=spent, request=rest, budget=budget)
    assert spent + rest == budget
    assert not fits(spent=spent, request=rest + PureDP(Fraction(1, 10**30)), budget=budget)


def test_what_remains_has_the_measure_of_the_budget():
    assert remaining(budget=PureDP(1), spent=PureDP("0.3")) == PureDP("0.7")
    assert isinstance(remaining(budget=ApproxDP(1, "1e-6"), spent=ApproxDP(0, "1e-6")), ApproxDP)
    assert remaining(budget=NO_GUARANTEE, spent=NO_GUARANTEE) == NO_GUARANTEE


@pytest.mark.parametrize("spent", [PureDP(2), ApproxDP(0, "1e-5"), NO_GUARANTEE])
def test_more_than_the_budget_cannot_have_been_spent(spent):
    with pytest.raises(ParameterError, match="must not exceed"):
        remaining(budget=ApproxDP(1, "1e-6"), spent=spent)
