import math
from fractions import Fraction
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import assert_encloses, assert_is_a_profile, hockey_stick, lower_bounds, mp

from sfumato.accounting.core.finite import smallest_delta
from sfumato.accounting.profiles.finite import (
    EVERYTHING,
    NOTHING,
    BoundedRange,
    FinitePair,
    WorstPair,
    randomized_response,
)
from sfumato.accounting.profiles.profile import LaplaceProfile

WEIGHTS = st.lists(st.integers(0, 30), min_size=4, max_size=4).filter(any)
EPSILONS = st.lists(st.floats(0, 5), min_size=1, max_size=5)
LOPSIDED = FinitePair((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), (Fraction(0), Fraction(1, 8), Fraction(7, 8)))


def normalized(weights: list[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@given(WEIGHTS, WEIGHTS, EPSILONS)
def test_bounds_of_vectors_enclose_the_sum_of_the_definition(p, q, epsilons):
    pair = FinitePair(normalized(p), normalized(q))
    exact = [mp(value) for value in pair.p], [mp(value) for value in pair.q]
    assert_encloses(pair, lambda e: hockey_stick(*exact, e), [0.0, *epsilons], relative=1e-13)


@given(WEIGHTS, WEIGHTS)
def test_at_the_losses_themselves_the_bounds_hold(p, q):
    pair = FinitePair(normalized(p), normalized(q))
    losses = [max(math.log(a / b), 0.0) for a, b in zip(pair.p, pair.q, strict=True) if a and b]
    around = [max(place, 0.0) for loss in losses for place in (loss, math.nextafter(loss, 9), math.nextafter(loss, 0))]
    exact = [mp(value) for value in pair.p], [mp(value) for value in pair.q]
    assert_encloses(pair, lambda e: hockey_stick(*exact, e), [0.0, *around], relative=1e-13)


@pytest.mark.parametrize("exponent", [30, 250, 1000])
def test_the_bounds_hold_at_very_large_losses(exponent):
    rare = Fraction(1, 10**exponent)
    pair = FinitePair((1 - rare, rare), (rare, 1 - rare))
    loss = exponent * math.log(10)
    exact = [mp(value) for value in pair.p], [mp(value) for value in pair.q]
    around = [loss * (1 + step * 1e-16) for step in (-4, -2, 0, 2, 4)]
    assert_encloses(pair, lambda e: hockey_stick(*exact, e), [0.0, loss / 2, *around], relative=1e-14 + loss * 2e-14)


def test_nothing_is_lost_just_above_a_loss():
    """Losses are rounded up, so an ε may lie between a loss and its float, where the outcome still counts as above."""
    rare, gain = Fraction(1, 10**14), Fraction(1, 10**13)
    p = (Fraction(1, 2), gain, Fraction(1, 2) - gain)
    q = (rare * Fraction(1, 10**17), Fraction(1, 10**40), 1 - rare * Fraction(1, 10**17) - Fraction(1, 10**40))
    pair = FinitePair(p, q)
    for a, b in zip(p[:2], q[:2], strict=True):
        loss = math.log(a / b)
        around = np.array([loss * (1 + step * 2.0**-52) for step in range(-40, 41)])
        exact = [hockey_stick([mp(x) for x in p], [mp(x) for x in q], epsilon) for epsilon in around]
        assert all(mp(float(up)) >= truth for up, truth in zip(pair.delta_up(around), exact, strict=True))


def test_vectors_have_two_orders():
    backward = LOPSIDED.reversed()
    zero = np.zeros(1)
    assert LOPSIDED.delta_up(zero)[0] == pytest.approx(5 / 8)
    assert LOPSIDED.delta_up(np.array([50.0]))[0] == pytest.approx(1 / 2)
    assert backward.delta_up(np.array([1.0]))[0] == pytest.approx(7 / 8 - math.e / 4)
    assert backward.delta_up(np.array([50.0]))[0] == 0
    assert LOPSIDED.highest_loss == pytest.approx(math.log(2))
    assert backward.highest_loss == pytest.approx(math.log(3.5))


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(20), Fraction(900)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**8), Fraction(1, 3)])
def test_the_worst_pair_is_its_formula(epsilon, delta):
    def truth(loss: float) -> mpmath.mpf:
        top = mp(epsilon)
        gain = max(1 - mpmath.exp(mp(loss) - top), 0) / (1 + mpmath.exp(-top))
        return mp(delta) + (1 - mp(delta)) * gain

    places = [0.0, *(float(epsilon) * part for part in (0.01, 0.5, 0.999999)), float(epsilon), 2 * float(epsilon)]
    assert_encloses(WorstPair(epsilon, delta), truth, places, relative=2e-13, absolute=1e-13 * float(epsilon))


def test_every_pure_mechanism_is_below_the_worst_pair():
    epsilon = math.log(3)
    grid = [Fraction(k, 12) for k in range(13)]
    for a, b in product(grid, grid):
        p, q = (a, 1 - a), (b, 1 - b)
        if all(x <= 3 * y and y <= 3 * x for x, y in zip(p, q, strict=True)):
            for loss in (0.0, 0.3, 0.9):
                worst = WorstPair(Fraction(epsilon)).delta_up(np.array([loss]))[0]
                assert smallest_delta(p, q, epsilon=loss) <= worst * (1 + 1e-14)


@pytest.mark.parametrize(("probability", "categories"), [("1/2", 2), ("1/20", 4), ("0.9", 10), ("1", 3)])
def test_randomized_response_is_that_of_its_whole_table(probability, categories):
    kept = Fraction(probability)
    row = [(1 - kept) / categories] * categories
    first = [value + kept * (index == 0) for index, value in enumerate(row)]
    second = [value + kept * (index == 1) for index, value in enumerate(row)]
    pair = randomized_response(kept, categories)
    for epsilon in (0.0, 0.1, 1.0, 3.0):
        exact = float(smallest_delta(first, second, epsilon=epsilon))
        assert pair.delta_up(np.array([epsilon]))[0] == pytest.approx(exact, rel=1e-12, abs=1e-300)


def test_nothing_and_everything():
    epsilons = np.array([0.0, 1.0, 1e9])
    assert NOTHING.delta_up(epsilons).tolist() == [0, 0, 0]
    assert EVERYTHING.delta_up(epsilons).tolist() == [1, 1, 1]
    first, second = EVERYTHING.test_down(epsilons)
    assert first.tolist() == [1, 1, 1]
    assert second.tolist() == [0, 0, 0]


@pytest.mark.parametrize("pair", [LOPSIDED, LOPSIDED.reversed(), WorstPair(Fraction(2), Fraction(1, 9)), NOTHING])
def test_they_are_profiles(pair):
    assert_is_a_profile(pair, highest=4)


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
        bound = LaplaceProfile(Fraction(1)).delta_up(np.array([epsilon]))[0]
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
