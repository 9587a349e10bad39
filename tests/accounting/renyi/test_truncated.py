from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.of_event import renyi_bound
from sfumato.accounting.renyi.truncated import overflow_of, truncated_bound
from sfumato.privacy.events import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    GroupEvent,
    PoissonSampledEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

ORDERS = np.array([1.5, 2.0, 5.0, 20.0])
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
    found = renyi_bound(event, ORDERS, ADD_OR_REMOVE_ONE), renyi_bound(event, ORDERS, REPLACE_ONE)
    for order, removed, replaced in zip(ORDERS, *found, strict=True):
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
    cut = renyi_bound(TruncatedPoissonSampledEvent(whole, 4, 4, event), ORDERS, ADD_OR_REMOVE_ONE)
    assert np.array_equal(cut, renyi_bound(PoissonSampledEvent(whole, event), ORDERS, ADD_OR_REMOVE_ONE))


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
    for order, bound in zip(ORDERS, renyi_bound(event, ORDERS, ADD_OR_REMOVE_ONE), strict=True):
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
