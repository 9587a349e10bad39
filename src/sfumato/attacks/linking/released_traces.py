"""People found in released traces: by a few points that are known of them, or by an earlier release of their traces.

A released trace is a row of numbers: how often somebody was at each place, perhaps with noise. Pseudonyms do not help:
a few points tell most people apart [MHVB13], and habits tell them again in the next release [NUTV16].
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from sfumato.attacks.core.answers import dice
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats
from sfumato.numeric.rationals import positive_integer

Floats = NDArray[np.float64]

_MATRIX: Final = 2  # dimensions
_MOST_PEOPLE: Final = 5_000  # who are compared with each other
_FEWEST: Final = 2


def found_by_points(released: ArrayLike, traces: ArrayLike, *, points: int = 4) -> Outcome:
    """Look for each person's released trace by some places, drawn at random, where the person is known to have been.

    The guess is the released trace that has most of these places; a number from 0 to 1 counts as that share of a place,
    a larger one as one place. A guess is right if the person's own row is alone the best one. On exact traces this is
    `unicity`.

    Args:
        released: One row a person, one column a place: how often, perhaps with noise.
        traces: How often each person really was at each place, by the same rows and columns; a person without any
            place is not looked for. The order of rows counts right guesses, and is hidden from the attack.
        points: The number of known places; all of a person who has fewer.

    Raises:
        ParameterError: They are no numbers in rows of equal length, shapes differ, or there are fewer than two people.

    Example:
        >>> exact = [[2, 1, 0], [0, 1, 1], [1, 0, 3]]
        >>> found_by_points(exact, exact, points=2).success
        1.0
        >>> found_by_points([[1, 1, 1]] * 3, exact, points=2).success
        0.0

    References:
        [MHVB13].
    """
    positive_integer(points, "points")
    shown, true = _rows(released, "released"), _rows(traces, "traces")
    if shown.shape != true.shape:
        raise ParameterError("traces", true.shape, f"must be of the shape of released: {shown.shape}")
    present, draw, right, trials = np.clip(shown, 0, 1), dice(), 0, 0
    for person in np.flatnonzero((true > 0).any(axis=1)).tolist():
        visited = np.flatnonzero(true[person] > 0)
        known = draw.choice(visited, size=min(points, len(visited)), replace=False, shuffle=False)
        scores = present[:, known].sum(axis=1)
        right += int((scores >= scores[person]).sum() == 1)
        trials += 1
    if trials == 0:
        raise ParameterError("traces", "no places", "must have somebody who was somewhere")
    return Outcome(
        attack=f"{points} known points", successes=right, trials=trials, baseline=1 / len(shown)
    )  # fmt: skip


def linked_traces(first: ArrayLike, second: ArrayLike) -> Outcome:
    """Link the traces of two releases, each under pseudonyms of its own, by how alike habits are.

    Rows become shares of places p and q, negative numbers 0. Each row of the first release is assigned one row of the
    second, so that the sum of all Σ √(p·q) is largest. The authors match by a distance that is optimal for many points;
    this likeness needs no logarithm of 0.

    Args:
        first: One row a person, one column a place: how often, perhaps with noise; at most 5,000 rows.
        second: The same people and places in another period. The order of rows counts right links, and is hidden from
            the attack.

    Raises:
        ParameterError: They are no numbers in rows of equal length, shapes differ, or there are fewer than two people,
            or more than 5,000.

    Example:
        >>> linked_traces([[5, 1, 0], [0, 4, 1], [1, 0, 6]], [[9, 0, 1], [1, 7, 2], [0, 1, 8]]).success
        1.0

    References:
        [NUTV16].
    """
    one, other = _rows(first, "first"), _rows(second, "second")
    if one.shape != other.shape:
        raise ParameterError("second", other.shape, f"must be of the shape of first: {one.shape}")
    people = len(one)
    if people > _MOST_PEOPLE:
        raise ParameterError("first", f"{people:,} people", f"must be at most {_MOST_PEOPLE:,}")
    hidden = dice().permutation(people)
    likeness = _roots_of_shares(one) @ _roots_of_shares(other[hidden]).T
    linked = hidden[linear_sum_assignment(-likeness)[1]]
    right = int((linked == np.arange(people)).sum())
    return Outcome(attack="linking by habits", successes=right, trials=people, baseline=1 / people)


def _roots_of_shares(counts: Floats) -> Floats:
    """The square roots of each row's shares; a row of nothing is like no other."""
    kept = np.maximum(counts, 0)
    total = kept.sum(axis=1, keepdims=True)
    roots: Floats = np.sqrt(kept / np.where(total > 0, total, 1))
    return roots


def _rows(values: Any, name: str) -> Floats:
    """Finite numbers in rows, of at least two people."""
    found = floats(values, name)
    if found.ndim != _MATRIX or not np.isfinite(found).all() or len(found) < _FEWEST or found.shape[1] == 0:
        raise ParameterError(name, type(values), "must be finite numbers: a row for each of two people or more")
    return found
