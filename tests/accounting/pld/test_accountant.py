import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.contract import AccountantContract
from tests.accounting.pld.brute_force import exact_delta, finite_pairs
from tests.sizes import FULL_SIZE

from sfumato.accounting.gaussian.gaussian import continuous_delta_down, gaussian_delta_up, gaussian_epsilon_up
from sfumato.accounting.pld.accountant import (
    PLDAccountant,
    PrivacyLoss,
    is_single,
    single_delta_up,
    single_epsilon_bounds,
)
from sfumato.accounting.pld.discretize import LossDistribution
from sfumato.accounting.profiles.combined import BracketedProfile, GroupProfile
from sfumato.accounting.profiles.finite import EVERYTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.profile import DominatingPair, GaussianProfile, LaplaceProfile, symmetric
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.numeric.rounding import exp_down, exp_up
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    FiniteEvent,
    GaussianEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation


class TestPLDAccountant(AccountantContract):
    delta_slack = Fraction(3, 100)

    def make(self, relation):
        return PLDAccountant(neighboring_relation=relation)


def sampled(probability, noise_multiplier):
    return PoissonSampledEvent(Fraction(probability), GaussianEvent(Fraction(noise_multiplier)))


# ε from dp-accounting 0.6 (grid 1e-4), which is at most 5e-4 above the truth.
GOLDEN = [
    (sampled("0.01", 1), 10_000, "1e-5", 6.18771),
    (sampled("0.01", 1), 10_000, "1e-6", 6.9074),
    (sampled("0.001", 1), 10_000, "1e-6", 0.5554),
    (sampled("0.1", 1), 1000, "1e-6", 27.5505),
    (LaplaceEvent(Fraction(10)), 1000, "1e-6", 18.9503),
    (LaplaceEvent(Fraction(1)), 100, "1e-6", 71.546),
    (DiscreteLaplaceEvent(Fraction(10), 1), 1000, "1e-6", 19.3447),
    (RandomizedResponseEvent(Fraction(1, 2), 2), 100, "1e-6", 94.298),
    (RandomizedResponseEvent(Fraction(1, 2), 10), 100, "1e-6", 182.00),
]


@pytest.mark.parametrize(("event", "count", "delta", "epsilon"), GOLDEN)
def test_known_values_lie_within_a_narrow_interval(event, count, delta, epsilon):
    interval = PLDAccountant().compose(event, count=count).interval(delta)
    assert interval.lower * (1 - 1e-3) <= epsilon <= interval.upper * (1 + 1e-3)
    assert interval.upper - interval.lower <= 1e-3 * interval.upper


# Kairouz, Oh and Viswanath's optimal composition in exact arithmetic.
@pytest.mark.parametrize(("count", "epsilon"), [(100, 4.7745676), (1000, 19.3446714)])
def test_pure_events_cost_the_optimal_composition(count, epsilon):
    interval = PLDAccountant().compose(PureEvent(Fraction(1, 10)), count=count).interval("1e-6")
    assert interval.lower <= epsilon + 1e-7
    assert interval.upper >= epsilon - 1e-7
    assert interval.upper - interval.lower <= 1e-6


def test_pure_events_at_delta_zero_cost_their_sum():
    accountant = PLDAccountant().compose(PureEvent(Fraction(1, 10)), count=30)
    interval = accountant.interval(0)
    assert 3 <= interval.upper <= 3 + 1e-12
    assert interval.lower >= 3 * (1 - 1e-5)
    assert accountant.delta("3.0001") == 0


def test_no_epsilon_suffices_for_gaussian_noise_at_delta_zero():
    assert PLDAccountant().compose(sampled("0.1", 1)).epsilon(0) == math.inf


def test_gaussian_releases_have_their_closed_form():
    accountant = PLDAccountant().compose(GaussianEvent(Fraction(3))).compose(GaussianEvent(Fraction(4)))
    exact = gaussian_epsilon_up(noise_multiplier=Fraction(12, 5), delta="1e-6")
    assert accountant.epsilon("1e-6") == exact
    assert accountant.interval("1e-6").lower < exact


def test_concentrated_events_add_up_before_they_are_priced():
    one = PLDAccountant().compose(ZCDPEvent(Fraction(1, 10)))
    parts = PLDAccountant().compose(ZCDPEvent(Fraction(1, 30))).compose(ZCDPEvent(Fraction(2, 30)))
    assert one.interval("1e-6") == parts.interval("1e-6")


def test_no_more_is_charged_than_the_sum_of_pure_parameters():
    accountant = PLDAccountant().compose(PureEvent(Fraction(1, 10))).compose(LaplaceEvent(Fraction(5)))
    assert accountant.epsilon("1e-300") <= 0.3 + 1e-12


