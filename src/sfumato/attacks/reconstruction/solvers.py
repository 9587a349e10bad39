"""Three ways to find the bits from sums over subsets: least squares, a linear program, or all 2^n databases one by one.

Least squares between bounds suits noise that is spread evenly, and is by far the fastest. A linear program bears some
answers that are wildly wrong. Trying every database is the first attack of Dinur and Nissim [DN03].
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from sfumato.attacks.reconstruction.problem import Problem
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind

_STEPS: Final = 300
_MOST_PEOPLE: Final = 20
_AT_ONCE: Final = 1 << 10  # candidates, so that a block stays small


def least_squares(problem: Problem) -> NDArray[np.float64]:
    """The z between 0 and 1 with the least Σ(Az − a)², nearly.

    Projected gradients with momentum, 300 steps: a step costs n² whatever the number of queries. It stops a little
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


def linear_program(problem: Problem) -> NDArray[np.float64]:
    """The z between 0 and 1 with the least Σ|Az − a|.

    What is solved is its dual, which has a row for each person and not one for each question: maximize a·y − Σs with
    s ≥ Aᵀy, s ≥ 0 and |y| ≤ 1. The duals of its rows are z. It bears some answers that are wildly wrong [DMT07].

    Raises:
        ParameterError: It is no problem.

    Example:
        >>> masks = np.array([[True, True, False], [False, True, True], [True, True, True]])
        >>> linear_program(Problem(masks=masks, answers=np.array([1.0, 1.0, 2.0]))).tolist()
        [1.0, 0.0, 1.0]

    References:
        [DN03], the polynomial adversary; [DMT07] for the sum of absolute residuals.
    """
    of_kind(problem, "problem", Problem, "a Problem of masks and answers")
    questions, people = problem.masks.shape
    columns = csr_array(problem.masks.T.astype(np.float64))
    found = linprog(
        np.concatenate([-problem.answers, np.ones(people)]),
        A_ub=hstack([columns, -eye_array(people)], format="csr"),
        b_ub=np.zeros(people),
        bounds=[(-1, 1)] * questions + [(0, None)] * people,
        method="highs",
    )
    return np.clip(-np.asarray(found.ineqlin.marginals, dtype=np.float64), 0, 1)


def exhaustively(problem: Problem) -> NDArray[np.float64]:
    """The bits z with the least max |Az − a|.

    If all subsets were asked about and every answer errs by at most E, no more than 4E bits are wrong: z and the truth
    x both lie within E of the answer about {x > z}, so that it holds at most 2E people, and so does {z > x}.

    Args:
        problem: A problem with at most 20 people.

    Raises:
        ParameterError: There are more, or it is no problem.

    Example:
        >>> masks = np.array([[True, True, False], [False, True, True], [True, True, True]])
        >>> exhaustively(Problem(masks=masks, answers=np.array([1.0, 1.0, 2.0])))
        array([1., 0., 1.])

    References:
        [DN03], the exponential adversary.
    """
    of_kind(problem, "problem", Problem, "a Problem of masks and answers")
    if problem.people > _MOST_PEOPLE:
        raise ParameterError(
            "people",
            problem.people,
            f"must be at most {_MOST_PEOPLE}, since all databases are tried; use least_squares",
        )
    masks, places = problem.masks.astype(np.float64), np.arange(problem.people)
    best, least = np.zeros(problem.people), np.inf
    for start in range(0, 1 << problem.people, _AT_ONCE):
        numbers = np.arange(start, min(start + _AT_ONCE, 1 << problem.people))
        candidates = (numbers[:, None] >> places & 1).astype(np.float64)
        worst = np.abs(candidates @ masks.T - problem.answers).max(axis=1, initial=0.0)
        place = int(worst.argmin())
        if worst[place] < least:
            best, least = candidates[place], float(worst[place])
    return best
