import math
from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.contract import EVENTS, name_of
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.core.normal_form import NeighborGroup, flattened
from sfumato.accounting.renyi import curves
from sfumato.accounting.renyi.of_event import SampleContents, exchanged, renyi_bound, renyi_bound_of, sampled
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
    FiniteEvent,
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
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

ORDERS = np.array([1.05, 1.5, 2.0, 7.0, 40.0])
TENTH = Fraction(1, 10)
every_relation = pytest.mark.parametrize("relation", NeighboringRelation)


def of(event, relation=ADD_OR_REMOVE_ONE):
    return renyi_bound(event, ORDERS, relation)


def exact(p, q):
    return pytest.approx(np.array([worst(p, q, order) for order in ORDERS]), rel=1e-6)


def test_randomized_response_is_that_of_its_two_answers():
    assert of(RandomizedResponseEvent(Fraction(1, 2), 4)) == exact([5 / 8, 1 / 8, 1 / 4], [1 / 8, 5 / 8, 1 / 4])
    assert of(RandomizedResponseEvent(Fraction(1, 2), 2)) == exact([3 / 4, 1 / 4], [1 / 4, 3 / 4])


def test_additive_noise_is_that_of_its_sensitivity():
    assert of(GaussianEvent(2)) == pytest.approx(ORDERS / 8)
    assert of(LaplaceEvent(2)) == pytest.approx(curves.laplace(ORDERS, epsilon=0.5))
    assert of(DiscreteLaplaceEvent(4, "2.9")) == pytest.approx(curves.discrete_laplace(ORDERS, decay=0.25, shift=2))
    assert of(DiscreteGaussianEvent(3, "2.9", 1)) == pytest.approx(ORDERS * 4 / 18)
    assert of(DiscreteGaussianEvent(3, "2.9", 2)) == pytest.approx(ORDERS * 8 / 18)


@pytest.mark.parametrize("shift", [1, 2, 3])
@pytest.mark.parametrize("stddev", [0.4, 1.0, 3.0])
def test_discrete_gaussian_noise_diverges_no_more_than_its_bound(stddev, shift):
    k = np.arange(-40, 41)
    at = [np.exp(-((k - center) ** 2) / (2 * stddev**2)) for center in (0, shift)]
    found = of(DiscreteGaussianEvent(stddev, shift, 1))[:4]
    for order, bound in zip(ORDERS[:4], found, strict=True):
        exponents = -order * k**2 / (2 * stddev**2) - (1 - order) * (k - shift) ** 2 / (2 * stddev**2)
        log_moment = np.logaddexp.reduce(exponents) - np.log(at[0].sum())
        assert log_moment / (order - 1) <= bound * (1 + 1e-9)


def test_promises_are_read_at_their_worst():
    assert of(PureEvent(1)) == pytest.approx(curves.randomized_response(ORDERS, epsilon=1.0))
    assert of(ApproxEvent(1, "1e-6")) == pytest.approx(of(PureEvent(1)))
    assert of(ZCDPEvent("0.3")) == pytest.approx(ORDERS * 0.3)
    assert of(ExponentialEvent(1)) == pytest.approx(curves.bounded_range(ORDERS, epsilon=1.0))


