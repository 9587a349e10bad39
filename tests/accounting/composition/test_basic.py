import math
from fractions import Fraction
from itertools import product

import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.contract import AccountantContract

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.core.accountant import EpsilonInterval
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
from sfumato.privacy.events import (
    MAX_NESTING,
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SampledWithoutReplacementEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import REPLACE_ONE, NeighboringRelation


class TestBasicAccountant(AccountantContract):
    def make(self, relation: NeighboringRelation) -> BasicAccountant:
        return BasicAccountant(neighboring_relation=relation)


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
