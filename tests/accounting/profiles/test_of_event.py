import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.contract import EVENTS
from tests.accounting.profiles.oracles import only_single

from sfumato.accounting.core.normal_form import NeighborGroup, flattened
from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up
from sfumato.accounting.pld.composite import composed
from sfumato.accounting.profiles.combined import BracketedProfile, GroupProfile, MixedProfile, WorstProfile, worst_of
from sfumato.accounting.profiles.discrete import DiscreteGaussianProfile, DiscreteLaplaceProfile, RoundedGaussianProfile
from sfumato.accounting.profiles.finite import EVERYTHING, NOTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.mixtures import group_presence, replacement
from sfumato.accounting.profiles.of_event import dominating_pair, has_dominating_pair
from sfumato.accounting.profiles.profile import ConcentratedProfile, DominatingPair, GaussianProfile, LaplaceProfile
from sfumato.accounting.profiles.sampled import SampledBackward, SampledForward
from sfumato.accounting.profiles.sampled_groups import binomial
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
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
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

TENTH = Fraction(1, 10)
EPSILONS = np.array([0.0, 0.01, 0.05, 0.1, 0.3, 0.7, 1.5])
NOISE = DiscreteLaplaceEvent(Fraction(2), 1)
UNEVEN = FiniteEvent((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 5), Fraction(4, 5)))

Sampler = Callable[[int], Iterator[tuple[float, tuple[int, ...]]]]


def in_a_row(pairs: tuple[tuple[DominatingPair, int], ...]) -> DominatingPair:
    """Stands for composition: as many steps of the worst."""
    count = sum(count for _, count in pairs)
    forward, backward = worst_of(pair.forward for pair, _ in pairs), worst_of(pair.backward for pair, _ in pairs)
    return DominatingPair(GroupProfile(forward, count), GroupProfile(backward, count))


def single_of(event: Event, relation: NeighboringRelation) -> Event:
    ((single, _),) = flattened(event, NeighborGroup(relation)).counts
    return single


# A mechanism small enough to sum up: the sum of a random sample of numbers in {−1, 0, 1}, with discrete Laplace noise.


