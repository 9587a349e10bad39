import math
from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import NamedTuple, get_args

import numpy as np
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.accounting.contract import DELTA, EVENTS, AccountantContract, name_of

from sfumato.accounting.composition.basic import FREE, BasicAccountant, Cost, event_epsilon, own_guarantee, price_all
from sfumato.accounting.core.accountant import EpsilonInterval
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.core.normal_form import NeighborGroup, flattened
from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_epsilon_up
from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    MAX_NESTING,
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    FullyAdaptiveEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation


class TestBasicAccountant(AccountantContract):
    def make(self, relation: NeighboringRelation) -> BasicAccountant:
        return BasicAccountant(neighboring_relation=relation)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_an_event_alone_costs_what_an_account_with_it_says(event, relation):
    account = BasicAccountant(neighboring_relation=relation)
    if account.supports(event):
        for delta in (Fraction(0), Fraction(DELTA), Fraction(1, 3)):
            alone = event_epsilon(event, delta=delta, neighboring_relation=relation)
            assert alone == account.compose(event).epsilon(delta)
    else:
        with pytest.raises(UnsupportedEventError):
            event_epsilon(event, delta=Fraction(0), neighboring_relation=relation)


def test_ten_times_a_tenth_is_exactly_one():
    accountant = BasicAccountant()
    for _ in range(10):
        accountant = accountant.compose(PureEvent("0.1"))
    assert accountant.epsilon() == 1
    assert accountant.delta(1) == 0
    assert accountant.delta("0.999999999999999999") == 1


def test_points_take_their_own_delta():
    accountant = BasicAccountant().compose(ApproxEvent("0.5", "1e-6"), count=3)
    assert accountant.epsilon("3e-6") == Fraction(3, 2)
    assert accountant.epsilon("2.999999e-6") == math.inf
    assert accountant.delta("1.5") == Fraction(3, 10**6)


def test_curves_share_what_points_leave():
    accountant = (
        BasicAccountant()
        .compose(ApproxEvent(1, "1e-6"))
        .compose(GaussianEvent(5))
        .compose(ComposedEvent((GaussianEvent(2), PureEvent(2))))
    )
    share = Fraction("4.5e-6")
    curves = sum(gaussian_epsilon_up(noise_multiplier=multiplier, delta=share) for multiplier in (5, 2))
    assert accountant.epsilon("1e-5") == 3 + curves
    assert accountant.epsilon("1e-6") == math.inf


def test_one_gaussian_is_accounted_exactly():
    # Balle and Wang (2018), and the sum over integers of the discrete law.
    assert float(BasicAccountant().compose(GaussianEvent(1)).epsilon("1e-6")) == pytest.approx(4.886554, abs=1e-6)
    assert float(BasicAccountant().compose(DiscreteGaussianEvent(1, 1)).epsilon("1e-6")) == pytest.approx(
        4.49959, abs=1e-5
    )


def test_delta_of_one_gaussian_is_its_curve():
    delta = BasicAccountant().compose(GaussianEvent(1)).delta(1)
    assert 0.12693673 < delta < 0.126937


def test_zcdp_is_refused():
    assert not BasicAccountant().supports(ZCDPEvent(1))


def test_a_delta_that_curves_multiply_beyond_one_promises_nothing():
    accountant = BasicAccountant().compose(ApproxEvent(1, "0.5"), count=2)
    assert accountant.epsilon("0.999") == math.inf
    assert accountant.delta(1000) == 1


def outputs(probability: Fraction, categories: int, count: int) -> list[list[Fraction]]:
    """The exact law of `count` randomized responses, for the truths 0 and 1."""
    lie = (1 - probability) / categories
    single = [[lie + probability * (answer == truth) for answer in range(categories)] for truth in (0, 1)]
    return [[math.prod(answers, start=Fraction(1)) for answers in product(law, repeat=count)] for law in single]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize(("probability", "categories"), [("1/2", 2), ("3/4", 3), ("1/10", 2)])
def test_sequential_composition_is_exact_for_randomized_response(count, probability, categories):
    accountant = BasicAccountant().compose(RandomizedResponseEvent(probability, categories), count=count)
    truth = smallest_epsilon(*outputs(Fraction(probability), categories, count))
    assert float(accountant.epsilon()) == pytest.approx(float(truth), rel=1e-12)
    ratio = float(1 + categories * Fraction(probability) / (1 - Fraction(probability)))
    assert float(accountant.epsilon()) >= count * math.log(ratio)


