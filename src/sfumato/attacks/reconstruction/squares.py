"""Least squares between bounds: the attack for noise that is spread evenly, and by far the fastest."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.reconstruction.problem import Problem
from sfumato.numeric.arguments import of_kind

_STEPS: Final = 300


def least_squares(problem: Problem) -> NDArray[np.float64]:
    """The z between 0 and 1 with the least Σ(Az − a)², nearly.

    Projected gradients with momentum, 300 steps: a step costs n² whatever the number of questions. It stops a little
    short of the minimum, by less than what rounding to bits can see.

    Raises:
        ParameterError: It is no problem.

    Example:
        >>> masks = np.array([[True, True, False], [False, True, True], [True, True, True]])
        >>> least_squares(Problem(masks=masks, answers=np.array([1.0, 1.0, 2.0]))).round(3).tolist()
        [1.0, 0.0, 1.0]

    References:
        [BT09]
    """
    of_kind(problem, "problem", Problem, "a Problem of masks and answers")
    masks = problem.masks.astype(np.float64)
    square, toward = masks.T @ masks, masks.T @ problem.answers
    steepest = max(float(square.sum(axis=1).max()), 1.0)  # no eigenvalue is larger than the largest sum of a row
    ahead = last = np.full(problem.people, 0.5)
    momentum = 1.0
    for _ in range(_STEPS):  # not `@`: what threads cost on so small a product, many times, is more than it saves
        here = np.clip(ahead - (np.einsum("ij,j->i", square, ahead) - toward) / steepest, 0, 1)
        following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = here + (momentum - 1) / following * (here - last)
        last, momentum = here, following
    return last