def poisson(q: float) -> Sampler:
    def draws(size: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        for kept in itertools.product((0, 1), repeat=size):
            yield q ** sum(kept) * (1 - q) ** (size - sum(kept)), tuple(i for i in range(size) if kept[i])

    return draws


def truncated(q: float, most: int) -> Sampler:
    def draws(size: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        for chance, kept in poisson(q)(size):
            cuts = list(itertools.combinations(kept, min(most, len(kept))))
            for cut in cuts:
                yield chance / len(cuts), cut

    return draws


def without_replacement(count: int) -> Sampler:
    def draws(size: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        subsets = list(itertools.combinations(range(size), count))
        for subset in subsets:
            yield 1 / len(subsets), subset

    return draws


def law(units: tuple[int, ...], sampler: Sampler, scale: float) -> np.ndarray:
    outcomes = np.arange(-60, 61)
    ratio = math.exp(-1 / scale)
    total = np.zeros(outcomes.size)
    for chance, kept in sampler(len(units)):
        total += chance * (1 - ratio) / (1 + ratio) * ratio ** np.abs(outcomes - sum(units[i] for i in kept))
    return total


def worst_delta(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.array([np.maximum(p - math.exp(epsilon) * q, 0).sum() for epsilon in EPSILONS])


def databases(size: int) -> Iterator[tuple[int, ...]]:
    return itertools.product((-1, 0, 1), repeat=size)


def assert_bounds(event: Event, sampler: Sampler, relation: NeighboringRelation, *, size: int, group: int = 1) -> None:
    """Every pair of neighbors of that size lies below the profiles."""
    pair = dominating_pair(event, relation, in_a_row)
    forward, backward = pair.forward.delta_up(EPSILONS), pair.backward.delta_up(EPSILONS)
    for rest in set(map(tuple, map(sorted, databases(size - group)))):
        for units in databases(group):
            with_them = law((*units, *rest), sampler, 2.0)
            if relation is ADD_OR_REMOVE_ONE:
                without = law(rest, sampler, 2.0)
                assert np.all(worst_delta(with_them, without) <= forward + 1e-12)
                assert np.all(worst_delta(without, with_them) <= backward + 1e-12)
            else:
                for others in databases(group):
                    exchanged = law((*others, *rest), sampler, 2.0)
                    assert np.all(worst_delta(with_them, exchanged) <= forward + 1e-12)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("group", [1, 2])
def test_poisson_samples_are_bounded_for_every_small_database(relation, group):
    event = PoissonSampledEvent(Fraction(3, 10), NOISE)
    assert_bounds(GroupEvent(event, group), poisson(0.3), relation, size=3, group=group)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("group", [1, 2])
def test_truncated_samples_are_bounded_for_every_small_database(relation, group):
    """Without the unit there are one or two fewer; the sample is then cut less often."""
    event = TruncatedPoissonSampledEvent(Fraction(3, 5), 4, 2, NOISE)
    assert_bounds(GroupEvent(event, group), truncated(0.6, 2), relation, size=4, group=group)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("group", [1, 2])
def test_samples_without_replacement_are_bounded_for_every_small_database(relation, group):
    """The event inside is stated for exchanging a unit, which moves a sum by 2."""
    event = SampledWithoutReplacementEvent(2, 4, DiscreteLaplaceEvent(Fraction(2), Fraction(2)))
    assert_bounds(GroupEvent(event, group), without_replacement(2), relation, size=4, group=group)


def test_a_sampled_gaussian_has_its_known_pairs():
    event = PoissonSampledEvent(TENTH, GaussianEvent(Fraction(3)))
    added = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single)
    assert added == DominatingPair(
        SampledForward(TENTH, GaussianProfile(Fraction(3))), SampledBackward(TENTH, GaussianProfile(Fraction(3)))
    )
    assert dominating_pair(event, REPLACE_ONE, only_single).forward == replacement(Fraction(3), binomial(TENTH, 1))
    assert dominating_pair(GroupEvent(event, 4), ADD_OR_REMOVE_ONE, only_single).forward == group_presence(
        Fraction(3), binomial(TENTH, 4)
    )


def test_the_mixture_of_a_group_is_tighter_than_the_general_rule():
    event = PoissonSampledEvent(TENTH, GaussianEvent(Fraction(3)))
    exact = dominating_pair(GroupEvent(event, 5), ADD_OR_REMOVE_ONE, only_single).forward.delta_up(EPSILONS)
    general = SampledForward(1 - Fraction(9, 10) ** 5, GaussianProfile(Fraction(3, 5))).delta_up(EPSILONS)
    assert np.all(exact <= general * (1 + 1e-12))
    assert exact[4] < general[4] / 2


def test_very_large_groups_of_a_sample_are_quick():
    event = GroupEvent(PoissonSampledEvent(Fraction(1, 1000), GaussianEvent(Fraction(1))), 10**6)
    assert dominating_pair(event, ADD_OR_REMOVE_ONE, only_single).forward.delta_up(np.array([10.0]))[
        0
    ] == pytest.approx(1)


def plain_rule(event: Event, relation: NeighboringRelation, size: int) -> np.ndarray:
    """So many steps of one unit each, in a row."""
    return GroupProfile(dominating_pair(event, relation, composed).forward, size).delta_up(EPSILONS)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize(
    "inside",
    [
        GaussianEvent(4),
        GaussianEvent(Fraction(1, 2)),
        PureEvent(TENTH),
        DiscreteGaussianEvent(Fraction(4), 1),
        ComposedEvent((LaplaceEvent(4), GaussianEvent(4))),
    ],
    ids=["gaussian", "little noise", "pure", "discrete", "composed"],
)
def test_a_group_in_a_sample_costs_no_more_than_by_the_plain_rule(inside, relation):
    """Without replacement, the last of a group that is removed leaves a source that is smaller by all others."""
    for size in (3, 40):
        left = 1000 - size + 1 if relation is ADD_OR_REMOVE_ONE else 1000
        fixed, plain = (SampledWithoutReplacementEvent(10, source, inside) for source in (1000, left))
        poisson = PoissonSampledEvent("0.01", inside)
        for sample, single in ((poisson, poisson), (fixed, plain)):
            grouped = single_of(GroupEvent(sample, size), relation)
            found = dominating_pair(grouped, relation, composed).forward.delta_up(EPSILONS)
            assert np.all(found <= plain_rule(single, relation, size) * (1 + 1e-9))


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_gaussian_answers_about_one_sample_cost_as_much_as_one_with_less_noise(relation):
    one = PoissonSampledEvent(TENTH, GaussianEvent(3))
    nested = SelfComposedEvent(GaussianEvent(10), 4)
    several = PoissonSampledEvent(TENTH, ComposedEvent((nested, GaussianEvent(Fraction(15, 4)))))
    for size in (1, 4):
        found, truth = (
            dominating_pair(single_of(GroupEvent(event, size), relation), relation, only_single).forward
            for event in (several, one)
        )
        assert found == truth


def test_what_is_inside_a_sample_is_composed_and_exchanged_as_two_steps():
    seen = []

    def record(pairs):
        seen.append(tuple((pair.forward, count) for pair, count in pairs))
        return pairs[0][0]

    event = PoissonSampledEvent(
        TENTH, ComposedEvent((LaplaceEvent(Fraction(4)), SelfComposedEvent(PureEvent(TENTH), 2)))
    )
    dominating_pair(event, REPLACE_ONE, record)
    assert list(dict.fromkeys(seen)) == [
        ((LaplaceProfile(Fraction(4)), 1), (WorstPair(TENTH), 2)),
        ((LaplaceProfile(Fraction(2)), 1), (WorstPair(2 * TENTH), 2)),
    ]


def test_uneven_pairs_are_turned_both_ways_where_units_are_replaced():
    added, replaced = (dominating_pair(UNEVEN, relation, only_single) for relation in NeighboringRelation)
    assert added == DominatingPair(FinitePair(UNEVEN.p, UNEVEN.q), FinitePair(UNEVEN.q, UNEVEN.p))
    assert np.all(replaced.forward.delta_up(EPSILONS) == replaced.backward.delta_up(EPSILONS))
    both = np.maximum(added.forward.delta_up(EPSILONS), added.backward.delta_up(EPSILONS))
    assert np.all(replaced.forward.delta_up(EPSILONS) == both)
    assert np.all(replaced.backward.test_down(EPSILONS)[0] == added.backward.test_down(EPSILONS)[0])


def test_groups_without_a_rule_take_as_many_steps():
    mixture = MixtureOfGaussiansEvent(Fraction(4), (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2)))
    for event in (UNEVEN, mixture):
        pair = dominating_pair(GroupEvent(event, 3), ADD_OR_REMOVE_ONE, only_single)
        one = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single)
        assert pair == DominatingPair(GroupProfile(one.forward, 3), GroupProfile(one.backward, 3))
        replaced = dominating_pair(GroupEvent(event, 3), REPLACE_ONE, only_single)
        assert replaced.forward == GroupProfile(WorstProfile((one.forward, one.backward)), 3)


def test_an_exact_answer_costs_everything_and_in_a_sample_q():
    assert dominating_pair(NonPrivateEvent(), REPLACE_ONE, only_single).forward == EVERYTHING
    sampled = dominating_pair(PoissonSampledEvent(TENTH, NonPrivateEvent()), ADD_OR_REMOVE_ONE, only_single)
    assert sampled.forward.delta_up(np.array([0.0, 50.0])) == pytest.approx([0.1, 0.1])


def test_a_partition_costs_its_worst_part():
    event = PartitionEvent((LaplaceEvent(Fraction(20)), PureEvent(TENTH), GaussianEvent(Fraction(10))), 1)
    pair = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single)
    parts = [LaplaceProfile(Fraction(20)), WorstPair(TENTH), GaussianProfile(Fraction(10))]
    assert np.all(pair.forward.delta_up(EPSILONS) == np.max([part.delta_up(EPSILONS) for part in parts], axis=0))
    assert np.all(pair.forward.test_down(EPSILONS)[0] == WorstPair(TENTH).test_down(EPSILONS)[0])


