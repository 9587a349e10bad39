"""Least squares under constraints: which candidates explain the ones at each bit, and how much of them each does.

The ones at a bit are a sum over the candidates that set it. With more candidates than equations a lasso whose weights
are not negative first chooses those that may be there. Nothing here solves by SciPy's `nnls`, which ends the process if
there is no candidate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse import csc_array

from sfumato.local.frequency.projection import norm_sub

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

SHARE_OF_EQUATIONS: Final = 0.8
"""As many candidates, as a share of the equations, are fitted without a lasso."""
LARGEST_SUPPORT: Final = 500
"""The most candidates that a lasso leaves."""
_WEAKEST: Final = 2.0  # standard errors that a candidate must explain to be left
_STRONGEST: Final = 64.0
_FALL: Final = 0.7
_ROUNDS: Final = 400
_NEAR: Final = 1e-9
_POWERS: Final = 30
_NO_RANK: Final = 1e-9  # of the largest eigenvalue


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Fractions that explain what was seen.

    Attributes:
        support: The numbers of the candidates that were fitted, ascending.
        fractions: Of these, by least squares without constraints: unbiased, and some may lie below 0.
        errors: The standard errors of `fractions`; infinite for candidates that set the same bits as others.
        possible: Of these, by least squares with fractions of at least 0 that add up to 1 at most.
    """

    support: Integers
    fractions: Floats
    errors: Floats
    possible: Floats


def fitted(design: csc_array, seen: Floats, errors: Floats) -> Fit:
    """The fractions of the candidates by weighted least squares.

    If the residuals are larger than the errors explain, because some texts that were reported are no candidates, the
    standard errors grow with them.

    Args:
        design: Equations by candidates: 1 where the candidate sets the bit of the equation.
        seen: For each equation, the fraction of reports whose text sets its bit, estimated.
        errors: The standard errors of `seen`, above 0.

    Example:
        >>> design = csc_array(np.array([[1, 0], [1, 1], [0, 1]]))
        >>> fitted(design, np.array([0.5, 0.8, 0.3]), np.full(3, 0.01)).fractions.round(3).tolist()
        [0.5, 0.3]
    """
    weighted = csc_array(design.multiply(1 / errors[:, None]))
    target = seen / errors
    support = _support(weighted, target)
    if not len(support):
        nothing = np.zeros(0)
        return Fit(support=support, fractions=nothing, errors=nothing, possible=nothing)
    chosen = weighted[:, support]
    gram, moments = (chosen.T @ chosen).toarray(), chosen.T @ target
    fractions, variances = _solved(gram, moments)
    left = target - chosen @ fractions
    excess = max(1.0, float(left @ left) / max(1, len(target) - len(support)))
    possible = descended(
        lambda x: gram @ x - moments,
        lambda x, _: norm_sub(x, is_whole=False),
        np.zeros(len(support)),
        steepest=float(np.abs(gram).sum(axis=0).max()),
    )
    return Fit(support=support, fractions=fractions, errors=np.sqrt(excess * variances), possible=possible)


def descended(
    gradient: Callable[[Floats], Floats],
    project: Callable[[Floats, float], Floats],
    start: Floats,
    *,
    steepest: float,
) -> Floats:
    """The least point of a quadratic function, by projected gradients with momentum that restarts where it overshoots.

    Args:
        gradient: Of the function.
        project: The nearest allowed point, for a step of the given length.
        start: Where to begin; an allowed point.
        steepest: At least the largest eigenvalue of the second derivatives.

    Example:
        >>> descended(lambda x: x - 3, lambda x, _: np.minimum(x, 2), np.zeros(1), steepest=1.0).tolist()
        [2.0]

    References:
        [BT09]; [OC15] for the restarts.
    """
    step = 1 / steepest
    point, ahead, momentum = start, start, 1.0
    for _ in range(_ROUNDS):
        following = project(ahead - step * gradient(ahead), step)
        moved = following - point
        if float((ahead - following) @ moved) > 0:
            momentum = 1.0
        larger = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = following + (momentum - 1) / larger * moved
        point, momentum = following, larger
        if float(np.abs(moved).max(initial=0.0)) < _NEAR:
            break
    return point


def _support(weighted: csc_array, target: Floats) -> Integers:
    """The candidates that are fitted: all that set a bit, if they are few; else those that a lasso leaves."""
    norms: Floats = np.sqrt(weighted.multiply(weighted).sum(axis=0))
    known = np.flatnonzero(norms > 0)
    if len(known) <= SHARE_OF_EQUATIONS * len(target):
        return known
    scaled: Any = csc_array(weighted[:, known].multiply(1 / norms[known]))
    transposed = scaled.T.tocsr()
    most = min(LARGEST_SUPPORT, int(SHARE_OF_EQUATIONS * len(target)))
    vector = np.ones(len(known))
    for _ in range(_POWERS):
        vector = transposed @ (scaled @ (vector / np.linalg.norm(vector)))
    steepest = 1.1 * float(np.linalg.norm(vector))
    solution, left = np.zeros(len(known)), np.zeros(0, dtype=np.int64)
    penalty = _STRONGEST
    while penalty >= _WEAKEST:
        solution = descended(
            lambda x: transposed @ (scaled @ x - target),
            lambda x, step, of=penalty: np.maximum(x - step * of, 0.0),  # type: ignore[misc] # bound in the loop
            solution,
            steepest=steepest,
        )
        found = known[np.flatnonzero(solution > 0)]
        if len(found) > most:
            break
        left, penalty = found, penalty * _FALL
    return left


def _solved(gram: Floats, moments: Floats) -> tuple[Floats, Floats]:
    """The solution of the normal equations, and the variances of its entries."""
    try:
        factor = cho_factor(gram)
        inverse = cho_solve(factor, np.eye(len(gram)))
        if float(np.abs(gram @ inverse - np.eye(len(gram))).max()) < _NO_RANK**0.5:
            return inverse @ moments, inverse.diagonal().copy()
    except LinAlgError:
        pass
    values, vectors = eigh(gram)
    is_lost = values <= _NO_RANK * values[-1]
    kept = vectors[:, ~is_lost] / np.sqrt(values[~is_lost])
    variances = (kept**2).sum(axis=1)
    variances[(vectors[:, is_lost] ** 2).sum(axis=1) > _NO_RANK] = np.inf
    return kept @ (kept.T @ moments), variances
