import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.event_strategies import EVENTS

from sfumato.accounting.core.tally import Tally, flattened, grouped, response_epsilon_up
from sfumato.errors import ParameterError
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
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

RELATIONS = st.sampled_from(NeighboringRelation)
ONE, TWO = PureEvent(1), GaussianEvent(2)


def counts(event: Event, relation: NeighboringRelation = ADD_OR_REMOVE_ONE) -> dict[Event, int]:
    return dict(flattened(event, relation).counts)


@given(EVENTS, EVENTS, RELATIONS)
def test_order_is_forgotten(first, second, relation):
    assert flattened(ComposedEvent((first, second)), relation) == flattened(ComposedEvent((second, first)), relation)
    one, other = flattened(first, relation), flattened(second, relation)
    assert one.plus(other) == other.plus(one) == flattened(ComposedEvent((first, second)), relation)


@given(EVENTS, st.integers(1, 5), RELATIONS)
def test_a_count_is_that_many_events(event, count, relation):
    tally = flattened(event, relation)
    assert flattened(SelfComposedEvent(event, count), relation) == tally.times(count)
    assert flattened(ComposedEvent((event,) * count), relation) == tally.times(count)
    one_by_one = Tally()
    for _ in range(count):
        one_by_one = one_by_one.plus(tally)
    assert one_by_one == tally.times(count)


@given(EVENTS, RELATIONS)
def test_what_is_composed_is_undone(event, relation):
    for single, count in flattened(event, relation):
        assert count >= 1
        assert not isinstance(single, ComposedEvent | SelfComposedEvent | FullyAdaptiveEvent)
        assert flattened(single, relation).counts == ((single, 1),)


@given(EVENTS, st.integers(1, 4), st.integers(1, 4), RELATIONS)
def test_a_group_of_groups_is_a_group(event, inner, outer, relation):
    nested = flattened(GroupEvent(GroupEvent(event, inner), outer), relation)
    assert nested == flattened(GroupEvent(event, inner * outer), relation)
    assert flattened(GroupEvent(event, 1), relation) == flattened(event, relation)


def test_one_by_one_is_all_at_once():
    events = [PureEvent(Fraction(k * k % 83, 100)) for k in range(100)]
    tally = Tally()
    for event in events:
        tally = tally.plus(flattened(event, ADD_OR_REMOVE_ONE))
    assert tally == flattened(ComposedEvent(tuple(events)), ADD_OR_REMOVE_ONE)
    assert len(tally.counts) < 50


def test_nesting_multiplies_counts():
    inner = ComposedEvent((ONE, SelfComposedEvent(TWO, 3)))
    assert counts(SelfComposedEvent(ComposedEvent((inner, ONE)), 5)) == {ONE: 10, TWO: 15}


@pytest.mark.parametrize(
    ("event", "seen_by_three"),
    [
        (NonPrivateEvent(), NonPrivateEvent()),
        (PureEvent("0.1"), PureEvent("0.3")),
        (ExponentialEvent("0.1"), ExponentialEvent("0.3")),
        (ZCDPEvent("0.1"), ZCDPEvent("0.9")),
        (LaplaceEvent(6), LaplaceEvent(2)),
        (GaussianEvent(6), GaussianEvent(2)),
        (DiscreteLaplaceEvent(5, 2), DiscreteLaplaceEvent(5, 6)),
        (DiscreteGaussianEvent(5, 2, 3), DiscreteGaussianEvent(5, 6, 9)),
        (GroupEvent(FiniteEvent((1, 0), (0, 1)), 2), GroupEvent(FiniteEvent((1, 0), (0, 1)), 6)),
        (ApproxEvent(1, "0.5"), NonPrivateEvent()),
        (ApproxEvent(1, 1), NonPrivateEvent()),
        (RandomizedResponseEvent(1, 2), NonPrivateEvent()),
    ],
)
def test_groups_have_the_rule_of_each_event(event, seen_by_three):
    assert grouped(event, 3) == seen_by_three


@pytest.mark.parametrize(
    ("event", "seen_by_two"),
    [
        (DiscreteLaplaceEvent(5, "1.5"), DiscreteLaplaceEvent(5, 2)),
        (DiscreteGaussianEvent(5, "1.5", 1), DiscreteGaussianEvent(5, 2, 2)),
        (DiscreteGaussianEvent(5, "1.9", 1), DiscreteGaussianEvent(5, 2, 2)),
    ],
)
def test_a_unit_moves_by_whole_steps(event, seen_by_two):
    assert grouped(event, 2) == seen_by_two


def test_a_squared_length_is_a_whole_number():
    move = grouped(DiscreteGaussianEvent(5, "1.5", 2), 2).l2_sensitivity
    assert 8 <= move**2 < 8 + Fraction(1, 10**9)


def test_a_group_pays_the_geometric_sum_of_delta():
    event = grouped(ApproxEvent("0.5", "1e-8"), 5)
    exact = 1e-8 * math.expm1(2.5) / math.expm1(0.5)
    assert event.epsilon == Fraction(5, 2)
    assert exact <= event.delta <= exact * (1 + 1e-9)


def test_randomized_response_of_a_group_is_pure():
    event = RandomizedResponseEvent("0.5", 2)
    assert response_epsilon_up(event) >= math.log(3)
    assert grouped(event, 4) == PureEvent(4 * response_epsilon_up(event))
    assert response_epsilon_up(RandomizedResponseEvent(1, 2)) is None
    assert response_epsilon_up(RandomizedResponseEvent(1, 1)) == 0


