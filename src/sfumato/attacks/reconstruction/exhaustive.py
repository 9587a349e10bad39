"""All 2^n databases one by one: the first attack of Dinur and Nissim, which nothing but time limits."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.reconstruction.problem import Problem
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind

_MOST_PEOPLE: Final = 20
_AT_ONCE: Final = 1 << 10  # candidates, so that a block stays small


def exhaustively(problem: Problem) -> NDArray[np.float64]:
    """The bits z with the least max |Az − a|.

    If all subsets were asked about and every answer errs by at most E, no more than 4E bits are wrong: z and the truth
    x both lie within E of the answer about {x > z}, so that it holds at most 2E people, and so does {z > x}.

    Args:
        problem: Of at most 20 people.

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