def test_approximate_events_cost_their_deltas():
    accountant = PLDAccountant().compose(ApproxEvent(Fraction(1, 10), Fraction(1, 1000)), count=3)
    lost = 1 - (1 - 1e-3) ** 3
    assert lost <= accountant.delta(1) <= lost * (1 + 1e-6)
    assert accountant.epsilon("0.002") == math.inf


def test_a_sampled_exact_answer_costs_the_sampling_probability():
    accountant = PLDAccountant().compose(PoissonSampledEvent(Fraction(1, 1000), NonPrivateEvent()), count=2)
    lost = 1 - (1 - 1e-3) ** 2
    assert lost <= accountant.delta(10) <= lost * (1 + 1e-6)


def test_huge_counts_have_an_answer():
    accountant = PLDAccountant().compose(PureEvent(Fraction(1, 10**6)), count=10**12)
    assert 0 <= accountant.interval("1e-6").lower <= accountant.epsilon("1e-6") <= 1e6 * (1 + 1e-12)
    assert PLDAccountant().compose(sampled("0.01", 1), count=10**12).epsilon("1e-6") > 1000


def test_large_epsilons_are_within_reach():
    accountant = PLDAccountant().compose(GaussianEvent(Fraction(1, 2)), count=10_000).compose(LaplaceEvent(Fraction(1)))
    interval = accountant.interval("1e-6")
    alone = float(gaussian_epsilon_up(noise_multiplier=Fraction(1, 200), delta="1e-6"))
    assert alone <= interval.upper <= (alone + 1) * (1 + 1e-3)
    assert interval.upper - interval.lower <= 1e-3 * interval.upper


def test_selection_has_no_profile():
    with pytest.raises(UnsupportedEventError):
        PLDAccountant().compose(RepeatAndSelectEvent(GaussianEvent(Fraction(1)), Fraction(3), 1))


def test_replacing_costs_at_least_as_much_as_removing():
    event = sampled("0.05", 2)
    removed = PLDAccountant(neighboring_relation=ADD_OR_REMOVE_ONE).compose(event, count=100).interval("1e-6")
    replaced = PLDAccountant(neighboring_relation=REPLACE_ONE).compose(event, count=100).interval("1e-6")
    assert removed.lower <= replaced.upper


def test_the_privacy_loss_tells_the_same_delta():
    accountant = PLDAccountant().compose(LaplaceEvent(Fraction(5)), count=20)
    loss = accountant.privacy_loss()
    assert abs(loss.probabilities.sum() + loss.infinite_mass - 1) < 1e-6
    assert loss.delta(2) == pytest.approx(float(accountant.delta(2)), rel=1e-2)
    assert loss.tail(2) >= loss.delta(2)
    # KL of Laplace(5) from its shift by 1: 1/5 − 1 + e^(−1/5).
    assert loss.mean == pytest.approx(20 * (0.2 - 1 + math.exp(-0.2)), rel=1e-3)


@pytest.mark.parametrize("event", [None, NonPrivateEvent()])
def test_the_loss_of_nothing_or_of_an_exact_answer_has_no_law(event):
    accountant = PLDAccountant() if event is None else PLDAccountant().compose(event)
    with pytest.raises(ParameterError):
        accountant.privacy_loss()


EVENTS = st.sampled_from(
    [
        LaplaceEvent(Fraction(3)),
        PureEvent(Fraction(1, 4)),
        GaussianEvent(Fraction(4)),
        sampled("0.1", 2),
        FiniteEvent(("1/2", "3/8", "1/8"), ("1/4", "1/2", "1/4")),
        ApproxEvent(Fraction(1, 10), Fraction(1, 10**9)),
    ]
)


@settings(max_examples=15)
@given(st.lists(st.tuples(EVENTS, st.integers(1, 40)), min_size=1, max_size=4))
def test_bounds_of_random_programs_are_in_order_and_grow(program):
    accountant = PLDAccountant()
    before = accountant.interval("1e-6")
    for event, count in program:
        accountant = accountant.compose(event, count=count)
        now = accountant.interval("1e-6")
        assert now.lower <= now.upper
        assert before.lower <= now.upper
        before = now
    assert accountant.delta(Fraction(before.lower)) >= Fraction("1e-6") * (1 - Fraction(1, 10**6))


def test_of_many_distinct_events_epsilon_is_still_the_upper_end_of_the_interval():
    events = [LaplaceEvent(Fraction(100 + i)) for i in range(400)]
    accountant = PLDAccountant().compose(ComposedEvent(tuple(events)))
    epsilon = accountant.epsilon("1e-6")
    assert epsilon == accountant.interval("1e-6").upper
    assert accountant.interval("1e-6").lower > 0.95 * epsilon
    with pytest.raises(ParameterError, match="delta"):
        accountant.epsilon(1)


