from fractions import Fraction
from math import inf

import pytest
from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.stories import amounts

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.divergence_filters import RDPFilter, ZCDPFilter
from sfumato.accounting.composition.basic import BasicAccountant, event_epsilon
from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.ledger.core.prices import (
    MEASURE_DIGITS,
    admitted,
    in_words,
    is_own_measure,
    left_of,
    limits,
    price,
    price_of,
    require_price,
    times_within,
)
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

CHARGE = ApproxDP("0.6", "1e-6")
ORDERS = (Fraction(2), Fraction(8), Fraction(5, 2))
STEP = Fraction(1, 10**MEASURE_DIGITS)
EVENTS = (
    PureEvent("0.3"),
    ApproxEvent("0.3", "1e-7"),
    GaussianEvent(3),
    DiscreteGaussianEvent(7, 1),
    DiscreteLaplaceEvent(5, 1),
    LaplaceEvent("1.5"),
    ComposedEvent((GaussianEvent(3), PureEvent("0.1"), ApproxEvent(0, "1e-8"))),
)


def priced(event, budget, charge=CHARGE):
    return price(event, charge, account="people", budget=budget, relation=ADD_OR_REMOVE_ONE)


def is_just_above(rounded, exact):
    return all(0 <= Fraction(rounded[name]) - Fraction(number) < STEP for name, number in exact.numbers)


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "1e-5"), NO_GUARANTEE])
def test_in_epsilon_and_delta_an_account_pays_what_was_asked(budget):
    assert priced(PureEvent("0.1"), budget, PureDP("0.2")) == amounts(epsilon="0.2", delta=0)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_in_rho_it_pays_what_the_filter_asks_for_the_event_whatever_the_charge(event):
    paid = priced(event, ZCDP(1))
    assert paid == priced(event, ZCDP(5), PureDP(100))
    assert is_just_above(paid, ZCDPFilter(1).cost(event))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_in_divergences_it_pays_what_the_filter_asks_at_each_order(event):
    paid = priced(event, RenyiDP(ORDERS, (1, 1, 1)))
    assert is_just_above(paid, RDPFilter(ORDERS, (1, 1, 1), "0.5").cost(event))
    assert {name for name, _ in paid.numbers} == {"D_2", "D_8", "D_5/2", "delta"}


@pytest.mark.parametrize(
    ("event", "peer"),
    [
        (GaussianEvent(3), GaussianDpEvent(3)),
        (LaplaceEvent(2), LaplaceDpEvent(2)),
        (PoissonSampledEvent("0.01", GaussianEvent(2)), PoissonSampledDpEvent(0.01, GaussianDpEvent(2))),
    ],
    ids=["gaussian", "laplace", "sampled"],
)
def test_divergences_are_those_of_another_library(event, peer):
    accountant = RdpAccountant([2, 8]).compose(peer)
    paid = priced(event, RenyiDP((2, 8), (1, 1)))
    assert [float(paid[name]) for name in ("D_2", "D_8")] == pytest.approx(list(accountant._rdp), rel=1e-6)


@pytest.mark.parametrize("event", [GaussianEvent(3), PureEvent("0.5")], ids=["gaussian", "pure"])
def test_rho_bounds_the_divergences_of_another_library_at_every_order(event):
    orders = [1.5, 2, 8, 64]
    peer = GaussianDpEvent(3) if isinstance(event, GaussianEvent) else LaplaceDpEvent(2)
    for order, divergence in zip(orders, RdpAccountant(orders).compose(peer)._rdp, strict=True):
        assert divergence <= float(priced(event, ZCDP(1))["rho"]) * order * (1 + 1e-12)


def test_a_price_that_is_no_decimal_is_rounded_up():
    third = Fraction(1, 18)
    paid = priced(GaussianEvent(3), ZCDP(1))["rho"]
    assert third < paid < third + STEP
    assert (paid * 10**MEASURE_DIGITS).denominator == 1


def test_delta_keeps_its_own_fifty_digits():
    assert priced(ApproxEvent(0, "1e-50"), ZCDP(1))["delta"] == Fraction(1, 10**50)
    assert priced(ApproxEvent(0, "1e-50"), RenyiDP((2,), (1,)))["delta"] == Fraction(1, 10**50)


@pytest.mark.parametrize("event", [GaussianEvent(10), ApproxEvent("0.1", "1e-9")], ids=["noise", "keys"])
def test_a_pure_account_refuses_what_needs_a_delta_and_says_why(event):
    with pytest.raises(UnsupportedEventError, match=r"account 'people' has a pure ε and no δ, which Gaussian"):
        priced(event, PureDP(1))


