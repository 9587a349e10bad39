import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import assert_encloses, assert_is_a_profile, hockey_stick, mp

from sfumato.accounting.core.finite import smallest_delta
from sfumato.accounting.profiles.finite import EVERYTHING, NOTHING, FinitePair, WorstPair, randomized_response

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