@given(
    st.lists(
        st.tuples(st.fractions(0, Fraction(9, 10), max_denominator=20), st.integers(1, 3)), min_size=1, max_size=3
    ),
    st.fractions(0, Fraction(1, 2), max_denominator=50),
)
def test_basic_composition_is_never_below_the_exact_composition(responses, delta):
    accountant, laws = BasicAccountant(), ([Fraction(1)], [Fraction(1)])
    for probability, categories in responses:
        accountant = accountant.compose(RandomizedResponseEvent(probability, categories))
        single = outputs(probability, categories, 1) if categories > 1 else ([Fraction(1)], [Fraction(1)])
        laws = tuple([a * b for a, b in product(law, one)] for law, one in zip(laws, single, strict=True))
    both_rounded_up = 1 + Fraction(1, 10**13)
    assert accountant.epsilon(delta) * both_rounded_up >= smallest_epsilon(*laws, delta=delta)


def test_an_independent_accountant_is_never_above_for_many_gaussians():
    accountant = BasicAccountant().compose(GaussianEvent(10), count=10)
    tight = pld.privacy_loss_distribution.from_gaussian_mechanism(10.0).self_compose(10).get_epsilon_for_delta(1e-6)
    assert tight == pytest.approx(1.3676, abs=1e-4)
    assert accountant.epsilon("1e-6") > tight


def test_ten_thousand_releases_are_composed_quickly_and_exactly():
    accountant = BasicAccountant()
    for position in range(2000):
        accountant = accountant.compose(PureEvent(Fraction(1, position + 1)))
    assert accountant.epsilon() == sum(Fraction(1, position + 1) for position in range(2000))


def test_the_interval_of_pure_events_is_exact_at_delta_zero():
    accountant = BasicAccountant().compose(PureEvent("0.1"), count=3)
    assert accountant.interval() == EpsilonInterval(Fraction(3, 10), Fraction(3, 10))
    assert accountant.interval("1e-6").lower == 0
    assert accountant.compose(LaplaceEvent(1)).interval().lower == 0


def test_a_sampled_gaussian_has_its_exact_curve():
    # δ'(ε') = q δ(ε) with e^ε = 1 + (e^ε' − 1)/q (Balle, Barthe and Gaboardi 2018).
    accountant = BasicAccountant().compose(PoissonSampledEvent("0.01", GaussianEvent(1)))
    epsilon = float(accountant.epsilon("1e-6"))
    inside = math.log1p(math.expm1(epsilon) / 0.01)
    assert 0.01 * gaussian_delta_up(noise_multiplier=1, epsilon=inside) == pytest.approx(1e-6, rel=1e-6)
    assert accountant.epsilon("0.01") == 0


def test_a_sampled_exact_answer_is_its_probability():
    accountant = BasicAccountant().compose(PoissonSampledEvent("0.001", NonPrivateEvent()))
    assert accountant.epsilon("0.001") == 0
    assert accountant.epsilon("0.0009") == math.inf
    assert accountant.delta(10**6) == Fraction(1, 1000)


def test_delta_of_a_sample_is_never_more_than_its_probability():
    inside = ComposedEvent((GaussianEvent("0.01"), PureEvent(50)))
    accountant = BasicAccountant().compose(PoissonSampledEvent("0.001", inside))
    assert float(accountant.delta(1)) == pytest.approx(1e-3, rel=1e-8)
    assert accountant.epsilon("0.001") == 0


def test_sums_longer_than_a_parameter_are_rounded_up():
    primes = [n for n in range(10**6, 10**6 + 10**4) if all(n % step for step in range(2, 1001))]
    accountant = BasicAccountant()
    for prime in primes:
        accountant = accountant.compose(PureEvent(Fraction(1, prime)))
    exact = sum(Fraction(1, prime) for prime in primes)
    interval = accountant.interval()
    assert interval.lower == exact < interval.upper < exact + Fraction(1, 2**4000)
    assert accountant.delta(interval.upper) == 0


def test_as_much_nesting_as_there_may_be_is_priced():
    event = PureEvent(1)
    for _ in range(MAX_NESTING):
        event = PoissonSampledEvent("0.5", event)
    assert 0 < BasicAccountant().compose(event).epsilon() < 1


