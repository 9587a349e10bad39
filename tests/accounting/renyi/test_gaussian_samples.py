import math
from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.renyi.oracles import divergence, gaussian_mixture

from sfumato.accounting.renyi.gaussian_samples import (
    POINT,
    Mixture,
    exchanged_gaussian_bound,
    mixture_bound,
    mixture_divergence,
    sampled_gaussian_bound,
    sampled_group_bound,
)
from sfumato.accounting.renyi.of_event import renyi_bound_of
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

ORDERS = np.array([1.05, 1.5, 2.0, 3.3, 10.0, 33.0])
TENTH = Fraction(1, 10)


def gaussian(distance):
    return renyi_bound_of(GaussianEvent(1 / distance), ADD_OR_REMOVE_ONE)


def integrated(p, q, order):
    z, step = np.linspace(-120, 120, 120_001, retstep=True)
    return divergence(gaussian_mixture(*p, z), gaussian_mixture(*q, z), order, step=step)


@pytest.mark.parametrize("distance", [Fraction(1, 2), Fraction(2)])
def test_a_sampled_gaussian_is_no_worse_than_its_bound_in_either_order(distance):
    sample, point = ((0.0, float(distance)), (0.9, 0.1)), ((0.0,), (1.0,))
    found = sampled_gaussian_bound(TENTH, gaussian(distance), distance=distance).divergence(ORDERS)
    for order, bound in zip(ORDERS, found, strict=True):
        removed, added = integrated(sample, point, order), integrated(point, sample, order)
        assert added <= removed * (1 + 1e-9)
        assert bound == pytest.approx(removed, rel=1e-8)


def test_an_exchanged_gaussian_is_exactly_as_bad_as_opposite_shifts():
    found = exchanged_gaussian_bound(TENTH, gaussian(Fraction(2)), distance=Fraction(1)).divergence(ORDERS)
    pair = ((0.0, 1.0), (0.9, 0.1)), ((0.0, -1.0), (0.9, 0.1))
    assert found == pytest.approx(np.array([integrated(*pair, order) for order in ORDERS]), rel=1e-8)


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0, 3.0])
def test_opposite_shifts_are_the_worst_of_a_plane(angle):
    x, step = np.linspace(-9, 9, 361, retstep=True)
    grid = np.meshgrid(x, x)

    def log_sample(direction):
        moved = (grid[0] - np.cos(direction)) ** 2 + (grid[1] - np.sin(direction)) ** 2
        return np.log(0.7 * np.exp(-(grid[0] ** 2 + grid[1] ** 2) / 2) + 0.3 * np.exp(-moved / 2)) - np.log(2 * np.pi)

    found = exchanged_gaussian_bound(Fraction(3, 10), gaussian(Fraction(2)), distance=Fraction(1)).divergence(
        ORDERS[:3]
    )
    for order, bound in zip(ORDERS[:3], found, strict=True):
        assert divergence(log_sample(0.0).ravel(), log_sample(angle).ravel(), order, step=step**2) <= bound


def test_a_mixture_is_taken_in_its_worse_order():
    shifts, weights = [Fraction(0), Fraction(1), Fraction(2)], [Fraction(7, 10), Fraction(2, 10), TENTH]
    mixture, point = ((0.0, 1.0, 2.0), (0.7, 0.2, 0.1)), ((0.0,), (1.0,))
    found = mixture_bound(shifts, weights).divergence(ORDERS)
    exact = [max(integrated(mixture, point, order), integrated(point, mixture, order)) for order in ORDERS]
    assert found == pytest.approx(np.array(exact), rel=1e-8)


def test_components_of_probability_zero_do_not_count():
    kept = mixture_bound([Fraction(1)], [Fraction(1)]).divergence(ORDERS)
    assert mixture_bound([Fraction(1), Fraction(9)], [Fraction(1), Fraction(0)]).divergence(ORDERS) == pytest.approx(
        kept
    )


