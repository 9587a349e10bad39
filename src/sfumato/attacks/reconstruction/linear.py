"""The linear program of reconstruction: bits need not be tried one by one if they may be fractions."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from sfumato.attacks.reconstruction.problem import Problem
from sfumato.numeric.arguments import of_kind


def linear_program(problem: Problem) -> NDArray[np.float64]:
    """The z between 0 and 1 with the least Σ|Az − a|.

    What is solved is its dual, which has a row for each person and not one for each question: maximize a·y − Σs with
    s ≥ Aᵀy, s ≥ 0 and |y| ≤ 1. The prices of its rows are z. It bears some answers that are wildly wrong [DMT07].

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
