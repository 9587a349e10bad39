"""Logistic models: residuals in whole numbers, of each row by itself, whatever the other rows are.

A score is a whole number of steps of 2^−`SCORE_BITS`, and a residual one of steps of 1/`SHARE`. Exponentials come from
tables, so that equal scores have equal residuals on every machine.
"""

from functools import cache
from math import exp, floor
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.session.training.columns import Codes

SHARE: Final = 4096
"""How many lattice steps a residual of 1 has."""

SCORE_BITS: Final = 10
_LARGEST: Final = 16 << SCORE_BITS
_EXPONENTIAL: Final = 1 << 20

Matrix = npt.NDArray[np.float64]


def logistic_residuals(scores: npt.NDArray[Any], target: Codes) -> Matrix:
    """σ(s) − y of each row, in steps; s is the score of class 1, in steps.

    Example:
        >>> logistic_residuals(np.array([0, 0, 1024]), np.array([0, 1, 1], dtype=np.int32)).tolist()
        [2048.0, -2048.0, -1102.0]
    """
    places = (np.clip(scores, -_LARGEST, _LARGEST) + _LARGEST).astype(np.int64)
    found: Matrix = _sigmoid_table()[places] - SHARE * target
    return found


def softmax_residuals(scores: npt.NDArray[Any], target: Codes) -> Matrix:
    """The softmax of each row less 1 for its class, in steps: one row a row, one column a class.

    Example:
        >>> softmax_residuals(np.array([[0, 0, -16_384]]), np.array([1], dtype=np.int32)).tolist()
        [[2048.0, -2048.0, 0.0]]
    """
    behind = np.minimum(scores.max(axis=1, keepdims=True) - scores, _LARGEST).astype(np.int64)
    parts = _exponential_table()[behind]
    found: Matrix = np.floor(parts / parts.sum(axis=1, keepdims=True) * SHARE + 0.5)
    found[np.arange(len(found)), target] -= SHARE
    return found


def probabilities(scores: Matrix) -> Matrix:
    """σ of one score a row, or the softmax of several; new numbers, which the caller may change.

    They are floats: for predictions, and where their error is bounded.

    Example:
        >>> probabilities(np.array([[0.0, 0.0]])).tolist()
        [[0.5, 0.5]]
    """
    if scores.shape[1] == 1:
        small = np.exp(-np.abs(scores))
        found: Matrix = np.where(scores >= 0, 1.0, small) / (1.0 + small)
        return found
    parts = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Matrix = parts / parts.sum(axis=1, keepdims=True)
    return shares


@cache
def _sigmoid_table() -> Matrix:
    """σ of each score from −16 to 16, in steps of a residual."""
    scores = np.arange(-_LARGEST, _LARGEST + 1) / (1 << SCORE_BITS)
    return np.array([floor(SHARE / (1 + exp(-score)) + 0.5) for score in scores], dtype=np.float64)


@cache
def _exponential_table() -> Matrix:
    """e^−s of each score s from 0 to 16."""
    scores = np.arange(_LARGEST + 1) / (1 << SCORE_BITS)
    return np.array([floor(_EXPONENTIAL * exp(-score) + 0.5) for score in scores], dtype=np.float64)
