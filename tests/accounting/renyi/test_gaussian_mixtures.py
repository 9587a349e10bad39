import math

import numpy as np
import pytest
from tests.accounting.renyi.oracles import divergence, gaussian_mixture

from sfumato.accounting.renyi.gaussian_mixtures import POINT, Mixture, mixture_divergence

ORDERS = np.array([1.01, 1.5, 2.0, 3.7, 12.0, 40.5])


def integrated(p, q, order):
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
    found = mixture_divergence(p, q, ORDERS)
    for order, bound in zip(ORDERS, found, strict=True):
        assert bound == pytest.approx(integrated(p, q, order), rel=1e-9)
        assert bound >= integrated(p, q, order) * (1 - 1e-11)


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
    found = mixture_divergence(Mixture((1.25,), (1.0,)), POINT, ORDERS)
    assert found == pytest.approx(ORDERS * 1.25**2 / 2, rel=1e-9)
    assert np.all(found >= ORDERS * 1.25**2 / 2)


def test_many_orders_at_once_are_as_good_as_each_alone():
    sample = Mixture((0.0, 0.7), (0.95, 0.05))
    orders = 1 + np.geomspace(1e-3, 300, 70)
    alone = [mixture_divergence(sample, POINT, orders[i : i + 1])[0] for i in range(len(orders))]
    assert mixture_divergence(sample, POINT, orders) == pytest.approx(np.array(alone), rel=1e-9)


@pytest.mark.parametrize("shift", [1e7, 1e300, math.inf])
def test_too_far_apart_is_infinite(shift):
    assert np.all(np.isinf(mixture_divergence(Mixture((0.0, shift), (0.5, 0.5)), POINT, ORDERS)))


def test_a_shift_that_no_float_holds_is_infinitely_far():
    far = Mixture((math.inf,), (1.0,))
    assert np.all(np.isinf(mixture_divergence(far, POINT, np.array([1.5, 2.0]))))
    assert np.all(np.isinf(mixture_divergence(POINT, far, np.array([1.5, 2.0]))))
