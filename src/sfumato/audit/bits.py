"""A logistic regression on numbers and on the bits of their floats, whose threshold is one more event to test.

Floating-point noise leaves traces in low bits that no threshold on the value shows [Mir12], [HDHSH22]; and several
coordinates together may tell what none tells alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from sfumato.audit.columns import numbers, picked
from sfumato.audit.events import Event, Suspicion, strongest_event
from sfumato.audit.roles import Outputs
from sfumato.audit.split_search import SplitTester
from sfumato.privacy.guarantees import ApproxDP

_MAX_COLUMNS: Final = 16
_MAX_TRAINED: Final = 20_000  # outputs of each side; more hardly moves the weights
_CHUNK: Final = 20_000  # outputs scored at a time, to bound memory
_PENALTY: Final = 1e-3
_LOW_BITS: Final = 4
_LARGEST: Final = 1e100  # larger numbers count as this, so that squares stay finite
_SIGNIFICAND: Final = 53
_GRIDS: Final = np.array([0, -10, -20, -30, *range(-40, -61, -1)])
_WORDS: Final = "the logistic score of numbers and their bits"

Matrix = NDArray[np.float64]


def strongest_score(first: Outputs, second: Outputs, *, claim: ApproxDP) -> Suspicion:
    """The threshold of a logistic regression that speaks loudest against a claim.

    Args:
        first: Outputs on one database.
        second: As many on its neighbour.
        claim: The claimed ε and δ.
    """
    names = tuple(dict.fromkeys([*numbers(first), *numbers(second)]))[:_MAX_COLUMNS]
    score = _score(_trained(names, first[:_MAX_TRAINED], second[:_MAX_TRAINED]))
    suspicion = strongest_event(score(first), score(second), claim=claim)
    words = suspicion.event.words.replace("the answer", _WORDS)
    event = Event(words, lambda outputs: suspicion.event.happened(score(outputs)))
    return Suspicion(suspicion.strength, event, suspicion.likelier_on_second)


BITS: Final = SplitTester("logistic regression on bits", strongest_score)


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
    """Which columns are read, which of their features vary, how these are scaled, and their weights."""

    names: tuple[str, ...]
    varying: NDArray[np.int64]
    center: Matrix
    scale: Matrix
    weights: Matrix


def _score(model: _Model) -> Callable[[Outputs], Matrix]:
    def score(outputs: Outputs) -> Matrix:
        starts = range(0, len(outputs), _CHUNK)
        parts = (_features(outputs[start : start + _CHUNK], model.names)[:, model.varying] for start in starts)
        return np.concatenate([_scaled(part, model.center, model.scale) @ model.weights for part in parts])

    return score


def _trained(names: tuple[str, ...], first: Outputs, second: Outputs) -> _Model:
    raw = np.concatenate([_features(first, names), _features(second, names)])
    varying = np.flatnonzero(raw.min(axis=0) < raw.max(axis=0))
    center, scale = np.median(raw[:, varying], axis=0), raw[:, varying].std(axis=0)
    features = _scaled(raw[:, varying], center, scale)
    side = np.concatenate([np.ones(len(first)), -np.ones(len(second))])

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        margins = side * (features @ weights)
        slope = -(side * expit(-margins)) @ features / len(side) + 2 * _PENALTY * weights
        return float(np.logaddexp(0, -margins).mean() + _PENALTY * weights @ weights), slope

    start = np.zeros(features.shape[1])
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return _Model(names, varying, center, scale, fitted.x)


def _scaled(raw: Matrix, center: Matrix, scale: Matrix) -> Matrix:
    return np.clip((raw - center) / scale, -10, 10)


def _features(outputs: Outputs, names: tuple[str, ...]) -> Matrix:
    """One row for each output: for each column its value and bits."""
    table = numbers(outputs)
    columns = (_of_numbers(picked(table, name, len(outputs))) for name in names)
    return np.hstack([np.zeros((len(outputs), 1)), *columns])  # outputs without any number have a row as well


def _of_numbers(values: Matrix) -> Matrix:
    present = np.isfinite(values)
    known = np.clip(np.where(present, values, 0.0), -_LARGEST, _LARGEST)
    fraction, exponent = np.frexp(known)
    digits = np.abs(np.ldexp(fraction, _SIGNIFICAND)).astype(np.int64)
    finest = finest_bit(values)
    plain = np.column_stack([present, known, np.abs(known), np.signbit(known), exponent])
    low_bits = (digits[:, None] >> np.arange(_LOW_BITS)) & 1
    return np.hstack([plain, low_bits, finest[:, None] < _GRIDS]).astype(np.float64)
