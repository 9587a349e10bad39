import math
from fractions import Fraction
from typing import get_args

import pytest

from sfumato.accounting.gaussian import discrete_gaussian_epsilon_up, gaussian_epsilon_up
from sfumato.accounting.pricing import FREE, Cost, Terms, price
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

TERMS = Terms(neighboring_relation=ADD_OR_REMOVE_ONE)
REPLACING = Terms(neighboring_relation=REPLACE_ONE)
SHARE = Fraction(1, 10**7)
SHARING = Terms(neighboring_relation=ADD_OR_REMOVE_ONE, delta_per_curve=SHARE)


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
    assert price(event, TERMS) == Cost(PureDP(epsilon))


@pytest.mark.parametrize(("probability", "categories", "epsilon"), [("0.5", 2, 1.0986123), ("0.5", 10, 2.3978953)])
def test_randomized_response_has_its_published_epsilon(probability, categories, epsilon):
    # ln 3 and ln 11 (Warner 1965; Kairouz, Oh and Viswanath 2016)
    cost = price(RandomizedResponseEvent(probability, categories), TERMS)
    assert float(cost.guarantee.epsilon) == pytest.approx(epsilon, abs=1e-7)
    assert float(cost.guarantee.epsilon) >= math.log(1 + categories)


@pytest.mark.parametrize("event", [NonPrivateEvent(), RandomizedResponseEvent(1, 2), ApproxEvent(1, 1)])
def test_what_promises_nothing_costs_everything(event):
    assert price(event, TERMS) == Cost(NO_GUARANTEE)
    assert price(ComposedEvent((PureEvent(1), event)), TERMS) == Cost(NO_GUARANTEE)
    assert price(GroupEvent(event, 2), TERMS) == Cost(NO_GUARANTEE)
    assert price(PartitionEvent((PureEvent(1), event)), TERMS) == Cost(NO_GUARANTEE)


def test_curves_are_counted_and_priced_at_their_share():
    event = SelfComposedEvent(GaussianEvent(2), 3)
    epsilon = gaussian_epsilon_up(noise_multiplier=2, delta=SHARE)
    assert price(event, TERMS) == Cost(PureDP(0), curves=3)
    assert price(event, SHARING) == Cost(ApproxDP(3 * epsilon, 3 * SHARE), curves=3)


def test_a_group_multiplies_the_sensitivity_of_gaussian_noise():
    # Balle and Wang (2018) at sigma 10 and delta 1e-6, sensitivities 2 and 10.
    for size, epsilon in [(2, 0.834118), (10, 4.886554)]:
        terms = Terms(neighboring_relation=ADD_OR_REMOVE_ONE, delta_per_curve=Fraction(1, 10**6))
        cost = price(GroupEvent(GaussianEvent(10), size), terms)
        assert float(cost.guarantee.epsilon) == pytest.approx(epsilon, abs=2e-6)
        assert cost.guarantee.delta == Fraction(1, 10**6)


def test_a_group_moves_more_coordinates_of_discrete_noise_further():
    cost = price(GroupEvent(DiscreteGaussianEvent(10, 2), 3), SHARING)
    wanted = discrete_gaussian_epsilon_up(stddev=10, l2_sensitivity=6, delta=SHARE, l0_sensitivity=3)
    assert cost == Cost(ApproxDP(wanted, SHARE), curves=1)


def test_a_group_multiplies_delta_by_a_geometric_sum():
    cost = price(GroupEvent(ApproxEvent(1, "1e-6"), 3), TERMS)
    assert cost.guarantee.epsilon == 3
    assert float(cost.guarantee.delta) == pytest.approx(1e-6 * (1 + math.e + math.e**2))


PARTS = (PureEvent("0.5"), PureEvent(1), PureEvent("0.25"), ApproxEvent("0.1", "1e-6"))


@pytest.mark.parametrize(
    ("parts", "added", "replaced"), [(1, "1", "1.5"), (2, "1.5", "1.85"), (3, "1.75", "1.85"), (9, "1.85", "1.85")]
)
def test_a_partition_costs_the_parts_one_person_can_touch(parts, added, replaced):
    event = PartitionEvent(PARTS, parts)
    assert price(event, TERMS) == Cost(ApproxDP(added, "1e-6"))
    assert price(event, REPLACING) == Cost(ApproxDP(replaced, "1e-6"))


def test_a_group_in_a_partition_of_pure_events_costs_its_size_times():
    assert price(GroupEvent(PartitionEvent(PARTS[:3]), 2), TERMS) == Cost(PureDP(2))


def test_a_group_in_a_partition_with_curves_may_spread_over_more_parts():
    event = GroupEvent(PartitionEvent((GaussianEvent(10), GaussianEvent(10), PureEvent("0.001"))), 2)
    epsilon = gaussian_epsilon_up(noise_multiplier=5, delta=SHARE)
    assert price(event, SHARING) == Cost(ApproxDP(2 * epsilon, 2 * SHARE), curves=2)


def test_curves_of_a_partition_are_counted_where_they_are_most():
    parts = (SelfComposedEvent(GaussianEvent(10), 4), GaussianEvent(1), PureEvent(3))
    assert price(PartitionEvent(parts), TERMS) == Cost(PureDP(3), curves=4)
    assert price(PartitionEvent(parts, 2), TERMS) == Cost(PureDP(3), curves=5)


def test_nothing_is_free():
    assert price(ComposedEvent(()), TERMS) == price(PartitionEvent(()), TERMS) == FREE


@pytest.mark.parametrize("event", [ZCDPEvent(1), PoissonSampledEvent("0.1", PureEvent(1))])
def test_what_basic_composition_cannot_price_is_named(event):
    with pytest.raises(UnsupportedEventError, match="BasicAccountant") as refused:
        price(ComposedEvent((PureEvent(1), GroupEvent(event, 2))), TERMS)
    assert refused.value.event == event


def test_every_kind_of_event_is_priced_or_refused():
    refused = {ZCDPEvent, PoissonSampledEvent}
    from sfumato.accounting.pricing import _HANDLERS

    assert set(get_args(Event)) == set(_HANDLERS) | refused
