import numpy as np
import pytest
from scipy.optimize import lsq_linear

from sfumato.attacks.reconstruction.problem import Problem, random_bits, random_masks
from sfumato.attacks.reconstruction.squares import least_squares

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
