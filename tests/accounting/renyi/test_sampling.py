from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.renyi import curves
from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.of_event import renyi_bound
from sfumato.accounting.renyi.sampling import (
    by_convexity,
    by_minkowski,
    chords,
    exchanged_bound,
    exchanged_epsilon,
    overflow_of,
    sampled_bound,
    sampled_epsilon,
    truncated_bound,
)
from sfumato.privacy.events import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    GroupEvent,
    PoissonSampledEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

ORDERS = np.array([1.05, 1.5, 2.0, 2.5, 3.0, 7.0, 20.5, 100.0])
TENTH = Fraction(1, 10)


def bound_between(*laws):
    """The exact bound of a set of laws, each a neighbor of each."""
    epsilon = max(float(np.abs(np.log(p / q)).max()) for p, q in combinations(laws, 2))
    return RenyiBound(
        divergence=lambda orders: np.array([max(worst(p, q, a) for p, q in combinations(laws, 2)) for a in orders]),
        epsilon=epsilon,
    )


def random_laws(seed, count, spread):
    generator = np.random.default_rng(seed)
    weights = np.exp(spread * generator.standard_normal((count, 5)))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("probability", [Fraction(1, 100), TENTH, Fraction(7, 10)])
@pytest.mark.parametrize("spread", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_sampled_pair_exceeds_its_bound(seed, spread, probability):
    absent, present = random_laws(seed, 2, spread)
    mixed = float(1 - probability) * absent + float(probability) * present
    bound = sampled_bound(probability, bound_between(absent, present))
    for order, found in zip(ORDERS, bound.divergence(ORDERS), strict=True):
        assert worst(mixed, absent, order) <= found * (1 + 1e-9)
    assert np.abs(np.log(mixed / absent)).max() <= bound.epsilon


@pytest.mark.parametrize("probability", [Fraction(1, 100), TENTH, Fraction(7, 10)])
@pytest.mark.parametrize("spread", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_exchanged_pair_exceeds_its_bound(seed, spread, probability):
    absent, one, other = random_laws(100 + seed, 3, spread)
    q = float(probability)
    near = bound_between(absent, one)
    near_other = bound_between(absent, other)
    both = RenyiBound(
        divergence=lambda orders: np.maximum(near.divergence(orders), near_other.divergence(orders)),
        epsilon=max(near.epsilon, near_other.epsilon),
    )
    bound = exchanged_bound(probability, both, bound_between(one, other))
    with_one, with_other = (1 - q) * absent + q * one, (1 - q) * absent + q * other
    for order, found in zip(ORDERS, bound.divergence(ORDERS), strict=True):
        assert worst(with_one, with_other, order) <= found * (1 + 1e-9)
    assert np.abs(np.log(with_one / with_other)).max() <= bound.epsilon * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("probability", [Fraction(1, 1000), TENTH, Fraction(9, 10)])
def test_a_sampled_symmetric_pair_is_exact_at_whole_orders(probability, epsilon):
    truth = 1 / (1 + np.exp(-epsilon))
    present, absent = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    inner = RenyiBound(
        divergence=lambda orders: curves.randomized_response(orders, epsilon=epsilon),
        epsilon=epsilon,
        is_symmetric=True,
    )
    orders = np.array([2.0, 3.0, 10.0, 64.0])
    mixed = float(probability) * present + float(1 - probability) * absent
    exact = [worst(mixed, absent, order) for order in orders]
    found = sampled_bound(probability, inner).divergence(orders)
    assert np.all(found >= np.array(exact) * (1 - 1e-9) - 1e-15)
    assert found == pytest.approx(np.array(exact), rel=1e-7, abs=1e-15)


@pytest.mark.parametrize("probability", [Fraction(1, 10**12), 1 - Fraction(1, 10**12)])
def test_extreme_probabilities_have_a_bound(probability):
    inner = RenyiBound(divergence=lambda orders: orders * 0.5)
    found = sampled_bound(probability, inner).divergence(ORDERS)
    assert np.all(np.isfinite(found))
    assert np.all(found > 0)
    assert np.all(found <= ORDERS * 0.5 * (1 + 1e-9))
    if probability < TENTH:
        assert found[2] == pytest.approx(1e-24 * np.expm1(1.0), rel=1e-6)


def test_everybody_in_the_sample_is_no_sample():
    inner, far = RenyiBound(divergence=np.zeros_like), RenyiBound(divergence=np.ones_like)
    assert sampled_bound(Fraction(1), inner) is inner
    assert exchanged_bound(Fraction(1), inner, far) is far


def test_failures_are_sampled_too():
    failing = RenyiBound(divergence=np.zeros_like, epsilon=Fraction(2), failure=Fraction(1, 4))
    assert sampled_bound(TENTH, failing).failure == Fraction(1, 40)
    assert exchanged_bound(TENTH, failing, failing).failure == Fraction(1, 40)
    assert exchanged_bound(TENTH, failing, failing).epsilon == 2


def test_what_may_fail_is_exchanged_without_expansion():
    inner = RenyiBound(divergence=lambda orders: orders * 1e-4, failure=Fraction(1, 10**9))
    certain = RenyiBound(divergence=inner.divergence)
    found = exchanged_bound(TENTH, inner, inner).divergence(ORDERS)
    assert found == pytest.approx(by_convexity(TENTH, inner, ORDERS))
    assert np.all(exchanged_bound(TENTH, certain, certain).divergence(ORDERS[:5]) < found[:5] * 0.8)


def test_orders_beyond_expansion_are_bounded_by_simpler_means():
    inner = RenyiBound(divergence=lambda orders: orders * 0.5, is_symmetric=True)
    orders = np.array([1e5, 1e6])
    assert sampled_bound(TENTH, inner).divergence(orders) == pytest.approx(by_minkowski(TENTH, inner, orders))


@pytest.mark.parametrize("order", [2.0, 5.5])
def test_the_simple_bounds_hold(order):
    absent, present = random_laws(7, 2, 0.7)
    mixed, inner, orders = 0.9 * absent + 0.1 * present, bound_between(absent, present), np.array([order])
    with np.errstate(divide="ignore"):
        removed = np.log(np.sum(mixed**order * absent ** (1 - order))) / (order - 1)
        added = np.log(np.sum(absent**order * mixed ** (1 - order))) / (order - 1)
    assert removed <= by_minkowski(TENTH, inner, orders)[0] <= by_convexity(TENTH, inner, orders)[0]
    assert added <= by_convexity(TENTH, inner, orders)[0]


def test_between_whole_orders_lies_a_chord():
    whole_divergence = {1.0: 0.0, 2.0: 3.0, 3.0: 5.0}

    def log_excesses(whole, _j):
        return np.log(np.expm1([whole_divergence[n] * (n - 1) for n in whole]))

    found = chords(np.array([1.25, 2.0, 2.5, 3.0, 3.5]), 3.0, log_excesses)
    assert found == pytest.approx([3.0, 3.0, (3 + 10) / 2 / 1.5, 5.0, np.inf], rel=1e-8)


@pytest.mark.parametrize("probability", [Fraction(1, 10**9), TENTH, Fraction(99, 100)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(30), Fraction(2000)])
def test_sampling_amplifies_pure_privacy(probability, epsilon):
    q, loss = float(probability), float(epsilon)
    exact = np.log1p(q * np.expm1(loss)) if loss < 500 else loss + np.log(q)
    found = sampled_epsilon(probability, epsilon)
    assert exact * (1 - 1e-15) <= found <= exact * (1 + 1e-11)


def test_two_values_far_from_each_other_lie_on_both_sides_of_an_absent_one():
    one_side = np.log((0.9 + 0.1 * np.e) / (0.9 + 0.1 / np.e))
    assert exchanged_epsilon(TENTH, 1.0, 2.0) == pytest.approx(one_side)
    assert exchanged_epsilon(TENTH, 1.0, 1.0) == pytest.approx(np.log(0.9 + 0.1 * np.e))
    assert exchanged_epsilon(TENTH, np.inf, np.inf) == np.inf


def test_an_epsilon_beyond_floats_is_not_amplified():
    huge, half = Fraction(10**400), Fraction(1, 2)
    assert sampled_epsilon(half, huge) == huge
    assert exchanged_epsilon(half, huge, 2 * huge) == 2 * huge
    assert exchanged_epsilon(half, Fraction(1), huge) < 1 + np.log(2)


@pytest.mark.parametrize("probability", [Fraction(1, 10**330), Fraction(1, 10**300)])
def test_chances_below_floats_are_not_lost(probability):
    inner = RenyiBound(divergence=lambda orders: np.minimum(orders, 1.0), epsilon=Fraction(1), failure=TENTH)
    found = sampled_bound(probability, inner)
    assert found.failure == probability / 10
    assert found.epsilon > probability
    assert np.all(found.divergence(ORDERS) > 0)
    assert np.all(exchanged_bound(probability, inner, inner).divergence(ORDERS) > 0)
    assert sampled_epsilon(probability, Fraction(1, 10**300)) > 0


TRUNCATED_ORDERS = np.array([1.5, 2.0, 5.0, 20.0])
NOISE = np.arange(-80, 81)


def noisy_sum(values, chance, size):
    """The law of discrete Laplace noise of scale 2 on the sum of a Poisson sample that is cut down to `size`."""
    total = np.zeros(len(NOISE))
    for count in range(len(values) + 1):
        for sample in combinations(values, count):
            kept = list(combinations(sample, min(count, size)))
            for subset in kept:
                weight = chance**count * (1 - chance) ** (len(values) - count) / len(kept)
                total += weight * np.exp(-np.abs(NOISE - sum(subset)) / 2) * np.tanh(0.25)
    return total


@pytest.mark.parametrize("chance", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("others", [(0, 0, 0), (1, 1, 1), (-1, 0, 1), (-1, -1, -1)])
def test_no_sample_that_is_cut_down_exceeds_its_bound(others, size, chance):
    event = TruncatedPoissonSampledEvent(chance, 4, size, DiscreteLaplaceEvent(2, 1))
    with_one, with_other, without = (noisy_sum((*unit, *others), float(chance), size) for unit in ((1,), (-1,), ()))
    found = renyi_bound(event, TRUNCATED_ORDERS, ADD_OR_REMOVE_ONE), renyi_bound(event, TRUNCATED_ORDERS, REPLACE_ONE)
    for order, removed, replaced in zip(TRUNCATED_ORDERS, *found, strict=True):
        assert worst(with_one, without, order) <= removed
        assert worst(with_one, with_other, order) <= replaced


def test_the_chance_in_a_full_sample_is_a_mean_over_how_full_it_is():
    event = TruncatedPoissonSampledEvent(Fraction(1, 2), 4, 2, DiscreteLaplaceEvent(2, 1))
    overflow = overflow_of(event)
    # of three others 2 are sampled with probability 3/8, and 3 with 1/8; then 2/3 or 2/4 of the sampled are kept
    assert overflow.probability == pytest.approx(1 / 2)
    assert overflow.not_probability == pytest.approx(1 / 2)
    assert float(overflow.chance) == pytest.approx((3 / 8 * 2 / 3 + 1 / 8 * 2 / 4) / 2 / (1 / 2), rel=1e-6)


def test_an_overflow_that_never_happens_still_has_a_bound():
    overflow = overflow_of(TruncatedPoissonSampledEvent(Fraction(1, 10**6), 10**6, 10**5, DiscreteLaplaceEvent(2, 1)))
    assert 0 < overflow.probability < 1e-200
    assert overflow.not_probability == 1
    assert 0 < overflow.chance <= Fraction(1, 10**6)


def test_a_size_that_no_sample_exceeds_changes_nothing():
    event, whole = DiscreteLaplaceEvent(2, 1), Fraction(1, 10)
    cut = renyi_bound(TruncatedPoissonSampledEvent(whole, 4, 4, event), TRUNCATED_ORDERS, ADD_OR_REMOVE_ONE)
    assert np.array_equal(cut, renyi_bound(PoissonSampledEvent(whole, event), TRUNCATED_ORDERS, ADD_OR_REMOVE_ONE))


def test_moments_of_the_two_cases_are_averaged():
    overflow = overflow_of(TruncatedPoissonSampledEvent(Fraction(1, 2), 4, 2, DiscreteLaplaceEvent(2, 1)))
    poisson, full = RenyiBound(divergence=np.ones_like), RenyiBound(divergence=lambda orders: 2 * np.ones_like(orders))
    found = truncated_bound(overflow, poisson, full).divergence(np.array([2.0]))
    assert found[0] == pytest.approx(np.log((np.e + np.e**2) / 2), rel=1e-7)


@pytest.mark.parametrize("chance", [Fraction(3, 10), Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("group", [2, 3])
@pytest.mark.parametrize("other", [0, -1])
def test_no_group_in_a_sample_that_is_cut_down_exceeds_its_bound(other, group, size, chance):
    event = GroupEvent(TruncatedPoissonSampledEvent(chance, 4, size, DiscreteLaplaceEvent(2, 1)), group)
    others = (other,) * (4 - group)
    with_group, without = noisy_sum((1,) * group + others, float(chance), size), noisy_sum(others, float(chance), size)
    for order, bound in zip(TRUNCATED_ORDERS, renyi_bound(event, TRUNCATED_ORDERS, ADD_OR_REMOVE_ONE), strict=True):
        assert worst(with_group, without, order) <= bound


@pytest.mark.parametrize("units", [2, 4, 8])
@pytest.mark.parametrize("size", [1, 2, 6])
def test_what_holds_for_several_steps_holds_for_each(size, units):
    q = Fraction(3, 10)
    several = overflow_of(TruncatedPoissonSampledEvent(q, units, size, DiscreteLaplaceEvent(2, 1)), steps=3)
    for left in range(max(units - 2, 1), units + 1):
        others = [comb(left - 1, t) * q**t * (1 - q) ** (left - 1 - t) for t in range(left)]
        full = sum(others[size:])
        kept = sum(weight * Fraction(size, t + 1) for t, weight in enumerate(others) if t >= size)
        assert several.probability >= full
        assert several.not_probability >= 1 - full
        assert several.chance * full >= q * kept


def test_of_more_units_than_can_be_counted_either_case_is_certain():
    overflow = overflow_of(TruncatedPoissonSampledEvent(Fraction(1, 2), 10**400, 4, DiscreteLaplaceEvent(2, 1)))
    assert overflow.probability == overflow.not_probability == 1
    assert overflow.chance == Fraction(2, 5)


@pytest.mark.parametrize(("units", "size"), [(9, 4), (14, 5), (30, 12)])
def test_both_cases_of_a_sample_are_rounded_up(units, size):
    q = Fraction(1, 1000)
    found = overflow_of(TruncatedPoissonSampledEvent(q, units, size, GaussianEvent(1)))
    trials = range(size, units)
    full = sum(comb(units - 1, t) * q**t * (1 - q) ** (units - 1 - t) for t in trials)
    assert Fraction(found.probability) >= full
    assert Fraction(found.not_probability) >= 1 - full