def test_where_integration_takes_too_long_simpler_bounds_are_above_it():
    orders = np.array([2.0, 1e6])
    found = mixture_bound([Fraction(0), Fraction(1)], [Fraction(9, 10), TENTH]).divergence(orders)
    whole = orders * 0.5
    assert np.all(np.isfinite(found))
    assert np.all(found <= whole)
    assert found[1] >= whole[1] + orders[1] / (orders[1] - 1) * np.log(0.1)


def test_a_group_in_a_sample_is_a_mixture_of_all_it_can_move():
    found = sampled_group_bound(TENTH, 2, distance=Fraction(1)).divergence(ORDERS)
    mixture = ((0.0, 1.0, 2.0), (0.81, 0.18, 0.01))
    assert found == pytest.approx(
        np.array([integrated(mixture, ((0.0,), (1.0,)), order) for order in ORDERS]), rel=1e-8
    )
    either = sampled_gaussian_bound(Fraction(19, 100), gaussian(Fraction(2)), distance=Fraction(2)).divergence(ORDERS)
    assert np.all(found < either)


def test_farther_shifts_than_floats_can_square_are_infinitely_far():
    for shift in (Fraction(10**160), Fraction(10**320)):
        for shifts, weights in (([shift], [Fraction(1)]), ([Fraction(1), shift], [1 - TENTH, TENTH])):
            assert np.all(np.isinf(mixture_bound(shifts, weights).divergence(np.array([1.5, 40.0]))))


def test_shifts_of_nothing_cost_nothing():
    bound = mixture_bound([Fraction(0), Fraction(0)], [TENTH, 1 - TENTH])
    assert bound.epsilon == 0
    assert np.all(bound.divergence(ORDERS) == 0)


def test_what_is_too_unlikely_for_floats_still_shows():
    never, orders = Fraction(1, 10**350), np.array([20.0, 40.0])
    sample = sampled_gaussian_bound(never, gaussian(Fraction(10)), distance=Fraction(10)).divergence(orders)
    mixture = mixture_bound([Fraction(0), Fraction(10)], [1 - never, never]).divergence(orders)
    both = mixture_bound([Fraction(0), Fraction(10), Fraction(11)], [1 - 2 * never, never, never]).divergence(orders)
    whole = orders * 50 + orders / (orders - 1) * np.log(10) * -350  # of what the unit shows where it is sampled
    assert np.all(sample >= whole)
    assert np.all(mixture >= whole)
    assert np.all(both >= mixture)


def test_long_fractions_are_shortened_upward():
    third = Fraction(1, 3)
    long = third + Fraction(1, 3**400)
    found = sampled_group_bound(long, 2, distance=Fraction(1)).divergence(ORDERS)
    assert np.all(found >= sampled_group_bound(third, 2, distance=Fraction(1)).divergence(ORDERS) * (1 - 1e-15))
    assert found == pytest.approx(sampled_group_bound(third, 2, distance=Fraction(1)).divergence(ORDERS), rel=1e-12)


MIXTURE_ORDERS = np.array([1.01, 1.5, 2.0, 3.7, 12.0, 40.5])


def finely_integrated(p, q, order):
    """By a rule that is much finer than is needed."""
    low = order * min(p.shifts) - (order - 1) * max(q.shifts) - 20
    high = order * max(p.shifts) - (order - 1) * min(q.shifts) + 20
    z, step = np.linspace(min(low, -20), max(high, 20), 200_001, retstep=True)
    return divergence(
        gaussian_mixture(p.shifts, p.probabilities, z), gaussian_mixture(q.shifts, q.probabilities, z), order, step=step
    )


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Mixture((0.0, 1.0), (0.9, 0.1)), POINT),
        (POINT, Mixture((0.0, 1.0), (0.9, 0.1))),
        (Mixture((0.0, 0.5), (0.2, 0.8)), Mixture((0.0, -0.5), (0.2, 0.8))),
        (Mixture((0.0, 3.0), (0.99, 0.01)), POINT),
        (POINT, Mixture((0.0, 3.0), (0.99, 0.01))),
        (Mixture((0.0, 1.0, 2.0), (0.7, 0.2, 0.1)), POINT),
        (POINT, Mixture((1.0, 2.0), (0.7, 0.3))),
    ],
)
def test_the_rule_agrees_with_a_much_finer_one_at_every_real_order(p, q):
    found = mixture_divergence(p, q, MIXTURE_ORDERS)
    for order, bound in zip(MIXTURE_ORDERS, found, strict=True):
        assert bound == pytest.approx(finely_integrated(p, q, order), rel=1e-9)
        assert bound >= finely_integrated(p, q, order) * (1 - 1e-11)