def test_a_group_over_samples_that_never_happen_is_free():
    event = GroupEvent(PoissonSampledEvent("1e-350", GaussianEvent(1)), 2)
    assert BasicAccountant().compose(event).epsilon("1e-6") == 0
    assert BasicAccountant().compose(GroupEvent(ApproxEvent(800, "1e-350"), 2)).epsilon("0.1") == 1600


def test_samples_of_everybody_cost_what_is_inside():
    inside = PartitionEvent((PureEvent(1),) * 5, 1)
    everybody = PoissonSampledEvent(1, inside)
    subset = SampledWithoutReplacementEvent(10, 10, inside)
    assert BasicAccountant(neighboring_relation=REPLACE_ONE).compose(everybody).epsilon() == 2
    assert BasicAccountant().compose(subset).epsilon() == 2  # one replaced: removed from a part, added to another


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (PoissonSampledEvent("1/2", GaussianEvent("1e-140")), "1e-5"),
        (SampledWithoutReplacementEvent(100, 1000, GaussianEvent("1e-140")), "1e-5"),
        (GroupEvent(PoissonSampledEvent("1/2", GaussianEvent("1e-140")), 2), "1e-5"),
        (PoissonSampledEvent("1/2", GaussianEvent(1)), Fraction(1, 2**1080)),
    ],
)
def test_a_curve_without_a_finite_epsilon_promises_nothing_in_a_sample_either(event, delta):
    accountant = BasicAccountant().compose(event)
    assert accountant.epsilon(delta) == math.inf
    assert accountant.delta(0) >= Fraction(1, 10)


class Terms(NamedTuple):
    """Under what an event is priced."""

    relation: NeighboringRelation
    delta_per_curve: Fraction | None = None


TERMS = Terms(ADD_OR_REMOVE_ONE)
REPLACING = Terms(REPLACE_ONE)
SHARE = Fraction(1, 10**7)
SHARING = Terms(ADD_OR_REMOVE_ONE, delta_per_curve=SHARE)


def cost_of(event: Event, terms: Terms) -> Cost:
    neighbors = NeighborGroup(terms.relation)
    return price_all(flattened(event, neighbors), neighbors, terms.delta_per_curve)


@pytest.mark.parametrize(
    ("event", "epsilon"),
    [
        (PureEvent("0.3"), Fraction(3, 10)),
        (ExponentialEvent("0.3"), Fraction(3, 10)),
        (LaplaceEvent(3), Fraction(1, 3)),
        (DiscreteLaplaceEvent(30, 2), Fraction(1, 15)),
        (RandomizedResponseEvent(0, 5), Fraction(0)),
        (RandomizedResponseEvent("0.9", 1), Fraction(0)),
        (SelfComposedEvent(PureEvent("0.3"), 10), Fraction(3)),
        (ComposedEvent((PureEvent(1), LaplaceEvent(2))), Fraction(3, 2)),
        (GroupEvent(PureEvent("0.3"), 5), Fraction(3, 2)),
        (GroupEvent(GroupEvent(LaplaceEvent(3), 2), 3), Fraction(2)),
    ],
)
def test_pure_events_are_priced_exactly(event, epsilon):
    assert cost_of(event, TERMS) == Cost(PureDP(epsilon))


@pytest.mark.parametrize(("probability", "categories", "epsilon"), [("0.5", 2, 1.0986123), ("0.5", 10, 2.3978953)])
def test_randomized_response_has_its_published_epsilon(probability, categories, epsilon):
    # ln 3 and ln 11 (Warner 1965; Kairouz, Oh and Viswanath 2016)
    cost = cost_of(RandomizedResponseEvent(probability, categories), TERMS)
    assert float(cost.guarantee.epsilon) == pytest.approx(epsilon, abs=1e-7)
    assert float(cost.guarantee.epsilon) >= math.log(1 + categories)


@pytest.mark.parametrize("event", [NonPrivateEvent(), RandomizedResponseEvent(1, 2), ApproxEvent(1, 1)])
def test_what_promises_nothing_costs_everything(event):
    assert cost_of(event, TERMS) == Cost(NO_GUARANTEE)
    assert cost_of(ComposedEvent((PureEvent(1), event)), TERMS) == Cost(NO_GUARANTEE)
    assert cost_of(GroupEvent(event, 2), TERMS) == Cost(NO_GUARANTEE)
    assert cost_of(PartitionEvent((PureEvent(1), event), 1), TERMS) == Cost(NO_GUARANTEE)