@pytest.mark.parametrize(
    ("event", "epsilon", "failure"),
    [
        (PureEvent(TENTH), TENTH, 0),
        (ApproxEvent(TENTH, "1e-6"), TENTH, Fraction(1, 10**6)),
        (LaplaceEvent(4), Fraction(1, 4), 0),
        (DiscreteLaplaceEvent(4, 3), Fraction(3, 4), 0),
        (ExponentialEvent(TENTH), TENTH, 0),
        (GaussianEvent(1), math.inf, 0),
        (NonPrivateEvent(), 0, 1),
        (RandomizedResponseEvent(1, 2), 0, 1),
        (GroupEvent(FiniteEvent(("0.5", "0.5"), ("0.4", "0.6")), 2), 2 * math.log(1.25), 0),
        (PoissonSampledEvent(TENTH, PureEvent(1)), math.log1p(math.expm1(1) / 10), 0),
        (PoissonSampledEvent(TENTH, ApproxEvent(1, "0.01")), math.log1p(math.expm1(1) / 10), Fraction(1, 1000)),
        (PoissonSampledEvent(TENTH, NonPrivateEvent()), 0, TENTH),
        (SampledWithoutReplacementEvent(1, 10, PureEvent(1)), math.log1p(math.expm1(1) / 10), 0),
        (RepeatAndSelectEvent(PureEvent(TENTH), 10, 1), Fraction(3, 10), 0),
        (
            PartitionEvent((PureEvent(TENTH), PureEvent(1), ApproxEvent("0.5", "0.01")), 2),
            Fraction(3, 2),
            Fraction(1, 100),
        ),
        (ComposedEvent((PureEvent(TENTH), SelfComposedEvent(LaplaceEvent(4), 8))), Fraction(21, 10), 0),
    ],
)
def test_pure_losses_and_failures_are_known(event, epsilon, failure):
    bound = renyi_bound_of(event, ADD_OR_REMOVE_ONE)
    assert float(bound.epsilon) == pytest.approx(float(epsilon))
    assert float(bound.epsilon) >= float(epsilon) * (1 - 1e-14)
    assert bound.failure == failure


@every_relation
@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_every_bound_grows_with_the_order_and_stays_below_the_pure_loss(event, relation):
    orders = np.array([1.001, 1.01, 1.1, 1.5, 2.0, 3.0, 8.0, 9.0, 64.0])
    found = renyi_bound(event, orders, relation)
    if not isinstance(event, RepeatAndSelectEvent):  # ln(mean)/(α − 1) falls
        assert np.all(np.diff(found) >= -1e-7 * found[1:])
    assert np.all(found <= float(renyi_bound_of(event, relation).epsilon) * (1 + 1e-9))


@every_relation
@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_orders_may_come_in_any_order(event, relation):
    shuffled = np.array([7.0, 1.05, 40.0, 2.0])
    found = dict(zip(ORDERS, renyi_bound(event, ORDERS, relation), strict=True))
    expected = np.array([found[order] for order in shuffled])
    assert renyi_bound(event, shuffled, relation) == pytest.approx(expected, rel=1e-6)


@every_relation
@pytest.mark.parametrize("event", EVENTS, ids=name_of)
def test_a_group_diverges_more_than_a_unit(event, relation):
    assert np.all(renyi_bound(GroupEvent(event, 2), ORDERS, relation) >= renyi_bound(event, ORDERS, relation))


def test_a_partition_costs_its_costliest_parts():
    parts = PartitionEvent((GaussianEvent(2), LaplaceEvent(2), GaussianEvent(2)), 2)
    gaussian, laplace = of(GaussianEvent(2)), of(LaplaceEvent(2))
    assert of(parts) == pytest.approx(gaussian + np.maximum(gaussian, laplace))
    assert of(parts, REPLACE_ONE) == pytest.approx(2 * gaussian + laplace)
    assert of(GroupEvent(parts, 2)) == pytest.approx(of(GaussianEvent(1)) * 2 + of(LaplaceEvent(1)))


def test_a_replaced_unit_may_also_be_removed_from_a_part():
    sample = PoissonSampledEvent(TENTH, GaussianEvent(1))
    assert of(PartitionEvent((sample,), 1), REPLACE_ONE) == pytest.approx(of(sample, REPLACE_ONE))
    assert np.all(of(sample, REPLACE_ONE) > of(sample))


def test_samples_without_replacement_exchange_a_unit_for_one_of_the_others():
    event = SampledWithoutReplacementEvent(1, 10, GaussianEvent(1))
    assert of(event) == pytest.approx(of(PoissonSampledEvent(TENTH, GaussianEvent(1))))
    assert np.all(of(event, REPLACE_ONE) > of(event))


