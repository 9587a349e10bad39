from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.of_event import renyi_bound
from sfumato.accounting.renyi.truncated import overflow_of, truncated_bound
from sfumato.privacy.events import DiscreteLaplaceEvent, PoissonSampledEvent, TruncatedPoissonSampledEvent
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
    event = TruncatedPoissonSampledEvent(chance, 4, size, DiscreteLaplaceEvent(2))
    with_one, with_other, without = (noisy_sum((*unit, *others), float(chance), size) for unit in ((1,), (-1,), ()))
    found = renyi_bound(event, ORDERS, ADD_OR_REMOVE_ONE), renyi_bound(event, ORDERS, REPLACE_ONE)
    for order, removed, replaced in zip(ORDERS, *found, strict=True):
        assert worst(with_one, without, order) <= removed
        assert worst(with_one, with_other, order) <= replaced


def test_the_chance_in_a_full_sample_is_a_mean_over_how_full_it_is():
    event = TruncatedPoissonSampledEvent(Fraction(1, 2), 4, 2, DiscreteLaplaceEvent(2))
    overflow = overflow_of(event)
    # of three others 2 are sampled with probability 3/8, and 3 with 1/8; then 2/3 or 2/4 of the sampled are kept
    assert overflow.probability == pytest.approx(1 / 2)
    assert overflow.not_probability == pytest.approx(1 / 2)
    assert float(overflow.chance) == pytest.approx((3 / 8 * 2 / 3 + 1 / 8 * 2 / 4) / 2 / (1 / 2), rel=1e-6)


def test_an_overflow_that_never_happens_still_has_a_bound():
    overflow = overflow_of(TruncatedPoissonSampledEvent(Fraction(1, 10**6), 10**6, 10**5, DiscreteLaplaceEvent(2)))
    assert 0 < overflow.probability < 1e-200
    assert overflow.not_probability == 1
    assert 0 < overflow.chance <= Fraction(1, 10**6)


def test_a_size_that_no_sample_exceeds_changes_nothing():
    event, whole = DiscreteLaplaceEvent(2), Fraction(1, 10)
    cut = renyi_bound(TruncatedPoissonSampledEvent(whole, 4, 4, event), ORDERS, ADD_OR_REMOVE_ONE)
    assert np.array_equal(cut, renyi_bound(PoissonSampledEvent(whole, event), ORDERS, ADD_OR_REMOVE_ONE))


def test_moments_of_the_two_cases_are_averaged():
    overflow = overflow_of(TruncatedPoissonSampledEvent(Fraction(1, 2), 4, 2, DiscreteLaplaceEvent(2)))
    poisson, full = RenyiBound(divergence=np.ones_like), RenyiBound(divergence=lambda orders: 2 * np.ones_like(orders))
    found = truncated_bound(overflow, poisson, full).divergence(np.array([2.0]))
    assert found[0] == pytest.approx(np.log((np.e + np.e**2) / 2), rel=1e-7)