def test_curves_are_counted_and_priced_at_their_share():
    event = SelfComposedEvent(GaussianEvent(2), 3)
    epsilon = gaussian_epsilon_up(noise_multiplier=2, delta=SHARE)
    assert cost_of(event, TERMS) == Cost(PureDP(0), curves=3)
    assert cost_of(event, SHARING) == Cost(ApproxDP(3 * epsilon, 3 * SHARE), curves=3)


def test_a_group_multiplies_the_sensitivity_of_gaussian_noise():
    # Balle and Wang (2018) at sigma 10 and delta 1e-6, sensitivities 2 and 10.
    for size, epsilon in [(2, 0.834118), (10, 4.886554)]:
        terms = Terms(ADD_OR_REMOVE_ONE, delta_per_curve=Fraction(1, 10**6))
        cost = cost_of(GroupEvent(GaussianEvent(10), size), terms)
        assert float(cost.guarantee.epsilon) == pytest.approx(epsilon, abs=2e-6)
        assert cost.guarantee.delta == Fraction(1, 10**6)


def test_a_group_moves_more_coordinates_of_discrete_noise_further():
    cost = cost_of(GroupEvent(DiscreteGaussianEvent(10, 2, 1), 3), SHARING)
    wanted = discrete_gaussian_epsilon_up(stddev=10, l2_sensitivity=6, delta=SHARE, l0_sensitivity=3)
    assert cost == Cost(ApproxDP(wanted, SHARE), curves=1)


def test_a_group_multiplies_delta_by_a_geometric_sum():
    cost = cost_of(GroupEvent(ApproxEvent(1, "1e-6"), 3), TERMS)
    assert cost.guarantee.epsilon == 3
    assert float(cost.guarantee.delta) == pytest.approx(1e-6 * (1 + math.e + math.e**2))


PARTS = (PureEvent("0.5"), PureEvent(1), PureEvent("0.25"), ApproxEvent("0.1", "1e-6"))


@pytest.mark.parametrize(
    ("parts", "added", "replaced"), [(1, "1", "1.5"), (2, "1.5", "1.85"), (3, "1.75", "1.85"), (9, "1.85", "1.85")]
)
def test_a_partition_costs_the_parts_one_person_can_touch(parts, added, replaced):
    event = PartitionEvent(PARTS, parts)
    assert cost_of(event, TERMS) == Cost(ApproxDP(added, "1e-6"))
    assert cost_of(event, REPLACING) == Cost(ApproxDP(replaced, "1e-6"))


def test_a_group_in_a_partition_of_pure_events_costs_its_size_times():
    assert cost_of(GroupEvent(PartitionEvent(PARTS[:3], 1), 2), TERMS) == Cost(PureDP(2))


def test_a_group_in_a_partition_with_curves_may_spread_over_more_parts():
    event = GroupEvent(PartitionEvent((GaussianEvent(10), GaussianEvent(10), PureEvent("0.001")), 1), 2)
    epsilon = gaussian_epsilon_up(noise_multiplier=5, delta=SHARE)
    assert cost_of(event, SHARING) == Cost(ApproxDP(2 * epsilon, 2 * SHARE), curves=2)


def test_curves_of_a_partition_are_counted_where_they_are_most():
    parts = (SelfComposedEvent(GaussianEvent(10), 4), GaussianEvent(1), PureEvent(3))
    assert cost_of(PartitionEvent(parts, 1), TERMS) == Cost(PureDP(3), curves=4)
    assert cost_of(PartitionEvent(parts, 2), TERMS) == Cost(PureDP(3), curves=5)


def test_nothing_is_free():
    assert cost_of(ComposedEvent(()), TERMS) == cost_of(PartitionEvent((), 1), TERMS) == FREE


@pytest.mark.parametrize("event", [ZCDPEvent(1), FullyAdaptiveEvent(ZCDPEvent(1))])
def test_what_basic_composition_cannot_price_is_named(event):
    with pytest.raises(UnsupportedEventError, match="BasicAccountant") as refused:
        cost_of(ComposedEvent((PureEvent(1), PoissonSampledEvent("0.1", event))), TERMS)
    assert refused.value.event == ZCDPEvent(1)
    assert not BasicAccountant().supports(ZCDPEvent(1))
    assert own_guarantee(ZCDPEvent(1), ADD_OR_REMOVE_ONE) is None