def test_an_exact_answer_has_no_price_in_rho_and_takes_all_of_delta_elsewhere():
    with pytest.raises(UnsupportedEventError, match="without a finite cost"):
        priced(NonPrivateEvent(), ZCDP(1))
    assert priced(NonPrivateEvent(), RenyiDP((2,), (1,)))["delta"] == 1


@pytest.mark.parametrize("relation", NeighboringRelation, ids=str)
def test_what_is_only_known_in_rho_has_an_epsilon_at_delta_and_none_without(relation):
    """As of a counter of many steps; of a group of two it is that of four times the ρ, and a δ of its own is added."""
    at = {"delta": Fraction(1, 10**6), "neighboring_relation": relation}
    whole = price_of(ZCDPEvent("0.5"), **at)
    assert whole == ZCDPAccountant(neighboring_relation=relation).compose(ZCDPEvent("0.5")).epsilon("1e-6")
    assert price_of(GroupEvent(ZCDPEvent("0.125"), 2), **at) == whole
    assert price_of(SelfComposedEvent(ZCDPEvent("0.125"), 4), **at) == whole
    assert price_of(ComposedEvent((SelfComposedEvent(ZCDPEvent("0.2"), 2), ZCDPEvent("0.1"))), **at) == whole
    with_keys = price_of(ComposedEvent((ZCDPEvent("0.5"), ApproxEvent(0, "1e-7"))), **at)
    assert whole < with_keys < whole * 2
    assert price_of(ZCDPEvent("0.5"), **(at | {"delta": Fraction(0)})) == inf


def test_what_no_filter_knows_is_refused():
    with pytest.raises(UnsupportedEventError, match="ZCDPFilter"):
        priced(PoissonSampledEvent("0.01", GaussianEvent(2)), ZCDP(1))


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (PureDP(1), amounts(epsilon=1, delta=0)),
        (ApproxDP(1, "1e-6"), amounts(epsilon=1, delta="1e-6")),
        (ZCDP("0.5", "1e-6"), amounts(rho="0.5", delta="1e-6")),
        (RenyiDP((8, 2), (3, 1), "1e-6"), amounts(D_8=3, D_2=1, delta="1e-6")),
    ],
    ids=str,
)
def test_limits_are_the_numbers_of_the_measure(budget, expected):
    assert limits(budget) == expected
    assert in_words(expected, budget) == budget
    assert left_of(budget, expected) == in_words(amounts(), budget)


def test_nothing_limits_an_account_without_a_promise():
    assert limits(NO_GUARANTEE) is None
    assert left_of(NO_GUARANTEE, amounts(epsilon=5)) == NO_GUARANTEE
    assert times_within(None, amounts(epsilon=5)) is None


@pytest.mark.parametrize(
    ("budget", "kept"), [(PureDP(1), False), (ApproxDP(1, "0.1"), False), (NO_GUARANTEE, False), (ZCDP(1), True)]
)
def test_only_prices_in_another_measure_are_written_down(budget, kept):
    assert is_own_measure(budget) is kept
    assert is_own_measure(RenyiDP((2,), (1,)))


@pytest.mark.parametrize(
    ("left", "asked", "count"),
    [
        (amounts(epsilon=1), amounts(epsilon="0.1"), 10),
        (amounts(epsilon="0.99999"), amounts(epsilon="0.1"), 9),
        (amounts(epsilon=1, delta="1e-6"), amounts(epsilon="0.1", delta="5e-7"), 2),
        (amounts(epsilon=1), amounts(epsilon="0.1", delta="1e-9"), 0),
        (amounts(epsilon=0), amounts(epsilon="0.1"), 0),
        (amounts(epsilon=1), amounts(epsilon=0, delta=0), None),
        (amounts(D_2=1, D_8=1), amounts(D_2="0.1", D_8="0.3"), 3),
    ],
)
def test_how_often_a_price_can_be_paid(left, asked, count):
    assert times_within(left, asked) == count


@given(st.fractions(0, 10), st.fractions(Fraction(1, 100), 10))
def test_so_often_it_fits_and_no_more(left, asked):
    count = times_within(amounts(epsilon=left), amounts(epsilon=asked))
    assert amounts(epsilon=asked).times(count)["epsilon"] <= left < amounts(epsilon=asked).times(count + 1)["epsilon"]