@pytest.mark.parametrize(
    "event",
    [
        ComposedEvent(()),
        PureEvent(0),
        ExponentialEvent(0),
        ZCDPEvent(0),
        ApproxEvent(0, 0),
        DiscreteLaplaceEvent(5, "0.3"),
        DiscreteGaussianEvent(5, "0.3", 1),
        RandomizedResponseEvent(0, 5),
        RandomizedResponseEvent(1, 1),
        PartitionEvent((PureEvent(0), ComposedEvent(())), 1),
        PoissonSampledEvent(0, NonPrivateEvent()),
        PoissonSampledEvent("0.5", PureEvent(0)),
        TruncatedPoissonSampledEvent(0, 10, 5, TWO),
        SampledWithoutReplacementEvent(1, 2, ComposedEvent(())),
        FullyAdaptiveEvent(PureEvent(0)),
        RepeatAndSelectEvent(PureEvent(0), 3, 1),
    ],
)
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_what_releases_nothing_disappears(event, relation):
    assert counts(event, relation) == {}
    assert counts(GroupEvent(event, 3), relation) == {}


def test_a_sample_of_everybody_is_no_sample():
    assert counts(PoissonSampledEvent(1, TWO)) == {TWO: 1}
    assert counts(PoissonSampledEvent(1, TWO), REPLACE_ONE) == {GaussianEvent(1): 1}
    assert counts(SampledWithoutReplacementEvent(7, 7, TWO), REPLACE_ONE) == {TWO: 1}


SPLIT = PartitionEvent((DiscreteLaplaceEvent(1, 1), DiscreteLaplaceEvent(1, 1)), 1)


@pytest.mark.parametrize(
    "inside",
    [SPLIT, PoissonSampledEvent("0.5", LaplaceEvent(1)), FiniteEvent((1, 0), (0, 1)), ComposedEvent((ONE, SPLIT))],
)
def test_a_sample_of_everybody_keeps_what_means_something_else_outside_it(inside):
    fixed, poisson = SampledWithoutReplacementEvent(10, 10, inside), PoissonSampledEvent(1, inside)
    assert counts(fixed, ADD_OR_REMOVE_ONE) == {fixed: 1}
    assert counts(poisson, REPLACE_ONE) == {poisson: 1}
    assert counts(fixed, REPLACE_ONE) == counts(inside, REPLACE_ONE)
    assert counts(poisson, ADD_OR_REMOVE_ONE) == counts(inside, ADD_OR_REMOVE_ONE)


@pytest.mark.parametrize(
    ("event", "is_tight"),
    [
        (GroupEvent(GaussianEvent(1), 5), True),
        (GroupEvent(LaplaceEvent(1), 5), True),
        (GroupEvent(PureEvent(1), 5), False),
        (GroupEvent(ApproxEvent(1, "1e-9"), 5), False),
        (GroupEvent(RandomizedResponseEvent("0.5", 2), 5), False),
        (GroupEvent(DiscreteGaussianEvent(10, "1.75", 2), 2), False),
        (GroupEvent(PureEvent(1), 1), True),
        (PoissonSampledEvent("0.5", GroupEvent(PureEvent(1), 2)), False),
        (PartitionEvent((TWO, GroupEvent(PureEvent(1), 2)), 1), False),
        (ComposedEvent((TWO, SelfComposedEvent(GroupEvent(ComposedEvent((TWO, ONE)), 2), 3))), False),
    ],
)
def test_a_tally_says_whether_it_only_bounds_what_it_stands_for(event, is_tight):
    assert flattened(event, ADD_OR_REMOVE_ONE).is_tight == is_tight
    assert not flattened(PoissonSampledEvent("0.5", ONE), REPLACE_ONE).is_tight


@pytest.mark.parametrize(
    "event",
    [
        SelfComposedEvent(SelfComposedEvent(ONE, 10**8), 10**8),
        GroupEvent(GroupEvent(ONE, 10**8), 10**8),
        ComposedEvent((SelfComposedEvent(ONE, 10**15), ONE)),
        SelfComposedEvent(ONE, 10**400),
    ],
    ids=["nested", "groups", "sum", "huge"],
)
def test_counts_have_a_limit(event):
    with pytest.raises(ParameterError, match="count"):
        flattened(event, ADD_OR_REMOVE_ONE)
    assert dict(flattened(SelfComposedEvent(ONE, 10**15), ADD_OR_REMOVE_ONE).counts) == {ONE: 10**15}


def test_a_truncated_sample_of_everybody_stays():
    event = TruncatedPoissonSampledEvent(1, 10, 5, TWO)
    assert counts(event) == {event: 1}


def test_samples_keep_what_is_nested():
    event = PoissonSampledEvent("0.5", ComposedEvent((ONE, SelfComposedEvent(TWO, 2))))
    assert counts(SelfComposedEvent(event, 4)) == {event: 4}
    assert counts(GroupEvent(event, 3)) == {GroupEvent(event, 3): 1}


@given(st.permutations([ONE, TWO, MixtureOfGaussiansEvent(1, (1,), (1,)), ZCDPEvent(1)]))
def test_a_tally_is_sorted(events):
    assert flattened(ComposedEvent(tuple(events)), ADD_OR_REMOVE_ONE) == flattened(
        ComposedEvent(tuple(sorted(events, key=repr))), ADD_OR_REMOVE_ONE
    )
