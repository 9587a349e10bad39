from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from tests.accounting.renyi.oracles import worst as worst_divergence

from sfumato.accounting.renyi import curves
from sfumato.accounting.renyi.bound import (
    NOTHING,
    RenyiBound,
    as_float_up,
    composed,
    costliest,
    grouped_bound,
    times,
    worst,
)

ORDERS = np.array([2.0, 4.0])
LINE = RenyiBound(divergence=lambda orders: orders, failure=Fraction(1, 100), is_symmetric=True)
FLAT = RenyiBound(divergence=lambda orders: np.full_like(orders, 3.0), epsilon=Fraction(1, 2), is_slow=True)


def test_bounds_add_up_as_often_as_they_count():
    both = composed([(LINE, 2), (FLAT, 3)])
    assert both.divergence(ORDERS).tolist() == [13.0, 17.0]
    assert (both.epsilon, both.failure, both.is_symmetric, both.is_slow) == (inf, Fraction(1, 50), False, True)
    assert composed([(FLAT, 10**12)]).epsilon == Fraction(10**12, 2)
    assert composed([(LINE, 10**12)]).failure == 1


def test_nothing_composed_is_nothing():
    assert composed([]) is NOTHING
    assert NOTHING.divergence(ORDERS).tolist() == [0.0, 0.0]


def test_one_of_two_is_as_bad_as_the_worse_at_each_order():
    either = worst(LINE, FLAT)
    assert either.divergence(ORDERS).tolist() == [3.0, 4.0]
    assert (either.epsilon, either.failure, either.is_slow) == (inf, Fraction(1, 100), True)


@pytest.mark.parametrize(("parts", "expected"), [(1, [3.0, 4.0]), (2, [5.0, 8.0]), (3, [7.0, 11.0]), (9, [7.0, 11.0])])
def test_the_costliest_parts_are_chosen_at_each_order(parts, expected):
    chosen = costliest([(LINE, 2), (FLAT, 1)], parts)
    assert chosen.divergence(ORDERS).tolist() == expected
    assert chosen.failure == min(parts, 2) * Fraction(1, 100)


def test_float_losses_are_multiplied_upward():
    assert times(0.1, 3) > 0.3
    assert times(Fraction(1, 10), 3) == Fraction(3, 10)


def test_curves_that_are_computed_together_add_up_as_if_alone():
    epsilons = np.linspace(0.01, 2, 1100)
    parts = [(RenyiBound(divergence=partial(curves.laplace, epsilon=float(e))), 2) for e in epsilons]
    alone = 2 * np.sum([curves.laplace(ORDERS, epsilon=e) for e in epsilons], axis=0)
    assert composed([*parts, (LINE, 3)]).divergence(ORDERS) == pytest.approx(alone + 3 * ORDERS, rel=1e-12)


def test_a_divergence_that_could_not_be_computed_is_no_release_of_nothing():
    unknown = RenyiBound(divergence=lambda orders: np.where(orders == 2, np.nan, orders))
    assert composed([(unknown, 3), (NOTHING, 2)]).divergence(ORDERS).tolist() == [inf, 12.0]
    batch = RenyiBound(divergence=partial(_nan_at_two, epsilon=1.0))
    assert composed([(batch, 3), (batch, 1)]).divergence(ORDERS).tolist() == [inf, 4.0]


def _nan_at_two(orders, *, epsilon):
    return np.where(orders == 2, np.nan, epsilon)


def test_numbers_beyond_floats_stay_numbers_or_are_infinite():
    assert as_float_up(Fraction(10**400)) == inf
    assert times(0.5, 10**400) == inf
    assert composed([(FLAT, 10**400), (RenyiBound(divergence=LINE.divergence, epsilon=0.5), 1)]).epsilon > 10**399
    assert composed([(LINE, 10**400)]).divergence(ORDERS).tolist() == [inf, inf]
    assert composed([(NOTHING, 10**400)]).divergence(ORDERS).tolist() == [0.0, 0.0]


GROUP_ORDERS = np.array([1.01, 1.5, 2.0, 6.5, 80.0])


@pytest.mark.parametrize("size", [2, 3, 10, 64])
def test_a_line_of_divergences_grows_with_the_square_of_the_group(size):
    single = RenyiBound(divergence=lambda orders: orders * 0.25)
    assert grouped_bound(single, size).divergence(GROUP_ORDERS) == pytest.approx(GROUP_ORDERS * 0.25 * size**2)


@pytest.mark.parametrize("size", [65, 1000, 10**6])
def test_large_groups_are_bounded_in_blocks(size):
    found = grouped_bound(RenyiBound(divergence=lambda orders: orders * 0.25), size).divergence(GROUP_ORDERS)
    assert np.all(found >= GROUP_ORDERS * 0.25 * size**2)
    assert np.all(found[2:] <= GROUP_ORDERS[2:] * 0.25 * size**2 * 2)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_no_chain_of_neighbors_exceeds_the_bound(seed, size):
    generator = np.random.default_rng(seed)
    weights = np.exp(np.cumsum(0.6 * generator.standard_normal((size + 1, 4)), axis=0))
    laws = weights / weights.sum(axis=1, keepdims=True)
    steps = list(pairwise(laws))
    single = RenyiBound(
        divergence=lambda orders: np.array([max(worst_divergence(p, q, a) for p, q in steps) for a in orders])
    )
    found = grouped_bound(single, size).divergence(GROUP_ORDERS)
    for order, bound in zip(GROUP_ORDERS, found, strict=True):
        assert worst_divergence(laws[0], laws[-1], order) <= bound


def test_a_group_of_one_is_the_unit():
    single = RenyiBound(divergence=np.zeros_like)
    assert grouped_bound(single, 1) is single


def test_pure_losses_add_up():
    single = RenyiBound(divergence=np.zeros_like, epsilon=Fraction(1, 3))
    assert grouped_bound(single, 3).epsilon == 1


def test_what_may_fail_promises_nothing_to_a_group():
    assert grouped_bound(RenyiBound(divergence=np.zeros_like, failure=Fraction(1, 10**9)), 2).failure == 1