def test_every_kind_of_event_is_priced_flattened_or_refused():
    from sfumato.accounting.composition.basic import _RULES

    flat = {ComposedEvent, SelfComposedEvent, FullyAdaptiveEvent, GroupEvent}
    assert set(get_args(Event)) == set(_RULES) | flat | {ZCDPEvent}


def test_a_point_is_what_has_no_curve():
    assert own_guarantee(PureEvent(1), ADD_OR_REMOVE_ONE) == PureDP(1)
    assert own_guarantee(ComposedEvent((PureEvent(1), ApproxEvent(1, "0.1"))), ADD_OR_REMOVE_ONE) == ApproxDP(2, "0.1")
    assert own_guarantee(GaussianEvent(1), ADD_OR_REMOVE_ONE) is None


def test_a_group_of_groups_is_a_group():
    assert cost_of(GroupEvent(PureEvent(1), 3), TERMS) == Cost(PureDP(3))
    assert cost_of(GroupEvent(GroupEvent(GaussianEvent(3), 3), 2), SHARING) == cost_of(GaussianEvent("0.5"), SHARING)


def test_a_finite_event_is_its_largest_loss():
    event = FiniteEvent(("0.5", "0.5"), ("0.4", "0.6"))
    assert float(cost_of(event, TERMS).guarantee.epsilon) == pytest.approx(math.log(1.25))
    assert cost_of(GroupEvent(event, 3), TERMS).guarantee.epsilon == 3 * cost_of(event, TERMS).guarantee.epsilon


def test_what_only_one_law_of_a_finite_event_has_is_its_delta():
    promised = cost_of(FiniteEvent(("0.1", "0.9", 0), (0, "0.8", "0.2")), TERMS).guarantee
    assert promised.delta == Fraction(1, 5)
    assert float(promised.epsilon) == 0
    assert cost_of(FiniteEvent((1, 0), (0, 1)), TERMS) == Cost(NO_GUARANTEE)


def amplified(epsilon: float, probability: float) -> float:
    return math.log1p(probability * math.expm1(epsilon))


def test_curves_in_a_sample_share_more_delta():
    q = Fraction(1, 100)
    inside = gaussian_epsilon_up(noise_multiplier=2, delta=SHARE / q)
    promised = cost_of(PoissonSampledEvent(q, SelfComposedEvent(GaussianEvent(2), 3)), SHARING)
    assert promised.curves == 3
    assert promised.guarantee.delta == 3 * SHARE
    assert float(promised.guarantee.epsilon) == pytest.approx(amplified(3 * float(inside), 0.01))


def test_a_replaced_unit_of_a_sample_moves_its_curves_twice():
    q = Fraction(1, 100)
    terms = Terms(REPLACE_ONE, delta_per_curve=SHARE)
    inside = float(gaussian_epsilon_up(noise_multiplier=1, delta=SHARE / q))
    promised = cost_of(PoissonSampledEvent(q, GaussianEvent(2)), terms).guarantee
    assert float(promised.epsilon) == pytest.approx(amplified(inside, 0.01))


def test_a_subset_moves_its_curves_once():
    terms = Terms(REPLACE_ONE, delta_per_curve=SHARE)
    inside = float(gaussian_epsilon_up(noise_multiplier=2, delta=SHARE * 100))
    promised = cost_of(SampledWithoutReplacementEvent(10, 1000, GaussianEvent(2)), terms).guarantee
    assert float(promised.epsilon) == pytest.approx(amplified(inside, 0.01))


def test_a_truncated_sample_moves_its_curves_twice():
    inside = float(gaussian_epsilon_up(noise_multiplier=1, delta=SHARE * 100))
    promised = cost_of(TruncatedPoissonSampledEvent("0.01", 1000, 15, GaussianEvent(2)), SHARING).guarantee
    assert float(promised.epsilon) == pytest.approx(amplified(inside, 0.01))


@pytest.mark.parametrize("size", [2, 5])
def test_a_group_over_sampled_curves_enters_together(size):
    any_of_them = 1 - 0.99**size
    inside = float(gaussian_epsilon_up(noise_multiplier=Fraction(2, size), delta=float(SHARE) / any_of_them))
    promised = cost_of(GroupEvent(PoissonSampledEvent("0.01", GaussianEvent(2)), size), SHARING).guarantee
    assert float(promised.epsilon) == pytest.approx(amplified(inside, any_of_them))
    pure = cost_of(GroupEvent(PoissonSampledEvent("0.01", PureEvent(2)), size), SHARING).guarantee
    assert float(pure.epsilon) == pytest.approx(size * amplified(2, 0.01))