def binomial_sum(probability, shift, order):
    """The moment of whole order, by the binomial theorem."""
    terms = [
        math.lgamma(order + 1)
        - math.lgamma(j + 1)
        - math.lgamma(order - j + 1)
        + (order - j) * math.log1p(-probability)
        + j * math.log(probability)
        + j * (j - 1) * shift**2 / 2
        for j in range(order + 1)
    ]
    return float(np.logaddexp.reduce(terms)) / (order - 1)


@pytest.mark.parametrize("shift", [0.05, 1.0, 2.0])
@pytest.mark.parametrize("probability", [1e-4, 0.1, 0.9])
def test_whole_orders_agree_with_the_binomial_theorem(probability, shift):
    orders = np.array([2.0, 3.0, 8.0, 64.0, 500.0, 2000.0])
    found = mixture_divergence(Mixture((0.0, shift), (1 - probability, probability)), POINT, orders)
    for order, bound in zip(orders, found, strict=True):
        exact = binomial_sum(probability, shift, int(order))
        assert bound == pytest.approx(exact, rel=1e-8, abs=1e-14)


def test_orders_up_to_ten_thousand_are_integrated():
    sample = Mixture((0.0, 1.0), (0.999, 0.001))
    (found,) = mixture_divergence(sample, POINT, np.array([1e4]))
    assert found == pytest.approx(binomial_sum(0.001, 1.0, 10_000), rel=1e-9)


def test_tiny_chances_keep_their_digits():
    found = mixture_divergence(Mixture((0.0, 1.0), (1.0, 1e-9)), POINT, np.array([1.5, 2.0, 9.0]))
    assert found == pytest.approx(np.array([1.5, 2.0, 9.0]) * 1e-18 * (math.e - 1) / 2, rel=1e-6)


def test_one_gaussian_diverges_by_half_its_squared_shift():
    found = mixture_divergence(Mixture((1.25,), (1.0,)), POINT, MIXTURE_ORDERS)
    assert found == pytest.approx(MIXTURE_ORDERS * 1.25**2 / 2, rel=1e-9)
    assert np.all(found >= MIXTURE_ORDERS * 1.25**2 / 2)


def test_many_orders_at_once_are_as_good_as_each_alone():
    sample = Mixture((0.0, 0.7), (0.95, 0.05))
    orders = 1 + np.geomspace(1e-3, 300, 70)
    alone = [mixture_divergence(sample, POINT, orders[i : i + 1])[0] for i in range(len(orders))]
    assert mixture_divergence(sample, POINT, orders) == pytest.approx(np.array(alone), rel=1e-9)


@pytest.mark.parametrize("shift", [1e7, 1e300, math.inf])
def test_too_far_apart_is_infinite(shift):
    assert np.all(np.isinf(mixture_divergence(Mixture((0.0, shift), (0.5, 0.5)), POINT, MIXTURE_ORDERS)))


def test_a_shift_that_no_float_holds_is_infinitely_far():
    far = Mixture((math.inf,), (1.0,))
    assert np.all(np.isinf(mixture_divergence(far, POINT, np.array([1.5, 2.0]))))
    assert np.all(np.isinf(mixture_divergence(POINT, far, np.array([1.5, 2.0]))))
