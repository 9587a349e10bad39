from fractions import Fraction
from itertools import product
from math import exp, inf

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from sfumato.audit.canaries.guesses import Guesses, Scored, exact_p_value, p_values, refuted_epsilon, steinke_p_value
from sfumato.errors import ParameterError

SEEN = Scored(scores=[5.0, 1.0, 4.0, 2.0, 3.0, 0.0], included=[True, False, False, True, True, False])


@pytest.mark.parametrize(
    ("high", "low", "right"), [(1, 0, 1), (2, 0, 1), (3, 0, 2), (0, 1, 1), (0, 3, 2), (3, 3, 4), (0, 0, 0)]
)
def test_the_highest_are_guessed_included_and_the_lowest_left_out(high, low, right):
    assert SEEN.guesses(high=high, low=low) == Guesses(right=right, made=high + low, canaries=6)


def test_ties_go_by_the_order_of_the_canaries_alone():
    included = np.array([True, False] * 10)
    flat = Scored(scores=[1.0] * 20, included=included)
    assert flat.guesses(high=5, low=0).right == np.count_nonzero(included[-5:])
    assert flat.guesses(high=0, low=5).right == np.count_nonzero(~included[:5])


@pytest.mark.parametrize(("high", "low"), [(4, 3), (-1, 2), (7, 0)])
def test_more_guesses_than_canaries_are_refused(high, low):
    with pytest.raises(ParameterError, match="at most 6 guesses"):
        SEEN.guesses(high=high, low=low)


def test_how_many_guesses_are_tried_does_not_depend_on_scores_or_coins():
    other = Scored(scores=np.arange(6), included=[False] * 6)
    assert [found.made for found in SEEN.tries()] == [found.made for found in other.tries()]


def test_shares_are_tried_from_both_ends_and_from_the_upper_end():
    large = Scored(scores=np.arange(64.0), included=np.arange(64) >= 32)
    assert sorted(found.made for found in large.tries((1, 1 / 4))) == [16, 16, 64]
    assert all(found.right == found.made for found in large.tries((1, 1 / 4)))


@pytest.mark.parametrize(
    ("scores", "included", "match"),
    [
        ([1.0], [True], "two or more"),
        ([1.0, 2.0], [True], "one for each"),
        ([[1.0, 2.0]], [[True, False]], "list"),
        ([1.0, float("nan")], [True, False], "−inf"),
        ([1.0, 2.0], [1, 0], "True or False"),
    ],
)
def test_what_cannot_be_read_is_refused(scores, included, match):
    with pytest.raises(ParameterError, match=match):
        Scored(scores=scores, included=included)


@pytest.mark.parametrize("counts", [(3, 2, 5), (-1, 2, 5), (2, 6, 5)])
def test_impossible_counts_are_refused(counts):
    right, made, canaries = counts
    with pytest.raises(ParameterError, match="guesses"):
        Guesses(right=right, made=made, canaries=canaries)


CASES = [
    (10, 10, 9, 0.5, 0.001),
    (10, 10, 9, 0.5, 0.01),
    (20, 10, 8, 1.0, 0.003),
    (12, 12, 12, 2.0, 0.01),
    (12, 12, 1, 0.7, 0.01),
    (30, 20, 15, 0.1, 0.001),
    (30, 20, 20, 0.3, 0.002),
    (30, 20, 5, 0.3, 0.002),
    (5, 5, 3, 0.5, 0.1),
    (40, 40, 30, 0.5, 0.0005),
    (6, 3, 2, 0.5, 0.3),
]


def p_value(function, canaries, made, right, epsilon, delta):
    return function(
        Guesses(right=right, made=made, canaries=canaries), epsilon=Fraction(epsilon), delta=Fraction(delta)
    )