def test_a_part_is_touched_once_however_many_a_unit_may_touch():
    event = PartitionEvent((PureEvent(TENTH), LaplaceEvent(Fraction(20)), PureEvent(TENTH)), 2)
    pairs = []

    def record(composed):
        pairs.append([(pair.forward, count) for pair, count in composed])
        return composed[0][0]

    dominating_pair(event, ADD_OR_REMOVE_ONE, record)
    dominating_pair(event, REPLACE_ONE, record)
    assert [count for _, count in pairs[0]] == [2]
    assert Counter(pairs[1]) == Counter({(WorstPair(TENTH), 1): 2, (LaplaceProfile(Fraction(20)), 1): 1})


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_exchange_covers_a_removal_and_an_addition(event, group):
    """Parts of a partition may see either where units are replaced."""
    single = GroupEvent(event, group)
    for (here, _), (there, _) in zip(
        *(flattened(single, NeighborGroup(relation)) for relation in NeighboringRelation), strict=True
    ):
        if has_dominating_pair(here, ADD_OR_REMOVE_ONE):
            added, exchanged = (
                dominating_pair(here, ADD_OR_REMOVE_ONE, in_a_row),
                dominating_pair(there, REPLACE_ONE, in_a_row),
            )
            for profile in (added.forward, added.backward):
                assert np.all(exchanged.forward.delta_up(EPSILONS) >= profile.delta_up(EPSILONS) * (1 - 1e-11))


