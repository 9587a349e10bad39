import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.adaptive.adversaries import all_laws, leaky_response, response, worst_laws
from tests.accounting.adaptive.filter_contract import FilterContract

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.filters import (
    AdditiveFilter,
    AdvancedFilter,
    ApproxFilter,
    PureFilter,
    fits,
    remaining,
)
from sfumato.accounting.core.finite import smallest_delta
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.numeric.rounding import exp_down, log_up
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteLaplaceEvent,
    GaussianEvent,
    NonPrivateEvent,
    PartitionEvent,
    PureEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

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


class OfTwo(AdditiveFilter):
    @property
    def budget(self):
        return Amounts((("epsilon", Fraction(2)),))

    def _price(self, event):
        return Amounts((("epsilon", event.epsilon),))


def test_a_filter_is_a_value_that_spending_does_not_change():
    fresh = OfTwo()
    spent = fresh.spend(PureEvent("1.5"))
    assert fresh.remaining["epsilon"] == 2
    assert spent.remaining["epsilon"] == Fraction(1, 2)
    assert type(spent) is OfTwo


def test_the_error_holds_what_was_asked_for_and_what_is_left():
    with pytest.raises(
        BudgetExceededError, match=r"costs epsilon 1\.2; the account has epsilon 0\.5 remaining"
    ) as caught:
        OfTwo().spend(PureEvent("1.5")).spend(PureEvent("0.4"), count=3)
    assert caught.value.requested["epsilon"] == Fraction(6, 5)
    assert caught.value.remaining["epsilon"] == Fraction(1, 2)


ROUNDING = Fraction(1, 10**12)
RESPONSES = (response("3/2"), response(2), response(3))
LEAKY = (*RESPONSES[:2], leaky_response("3/2", "1/20"), leaky_response(2, "1/10"))
SIX = log_up(Fraction(2)) + log_up(Fraction(3))


def gain_at(epsilon):
    weight = Fraction(exp_down(epsilon))
    return lambda p, q: max(p - weight * q, 0)


def worst_delta(account, moves, *, epsilon, depth):
    laws = worst_laws(account, moves, depth=depth, gain=gain_at(epsilon))
    assert sum(laws[0]) == sum(laws[1]) == 1
    return smallest_delta(*laws, epsilon=epsilon)


class CarelessFilter(PureFilter):
    """Looks at what has been spent, and not at what would be."""

    def _allows(self, _total):
        return self.spent["epsilon"] <= self.epsilon


class TestPureFilter(FilterContract):
    filling = PureEvent(Fraction(1, 10)), 10

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return PureFilter(1, neighboring_relation=relation)


class TestApproxFilter(FilterContract):
    filling = ApproxEvent(Fraction(1, 10), Fraction(1, 10**8)), 10

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return ApproxFilter(1, "1e-6", neighboring_relation=relation)


class TestAdvancedFilter(FilterContract):
    filling = PureEvent(Fraction(1, 10)), 3

    def make(self, relation=ADD_OR_REMOVE_ONE):
        return AdvancedFilter(1, "1e-6", delta_slack="5e-7", neighboring_relation=relation)


def test_the_adversary_tries_every_strategy():
    account, gain = ApproxFilter(SIX, "1/10"), gain_at(Fraction(1, 2))
    moves = RESPONSES[1:], (RESPONSES[0], LEAKY[2])
    for pair in moves:
        every = (smallest_delta(*laws, epsilon="1/2") for laws in all_laws(account, pair, depth=2))
        assert smallest_delta(*worst_laws(account, pair, depth=2, gain=gain), epsilon="1/2") == max(every)


def test_no_adaptive_strategy_passes_a_pure_budget():
    account = PureFilter(SIX)
    assert worst_delta(account, RESPONSES, epsilon=SIX, depth=4) <= ROUNDING
    assert worst_delta(account, RESPONSES, epsilon=SIX * Fraction(9, 10), depth=4) > Fraction(1, 13)


def test_a_filter_that_checks_after_spending_is_beaten():
    assert worst_delta(CarelessFilter(SIX), RESPONSES, epsilon=SIX, depth=3) > Fraction(1, 5)


def test_no_adaptive_strategy_passes_an_approximate_budget():
    account, delta = ApproxFilter(SIX, "1/10"), Fraction(1, 10)
    worst = worst_delta(account, LEAKY, epsilon=SIX, depth=4)
    assert delta * Fraction(9, 10) < worst <= delta + ROUNDING


