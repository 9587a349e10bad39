"""Nearly the largest or smallest value."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms import Extreme

GRID = 4


def distances(mechanism, values):
    counts = np.bincount(np.array(values, dtype=np.int64), minlength=GRID)
    return mechanism._distances(counts).tolist()


def plain_distances(values, rank, *, largest):
    sign = 1 if largest else -1
    return [
        max(0, sum(sign * v > sign * x for v in values) - (rank - 1), rank - sum(sign * v >= sign * x for v in values))
        for x in range(GRID)
    ]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("epsilon", [1, 4, 100])
def test_one_value_moves_every_distance_by_at_most_one(largest, epsilon):
    mechanism = Extreme(largest=largest, lower=0, upper=GRID - 1, epsilon=epsilon)
    for size in range(4):
        for values in itertools.combinations_with_replacement(range(GRID), size):
            before = distances(mechanism, values)
            assert before == plain_distances(values, mechanism.rank, largest=largest)
            for added in range(GRID):
                after = distances(mechanism, (*values, added))
                assert max(abs(a - b) for a, b in zip(before, after, strict=True)) <= 1


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_one_value_moves_no_probability_by_more_than_epsilon(largest, epsilon):
    mechanism = Extreme(largest=largest, lower=0, upper=GRID - 1, epsilon=epsilon)

    def law(values):
        return mechanism._choice.probabilities([-distance for distance in distances(mechanism, values)])

    for values in itertools.combinations_with_replacement(range(GRID), 3):
        for added in range(GRID):
            losses = np.log(law(values) / law((*values, added)))
            assert np.abs(losses).max() <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("digits", [15, 18, 400])
def test_no_epsilon_is_too_small_for_a_choice(largest, digits):
    mechanism = Extreme(largest=largest, lower=0, upper=GRID - 1, epsilon=Fraction(1, 10**digits))
    assert 0 <= mechanism.release([0, 1, 1, 2]) < GRID
    assert mechanism.rank <= 2**62  # as far as differences of ranks have room in 64 bits


def test_the_distance_is_zero_at_the_value_of_that_rank_alone():
    mechanism = Extreme(largest=True, lower=0, upper=GRID - 1, epsilon=1000)
    assert mechanism.rank == 1
    assert distances(mechanism, [0, 1, 2, 2]) == [3, 2, 0, 1]


@pytest.mark.parametrize(("largest", "exact"), [(True, 2), (False, 1)])
def test_with_little_noise_it_is_the_extreme_value(largest, exact):
    mechanism = Extreme(largest=largest, lower=0, upper=1000, epsilon=1000, resolution="0.5")
    assert mechanism.release([1, 2, 2, 1, 1.5]) == exact


@pytest.mark.statistical
def test_it_runs_past_all_values_at_most_once_in_twenty():
    mechanism = Extreme(largest=True, lower=0, upper=10_000, epsilon=1)
    runs = 400
    beyond = sum(mechanism.release([500] * 200) > 500 for _ in range(runs))
    assert beyond <= 50  # a binomial of 400 and 1/20 exceeds it with probability below 1e-8


def test_at_epsilon_zero_any_point_may_come():
    mechanism = Extreme(largest=True, lower=0, upper=1, epsilon=0)
    assert {mechanism.release([1] * 100) for _ in range(60)} == {0, 1}
    assert mechanism.accuracy() == float("inf")


def test_the_rank_falls_as_epsilon_grows():
    ranks = [Extreme(largest=True, lower=0, upper=100, epsilon=e).rank for e in (Fraction(1, 10), 1, 10, 100)]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[-1] == 1


@pytest.mark.parametrize("wrong", [{"upper": -1}, {"epsilon": -1}, {"largest": 1}, {"resolution": "1e-9"}])
def test_what_cannot_be_chosen_from_is_refused(wrong):
    with pytest.raises(ParameterError):
        Extreme(**({"largest": True, "lower": 0, "upper": 10, "epsilon": 1} | wrong))
