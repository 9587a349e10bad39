import math
from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import assert_is_a_profile, lower_bounds, mp

from sfumato.accounting.profiles.additive import Laplace
from sfumato.accounting.profiles.choice import BoundedRange

SCORES = st.lists(st.floats(0, 4), min_size=2, max_size=4)


def exponential(scores: list[float], epsilon: float) -> np.ndarray:
    weights = np.exp(epsilon / 2 * np.array(scores))
    return weights / weights.sum()


def permute_and_flip(scores: list[float], epsilon: float) -> np.ndarray:
    """Candidates in random order; the first whose coin, of probability e^(ε/2 · (score − best)), falls right."""
    coins = np.exp(epsilon / 2 * (np.array(scores) - max(scores)))
    masses = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        missed = 1.0
        for candidate in order:
            masses[candidate] += missed * coins[candidate] / len(orders)
            missed *= 1 - coins[candidate]
    return masses


def worst(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("total", [Fraction(1, 10), Fraction(2), Fraction(30)])
@pytest.mark.parametrize("part", [0, 0.1, 0.7, 0.99])
def test_it_is_the_worst_pair_of_two_losses_of_that_range(total, part):
    epsilon = float(total) * part
    best = mpmath.mpf(0)
    with mpmath.workdps(40):
        top = mp(total)
        for step in range(2001):
            t = mp(epsilon) + (top - mp(epsilon)) * step / 2000
            rare = (1 - mpmath.exp(t - top)) / (mpmath.exp(t) - mpmath.exp(t - top))
            best = max(best, rare * (mpmath.exp(t) - mpmath.exp(mp(epsilon))))
        bound = mp(float(BoundedRange(total).delta_up(np.array([epsilon]))[0]))
        assert best <= bound <= best * (1 + mpmath.mpf("1e-4"))


@given(SCORES, st.data())
def test_the_exponential_mechanism_is_below_it(scores, data):
    moved = [score + data.draw(st.floats(-1, 1)) for score in scores]
    for epsilon in (0.0, 0.2, 0.7):
        bound = BoundedRange(Fraction(1)).delta_up(np.array([epsilon]))[0]
        assert worst(exponential(scores, 1.0), exponential(moved, 1.0), epsilon) <= bound + 1e-14


@given(SCORES, st.data())
def test_permute_and_flip_is_below_laplace_noise(scores, data):
    """Its losses have no range of ε: it needs the profile of Laplace noise of scale 1/ε."""
    moved = [score + data.draw(st.floats(-1, 1)) for score in scores]
    for epsilon in (0.0, 0.2, 0.7):
        bound = Laplace(Fraction(1)).delta_up(np.array([epsilon]))[0]
        assert worst(permute_and_flip(scores, 1.0), permute_and_flip(moved, 1.0), epsilon) <= bound + 1e-14


def test_its_tests_are_attained_by_randomized_response_of_half_the_range():
    epsilons = [0.0, 0.2, 0.49]
    lowers = lower_bounds(BoundedRange(Fraction(1)), epsilons)
    uppers = BoundedRange(Fraction(1)).delta_up(np.array(epsilons))
    for epsilon, lower, upper in zip(epsilons, lowers, uppers, strict=True):
        truth = (math.exp(0.5) - math.exp(epsilon)) / (1 + math.exp(0.5))
        assert float(lower) == pytest.approx(truth, rel=1e-10)
        assert lower <= upper


@pytest.mark.parametrize("total", [Fraction(1, 50), Fraction(3)])
def test_it_is_a_profile(total):
    assert_is_a_profile(BoundedRange(total), highest=4)