def best_of_all_symmetric_mechanisms(canaries, made, right, epsilon, delta):
    """max P(W ≥ right) over laws of W for which guesses that depend on W alone have (ε, δ); no formula is used.

    Guesses about canary i and its neighbors' coins: Σ over guesses of (P − e^ε·P')₊ ≤ δ, which for a mechanism that
    treats all canaries alike is Σ_w (w·P_w − e^ε·(r − w + 1)·P_{w−1})₊ + ((r − w)·P_w − e^ε·(w + 1)·P_{w+1})₊ ≤ m·δ.
    """
    size, growth = made + 1, exp(epsilon)
    rows = []
    for w in range(size):
        for block, (own, neighbor, weight) in enumerate(((w, w - 1, made - w + 1), (made - w, w + 1, w + 1))):
            row = np.zeros(3 * size)
            row[w] = own
            if 0 <= neighbor < size:
                row[neighbor] = -growth * weight
            row[(block + 1) * size + w] = -1
            rows.append(row)
    budget = np.repeat([0.0, 1.0, 1.0], size)
    found = linprog(
        np.where(np.arange(3 * size) < right, 0, np.where(np.arange(3 * size) < size, -1, 0)),
        A_ub=np.array([*rows, budget]),
        b_ub=[0] * len(rows) + [canaries * delta],
        A_eq=[np.repeat([1.0, 0.0, 0.0], size)],
        b_eq=[1],
    )
    return -found.fun


@pytest.mark.parametrize("case", CASES)
def test_the_exact_p_value_is_what_the_best_mechanism_reaches(case):
    assert p_value(exact_p_value, *case) == pytest.approx(best_of_all_symmetric_mechanisms(*case), rel=1e-6)


@pytest.mark.parametrize("made", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0, 6.0])
def test_wherever_it_says_less_than_a_half_the_published_bound_is_not_below_the_exact_one(made, epsilon):
    for right, delta in product(range(1, made + 1), ("1/100000", "1/1000", "1/10")):
        published = p_value(steinke_p_value, made, made, right, epsilon, delta)
        assert published >= min(0.5, p_value(exact_p_value, made, made, right, epsilon, delta)) - 1e-12


def test_elsewhere_a_mechanism_beats_the_published_bound_and_not_the_exact_one():
    """Answers about three canaries, uniform but never all wrong: one answer in seven gives a neighbor away."""
    coins = list(product((0, 1), repeat=3))
    laws = {
        own: {answer: 0.0 if all(a != b for a, b in zip(answer, own, strict=True)) else 1 / 7 for answer in coins}
        for own in coins
    }
    deltas = [
        sum(max(0, laws[one][answer] - laws[other][answer]) for answer in coins)
        for one, other in product(coins, repeat=2)
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    ]
    assert max(deltas) == pytest.approx(1 / 7)
    assert p_value(steinke_p_value, 3, 3, 1, 0, "1/7") == pytest.approx(0.982, abs=1e-3)
    assert p_value(exact_p_value, 3, 3, 1, 0, "1/7") == 1


def right_guesses_of_a_leaking_mechanism(leaks, epsilon):
    """P(W ≥ v) for each v, over every coin and answer of three canaries: ε-randomized response, or the truth."""
    chances = np.zeros(4)
    truth = 1 / (1 + exp(-epsilon))
    for coins, answers in product(product((0, 1), repeat=3), repeat=2):
        right = [coin == answer for coin, answer in zip(coins, answers, strict=True)]
        chance = np.prod([leaks * is_right + (1 - leaks) * (truth if is_right else 1 - truth) for is_right in right])
        chances[sum(right)] += chance / 8
    return np.cumsum(chances[::-1])[::-1]


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("leak", [0.0, 0.05, 0.3])
def test_no_number_of_right_guesses_is_likelier_than_its_p_value(epsilon, leak):
    """The truth is told with chance `leak` about each canary, which needs δ = leak·(1 − q)(1 + …) at most `leak`."""
    reached = right_guesses_of_a_leaking_mechanism(leak, epsilon)
    for right in range(4):
        assert reached[right] <= p_value(exact_p_value, 3, 3, right, epsilon, leak) + 1e-12