TOTAL_VARIATION = gaussian_delta_up(noise_multiplier=1, epsilon=0)


@pytest.mark.parametrize("delta", [Fraction(TOTAL_VARIATION) * (1 - Fraction(1, 10**12)), "1e-304", "1e-350"])
def test_gaussian_noise_alone_has_a_proved_lower_end(delta):
    interval = PLDAccountant().compose(GaussianEvent(1)).interval(delta)
    lower = Fraction(interval.lower)
    assert continuous_delta_down(Fraction(1), lower) > Fraction(delta) or lower == 0
    assert lower <= interval.upper


EXTREME = (
    DiscreteGaussianEvent("0.01", 1),
    DiscreteGaussianEvent(2**600, 1),
    ZCDPEvent(10**6),
    PureEvent(10**4),
    PureEvent(10**400),
    LaplaceEvent("1e-9"),
    GaussianEvent(Fraction(1, 2**600)),
    GaussianEvent(2**600),
    ComposedEvent((GaussianEvent(Fraction(1, 2**600)), PureEvent(1))),
    DiscreteLaplaceEvent("0.01", 1),
    MixtureOfGaussiansEvent("1e-3", (0, 5), ("0.5", "0.5")),
    PoissonSampledEvent("1e-350", GaussianEvent(1)),
    PoissonSampledEvent("1e-12", GaussianEvent(1)),
    PoissonSampledEvent("0.01", GaussianEvent("1e-3")),
    PoissonSampledEvent("0.001", ComposedEvent((LaplaceEvent("1e-3"), GaussianEvent("1e-2")))),
    PartitionEvent((LaplaceEvent("1e-3"), GaussianEvent("1e-2")), 3),
)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("count", [1, 3, 10**12] if FULL_SIZE else [3])
@pytest.mark.parametrize("event", EXTREME, ids=str)
def test_extremes_have_bounds(event, count, relation):
    accountant = PLDAccountant(neighboring_relation=relation).compose(event, count=count)
    for delta in ("1e-400", "1e-20", "1e-5", "0.999"):
        interval = accountant.interval(delta)
        assert 0 <= interval.lower <= interval.upper
    for epsilon in (0, "1e-200", 1, 10**6, "1e200"):
        assert 0 <= accountant.delta(epsilon) <= 1


def test_one_sample_of_much_noise_is_priced_without_a_grid():
    sample = PLDAccountant().compose(PoissonSampledEvent("0.01", GaussianEvent("1e-3")))
    assert sample.delta(1) == pytest.approx(0.01, rel=1e-9)


HALVES = PartitionEvent((DiscreteLaplaceEvent(1, 1), DiscreteLaplaceEvent(1, 1)), 1)


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (SampledWithoutReplacementEvent(10, 10, HALVES), ADD_OR_REMOVE_ONE),
        (PoissonSampledEvent(1, HALVES), REPLACE_ONE),
    ],
)
def test_samples_of_everybody_touch_both_parts(event, relation):
    accountant = PLDAccountant(neighboring_relation=relation).compose(event)
    alone = PLDAccountant(neighboring_relation=REPLACE_ONE).compose(HALVES)
    assert accountant.epsilon(0) >= 1.918
    assert accountant.delta(1) >= 0.2958
    assert accountant.delta(1) >= alone.delta(1) * Fraction(999_999, 1_000_000)


@pytest.mark.parametrize(
    ("event", "count", "epsilon"),
    [
        (PureEvent(1), 3000, 2990),
        (PoissonSampledEvent("1e-100", GaussianEvent(1)), 1, 1),
        (LaplaceEvent(1), 5000, 4999),
    ],
)
def test_delta_is_zero_only_beyond_all_losses(event, count, epsilon):
    accountant = PLDAccountant().compose(event, count=count)
    assert 0 < accountant.delta(epsilon) < 1e-100
    if isinstance(event, PureEvent | LaplaceEvent):
        assert accountant.delta(count) == 0


def once(profile):
    return ((symmetric(profile), 1),)


@given(finite_pairs(), st.fractions(Fraction(1, 10**6), Fraction(9, 10)))
def test_one_finite_pair_costs_what_its_definition_says(laws, delta):
    p, q = laws
    bounds = single_epsilon_bounds(((DominatingPair(FinitePair(p, q), FinitePair(q, p)), 1),), delta)
    both = [(p, q)], [(q, p)]
    if bounds.upper < math.inf:
        assert max(exact_delta(each, Fraction(exp_up(Fraction(bounds.upper)))) for each in both) <= delta
    if bounds.lower:
        assert max(exact_delta(each, Fraction(exp_down(Fraction(bounds.lower)))) for each in both) > delta


