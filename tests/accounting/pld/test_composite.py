from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.pld.laws import PAIRS, finite, symmetric

from sfumato.accounting.gaussian import gaussian_delta_up
from sfumato.accounting.pld.composite import composed
from sfumato.accounting.profiles.additive import Gaussian

EPSILONS = np.linspace(0, 6, 25)


def test_composed_gaussians_are_one_gaussian():
    pair = composed(((symmetric(Gaussian(Fraction(4))), 9),))
    assert pair.is_symmetric
    found = pair.forward.delta_up(EPSILONS)
    first, second = pair.forward.test_down(EPSILONS)
    for at, epsilon in enumerate(EPSILONS):
        exact = gaussian_delta_up(noise_multiplier=Fraction(4, 3), epsilon=epsilon)
        assert exact * (1 - 1e-11) <= found[at] <= exact * 1.02
        assert exact * 0.98 - 1e-15 <= first[at] - np.exp(epsilon) * second[at] <= exact * (1 + 1e-9)


def test_each_test_is_a_lower_bound_at_every_epsilon():
    pair = composed(((PAIRS["certain"], 2), (PAIRS["response"], 1)))
    for order in (pair.forward, pair.backward):
        first, second = order.test_down(EPSILONS)
        truth = order.delta_up(EPSILONS)
        lines = first[:, None] - np.exp(EPSILONS)[None, :] * second[:, None]
        assert np.all(lines <= truth[None, :] + 1e-12)


def test_infinite_losses_survive():
    pair = composed(((finite(("1/2", "1/2"), (1, 0)), 2),))
    assert pair.forward.delta_up(np.array([50.0]))[0] == pytest.approx(3 / 4, rel=1e-9)
    assert pair.backward.delta_up(np.array([1.0]))[0] >= 1 / 4


def test_tiny_deltas_stay_tiny():
    pair = composed(((symmetric(Gaussian(Fraction(4))), 4),))
    assert pair.forward.delta_up(np.array([5.0]))[0] <= 1e-19


def test_nothing_is_claimed_of_what_is_too_much_to_compose():
    pair = composed(((PAIRS["gaussian"], 10**16),))
    assert pair.forward.delta_up(np.array([1.0]))[0] == 1
