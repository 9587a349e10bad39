import math

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

from sfumato.attacks.reconstruction.attack import reconstruct
from sfumato.attacks.reconstruction.problem import (
    Problem,
    each_alone,
    every_mask,
    exact_sums,
    noisy_sums,
    posed,
    random_bits,
    random_masks,
    rounded_sums,
)
from sfumato.attacks.reconstruction.solvers import exhaustively, least_squares, linear_program
from sfumato.errors import BudgetExceededError, ParameterError


def test_every_subset_is_there_once():
    masks = every_mask(6)
    assert masks.shape == (64, 6)
    assert len({tuple(mask) for mask in masks.tolist()}) == 64


@pytest.mark.parametrize("people", [0, 17])
def test_all_subsets_of_nobody_or_of_many_are_refused(people):
    with pytest.raises(ParameterError, match="people"):
        every_mask(people)


def test_each_person_is_asked_about_once_and_alone():
    assert np.array_equal(each_alone(5), np.eye(5, dtype=bool))
    with pytest.raises(ParameterError, match="people"):
        each_alone(0)


@pytest.mark.statistical
def test_random_masks_and_bits_are_fair_coins():
    tosses = np.concatenate([random_masks(questions=100, people=1_000).ravel(), random_bits(100_000)])
    low, high = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], tosses.size, 0.5)
    assert low <= tosses.sum() <= high, f"type-I error {ALPHA}"
    assert not np.array_equal(random_bits(200), random_bits(200))


def test_what_is_refused_is_left_out():
    def answer(mask):
        if mask.sum() < 2:
            raise BudgetExceededError(requested=1, remaining=0)
        return mask.sum()

    problem = posed(answer, masks=every_mask(3))
    assert problem.people == 3
    assert problem.answers.tolist() == [2, 2, 2, 3]
    assert problem.masks.sum(axis=1).tolist() == [2, 2, 2, 3]


@pytest.mark.parametrize(
    ("masks", "answers", "name"),
    [((3, 0), (3,), "masks"), ((3,), (3,), "masks"), ((3, 2), (2,), "answers"), ((3, 2), (3, 1), "answers")],
)
def test_questions_and_answers_must_match(masks, answers, name):
    with pytest.raises(ParameterError, match=name):
        Problem(masks=np.zeros(masks, dtype=bool), answers=np.zeros(answers))


@pytest.mark.parametrize("answer", [np.nan, np.inf, None])
def test_what_is_no_number_is_no_answer(answer):
    secret = np.array([True, False])
    found = posed(lambda mask: answer if mask.all() else 1, masks=every_mask(2))
    assert len(found.answers) == 3
    assert reconstruct(lambda _: answer, secret=secret).outcome.notes == ("refused 8 of 8 queries",)


def test_answers_of_a_problem_are_finite():
    with pytest.raises(ParameterError, match="finite"):
        Problem(masks=every_mask(1), answers=np.array([0.0, np.nan]))


@pytest.mark.parametrize("people", [None, 2.5, "2", 10**400])
@pytest.mark.parametrize(
    "of", [each_alone, every_mask, random_bits, lambda people: random_masks(questions=1, people=people)]
)
def test_people_are_a_number_that_a_matrix_has_room_for(of, people):
    with pytest.raises(ParameterError, match=r"^people = "):
        of(people)


@pytest.mark.parametrize("method", [exhaustively, least_squares, linear_program])
@pytest.mark.parametrize("problem", [None, np.ones((2, 2)), {"masks": 1}])
def test_methods_take_a_problem(method, problem):
    with pytest.raises(ParameterError, match=r"^problem = .*must be a Problem of masks and answers$"):
        method(problem)


def test_a_problem_of_lists_is_one_of_arrays():
    problem = Problem(masks=[[1, 1, 0], [0, 1, 1], [1, 1, 1]], answers=[1, 1, 2])
    assert linear_program(problem).tolist() == [1, 0, 1]


SECRET = np.array([True, True, False, True, False, True, True, True])
ALL = np.ones(8, dtype=bool)
DRAWS = 20_000


def test_exact_sums_count_the_bits_of_a_mask():
    secret, masks = random_bits(50), random_masks(questions=20, people=50)
    answer = exact_sums(secret)
    assert [answer(mask) for mask in masks] == (masks.astype(int) @ secret).tolist()


@pytest.mark.parametrize(("step", "shown"), [(1, 6), (5, 5), (4, 8), (20, 0)])
def test_rounded_sums_are_multiples_of_the_step(step, shown):
    assert rounded_sums(SECRET, step=step)(ALL) == shown


@pytest.mark.statistical
@pytest.mark.parametrize(("law", "stddev"), [("laplace", math.sqrt(2)), ("gaussian", 1), ("uniform", 1 / math.sqrt(3))])
def test_noise_is_around_the_sum_and_of_the_size_that_was_asked_for(law, stddev):
    answer = noisy_sums(SECRET, scale=3, distribution=law)
    noise = np.array([answer(ALL) for _ in range(DRAWS)]) - 6
    assert abs(noise.mean()) < 4.9 * 3 * stddev / math.sqrt(DRAWS), f"type-I error {ALPHA}"
    # the variance of a square is at most 5 times the squared variance, that of Laplace noise
    assert noise.var() == pytest.approx((3 * stddev) ** 2, rel=4.9 * math.sqrt(5 / DRAWS)), f"type-I error {ALPHA}"


def test_uniform_noise_keeps_within_its_bounds():
    answer = noisy_sums(SECRET, scale=2, distribution="uniform")
    assert max(abs(answer(ALL) - 6) for _ in range(1_000)) <= 2


def test_no_noise_of_scale_nothing():
    assert noisy_sums(SECRET, scale=0)(ALL) == 6


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="step"):
        rounded_sums(SECRET, step=0)
    for scale in (-1, float("inf"), float("nan")):
        with pytest.raises(ParameterError, match="scale"):
            noisy_sums(SECRET, scale=scale)
    with pytest.raises(ParameterError, match="distribution"):
        noisy_sums(SECRET, scale=1, distribution="cauchy")
