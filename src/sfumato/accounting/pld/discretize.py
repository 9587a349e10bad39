"""Privacy losses on a grid: a dominating pair becomes a distribution that reveals at least, or at most, as much.

The masses of a distribution are those whose profile is the polygon through certified bounds of the pair's profile.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.profiles.profile import Array, DominatingPair, Profile

UNIT: Final = 2.0**-53
"""The largest relative error of one rounded operation."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LossDistribution:
    """Masses by privacy loss: δ(ε) = infinite_mass + Σ over losses above ε of mass·(1 − e^(ε − loss)).

    Only sums of masses times such growing functions matter, so masses may add up to a little more or less than 1: a
    distribution that bounds another from above, or from below, at every ε of either sign, does so in every composition.
    """

    lowest: Fraction
    """The loss of the first mass; mass i has loss lowest + i·step, exactly."""
    step: float
    masses: Array
    infinite_mass: float

    @property
    def losses(self) -> Array:
        """The losses, rounded to nearest."""
        return np.asarray(float(self.lowest) + self.step * np.arange(len(self.masses)), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossGrid:
    """The losses lowest + i·step for i below `size`."""

    lowest: Fraction
    step: float
    size: int

    @property
    def losses(self) -> Array:
        """The losses, rounded to nearest."""
        return np.asarray(float(self.lowest) + self.step * np.arange(self.size), dtype=np.float64)


_NUDGE: Final = 2.0**-50  # a loss is asked for a little nearer to 0 than it is, which more than covers its rounding
_ALIGNED: Final = 2.0**-45  # relative distance of the end of the grid to the highest loss
_CLEARANCE: Final = 1e-11  # a lower bound stays so far inside, for the rounding of its tests
_ROUNDING: Final = 2.0**-20
_LARGEST_LOSS: Final = 2.0**20
_RATIO: Final = 1.2
_FEW: Final = 512  # losses on a side: then their ends are not searched for, the highest loss is the end


def grid_of(
    pair: DominatingPair, *, step: float, negligible: float, is_upper: bool, fits_both_ends: bool = False
) -> LossGrid:
    """A grid that holds all but a `negligible` probability of the losses of a pair, its top where the losses end.

    Args:
        pair: In the order that is wanted.
        step: At most this is the distance between losses.
        negligible: A probability. What is cut off above becomes infinite loss; below, a larger loss.
        is_upper: The top of a grid for an upper bound lies a hair above the highest loss, else a hair below.
        fits_both_ends: The step is shortened so that the lowest loss lies on the grid too.
    """
    top = _reach(pair.forward, step=step, negligible=negligible, weight=0.0)
    bottom = _bottom(pair, step=step, negligible=negligible)
    end = _aligned(top, is_upper=is_upper)
    start = -_aligned(-bottom, is_upper=is_upper) if bottom < 0 else bottom
    if fits_both_ends:
        step = _fitting(end - start, step)
    # A lower bound needs a loss beyond each end, from which on nothing is known.
    extra = 0 if is_upper else 1
    below = math.ceil((end - start) / step - _ROUNDING) + extra
    return LossGrid(lowest=Fraction(end) - below * Fraction(step), step=step, size=below + 1 + extra)


def upper_law(pair: DominatingPair, grid: LossGrid) -> LossDistribution:
    """The chords between the points of the profile on a grid ("connect the dots").

    **Guarantee**: in every composition it reveals at least as much as the pair, in the order of the pair. Proof:
    proofs/accounting/pld/accountant.md §2.

    References:
        [DGKKM22].
    """
    losses = grid.losses
    asked = np.abs(losses) * (1 - _NUDGE)
    zero = int(np.searchsorted(losses, 0.0))
    forward = np.minimum.accumulate(pair.forward.delta_up(asked[zero:]))
    backward = np.minimum.accumulate(pair.backward.delta_up(asked[:zero])[::-1])[::-1]
    masses = polygon_masses(losses, forward, backward, is_upper=True)
    return LossDistribution(lowest=grid.lowest, step=grid.step, masses=masses, infinite_mass=float(forward[-1]))


def lower_law(pair: DominatingPair, grid: LossGrid) -> LossDistribution:
    """The lines of tests half-way between the losses of a grid, each used up to the losses on its two sides.

    **Guarantee**: in every composition it reveals at most as much as the distributions of the tests. Proof:
    proofs/accounting/pld/accountant.md §2.

    Edge cases: where the grid is too coarse for any test near 0 to say something, the distribution has no mass.
    """
    losses = grid.losses
    zero = int(np.searchsorted(losses, 0.0))
    ahead, behind = _tested_lines(pair, losses, zero)
    forward = _lowest_points(pair.forward, losses[zero:], ahead, has_first=zero > 0)
    backward = _lowest_points(pair.backward, -losses[:zero][::-1], behind, has_first=True)
    if forward is None or backward is None:
        return LossDistribution(lowest=grid.lowest, step=grid.step, masses=np.zeros(grid.size), infinite_mass=0.0)
    masses = polygon_masses(losses, forward, backward[::-1], is_upper=False)
    return LossDistribution(lowest=grid.lowest, step=grid.step, masses=masses, infinite_mass=float(forward[-1]))


_Lines: TypeAlias = tuple[Array, Array]


def _tested_lines(pair: DominatingPair, losses: Array, zero: int) -> tuple[_Lines, _Lines]:
    """P(S) and Q(S) for each interval from the one at 0 outward, and the same of the other order."""
    middles = (losses[1:] + losses[:-1]) / 2
    split = int(np.searchsorted(middles, 0.0))
    ahead = pair.forward.test_down(middles[split:])
    behind = pair.backward.test_down(-middles[:split][::-1])
    if split < zero:
        behind = _joined(_complement(ahead), behind)
    elif zero:
        ahead = _joined(_complement(behind), ahead)
    return ahead, behind


def _complement(lines: _Lines) -> _Lines:
    """The first line's set from outside, for the other order: 1 − Q(S) rounded down, and 1 − P(S) rounded up."""
    first, second = lines[0][:1], lines[1][:1]
    return np.maximum(1 - second - 2 * UNIT, 0.0), np.minimum(1 - first + 2 * UNIT, 1.0)


def _joined(one: _Lines, other: _Lines) -> _Lines:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def _lowest_points(profile: Profile, distances: Array, lines: _Lines, *, has_first: bool) -> Array | None:
    """At each distance from 0 the smaller of the two lines P(S) − e^distance Q(S) beside it; the last, where all end.

    Line i ends at distance i; where there is no line before the first distance, one later. None if that first line,
    which also serves the other order, is below the end of the curve.
    """
    if not distances.size:
        return distances
    firsts, seconds = lines
    end = float(firsts[-1]) if seconds[-1] == 0 else 0.0
    growth = _growth(distances)
    outer = 0 if has_first else 1
    useless = ~(_value(firsts, seconds, growth[outer:]) >= end)
    if has_first and useless[0]:
        return None
    if useless.any():
        # A line that passes below the end of the curve before its own end gives way to the test there, or to none.
        firsts[useless], seconds[useless] = profile.test_down(distances[outer:][useless])
        useless = ~(_value(firsts, seconds, growth[outer:]) >= end)
        firsts[useless], seconds[useless] = end / (1 - 4 * UNIT), 0.0
    before = np.minimum(_value(firsts, seconds, growth[outer:]), 1.0)
    after = np.append(_value(firsts[1 - outer :], seconds[1 - outer :], growth[:-1]), end)
    return np.minimum.accumulate(np.minimum(before if has_first else np.append(math.inf, before), after))


def _growth(distances: Array) -> Array:
    """e^distance, rounded up."""
    with np.errstate(over="ignore"):
        return np.exp(distances) * (1 + (distances + 8) * 4 * UNIT)


def _value(firsts: Array, seconds: Array, growth: Array) -> Array:
    """P(S) − e^distance Q(S), rounded down; infinitely small where that overflows."""
    lost = np.multiply(growth, seconds, where=seconds > 0, out=np.zeros_like(firsts))
    return firsts * (1 - 4 * UNIT) - lost


def _aligned(end: float, *, is_upper: bool) -> float:
    return end * (1 + _ALIGNED) if is_upper else max(end * (1 - _ALIGNED) - _CLEARANCE, end / 2)


def _fitting(length: float, step: float) -> float:
    """A step of which `length` is a multiple, by a number with many divisors, since losses are often equally far."""
    needed = max(1, math.ceil(length / step))
    unit = next((unit for unit in (720, 120, 24, 12, 4) if needed >= unit), 1)
    return length / (unit * math.ceil(needed / unit))


def _bottom(pair: DominatingPair, *, step: float, negligible: float) -> float:
    """A loss below which the first distribution puts no more than a negligible probability."""
    if (lowest := pair.backward.highest_loss) <= _FEW * step:
        return -max(lowest, step)
    if float(pair.forward.delta_up(np.zeros(1))[0]) < 1 - negligible:
        return -_reach(pair.backward, step=step, negligible=negligible, weight=1.0)
    tried = _tried(step, _LARGEST_LOSS)
    sure = 1 - pair.forward.delta_up(tried) <= negligible
    return float(tried[np.argmin(sure) - 1]) if sure[0] and not sure.all() else 0.0


def _reach(profile: Profile, *, step: float, negligible: float, weight: float) -> float:
    """An ε from which on e^(−weight·ε)·δ(ε) is negligible, or as small as it gets."""
    highest = profile.highest_loss
    if highest <= _FEW * step:
        return max(highest, step)
    tried = _tried(step, min(highest, _LARGEST_LOSS))
    deltas = profile.delta_up(tried)
    floor = float(deltas[-1]) if math.isfinite(highest) and tried[-1] >= highest else 0.0
    small = np.exp(-weight * tried) * (deltas - floor) <= negligible
    if not small.any():
        return float(tried[-1])
    first = int(np.argmax(small))
    if not first:
        return float(tried[0])
    finer = np.linspace(tried[first - 1], tried[first], 17)[1:]
    small = np.exp(-weight * finer) * (profile.delta_up(finer) - floor) <= negligible
    return float(finer[int(np.argmax(small))]) if small.any() else float(tried[first])


def _tried(step: float, highest: float) -> Array:
    count = max(2, math.ceil(math.log(max(highest / step, 2.0)) / math.log(_RATIO)) + 1)
    return np.asarray(np.minimum(step * _RATIO ** np.arange(count + 1), highest), dtype=np.float64)


_SAFE: Final = 8  # rounding errors of a mass, in units of its two terms
_FEWEST: Final = 3
_ROUNDS: Final = 4  # in which points above their neighbors' chord are dropped together
_SHORT: Final = 256  # for so few points the chain is quicker
_LARGEST_EXPONENT: Final = 700.0


def polygon_masses(losses: Array, forward: Array, backward: Array, *, is_upper: bool) -> Array:
    """The mass at each loss of the polygon in e^ε through points (ε, δ), which starts in (−∞, 1) and ends flat.

    Points above the chord of their neighbors are left out: chords of a convex curve lie above it, and the chord of a
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
