import math
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import get_args

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.composition.pricing import FREE, Cost, Terms, is_priced, point, price, price_all
from sfumato.accounting.core.finite import smallest_epsilon
from sfumato.accounting.core.tally import flattened
from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_epsilon_up
from sfumato.accounting.gaussian.gaussian import gaussian_epsilon_up
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
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
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

TERMS = Terms(neighboring_relation=ADD_OR_REMOVE_ONE)
REPLACING = Terms(neighboring_relation=REPLACE_ONE)
SHARE = Fraction(1, 10**7)
SHARING = Terms(neighboring_relation=ADD_OR_REMOVE_ONE, delta_per_curve=SHARE)


def cost_of(event: Event, terms: Terms) -> Cost:
    return price_all(flattened(event, terms.neighboring_relation), terms)


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
        terms = Terms(neighboring_relation=ADD_OR_REMOVE_ONE, delta_per_curve=Fraction(1, 10**6))
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
    assert not is_priced(ZCDPEvent(1), ADD_OR_REMOVE_ONE)
    assert point(ZCDPEvent(1), ADD_OR_REMOVE_ONE) is None


def test_every_kind_of_event_is_priced_flattened_or_refused():
    from sfumato.accounting.composition.pricing import _HANDLERS

    flat = {ComposedEvent, SelfComposedEvent, FullyAdaptiveEvent}
    assert set(get_args(Event)) == set(_HANDLERS) | flat | {ZCDPEvent}


def test_a_point_is_what_has_no_curve():
    assert point(PureEvent(1), ADD_OR_REMOVE_ONE) == PureDP(1)
    assert point(ComposedEvent((PureEvent(1), ApproxEvent(1, "0.1"))), ADD_OR_REMOVE_ONE) == ApproxDP(2, "0.1")
    assert point(GaussianEvent(1), ADD_OR_REMOVE_ONE) is None


def test_a_group_outside_a_tally_is_still_a_group():
    assert price(GroupEvent(PureEvent(1), 3), TERMS) == Cost(PureDP(3))
    assert price(GroupEvent(GroupEvent(GaussianEvent(3), 3), 2), SHARING) == price(GaussianEvent("0.5"), SHARING)


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
    terms = Terms(neighboring_relation=REPLACE_ONE, delta_per_curve=SHARE)
    inside = float(gaussian_epsilon_up(noise_multiplier=1, delta=SHARE / q))
    promised = cost_of(PoissonSampledEvent(q, GaussianEvent(2)), terms).guarantee
    assert float(promised.epsilon) == pytest.approx(amplified(inside, 0.01))


def test_a_subset_moves_its_curves_once():
    terms = Terms(neighboring_relation=REPLACE_ONE, delta_per_curve=SHARE)
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
    generous = Terms(neighboring_relation=ADD_OR_REMOVE_ONE, delta_per_curve=Fraction(1, 10))
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
    assert not is_priced(RepeatAndSelectEvent(GaussianEvent(1), 3, 1), ADD_OR_REMOVE_ONE)
    assert not is_priced(RepeatAndSelectEvent(ApproxEvent(1, "1e-6"), 3, 1), ADD_OR_REMOVE_ONE)
    assert cost_of(RepeatAndSelectEvent(NonPrivateEvent(), 3, 1), TERMS) == Cost(NO_GUARANTEE)
    assert cost_of(RepeatAndSelectEvent(PureEvent(2000), 3, None), TERMS) == Cost(PureDP(2003))
