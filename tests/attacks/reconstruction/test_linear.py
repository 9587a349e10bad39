import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.attacks.reconstruction.linear import linear_program
from sfumato.attacks.reconstruction.problem import Problem, random_bits, random_masks

RNG = np.random.default_rng(2007)


def problem(people, questions, noise):
    secret, masks = random_bits(people), random_masks(questions=questions, people=people)
    return secret, Problem(masks=masks, answers=(masks & secret).sum(axis=1) + noise(questions))


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
    _, posed = problem(20, 80, lambda count: RNG.laplace(0, scale, count))
    found = linear_program(posed)
    assert found.min() >= 0
    assert found.max() <= 1
    assert residual(posed, found) == pytest.approx(least_residual(posed), rel=1e-6, abs=1e-6)


def test_exact_answers_give_every_bit():
    secret, posed = problem(64, 256, np.zeros)
    assert np.allclose(linear_program(posed), secret)


def test_a_tenth_of_wild_answers_does_no_harm():
    secret, posed = problem(64, 512, lambda count: np.where(np.arange(count) % 10 == 0, 1e6, 0.0))
    assert np.array_equal(linear_program(posed) > 0.5, secret)