def test_delta_spent_adaptively_is_worth_no_more_than_delta_spent_at_once():
    account = ApproxFilter(SIX, "1/10")
    assert worst_delta(account, (*LEAKY, leaky_response(3, "1/15")), epsilon=SIX, depth=3) <= Fraction(1, 10) + ROUNDING


@pytest.mark.parametrize("epsilon", ["1.2", 2])
def test_no_adaptive_strategy_passes_the_budget_of_advanced_composition(epsilon):
    account = AdvancedFilter(epsilon, "0.4", delta_slack="0.3")
    moves = response("5/4"), response("3/2"), leaky_response("5/4", "1/20")
    assert account.can_spend(moves[0].event, count=6)
    assert worst_delta(account, moves, epsilon=Fraction(epsilon), depth=6) <= account.delta


@given(st.fractions("0.001", 8), st.fractions("1e-9", "0.9"), st.fractions(0, 20))
def test_the_rule_without_roots_is_the_rule_with_roots(epsilon, slack, squares):
    account = AdvancedFilter(epsilon, "0.95", delta_slack=slack)
    rate = math.sqrt(2 * math.log(1 / slack) * squares) + float(squares) / 2
    allowed = account._allows(Amounts((("squared_epsilon", squares),)))
    if abs(rate - float(epsilon)) > 1e-9:
        assert allowed == (rate < epsilon)


@given(st.fractions("0.001", 8), st.fractions("1e-9", "0.9"), st.integers(0, 200))
def test_what_remains_for_one_release_under_advanced_composition_is_granted_and_hardly_more(epsilon, slack, count):
    account = AdvancedFilter(epsilon, "0.95", delta_slack=slack)
    if count and account.can_spend(ApproxEvent("0.01", "1e-5"), count=count):
        account = account.spend(ApproxEvent("0.01", "1e-5"), count=count)
    left = account.remaining
    assert account.can_spend(ApproxEvent(left["epsilon"], left["delta"]))
    assert not account.can_spend(PureEvent(left["epsilon"] * (1 + ROUNDING) + ROUNDING))
    assert not account.can_spend(ApproxEvent(0, left["delta"] + ROUNDING))


def test_advanced_composition_is_worth_its_slack_for_many_small_releases():
    many = SelfComposedEvent(PureEvent(Fraction(1, 1000)), 10_000)
    assert not ApproxFilter(1, "1e-6").can_spend(many)
    assert AdvancedFilter(1, "1e-6", delta_slack="1e-6").can_spend(many)


def test_noise_without_an_epsilon_of_its_own():
    gaussian = GaussianEvent(10)
    assert not PureFilter(10**6).can_spend(gaussian)
    assert not ApproxFilter(10**6, "0.9").supports(gaussian)


def test_the_whole_run_fills_an_equal_filter():
    for account in (PureFilter("0.7"), ApproxFilter("0.7", "1e-6")):
        assert set(dict(account.spend(account.event).remaining.numbers).values()) == {0}
    assert AdvancedFilter(1, "1e-6", delta_slack="1e-7").event.budget == ApproxEvent(1, "1e-6")


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("epsilon", lambda: PureFilter(-1)),
        ("epsilon", lambda: ApproxFilter(-1, 0)),
        ("delta", lambda: ApproxFilter(1, 1)),
        ("delta", lambda: ApproxFilter(1, -1)),
        ("delta", lambda: AdvancedFilter(1, 0, delta_slack="0.1")),
        ("delta", lambda: AdvancedFilter(1, 1, delta_slack="0.1")),
        ("delta_slack", lambda: AdvancedFilter(1, "0.1", delta_slack=0)),
        ("delta_slack", lambda: AdvancedFilter(1, "0.1", delta_slack="0.2")),
        ("epsilon", lambda: AdvancedFilter(-1, "0.1", delta_slack="0.1")),
    ],
)
def test_parameters_are_checked_by_name(name, make):
    with pytest.raises(ParameterError, match=name):
        make()


def test_a_sample_of_everybody_may_move_a_unit_from_one_part_to_another():
    moved = SampledWithoutReplacementEvent(
        10, 10, PartitionEvent((DiscreteLaplaceEvent(1, 1), DiscreteLaplaceEvent(1, 1)), 1)
    )
    assert not PureFilter(1).can_spend(moved)


def test_an_exact_answer_is_refused_also_beside_an_epsilon_that_no_float_holds():
    assert not PureFilter("1e390").spend(PureEvent("1e380")).can_spend(NonPrivateEvent())
