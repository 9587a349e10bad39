"""A search by logistic regression on numbers and the bits of their floats, whose threshold is one more event to test.

Floating-point noise leaves traces in low bits that no threshold on the value shows [Mir12], [HDHSH22]; and several
coordinates together may tell what none tells alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from sfumato.audit.core.outputs import Column, Columns, without_clocks
from sfumato.audit.search.bets import Ranking
from sfumato.audit.search.events import Look, Suspicion, strongest_threshold

_MAX_COLUMNS: Final = 16
_MAX_TRAINED: Final = 20_000  # outputs of each side; more hardly moves the weights
_PENALTY: Final = 1e-3
_LOW_BITS: Final = 4
_LARGEST: Final = 1e100  # larger numbers count as this, so that squares stay finite
_SMALLEST_SCALE: Final = 1e-200  # the squares of smaller spreads are 0; exponents and bits tell those apart
_SIGNIFICAND: Final = 53
_GRIDS: Final = np.array([0, -10, -20, -30, *range(-40, -61, -1)])
_WORDS: Final = "the logistic score of numbers and their bits"

Matrix = NDArray[np.float64]


def strongest_score(first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
    """The threshold of a logistic regression whose test would refute the largest ε.

    Args:
        first: Outputs on one database.
        second: As many outputs on its neighbor.
        ranking: The claim and the test that follows.
    """
    found, clocks = without_clocks(list(dict.fromkeys([*first.values, *second.values])), first, second)
    names = tuple(found[:_MAX_COLUMNS])
    raw = (_table(columns, names) for columns in (first, second))
    score = _score(_trained(names, *raw))
    suspicion = strongest_threshold(_WORDS, score, first, second, ranking=ranking)
    unread = list(clocks)
    if len(found) > len(names):
        unread.append(f"all but {len(names)} of {len(found)} numbers by the regression")
    return replace(suspicion, unread=tuple(unread))


def finest_bit(values: Matrix) -> NDArray[np.int64]:
    """The largest k for which 2^k divides each number: how fine a grid it needs; 64 for 0, NaN and ±∞.

    Example:
        >>> finest_bit(np.array([1.0, 6.0, 0.375, 0.0, 0.1])).tolist()
        [0, 1, -3, 64, -55]
    """
    usable = np.isfinite(values) & (values != 0)
    fraction, exponent = np.frexp(np.where(usable, values, 1.0))
    digits = np.abs(np.ldexp(fraction, _SIGNIFICAND)).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return np.where(usable, exponent.astype(np.int64) - _SIGNIFICAND + trailing, 64)


@dataclass(frozen=True, slots=True)
class _Model:
    """Which columns are read, how the features of each are scaled, and their weights."""

    names: tuple[str, ...]
    center: Matrix
    scale: Matrix
    weights: Matrix


def _score(model: _Model) -> Look:
    def score(columns: Columns) -> Column:
        """A sum feature by feature: the order of additions is that of a single run, however many there are."""
        total = np.zeros(len(columns))
        features = (feature for name in model.names for feature in _features(columns.number(name)))
        for feature, center, scale, weight in zip(features, model.center, model.scale, model.weights, strict=True):
            if weight != 0:
                total += weight * _scaled(feature, center, scale)
        return total

    return score


def _table(columns: Columns, names: tuple[str, ...]) -> Matrix:
    """A row for each feature of each column."""
    shown = [list(_features(columns.number(name)[:_MAX_TRAINED])) for name in names]
    return np.array([feature for features in shown for feature in features], dtype=np.float64)


def _trained(names: tuple[str, ...], first: Matrix, second: Matrix) -> _Model:
    if not names:
        return _Model(names, np.empty(0), np.empty(0), np.empty(0))
    raw = np.hstack([first, second])
    center, scale = np.median(raw, axis=1), np.maximum(raw.std(axis=1), _SMALLEST_SCALE)
    varying = raw.min(axis=1) < raw.max(axis=1)
    features = _scaled(raw[varying], center[varying, None], scale[varying, None])
    side = np.repeat([1.0, -1.0], [first.shape[1], second.shape[1]])

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        margins = side * (weights @ features)
        slope = -(features @ (side * expit(-margins))) / len(side) + 2 * _PENALTY * weights
        return float(np.logaddexp(0, -margins).mean() + _PENALTY * weights @ weights), slope

    fitted = minimize(loss, np.zeros(len(features)), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    weights = np.zeros(len(raw))
    weights[varying] = fitted.x
    return _Model(names, center, scale, weights)


def _scaled(raw: Matrix, center: Any, scale: Any) -> Matrix:
    return np.asarray(np.clip((raw - center) / scale, -10, 10))


def _features(values: Column) -> Iterator[Matrix]:
    """Value and bits of a column."""
    present = np.isfinite(values)
    known = np.clip(np.where(present, values, 0.0), -_LARGEST, _LARGEST)
    fraction, exponent = np.frexp(known)
    digits = np.abs(np.ldexp(fraction, _SIGNIFICAND)).astype(np.int64)
    finest = finest_bit(values)
    yield from (present, known, np.abs(known), np.signbit(known), exponent)
    yield from ((digits >> low) & 1 for low in range(_LOW_BITS))
    yield from (finest < grid for grid in _GRIDS)