def test_a_group_touches_as_many_times_as_many_parts():
    event = PartitionEvent(tuple(LaplaceEvent(Fraction(scale)) for scale in range(20, 40)), 1)
    counts = []

    def record(composed):
        counts.append(composed[0][1])
        return composed[0][0]

    dominating_pair(GroupEvent(event, 3), ADD_OR_REMOVE_ONE, record)
    dominating_pair(GroupEvent(event, 3), REPLACE_ONE, record)
    assert counts == [3, 6]


def test_an_empty_partition_costs_nothing():
    assert dominating_pair(PartitionEvent((), 1), REPLACE_ONE, only_single).forward == NOTHING


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_a_partition_of_which_one_part_costs_something_costs_that_part(relation):
    pair = dominating_pair(PartitionEvent((ComposedEvent(()), LaplaceEvent(Fraction(20))), 2), relation, only_single)
    assert (pair.forward, pair.backward) == (LaplaceProfile(Fraction(20)), LaplaceProfile(Fraction(20)))


def test_a_truncated_sample_weighs_both_cases():
    event = TruncatedPoissonSampledEvent(TENTH, 30, 5, GaussianEvent(Fraction(2)))
    forward = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single).forward
    assert isinstance(forward, MixedProfile)
    (fits, first), (full, second) = forward.parts
    assert fits + full == pytest.approx(1)
    assert first == SampledForward(TENTH, GaussianProfile(Fraction(2)))
    assert second.base == GaussianProfile(Fraction(1))
    assert second.sampling_probability < TENTH


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_bounds_fall_and_tests_lie_below_them_for_every_event(event, relation):
    epsilons = np.concatenate([np.linspace(0, 3, 300), [50.0, 1e3, 1e6]])
    for single, _ in flattened(event, NeighborGroup(relation)):
        if type(single).__name__ == "RepeatAndSelectEvent":
            continue
        pair = dominating_pair(single, relation, in_a_row)
        for profile in (pair.forward, pair.backward):
            upper, (first, second) = profile.delta_up(epsilons), profile.test_down(epsilons)
            assert np.all((upper >= 0) & (upper <= 1))
            assert np.all(np.diff(upper) <= 1e-12)
            assert np.all((first >= 0) & (first <= 1) & (second >= 0) & (second <= 1))
            assert np.all(first[:301] - np.exp(epsilons[:301]) * second[:301] <= upper[:301])
        if relation is REPLACE_ONE:
            assert np.all(pair.forward.delta_up(epsilons) == pair.backward.delta_up(epsilons))


def test_a_bracket_keeps_the_same_pair_for_both_orders():
    pair = dominating_pair(UNEVEN, REPLACE_ONE, only_single)
    assert isinstance(pair.forward, BracketedProfile)
    assert isinstance(pair.backward, BracketedProfile)
    assert pair.forward.tested == pair.backward.tested.reversed()