def test_what_was_spent_is_told_in_the_words_of_the_budget():
    assert in_words(amounts(epsilon=1), PureDP(5)) == PureDP(1)
    assert in_words(amounts(epsilon=1, delta="1e-6"), NO_GUARANTEE) == ApproxDP(1, "1e-6")
    assert in_words(Amounts(), ZCDP(5)) == ZCDP(0)
    assert in_words(amounts(D_2=1), RenyiDP((2, 8), (5, 5))) == RenyiDP((2, 8), (1, 0))


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "0.1"), ZCDP(1), RenyiDP((2,), (1,)), NO_GUARANTEE], ids=str)
def test_a_delta_of_one_promises_nothing(budget):
    assert in_words(amounts(delta=1), budget) == NO_GUARANTEE


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "1e-6"), ZCDP(1), RenyiDP((2,), (1,))], ids=str)
def test_what_is_left_is_never_told_below_0(budget):
    overspent = limits(budget).times(2)
    assert left_of(budget, overspent) == in_words(Amounts(), budget)


DELTA = Fraction(1, 10**6)


def gaussians(count, epsilon, delta):
    stddevs = joint_stddevs(
        l2_sensitivities=[1] * count, l0_sensitivities=[1] * count, weights=[1] * count, epsilon=epsilon, delta=delta
    )
    return tuple(DiscreteGaussianEvent(stddev, 1, 1) for stddev in stddevs)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_answers_calibrated_together_cost_what_they_were_calibrated_for(relation):
    event = ComposedEvent((PureEvent("0.5"), *gaussians(5, 1, DELTA / 2), ApproxEvent("0.25", DELTA / 2)))
    price = price_of(event, delta=DELTA, neighboring_relation=relation)
    assert Fraction("1.74") < price <= Fraction("1.75")
    assert BasicAccountant().compose(event).epsilon(DELTA) > Fraction("1.7") * price  # one by one


@pytest.mark.parametrize("one", [*gaussians(1, 1, DELTA), DiscreteGaussianEvent(Fraction(7, 3), 2, 4)])
def test_a_single_answer_is_priced_as_before(one):
    """Of the second one the price by which several are composed is more."""
    price = price_of(ComposedEvent((one, PureEvent(1))), delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE)
    assert price == BasicAccountant().compose(ComposedEvent((one, PureEvent(1)))).epsilon(DELTA)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("epsilon", [5, 10, 30])
def test_a_single_vector_of_narrow_noise_costs_no_more_than_it_was_calibrated_for(epsilon, relation):
    (stddev,) = joint_stddevs(
        l2_sensitivities=[2], l0_sensitivities=[4], weights=[1], epsilon=epsilon, delta=DELTA
    )  # fmt: skip
    event = ComposedEvent((DiscreteGaussianEvent(stddev, 2, 4), PureEvent(1)))
    assert BasicAccountant().compose(event).epsilon(DELTA) > epsilon + 1
    assert epsilon < price_of(event, delta=DELTA, neighboring_relation=relation) <= epsilon + 1


@pytest.mark.parametrize("delta", [0, DELTA / 2])
def test_a_delta_that_others_take_whole_leaves_nothing_for_noise(delta):
    event = ComposedEvent((*gaussians(2, 1, DELTA), ApproxEvent(0, DELTA / 2)))
    assert price_of(event, delta=Fraction(delta), neighboring_relation=ADD_OR_REMOVE_ONE) == float("inf")


def test_less_noise_than_was_calibrated_costs_more():
    narrow = tuple(DiscreteGaussianEvent(e.stddev / 2, 1, 1) for e in gaussians(3, 1, DELTA))
    assert price_of(ComposedEvent(narrow), delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE) > 1.5


@pytest.mark.parametrize("charge", [PureDP(0), PureDP("0.1"), PureDP("1e-15"), PureDP(10**9), ApproxDP(1, "1e-50")])
def test_decimals_are_admitted_as_they_are(charge):
    assert admitted(charge) is charge


@pytest.mark.parametrize(
    ("charge", "name"),
    [
        (PureDP(Fraction(1, 3)), "epsilon"),
        (PureDP("1e-16"), "epsilon"),
        (PureDP(10**9 + 1), "epsilon"),
        (ApproxDP(1, Fraction(1, 10**6 + 3)), "delta"),
    ],
)
def test_what_would_make_an_account_long_is_refused(charge, name):
    with pytest.raises(ParameterError, match=name):
        admitted(charge)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_samples_cost_what_their_losses_say(size, relation):
    noise = DiscreteGaussianEvent(Fraction(2000), Fraction(1000))
    event = SelfComposedEvent(PoissonSampledEvent(Fraction(1, 50), noise), 100)
    seen = event if size == 1 else GroupEvent(event, size)
    price = price_of(seen, delta=Fraction(1, 10**5), neighboring_relation=relation)
    accountant = PLDAccountant(neighboring_relation=relation).compose(seen)
    assert price == accountant.epsilon("1e-5") < 3