@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.3"])
def test_one_gaussian_has_its_closed_form_on_both_sides(delta):
    bounds = single_epsilon_bounds(once(GaussianProfile(Fraction(2))), Fraction(delta))
    truth = float(gaussian_epsilon_up(noise_multiplier=2, delta=delta))
    assert bounds.upper == pytest.approx(truth, rel=1e-8 if delta != "1e-300" else 1e-6)
    assert truth * (1 - 1e-8) <= bounds.lower <= truth if delta != "1e-300" else 0 < bounds.lower <= truth
    assert single_delta_up(once(GaussianProfile(Fraction(2))), Fraction(1)) == pytest.approx(
        gaussian_delta_up(noise_multiplier=2, epsilon=1), rel=1e-9
    )


def test_where_delta_is_enough_at_zero_nothing_is_lost():
    bounds = single_epsilon_bounds(once(LaplaceProfile(Fraction(10))), Fraction(1, 2))
    assert (bounds.lower, bounds.upper) == (0.0, 0.0)


@pytest.mark.parametrize("epsilon", ["1e-30", 10**4, 10**50])
def test_tiny_and_vast_losses_are_found(epsilon):
    bounds = single_epsilon_bounds(once(WorstPair(Fraction(epsilon))), Fraction(1, 10**100))
    assert bounds.upper == pytest.approx(float(Fraction(epsilon)), rel=1e-9)
    assert bounds.lower <= float(Fraction(epsilon))


def test_what_is_never_enough_is_infinite():
    bounds = single_epsilon_bounds(once(BracketedProfile(EVERYTHING)), Fraction(1, 2))
    assert (bounds.lower, bounds.upper) == (0.0, math.inf)


def test_bounds_of_which_neighbors_help_each_other_are_kept():
    steps = GroupProfile(GaussianProfile(Fraction(3)), 3)
    upper = single_epsilon_bounds(once(steps), Fraction(1, 10**5)).upper
    assert float(gaussian_epsilon_up(noise_multiplier=1, delta="1e-5")) <= upper < 10


def test_single_is_one_event_once():
    pair = symmetric(LaplaceProfile(Fraction(1)))
    assert is_single(((pair, 1),))
    assert not is_single(((pair, 2),))
    assert not is_single(((pair, 1), (pair, 1)))


LOSS = PrivacyLoss.of(
    LossDistribution(lowest=Fraction(-1), step=1.0, masses=np.array([0.2, 0.3, 0.4]), infinite_mass=0.1)
)


def test_its_numbers_are_those_of_the_definition():
    assert LOSS.losses.tolist() == [-1, 0, 1]
    assert LOSS.mean == pytest.approx(0.2)
    assert LOSS.tail(0) == pytest.approx(0.5)
    assert LOSS.delta(0) == pytest.approx(0.1 + 0.4 * (1 - math.exp(-1)))
    assert LOSS.delta(5) == LOSS.tail(5) == pytest.approx(0.1)


def test_epsilon_is_not_negative():
    with pytest.raises(ParameterError, match="epsilon"):
        LOSS.tail(-1)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("event", [ApproxEvent("0.2", "1e-7"), LaplaceEvent(4), GaussianEvent(3)])
def test_a_sample_of_everybody_inside_a_sample_is_no_sample(event, relation):
    inner, outer = PoissonSampledEvent("0.1", event), PoissonSampledEvent("0.1", PoissonSampledEvent(1, event))
    empty = PLDAccountant(neighboring_relation=relation)
    assert empty.compose(outer, count=3).interval("1e-6") == empty.compose(inner, count=3).interval("1e-6")


def test_a_coarse_precision_is_quicker_and_still_on_its_sides():
    event = PoissonSampledEvent("0.01", GaussianEvent(1))
    fine, usual, coarse = (
        PLDAccountant(precision=precision).compose(event, count=300).interval("1e-6")
        for precision in ("1e-4", "5e-4", "0.1")
    )
    assert usual == PLDAccountant().compose(event, count=300).interval("1e-6")
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert fine.upper - fine.lower <= 1e-4 * fine.upper
    for wrong in (0, "1e-9", 1):
        with pytest.raises(ParameterError, match="precision"):
            PLDAccountant(precision=wrong)


def test_several_deltas_have_their_epsilons():
    account = PLDAccountant().compose(GaussianEvent(2), count=3)
    assert account.epsilons(["1e-3", "1e-6"]) == (account.epsilon("1e-3"), account.epsilon("1e-6"))
    assert account.epsilons([]) == ()
    with pytest.raises(ParameterError, match="delta"):
        account.epsilons([2])