def test_additive_leaves_are_what_they_say():
    assert dominating_pair(
        single_of(GroupEvent(NOISE, 3), REPLACE_ONE), REPLACE_ONE, only_single
    ).forward == DiscreteLaplaceProfile(Fraction(2), 3)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize(
    "event",
    [
        PoissonSampledEvent("1e-350", GaussianEvent(1)),
        PoissonSampledEvent("1e-350", LaplaceEvent(1)),
        TruncatedPoissonSampledEvent("1e-350", 100, 5, GaussianEvent(1)),
        SampledWithoutReplacementEvent(1, 10**350, LaplaceEvent(1)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_probabilities_below_all_floats_are_raised_and_tell_nothing_from_below(event, group, relation):
    pair = dominating_pair(GroupEvent(event, group), relation, only_single)
    epsilons = np.array([0.0, 1e-200, 1.0, 1e9])
    for profile in (pair.forward, pair.backward):
        assert np.all(profile.delta_up(epsilons) >= 0)
        assert np.all(profile.delta_up(epsilons) <= 1e-11)
        assert not profile.test_down(epsilons)[0].any()
    assert pair.forward.delta_up(np.zeros(1))[0] > 0


def test_a_sample_of_everybody_is_two_steps_where_units_are_replaced():
    sample = dominating_pair(PoissonSampledEvent(1, LaplaceEvent(4)), NeighboringRelation.REPLACE_ONE, only_single)
    epsilons = np.array([0.0, 0.3, 0.6])
    assert sample.forward.delta_up(epsilons) == pytest.approx(LaplaceProfile(Fraction(2)).delta_up(epsilons), abs=1e-12)


def test_a_sample_of_everybody_is_an_exchange_where_one_is_added():
    event = SampledWithoutReplacementEvent(5, 5, LaplaceEvent(4))
    sample = dominating_pair(event, NeighboringRelation.ADD_OR_REMOVE_ONE, only_single)
    epsilons = np.array([0.0, 0.1, 0.2])
    for profile in (sample.forward, sample.backward):
        assert profile.delta_up(epsilons) == pytest.approx(LaplaceProfile(Fraction(4)).delta_up(epsilons), abs=1e-12)


def first_pair(pairs: tuple[tuple[DominatingPair, int], ...]) -> DominatingPair:
    return pairs[0][0]


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_all_but_selections_are_supported_also_in_groups_and_have_a_pair(event, relation):
    for whole in (
        event,
        GroupEvent(event, 2),
        PartitionEvent((event, PureEvent(TENTH)), 3),
        PoissonSampledEvent(TENTH, event),
    ):
        for single, _ in flattened(whole, NeighborGroup(relation)):
            if has_dominating_pair(single, relation):
                dominating_pair(single, relation, first_pair)
            else:
                assert isinstance(event, RepeatAndSelectEvent)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_what_is_not_supported_is_refused_wherever_it_is_nested(relation):
    unknown = RepeatAndSelectEvent(GaussianEvent(Fraction(1)), Fraction(3), Fraction(1))
    for event in (
        unknown,
        PoissonSampledEvent(TENTH, unknown),
        TruncatedPoissonSampledEvent(TENTH, 20, 5, unknown),
        SampledWithoutReplacementEvent(1, 10, unknown),
        PartitionEvent((PureEvent(TENTH), PoissonSampledEvent(TENTH, unknown)), 1),
        GroupEvent(PoissonSampledEvent(TENTH, unknown), 2),
    ):
        assert not has_dominating_pair(event, relation)
        with pytest.raises(UnsupportedEventError):
            dominating_pair(event, relation, first_pair)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("coordinates", [1, 3, None])
def test_noise_of_every_width_is_supported_also_in_samples(relation, coordinates):
    """At σ = 1 a move of 12, that of two exchanged units, has more shapes than are worth composing."""
    sample = PoissonSampledEvent(TENTH, DiscreteGaussianEvent(Fraction(1), Fraction(6), coordinates))
    assert has_dominating_pair(sample, relation)
    assert dominating_pair(sample, relation, first_pair).forward.highest_loss > 0


LEAVES_EPSILONS = np.array([0.0, 0.5, 3.0, 1e9])
TINY, HUGE = Fraction(1, 10**300), Fraction(10**300)


@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent(TINY),
        LaplaceEvent(TINY),
        DiscreteLaplaceEvent(TINY, 1),
        PureEvent(HUGE),
        ZCDPEvent(HUGE),
        ExponentialEvent(HUGE),
    ],
)
def test_what_hides_nothing_counts_as_an_exact_answer_but_claims_no_test(event):
    profile = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single).forward
    assert profile == BracketedProfile(EVERYTHING)
    assert profile.test_down(LEAVES_EPSILONS)[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent(HUGE),
        LaplaceEvent(HUGE),
        DiscreteLaplaceEvent(HUGE, 1),
        PureEvent(TINY),
        ZCDPEvent(TINY),
        ExponentialEvent(TINY),
    ],
)
def test_what_hides_everything_costs_next_to_nothing(event):
    bounds = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single).forward.delta_up(LEAVES_EPSILONS)
    assert 0 < bounds[0] < 1e-40
    assert np.all(np.diff(bounds) <= 0)


