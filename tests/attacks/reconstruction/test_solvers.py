import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear

from sfumato.attacks.reconstruction.problem import Problem, every_mask, random_bits, random_masks
from sfumato.attacks.reconstruction.solvers import exhaustively, least_squares, linear_program
from sfumato.errors import ParameterError

RNG = np.random.default_rng(2009)


def problem(people, questions, noise):
    secret, masks = random_bits(people), random_masks(questions=questions, people=people)
    return secret, Problem(masks=masks, answers=(masks & secret).sum(axis=1) + noise(questions))


@pytest.mark.parametrize("scale", [0, 2, 6, 192])
def test_it_comes_close_to_the_least_sum_of_squares(scale):
    _, posed = problem(48, 192, lambda count: RNG.laplace(0, scale, count))
    found = least_squares(posed)
    best = lsq_linear(posed.masks.astype(float), posed.answers, (0, 1), method="bvls").x
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.abs(found - best).max() < 0.02
    assert ((found > 0.5) != (best > 0.5)).sum() <= 2


def test_exact_answers_give_every_bit():
    secret, posed = problem(128, 512, np.zeros)
    assert np.array_equal(least_squares(posed) > 0.5, secret)


def test_questions_about_nobody_leave_the_middle():
    assert least_squares(Problem(masks=np.zeros((3, 2), dtype=bool), answers=np.zeros(3))).tolist() == [0.5, 0.5]


LINEAR_RNG = np.random.default_rng(2007)


def residual(posed, found):
    return float(np.abs(posed.masks @ found - posed.answers).sum())


def least_residual(posed):
    """The same program as it is written down: a variable for each person and two for each question."""
    questions, people = posed.masks.shape
    return linprog(
        np.concatenate([np.zeros(people), np.ones(2 * questions)]),
        A_eq=np.hstack([posed.masks.astype(float), np.eye(questions), -np.eye(questions)]),
        b_eq=posed.answers,
        bounds=[(0, 1)] * people + [(0, None)] * (2 * questions),
    ).fun


@pytest.mark.parametrize("scale", [0, 1, 5, 100])
def test_no_fractions_have_a_smaller_sum_of_residuals(scale):
    _, posed = problem(20, 80, lambda count: LINEAR_RNG.laplace(0, scale, count))
    found = linear_program(posed)
    assert found.min() >= 0
    assert found.max() <= 1
    assert residual(posed, found) == pytest.approx(least_residual(posed), rel=1e-6, abs=1e-6)


def test_exact_answers_give_a_linear_program_every_bit():
    secret, posed = problem(64, 256, np.zeros)
    assert np.allclose(linear_program(posed), secret)


def test_a_tenth_of_wild_answers_does_no_harm():
    secret, posed = problem(64, 512, lambda count: np.where(np.arange(count) % 10 == 0, 1e6, 0.0))
    assert np.array_equal(linear_program(posed) > 0.5, secret)


EXHAUSTIVE_RNG = np.random.default_rng(2003)


def answered(secret, masks, error=0.0):
    exact = (masks & secret).sum(axis=1)
    return Problem(masks=masks, answers=exact + EXHAUSTIVE_RNG.uniform(-error, error, len(masks)))


@pytest.mark.parametrize("people", [1, 7, 12])
def test_exact_answers_about_all_subsets_give_the_only_database(people):
    secret = random_bits(people)
    assert np.array_equal(exhaustively(answered(secret, every_mask(people))) > 0.5, secret)


@pytest.mark.parametrize("error", [0.49, 1, 2])
def test_answers_that_err_by_e_leave_at_most_4e_bits_wrong(error):
    for _ in range(20):
        secret = random_bits(9)
        found = exhaustively(answered(secret, every_mask(9), error)) > 0.5
        assert (found != secret).sum() <= 4 * error


def test_no_database_errs_less():
    masks = every_mask(8)[EXHAUSTIVE_RNG.permutation(256)[:40]]
    problem = answered(random_bits(8), masks, 1.5)
    worst = np.abs(every_mask(8).astype(float) @ masks.T - problem.answers).max(axis=1)
    assert np.abs(masks @ exhaustively(problem) - problem.answers).max() == worst.min()


def test_more_than_one_block_of_candidates_is_searched():
    secret = np.ones(13, dtype=bool)  # the last of 8,192 candidates
    assert exhaustively(answered(secret, np.eye(13, dtype=bool))).all()


def test_too_many_people_are_refused():
    with pytest.raises(ParameterError, match="least_squares"):
        exhaustively(Problem(masks=np.ones((1, 21), dtype=bool), answers=np.ones(1)))
