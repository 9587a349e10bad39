import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.selection import selected_bound
from sfumato.numeric.rounding import float_up

ORDERS = np.array([1.2, 2.0, 4.0, 16.0])
RUNS = np.arange(1, 20_001)


def negative_binomial(gamma, shape):
    """Of the truncated law, the probabilities of 1, 2, … runs."""
    if shape == 0:
        logs = RUNS * math.log1p(-gamma) - np.log(RUNS) - math.log(-math.log(gamma))
    else:
        logs = gammaln(RUNS + shape) - gammaln(shape) - gammaln(RUNS + 1) + RUNS * math.log1p(-gamma)
        logs -= math.log(math.expm1(-shape * math.log(gamma)))
    return np.exp(logs)


def best_of(law, runs_law):
    """The law of the best answer; answers are listed from the worst to the best."""
    upto = np.cumsum(law)
    powers = [np.sum(runs_law * np.minimum(level, 1.0) ** RUNS) for level in upto]
    return np.diff(np.concatenate([[0.0], powers]))


def inner_of(one, other):
    epsilon = float(np.abs(np.log(one / other)).max())
    return RenyiBound(divergence=lambda orders: np.array([worst(one, other, a) for a in orders]), epsilon=epsilon)


def random_pair(seed, spread):
    weights = np.exp(spread * np.random.default_rng(seed).standard_normal((2, 4)))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("gamma", [0.5, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_no_selection_exceeds_its_bound(seed, gamma, shape):
    one, other = random_pair(seed, 0.3)
    runs_law = negative_binomial(gamma, float(shape))
    assert runs_law.sum() == pytest.approx(1, abs=1e-9)
    mean = Fraction(float(np.sum(RUNS * runs_law)))
    bound = selected_bound(inner_of(one, other), mean=mean, shape=shape)
    found = bound.divergence(ORDERS)
    best_one, best_other = best_of(one, runs_law), best_of(other, runs_law)
    for order, limit in zip(ORDERS, found, strict=True):
        assert worst(best_one, best_other, order) <= limit
    assert np.abs(np.log(best_one / best_other)).max() <= float(bound.epsilon)


@pytest.mark.parametrize("mean", [0.01, 0.5, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_poisson_selection_exceeds_its_bound_also_where_nothing_is_run(seed, mean):
    one, other = random_pair(seed, 0.05)
    runs_law = np.exp(RUNS * math.log(mean) - mean - gammaln(RUNS + 1))
    nothing = [math.exp(-mean)]
    pair = [np.concatenate([nothing, best_of(law, runs_law)]) for law in (one, other)]
    found = selected_bound(inner_of(one, other), mean=Fraction(mean), shape=None).divergence(ORDERS)
    for order, limit in zip(ORDERS, found, strict=True):
        assert worst(*pair, order) <= limit * (1 + 1e-9)


def test_one_run_for_sure_costs_one_run():
    inner = RenyiBound(divergence=lambda orders: orders * 0.1)
    found = selected_bound(inner, mean=Fraction(1), shape=Fraction(1)).divergence(ORDERS)
    assert found == pytest.approx(ORDERS * 0.1, rel=1e-4, abs=1e-4)


def test_pure_losses_are_tripled_by_a_geometric_number_of_runs():
    inner = RenyiBound(divergence=lambda orders: np.minimum(orders / 200, 0.1), epsilon=Fraction(1, 10))
    bound = selected_bound(inner, mean=Fraction(10**6), shape=Fraction(1))
    assert bound.epsilon == Fraction(3, 10)
    assert np.all(bound.divergence(ORDERS) <= float_up(bound.epsilon))


def test_any_run_may_fail():
    inner = RenyiBound(divergence=np.zeros_like, failure=Fraction(1, 1000))
    assert selected_bound(inner, mean=Fraction(10), shape=Fraction(1)).failure == Fraction(1, 100)
    assert selected_bound(inner, mean=Fraction(10**4), shape=None).failure == 1


def test_more_runs_cost_more():
    inner = RenyiBound(divergence=lambda orders: orders * 0.01)
    for shape in (None, Fraction(0), Fraction(1)):
        costs = [selected_bound(inner, mean=Fraction(mean), shape=shape).divergence(ORDERS)[2] for mean in (2, 5, 50)]
        assert costs == sorted(costs)


@pytest.mark.parametrize("shape", [Fraction(0), Fraction(1, 10**300), Fraction(1), Fraction(10**9), Fraction(10**300)])
@pytest.mark.parametrize("mean", [1 + Fraction(1, 10**20), Fraction(10**350)])
def test_any_mean_and_shape_have_a_bound(mean, shape):
    inner = RenyiBound(divergence=lambda orders: orders * 0.1)
    found = selected_bound(inner, mean=mean, shape=shape).divergence(ORDERS)
    assert np.all(found >= ORDERS * 0.1)


def test_any_poisson_mean_has_a_bound():
    inner = RenyiBound(divergence=lambda orders: orders * 0.1)
    for mean in (Fraction(1, 10**300), Fraction(10**350)):
        assert np.all(selected_bound(inner, mean=mean, shape=None).divergence(ORDERS) >= 0)


def test_an_epsilon_beyond_floats_is_tripled_all_the_same():
    inner = RenyiBound(divergence=lambda orders: np.full_like(orders, np.inf), epsilon=Fraction(10**400))
    bound = selected_bound(inner, mean=Fraction(2), shape=Fraction(1))
    assert bound.epsilon == 3 * 10**400
    assert np.all(np.isinf(bound.divergence(ORDERS)))
