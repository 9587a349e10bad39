"""From bounds of a privacy profile at some losses to the masses whose profile is the polygon through them."""

import math
from typing import Final

import numpy as np

from sfumato.accounting.pld.law import UNIT
from sfumato.accounting.profiles.profile import Array

_SAFE: Final = 8  # rounding errors of a mass, in units of its two terms
_FEWEST: Final = 3
_ROUNDS: Final = 4  # in which points above their neighbours' chord are dropped together
_SHORT: Final = 256  # for so few points the chain is quicker
_LARGEST_EXPONENT: Final = 700.0


def polygon_masses(losses: Array, forward: Array, backward: Array, *, is_upper: bool) -> Array:
    """The mass at each loss of the polygon in e^ε through points (ε, δ), which starts in (−∞, 1) and ends flat.

    Points above the chord of their neighbours are left out: chords of a convex curve lie above it, and the chord of a
    concave stretch lies below it, so an upper bound stays one and a lower bound stays one.

    **Guarantee**: the profile of the masses is at or above the polygon for an upper bound, else at or below it. Proof:
    proofs/accounting/pld/accountant.md §3.

    Args:
        losses: Growing; at least one is 0 or more.
        forward: δ(loss) at each loss of 0 or more, not increasing.
        backward: δ(−loss) in the other order at each loss below 0, not decreasing.
        is_upper: On which side the points lie.
    """
    values = np.concatenate([backward, forward])
    kept = np.arange(len(losses)) if is_upper else _tangent_points(losses, forward, backward)
    for _ in range(_ROUNDS if len(losses) > _SHORT else 1):
        masses, error = _masses(losses[kept], values[kept])
        convex = masses >= -error
        if convex.all():
            break
        convex[[0, -1]] = True
        kept = kept[convex]
    else:
        kept = kept[_convex_chain(losses[kept], values[kept])]
        masses, error = _masses(losses[kept], values[kept])
    result = np.zeros(len(losses))
    result[kept] = np.maximum(masses + error, 0.0) if is_upper else _rounded_down(masses, error, losses)
    if not is_upper and losses[0] >= 0:
        result[0] = 0.0
    return result


def converted(distance: Array, value: Array) -> Array:
    """δ of the pair in the other order at −distance: 1 − e^−distance + e^−distance·δ."""
    return np.exp(-distance) * value - np.expm1(-distance)


def _tangent_points(losses: Array, forward: Array, backward: Array) -> Array:
    """Without the points between each end and where a tangent from there touches: an end seldom lies on a kink."""
    zero = len(backward)
    start = _tangent(-losses[:zero], backward)
    end = len(losses) - _tangent(losses[zero:][::-1], forward[::-1])
    return np.concatenate(
        [[0] if start else [], np.arange(start, end), [len(losses) - 1] if end < len(losses) else []]
    ).astype(int)


def _tangent(distances: Array, values: Array) -> int:
    """The point that is seen lowest from the first one, the farthest from 0; 0 where there are less than three."""
    if len(values) < _FEWEST:
        return 0
    return 1 + int(np.argmin((values[1:] - values[0]) / -np.expm1(distances[1:] - distances[0])))


def _rounded_down(masses: Array, error: Array, losses: Array) -> Array:
    lowered = np.maximum(masses - error, 0.0) * (1 - 2 * _SAFE * UNIT)
    if np.all(masses >= error):
        return lowered
    finest = float(np.min(np.diff(losses)))
    return lowered * max(0.0, 1 + 8 * _SAFE * UNIT / math.expm1(-finest))


def _masses(losses: Array, values: Array) -> tuple[Array, Array]:
    """The mass at each loss, and a bound of its rounding error; the masses may be negative."""
    zero = int(np.searchsorted(losses, 0.0))
    forward, backward, gaps = values[zero:], values[:zero], np.diff(losses)
    if not zero:
        masses, error = _kinks(np.concatenate([[math.nan], forward]), np.concatenate([[1.0], gaps]))
        # From (−∞, 1) the chord reaches the first point.
        with np.errstate(over="ignore"):
            masses[0] = 1 - forward[0] - (forward[0] - forward[1]) / np.expm1(gaps[0])
        error[0] = _SAFE * UNIT * (2 + abs(masses[0]))
        return masses, error
    ahead = np.concatenate([converted(-losses[zero - 1 : zero], backward[-1:]), forward])
    behind = np.concatenate([converted(losses[zero : zero + 1], forward[:1]), backward[::-1]])
    masses, error = _kinks(ahead, gaps[zero - 1 :])
    second_masses, second_error = _kinks(behind, gaps[zero - 1 :: -1])
    weights = np.exp(losses[:zero])
    return (
        np.concatenate([second_masses[::-1] * weights, masses]),
        np.concatenate([second_error[::-1] * weights * (1 + 4 * UNIT), error]),
    )


def _kinks(values: Array, gaps: Array) -> tuple[Array, Array]:
    """By how much the slope changes at each point but the first, times e^loss; flat after the last."""
    drops = values[:-1] - values[1:]
    after = np.zeros_like(drops)
    with np.errstate(over="ignore"):
        before = drops / -np.expm1(-gaps)
        np.divide(drops[1:], np.expm1(gaps[1:]), out=after[:-1])
    error = _SAFE * UNIT * (np.abs(before) + np.abs(after))
    error[0] += _SAFE * UNIT * values[0] / -math.expm1(-gaps[0])
    return before - after, error


def _convex_chain(losses: Array, values: Array) -> Array:
    """The indices of the lower convex hull (Andrew's monotone chain)."""
    zero = int(np.searchsorted(losses, 0.0))
    other = converted(np.abs(losses), values)
    ahead = np.concatenate([other[:zero], values[zero:]]).tolist()
    behind = np.concatenate([values[:zero], other[zero:]]).tolist()
    at = losses.tolist()
    chain: list[int] = []
    for new in range(len(at)):
        while len(chain) > 1 and _is_above_chord(at, ahead if chain[-1] >= zero else behind, chain[-2], chain[-1], new):
            chain.pop()
        chain.append(new)
    return np.array(chain)


def _is_above_chord(losses: list[float], values: list[float], left: int, middle: int, right: int) -> bool:
    near, far = (left, right) if losses[middle] >= 0 else (right, left)
    before = (values[near] - values[middle]) / -math.expm1(-abs(losses[middle] - losses[near]))
    gap = min(abs(losses[far] - losses[middle]), _LARGEST_EXPONENT)
    after = (values[middle] - values[far]) / math.expm1(gap)
    return before - after < -_SAFE * UNIT * (abs(before) + abs(after))