def test_a_discrete_shift_is_the_whole_part_of_the_sensitivity():
    event = DiscreteLaplaceEvent(Fraction(2), Fraction(7, 2))
    assert dominating_pair(event, ADD_OR_REMOVE_ONE, only_single).forward.shift == 3
    scalar = dominating_pair(DiscreteGaussianEvent(Fraction(2), Fraction(7, 2), 1), ADD_OR_REMOVE_ONE, only_single)
    assert scalar.forward == DiscreteGaussianProfile(Fraction(2), 3)


def test_one_step_in_several_coordinates_is_one_step_in_one():
    pair = dominating_pair(DiscreteGaussianEvent(Fraction(2), Fraction(7, 5), 6), ADD_OR_REMOVE_ONE, only_single)
    assert pair.forward == DiscreteGaussianProfile(Fraction(2), 1)


def test_moves_of_several_coordinates_are_composed_shape_by_shape():
    seen: list[tuple[tuple[int, int], ...]] = []

    def compose(pairs: tuple[tuple[DominatingPair, int], ...]) -> DominatingPair:
        seen.append(tuple((pair.forward.shift, count) for pair, count in pairs))
        return pairs[0][0]

    dominating_pair(DiscreteGaussianEvent(Fraction(2), Fraction(3), 3), ADD_OR_REMOVE_ONE, compose)
    assert sorted(seen) == [((1, 1), (2, 2))]
    seen.clear()
    dominating_pair(DiscreteGaussianEvent(Fraction(2), Fraction(2), 4), ADD_OR_REMOVE_ONE, compose)
    assert sorted(seen) == [((1, 4),)]


def test_large_noise_takes_the_continuous_law():
    pair = dominating_pair(DiscreteGaussianEvent(Fraction(100), Fraction(3), 2), ADD_OR_REMOVE_ONE, only_single)
    assert pair.forward == RoundedGaussianProfile(Fraction(100), Fraction(3), 2)
    single = discrete_gaussian_delta_up(stddev=100, l2_sensitivity=3, epsilon=Fraction(1, 10), l0_sensitivity=2)
    assert pair.forward.delta_up(np.array([0.1]))[0] == pytest.approx(single, rel=1e-3)


def test_little_noise_on_too_many_shapes_costs_what_concentrated_privacy_says():
    pair = dominating_pair(DiscreteGaussianEvent(Fraction(1), Fraction(9)), ADD_OR_REMOVE_ONE, only_single)
    assert pair.forward == BracketedProfile(
        ConcentratedProfile(Fraction(81, 2)), DiscreteGaussianProfile(Fraction(1), 9)
    )
    hidden = dominating_pair(DiscreteGaussianEvent(Fraction(1, 10**60), Fraction(9)), ADD_OR_REMOVE_ONE, only_single)
    assert hidden.forward == BracketedProfile(EVERYTHING)


def test_unknown_coordinates_of_a_long_move_cost_next_to_nothing_beside_one():
    """A sum of salaries: its million million coordinates would hide behind no leak that suffices for a few."""
    epsilon = np.array([0.0, 0.1, 0.5])
    unknown = dominating_pair(
        DiscreteGaussianEvent(Fraction(10**7), Fraction(10**6)), ADD_OR_REMOVE_ONE, only_single
    ).forward
    single = dominating_pair(
        DiscreteGaussianEvent(Fraction(10**7), Fraction(10**6), 1), ADD_OR_REMOVE_ONE, only_single
    ).forward
    assert np.all(single.delta_up(epsilon) < unknown.delta_up(epsilon) * (1 + 1e-9))
    assert np.all(unknown.delta_up(epsilon) < single.delta_up(epsilon) * (1 + 1e-4))


def test_finite_pairs_and_mixtures_have_two_orders():
    event = FiniteEvent((Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))
    pair = dominating_pair(event, ADD_OR_REMOVE_ONE, only_single)
    assert not pair.is_symmetric
    assert pair.forward.delta_up(np.array([0.5]))[0] == pytest.approx(1 - np.exp(0.5) / 2)
    assert pair.backward.delta_up(np.array([0.5]))[0] == pytest.approx(0.5)
    near = MixtureOfGaussiansEvent(Fraction(1), (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2)))
    moved = dominating_pair(near, ADD_OR_REMOVE_ONE, only_single)
    assert not moved.is_symmetric
    far = MixtureOfGaussiansEvent(TINY, (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2)))
    assert dominating_pair(far, ADD_OR_REMOVE_ONE, only_single).forward == BracketedProfile(EVERYTHING)
