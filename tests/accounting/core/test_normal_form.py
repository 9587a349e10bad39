import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.event_strategies import EVENTS

from sfumato.accounting.core.normal_form import (
    EventCounts,
    NeighborGroup,
    NormalEvent,
    flattened,
    grouped,
    response_epsilon_up,
    single_events,
)
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
    return dict(flattened(event, NeighborGroup(relation)).counts)


@given(EVENTS, EVENTS, RELATIONS)
def test_order_is_forgotten(first, second, relation):
    assert flattened(ComposedEvent((first, second)), NeighborGroup(relation)) == flattened(
        ComposedEvent((second, first)), NeighborGroup(relation)
    )
    one, other = flattened(first, NeighborGroup(relation)), flattened(second, NeighborGroup(relation))
    assert one.plus(other) == other.plus(one) == flattened(ComposedEvent((first, second)), NeighborGroup(relation))


@given(EVENTS, st.integers(1, 5), RELATIONS)
def test_a_count_is_that_many_events(event, count, relation):
    tally = flattened(event, NeighborGroup(relation))
    assert flattened(SelfComposedEvent(event, count), NeighborGroup(relation)) == tally.times(count)
    assert flattened(ComposedEvent((event,) * count), NeighborGroup(relation)) == tally.times(count)
    one_by_one = EventCounts()
    for _ in range(count):
        one_by_one = one_by_one.plus(tally)
    assert one_by_one == tally.times(count)


@given(EVENTS, RELATIONS)
def test_what_is_composed_is_undone(event, relation):
    for single, count in flattened(event, NeighborGroup(relation)):
        assert count >= 1
        assert not isinstance(single, ComposedEvent | SelfComposedEvent | FullyAdaptiveEvent)
        assert flattened(single, NeighborGroup(relation)).counts == ((single, 1),)


@given(EVENTS, st.integers(1, 4), st.integers(1, 4), RELATIONS)
def test_a_group_of_groups_is_a_group(event, inner, outer, relation):
    nested = flattened(GroupEvent(GroupEvent(event, inner), outer), NeighborGroup(relation))
    assert nested == flattened(GroupEvent(event, inner * outer), NeighborGroup(relation))
    assert flattened(GroupEvent(event, 1), NeighborGroup(relation)) == flattened(event, NeighborGroup(relation))


def test_one_by_one_is_all_at_once():
    events = [PureEvent(Fraction(k * k % 83, 100)) for k in range(100)]
    tally = EventCounts()
    for event in events:
        tally = tally.plus(flattened(event, NeighborGroup(ADD_OR_REMOVE_ONE)))
    assert tally == flattened(ComposedEvent(tuple(events)), NeighborGroup(ADD_OR_REMOVE_ONE))
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


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_a_poisson_sample_of_a_poisson_sample_is_one_of_both_probabilities(relation):
    half, whole = PoissonSampledEvent("0.5", ONE), PoissonSampledEvent(1, ONE)
    alone = ComposedEvent((SelfComposedEvent(half, 1),))
    assert counts(PoissonSampledEvent("0.2", alone), relation) == {PoissonSampledEvent("0.1", ONE): 1}
    assert counts(PoissonSampledEvent("0.2", PoissonSampledEvent("0.3", half)), relation) == {
        PoissonSampledEvent("0.03", ONE): 1
    }
    assert counts(PoissonSampledEvent(1, half), relation) == counts(half, relation)
    assert counts(PoissonSampledEvent("0.2", whole), relation) == {PoissonSampledEvent("0.2", ONE): 1}
    assert counts(PoissonSampledEvent("0.2", PoissonSampledEvent(0, ONE)), relation) == {}
    twice = PoissonSampledEvent("0.2", SelfComposedEvent(half, 2))
    assert counts(twice, relation) == {twice: 1}