def test_a_group_that_fills_the_sample_is_not_sampled():
    event = SampledWithoutReplacementEvent(1, 2, GaussianEvent(1))
    assert of(GroupEvent(event, 2), REPLACE_ONE) == pytest.approx(of(GaussianEvent(Fraction(1, 2))))


def test_a_selection_among_a_group_selects_from_what_the_group_sees():
    event = RepeatAndSelectEvent(GaussianEvent(20), 5, 1)
    assert of(GroupEvent(event, 2)) == pytest.approx(of(RepeatAndSelectEvent(GaussianEvent(10), 5, 1)))


@pytest.mark.parametrize("count", [2, 33])
def test_groups_in_a_sample_are_in_it_together_at_worst(count):
    event = PoissonSampledEvent(Fraction(1, 100), GaussianEvent(count * 2))
    found = of(GroupEvent(event, count))
    chance = 1 - Fraction(99, 100) ** count
    together = of(PoissonSampledEvent(chance, GaussianEvent(2)))
    assert np.all(found <= together * (1 + 1e-9))
    assert np.all(found >= of(event))


@every_relation
@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent("1e-300"),
        GaussianEvent("1e300"),
        LaplaceEvent("1e-300"),
        DiscreteLaplaceEvent("1e-300", 1),
        DiscreteGaussianEvent("1e-200", 1),
        PureEvent("1e300"),
        ExponentialEvent("1e300"),
        ExponentialEvent("1e-300"),
        ZCDPEvent("1e300"),
        RandomizedResponseEvent(1 - Fraction(1, 10**40), 10**9),
        MixtureOfGaussiansEvent("1e-300", (0, 1), ("0.5", "0.5")),
    ],
)
def test_noise_of_any_size_has_a_bound_in_and_out_of_samples(event, relation):
    for around in (
        event,
        PoissonSampledEvent("1e-9", event),
        PoissonSampledEvent(TENTH, event),
        SampledWithoutReplacementEvent(1, 10, event),
        TruncatedPoissonSampledEvent(TENTH, 100, 15, event),
        RepeatAndSelectEvent(event, 3, 1),
        RepeatAndSelectEvent(event, 3, None),
        GroupEvent(event, 1000),
    ):
        found = renyi_bound(around, ORDERS, relation)
        assert not np.any(np.isnan(found))
        assert np.all(found >= 0)


@pytest.mark.parametrize("bits", range(4))
def test_sampled_finite_pairs_are_within_their_bound(bits):
    weights = np.exp(np.random.default_rng(bits).standard_normal((2, 3)))
    integers = [np.round(row / row.sum() * 1000).astype(int) for row in weights]
    p, q = (tuple(Fraction(int(n), int(row.sum())) for n in row) for row in integers)
    event, with_unit, without = FiniteEvent(p, q), np.array(p, dtype=float), np.array(q, dtype=float)
    found = of(PoissonSampledEvent(TENTH, event))
    for order, bound in zip(ORDERS, found, strict=True):
        assert worst(0.9 * without + 0.1 * with_unit, without, order) <= bound


@every_relation
@pytest.mark.parametrize(
    "event",
    [
        PureEvent(10**400),
        PureEvent("1e-400"),
        LaplaceEvent("1e-400"),
        GaussianEvent("1e-400"),
        ExponentialEvent(10**400),
        DiscreteLaplaceEvent("1e310", "1e320"),
        DiscreteLaplaceEvent("1e-310", "1e320"),
        MixtureOfGaussiansEvent("1e-320", (1,), (1,)),
        ApproxEvent("1e400", "1e-330"),
    ],
)
@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 10**350), 1 - Fraction(1, 10**350)])
def test_numbers_beyond_floats_have_a_bound_in_samples(event, probability, relation):
    for around in (event, PoissonSampledEvent(probability, event), RepeatAndSelectEvent(event, 3, 1)):
        bound, found = renyi_bound_of(around, relation), renyi_bound(around, ORDERS, relation)
        assert bound.failure or bound.epsilon > 0
        assert np.all(found >= 0 if bound.failure else found > 0)


