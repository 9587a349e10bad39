from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.accounting.pld.brute_force import exact_delta
from tests.accounting.pld.laws import PAIRS, finite, symmetric

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.accounting.pld.composite import composed
from sfumato.accounting.profiles.additive import Gaussian
from sfumato.accounting.profiles.finite import WorstPair

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


def test_losses_that_span_more_than_floats_keep_their_bounds():
    """e^loss of such laws overflows, and e^−loss underflows."""
    half, rare = Fraction(1, 2), Fraction(1, 10**300)
    pair = finite((half, half), (rare, 1 - rare))
    composition = composed(((pair, 3),))
    at = np.array([0.0, 1.0, 600.0, 700.0, 1400.0, 1500.0, 2000.0])
    triple = [((half, half), (rare, 1 - rare))] * 3
    exact = [exact_delta(triple, Fraction(str(mpmath.exp(mpmath.mpf(epsilon))))) for epsilon in at]
    found = composition.forward.delta_up(at)
    assert all(up >= truth * (1 - Fraction(1, 10**12)) for up, truth in zip(found, exact, strict=True))


def test_a_test_never_claims_more_than_the_truth_far_out():
    pair = symmetric(WorstPair(Fraction(400)))
    first, second = composed(((pair, 2),)).forward.test_down(np.array([300.0, 790.0]))
    assert np.all((second > 0) | (first == 0))