def test_a_curve_that_has_more_than_its_probability_costs_no_epsilon():
    generous = Terms(ADD_OR_REMOVE_ONE, delta_per_curve=Fraction(1, 10))
    promised = cost_of(PoissonSampledEvent("0.01", SelfComposedEvent(GaussianEvent("0.001"), 3)), generous)
    assert promised == Cost(ApproxDP(0, "0.01"), curves=3)


def test_a_mixture_of_gaussians_is_at_most_a_sampled_gaussian():
    event = MixtureOfGaussiansEvent(2, (0, "0.5", 1), ("0.9", "0.06", "0.04"))
    assert cost_of(event, SHARING) == cost_of(PoissonSampledEvent("0.1", GaussianEvent(2)), SHARING)
    assert cost_of(MixtureOfGaussiansEvent(2, (0,), (1,)), SHARING) == FREE
    epsilon = float(BasicAccountant().compose(event).epsilon("1e-3"))
    x = np.linspace(-30, 30, 400_001)
    mixture = sum(p * norm.pdf(x, s, 2) for s, p in ((0, 0.9), (0.5, 0.06), (1, 0.04)))
    for p, q in ((mixture, norm.pdf(x, 0, 2)), (norm.pdf(x, 0, 2), mixture)):
        assert float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0])) <= 1e-3


# Answers by growing score; the laws differ by a factor of at most 3/2.
SCORED = (
    [Fraction(n, 10) for n in (3, 2, 2, 3)],
    [Fraction(n, 10) for n in (2, 3, 3, 2)],
)
LOSS = smallest_epsilon(*SCORED)


def best(law, generating):
    """The law of the best of K answers: differences of E[x^K] at the distribution function."""
    heights = [generating(total) for total in (Fraction(0), *accumulate(law))]
    return [after - before for before, after in pairwise(heights)]


@pytest.mark.parametrize("mean", [Fraction(2), Fraction(20), Fraction(1000)])
def test_the_best_of_a_geometric_number_of_answers_costs_at_most_three_epsilon(mean):
    laws = [best(law, lambda x: (x / mean) / (1 - (1 - 1 / mean) * x)) for law in SCORED]
    event = RepeatAndSelectEvent(PureEvent(LOSS), mean, 1)
    assert smallest_epsilon(*laws) <= cost_of(event, TERMS).guarantee.epsilon == 3 * LOSS


def test_the_best_of_a_logarithmic_number_of_answers_costs_at_most_two_epsilon():
    laws = [best(law, lambda x: math.log1p(-0.999 * float(x)) / math.log1p(-0.999)) for law in SCORED]
    truth = max(abs(math.log(a / b)) for a, b in zip(*laws, strict=True))
    bound = cost_of(RepeatAndSelectEvent(PureEvent(LOSS), 50, 0), TERMS).guarantee.epsilon
    assert truth <= bound == 2 * LOSS


@pytest.mark.parametrize("mean", [Fraction(1, 2), Fraction(5)])
def test_the_best_of_a_poisson_number_of_answers_costs_at_most_its_bound(mean):
    laws = [best(law, lambda x: math.exp(float(mean * (x - 1)))) for law in SCORED]
    truth = max(abs(math.log(a / b)) for a, b in zip(*laws, strict=True))
    bound = float(cost_of(RepeatAndSelectEvent(PureEvent(LOSS), mean, None), TERMS).guarantee.epsilon)
    assert truth <= bound
    assert bound == pytest.approx(float(LOSS) + float(mean) * math.tanh(float(LOSS) / 2))


def test_only_the_best_of_pure_answers_has_a_price():
    assert not BasicAccountant().supports(RepeatAndSelectEvent(GaussianEvent(1), 3, 1))
    assert not BasicAccountant().supports(RepeatAndSelectEvent(ApproxEvent(1, "1e-6"), 3, 1))
    assert cost_of(RepeatAndSelectEvent(NonPrivateEvent(), 3, 1), TERMS) == Cost(NO_GUARANTEE)
    assert cost_of(RepeatAndSelectEvent(PureEvent(2000), 3, None), TERMS) == Cost(PureDP(2003))