@every_relation
def test_a_mixture_is_priced_against_its_absence_under_either_relation(relation):
    event = MixtureOfGaussiansEvent(1, (0, 1), ("0.9", "0.1"))
    assert of(event, relation) == pytest.approx(of(PoissonSampledEvent(TENTH, GaussianEvent(1))), rel=1e-9)


@pytest.mark.parametrize("size", [65, 10**7, 10**15])
def test_large_groups_in_a_sample_are_priced_at_once(size):
    found = of(GroupEvent(PoissonSampledEvent("0.01", PureEvent(Fraction(1, size))), size))
    chance = 1 - Fraction(99, 100) ** size if size < 100 else 1
    assert found == pytest.approx(of(PoissonSampledEvent(chance, PureEvent(1))), rel=1e-6)


def test_a_large_group_in_a_tiny_sample_is_never_missed():
    for probability in (Fraction(1, 10**9), Fraction(1, 10**350)):
        event = GroupEvent(PoissonSampledEvent(probability, NonPrivateEvent()), 10**6)
        assert 1 - (1 - probability) ** 10 < renyi_bound_of(event, ADD_OR_REMOVE_ONE).failure <= probability * 10**6


@every_relation
def test_a_sample_of_everybody_is_priced_as_no_sample(relation):
    everybody = PoissonSampledEvent(1, PartitionEvent((PureEvent(1),) * 5, 1))
    assert renyi_bound_of(everybody, relation).epsilon >= (1 if relation is ADD_OR_REMOVE_ONE else 2)
    drawn = SampledWithoutReplacementEvent(9, 9, PartitionEvent((PureEvent(1),) * 5, 1))
    assert renyi_bound_of(drawn, relation).epsilon == 2


SAMPLE_ORDERS = np.array([1.5, 2.0, 8.0])


def inside(event):
    return SampleContents(flattened(event, NeighborGroup(ADD_OR_REMOVE_ONE)), renyi_bound_of(event, ADD_OR_REMOVE_ONE))


def test_gaussian_noise_in_a_sample_is_one_distance():
    several = ComposedEvent((SelfComposedEvent(GaussianEvent(3), 9), GaussianEvent(Fraction(1, 2))))
    assert inside(several).distance ** 2 == pytest.approx(1 + 4)
    assert inside(GaussianEvent(2)).distance == Fraction(1, 2)
    assert inside(ComposedEvent((GaussianEvent(2), LaplaceEvent(2)))).distance is None


def test_several_gaussians_in_one_sample_are_one_gaussian():
    four = sampled(TENTH, inside(SelfComposedEvent(GaussianEvent(2), 4))).divergence(SAMPLE_ORDERS)
    assert four == pytest.approx(sampled(TENTH, inside(GaussianEvent(1))).divergence(SAMPLE_ORDERS))


def test_everybody_in_the_sample_is_no_sample():
    noise = inside(GaussianEvent(1))
    assert sampled(Fraction(1), noise) is noise.bound
    assert exchanged(Fraction(1), noise, noise.bound) is noise.bound


def test_integration_and_expansion_agree_at_whole_orders():
    noise = inside(GaussianEvent(1))
    with_laplace = inside(ComposedEvent((GaussianEvent(1), LaplaceEvent(10**9))))
    orders = np.array([2.0, 3.0, 8.0, 30.0])
    assert sampled(TENTH, noise).divergence(orders) == pytest.approx(
        sampled(TENTH, with_laplace).divergence(orders), rel=1e-7
    )


def test_an_exchange_costs_no_more_than_two_steps_and_no_less_than_one():
    noise, pair = inside(GaussianEvent(1)), renyi_bound_of(GaussianEvent(Fraction(1, 2)), ADD_OR_REMOVE_ONE)
    one, both = sampled(TENTH, noise).divergence(SAMPLE_ORDERS), exchanged(TENTH, noise, pair).divergence(SAMPLE_ORDERS)
    assert np.all(both > one)
    assert np.all(both <= pair.divergence(SAMPLE_ORDERS))