def test_a_charge_covers_the_price_of_its_event():
    require_price(DiscreteLaplaceEvent(5, 1), PureDP("0.2"), ADD_OR_REMOVE_ONE)
    with pytest.raises(ParameterError, match="charge"):
        require_price(DiscreteLaplaceEvent(5, 1), PureDP("0.199999999999999"), ADD_OR_REMOVE_ONE)


@pytest.mark.parametrize("event", [NonPrivateEvent(), GaussianEvent(10)], ids=["exact", "without delta"])
def test_what_has_no_price_is_not_covered(event):
    with pytest.raises(ParameterError, match="charge"):
        require_price(event, PureDP(10**9), ADD_OR_REMOVE_ONE)


ANSWER = DiscreteGaussianEvent(Fraction(40), Fraction(2), 1)
WIDER = DiscreteGaussianEvent(Fraction(60), Fraction(2), 1)


def gaussian_price(*events: Event, relation: NeighboringRelation = ADD_OR_REMOVE_ONE) -> Fraction | float:
    return price_of(ComposedEvent(events), delta=DELTA, neighboring_relation=relation)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_gaussian_answers_cost_the_same_however_they_are_written_down(relation):
    one_by_one = gaussian_price(*[ANSWER] * 8, relation=relation)
    nested = ComposedEvent((SelfComposedEvent(ComposedEvent((ANSWER, SelfComposedEvent(ANSWER, 3))), 2),))
    for event in (SelfComposedEvent(ANSWER, 8), nested):
        assert price_of(event, delta=DELTA, neighboring_relation=relation) == one_by_one
    assert one_by_one < event_epsilon(SelfComposedEvent(ANSWER, 8), delta=DELTA, neighboring_relation=relation) / 2


@pytest.mark.parametrize(("relation", "touched"), [(ADD_OR_REMOVE_ONE, 2), (NeighboringRelation.REPLACE_ONE, 4)])
def test_equal_gaussian_parts_are_composed_as_often_as_a_unit_touches_them(relation, touched):
    part = ComposedEvent((ANSWER, ANSWER))
    parts = PartitionEvent((part,) * 9, 2)
    found = price_of(parts, delta=DELTA, neighboring_relation=relation)
    assert found == gaussian_price(*[ANSWER] * 2 * touched, relation=relation)
    with_another = gaussian_price(parts, WIDER, relation=relation)
    assert with_another == gaussian_price(*[ANSWER] * 2 * touched, WIDER, relation=relation)
    few = PartitionEvent((part,), 2)
    assert price_of(few, delta=DELTA, neighboring_relation=relation) == gaussian_price(part, relation=relation)


def test_a_partition_costs_its_costliest_parts():
    small, large = (ComposedEvent((event,) * 5) for event in (WIDER, ANSWER))
    alone = PartitionEvent((small, large, small), 1)
    assert price_of(alone, delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE) == gaussian_price(large)
    two = price_of(PartitionEvent((small, large, small), 2), delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE)
    half = [price_of(part, delta=DELTA / 2, neighboring_relation=ADD_OR_REMOVE_ONE) for part in (small, large)]
    assert gaussian_price(small, large) <= two <= sum(half)
    pure = PartitionEvent((PureEvent("0.1"), PureEvent("0.2"), PureEvent("0.3")), 2)
    assert price_of(pure, delta=Fraction(0), neighboring_relation=ADD_OR_REMOVE_ONE) == Fraction(1, 2)
    assert price_of(PartitionEvent((), 1), delta=DELTA, neighboring_relation=ADD_OR_REMOVE_ONE) == 0


def test_a_partition_costs_at_least_what_its_worst_part_certainly_does():
    """Against the lower ends of another accountant."""
    for relation, most in ((ADD_OR_REMOVE_ONE, 1), (NeighboringRelation.REPLACE_ONE, 1)):
        part = SelfComposedEvent(DiscreteGaussianEvent(Fraction(4), 1, 1), 3)
        event = PartitionEvent((part, part, part), most)
        certain = PLDAccountant(neighboring_relation=relation).compose(event).interval(DELTA).lower
        assert 0 < certain <= price_of(event, delta=DELTA, neighboring_relation=relation)