@pytest.mark.parametrize(
    "inside",
    [SPLIT, FiniteEvent((1, 0), (0, 1)), ComposedEvent((ONE, SPLIT))],
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
    assert flattened(event, NeighborGroup(ADD_OR_REMOVE_ONE)).is_tight == is_tight
    assert not flattened(PoissonSampledEvent("0.5", ONE), NeighborGroup(REPLACE_ONE)).is_tight


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
        flattened(event, NeighborGroup(ADD_OR_REMOVE_ONE))
    assert dict(flattened(SelfComposedEvent(ONE, 10**15), NeighborGroup(ADD_OR_REMOVE_ONE)).counts) == {ONE: 10**15}


def test_a_truncated_sample_of_everybody_stays():
    event = TruncatedPoissonSampledEvent(1, 10, 5, TWO)
    assert counts(event) == {event: 1}


def test_samples_keep_what_is_nested():
    event = PoissonSampledEvent("0.5", ComposedEvent((ONE, SelfComposedEvent(TWO, 2))))
    assert counts(SelfComposedEvent(event, 4)) == {event: 4}
    assert counts(GroupEvent(event, 3)) == {GroupEvent(event, 3): 1}


@given(st.permutations([ONE, TWO, MixtureOfGaussiansEvent(1, (1,), (1,)), ZCDPEvent(1)]))
def test_a_tally_is_sorted(events):
    assert flattened(ComposedEvent(tuple(events)), NeighborGroup(ADD_OR_REMOVE_ONE)) == flattened(
        ComposedEvent(tuple(sorted(events, key=repr))), NeighborGroup(ADD_OR_REMOVE_ONE)
    )


THREE = NeighborGroup(ADD_OR_REMOVE_ONE, size=3)
WIDE_NOISE = GaussianEvent(12)


def test_neighbors_see_events_as_their_group_does():
    assert flattened(SelfComposedEvent(WIDE_NOISE, 5), THREE).counts == ((GaussianEvent(4), 5),)
    sample = PoissonSampledEvent("0.1", WIDE_NOISE)
    assert flattened(sample, THREE).counts == ((GroupEvent(sample, 3), 1),)


def test_who_is_exchanged_moves_an_answer_twice():
    assert flattened(WIDE_NOISE, THREE).counts == flattened(WIDE_NOISE, THREE.replaced).counts
    assert flattened(WIDE_NOISE, THREE.swapped).counts == ((GaussianEvent(2), 1),)
    assert flattened(WIDE_NOISE, THREE.replaced.one_by_one).counts == ((GaussianEvent(2), 1),)


def test_steps_count_every_unit_added_and_removed():
    assert [who.steps for who in (THREE, THREE.replaced, THREE.swapped)] == [3, 3, 6]


def test_one_view_of_neighbors_follows_from_another():
    assert THREE.swapped.present == THREE
    assert THREE.swapped.replaced == NeighborGroup(REPLACE_ONE, size=3)
    assert THREE.swapped.is_swap


def test_an_event_in_normal_form_says_its_group_in_its_neighbors():
    sample, pair = PoissonSampledEvent("0.1", WIDE_NOISE), FiniteEvent((1, 0), (0, 1))
    for event, seen in (
        (sample, THREE.swapped),
        (pair, NeighborGroup(REPLACE_ONE, 6)),
        (WIDE_NOISE, NeighborGroup(REPLACE_ONE)),
    ):
        ((single, _),) = flattened(event, THREE.swapped).counts
        assert NormalEvent.of(single, THREE.swapped).neighbors == seen


@given(EVENTS, RELATIONS)
def test_single_events_are_those_of_the_tally_and_those_inside_them(event, relation):
    found = list(single_events(event, relation))
    assert not any(
        isinstance(single, ComposedEvent | SelfComposedEvent | FullyAdaptiveEvent | GroupEvent) for single in found
    )
    for single, _ in flattened(event, NeighborGroup(relation)):
        assert NormalEvent.of(single, NeighborGroup(relation)).event in found


def test_what_is_nested_in_single_events_is_found():
    nested = PoissonSampledEvent("0.1", PartitionEvent((ONE, RepeatAndSelectEvent(TWO, 2, 1)), 1))
    assert [type(single) for single in single_events(GroupEvent(nested, 2), ADD_OR_REMOVE_ONE)] == [
        PoissonSampledEvent,
        PartitionEvent,
        PureEvent,
        RepeatAndSelectEvent,
        GaussianEvent,
    ]
