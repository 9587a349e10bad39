from fractions import Fraction
from functools import partial
from math import inf

import numpy as np
import pytest

from sfumato.accounting.renyi import curves
from sfumato.accounting.renyi.bound import NOTHING, RenyiBound, as_float_up, composed, costliest, times, worst

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
