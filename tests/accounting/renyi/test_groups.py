from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.groups import grouped_bound

ORDERS = np.array([1.01, 1.5, 2.0, 6.5, 80.0])


@pytest.mark.parametrize("size", [2, 3, 10, 64])
def test_a_line_of_divergences_grows_with_the_square_of_the_group(size):
    single = RenyiBound(divergence=lambda orders: orders * 0.25)
    assert grouped_bound(single, size).divergence(ORDERS) == pytest.approx(ORDERS * 0.25 * size**2)


@pytest.mark.parametrize("size", [65, 1000, 10**6])
def test_large_groups_are_bounded_in_blocks(size):
    found = grouped_bound(RenyiBound(divergence=lambda orders: orders * 0.25), size).divergence(ORDERS)
    assert np.all(found >= ORDERS * 0.25 * size**2)
    assert np.all(found[2:] <= ORDERS[2:] * 0.25 * size**2 * 2)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_no_chain_of_neighbors_exceeds_the_bound(seed, size):
    generator = np.random.default_rng(seed)
    weights = np.exp(np.cumsum(0.6 * generator.standard_normal((size + 1, 4)), axis=0))
    laws = weights / weights.sum(axis=1, keepdims=True)
    steps = list(pairwise(laws))
    single = RenyiBound(divergence=lambda orders: np.array([max(worst(p, q, a) for p, q in steps) for a in orders]))
    found = grouped_bound(single, size).divergence(ORDERS)
    for order, bound in zip(ORDERS, found, strict=True):
        assert worst(laws[0], laws[-1], order) <= bound


def test_a_group_of_one_is_the_unit():
    single = RenyiBound(divergence=np.zeros_like)
    assert grouped_bound(single, 1) is single


def test_pure_losses_add_up():
    single = RenyiBound(divergence=np.zeros_like, epsilon=Fraction(1, 3))
    assert grouped_bound(single, 3).epsilon == 1


def test_what_may_fail_promises_nothing_to_a_group():
    assert grouped_bound(RenyiBound(divergence=np.zeros_like, failure=Fraction(1, 10**9)), 2).failure == 1