def test_with_too_small_a_delta_it_would_be():
    reached = right_guesses_of_a_leaking_mechanism(0.3, 0.1)
    assert reached[3] > p_value(exact_p_value, 3, 3, 3, 0.1, 0.01)


def test_without_delta_both_are_a_binomial_tail():
    tail = binom.sf(74, 100, 1 / (1 + exp(-0.5)))
    for function in (exact_p_value, steinke_p_value):
        assert p_value(function, 1000, 100, 75, 0.5, 0) == pytest.approx(tail, rel=1e-9)


def test_the_published_example_of_the_published_bound():
    """m = 1000, r = 100, v = 75, δ = 1e-4 at 95%: ε ≥ 0.673, in Appendix D of the paper."""
    bound = refuted_epsilon(
        lambda *, epsilon: p_value(steinke_p_value, 1000, 100, 75, epsilon, "1/10000"), significance=0.05
    )
    assert round(bound, 3) == 0.673


def test_the_exact_bound_of_the_same_example_is_larger():
    bound = refuted_epsilon(
        lambda *, epsilon: p_value(exact_p_value, 1000, 100, 75, epsilon, "1/10000"), significance=0.05
    )
    assert round(bound, 3) == 0.695


@pytest.mark.parametrize("right", [0, 1, 30, 50, 70, 99, 100])
def test_p_values_grow_with_epsilon_and_with_delta(right):
    grid = [Fraction(k, 4) for k in range(0, 40, 3)]
    for function in (exact_p_value, steinke_p_value):
        found = [[p_value(function, 200, 100, right, e, d) for e in grid] for d in ("0", "1/100000", "1/100")]
        assert all(np.diff(row).min() >= -1e-12 for row in found)
        assert np.diff(found, axis=0).min() >= 0


def test_no_right_guess_says_nothing():
    for function in (exact_p_value, steinke_p_value):
        assert p_value(function, 100, 50, 0, 0, "1/100") == 1


@pytest.mark.parametrize(("right", "epsilon"), [(10_000, 0), (10_000, 300), (1, 50), (5000, 0), (9999, 8)])
def test_ten_thousand_guesses_neither_over_nor_underflow(right, epsilon):
    for function in (exact_p_value, steinke_p_value):
        assert 0 < p_value(function, 10_000, 10_000, right, epsilon, "1/100000") <= 1


def test_where_the_tail_underflows_delta_still_counts():
    """Even if chance alone never does it, m·δ/v is what a mechanism may leak about the last guess."""
    found = p_value(exact_p_value, 10_000, 10_000, 10_000, 0, "1/100000")
    assert found >= 10_000 * 1e-5 / 10_000


def test_many_claims_at_once_give_what_each_gives_alone():
    guesses = Guesses(right=70, made=100, canaries=300)
    epsilon, delta = np.array([0.0, 0.4, 2.0]), np.array([1e-6, 1e-3, 1e-2])
    alone = [
        exact_p_value(guesses, epsilon=Fraction(e), delta=Fraction(d)) for e, d in zip(epsilon, delta, strict=True)
    ]
    assert p_values(guesses, wrong=1 / (1 + np.exp(epsilon)), delta=delta) == pytest.approx(alone, rel=1e-9)


def test_an_epsilon_is_refuted_where_the_p_value_reaches_the_significance():
    guesses = Guesses(right=90, made=100, canaries=100)
    bound = refuted_epsilon(lambda *, epsilon: exact_p_value(guesses, epsilon=epsilon), significance=1e-3)
    assert exact_p_value(guesses, epsilon=Fraction(bound)) <= 1e-3
    assert exact_p_value(guesses, epsilon=Fraction(bound + 1e-6)) > 1e-3


def test_what_refutes_nothing_is_zero_and_what_refutes_all_is_finite():
    assert refuted_epsilon(lambda *, epsilon: 0.06 + float(epsilon), significance=0.05) == 0
    assert refuted_epsilon(lambda *, epsilon: float(epsilon) * 0, significance=0.05) < inf
