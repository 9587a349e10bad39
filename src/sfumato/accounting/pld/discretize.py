"""A dominating pair on a grid of losses: a law that reveals at least as much, and one that reveals at most as much."""

import math
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.pld.curves import polygon_masses
from sfumato.accounting.pld.law import UNIT, Grid, Law
from sfumato.accounting.profiles.profile import Array, DominatingPair, Profile

_NUDGE: Final = 2.0**-50  # a loss is asked for a little nearer to 0 than it is, which more than covers its rounding
_ALIGNED: Final = 2.0**-45  # relative distance of the end of the grid to the highest loss
_CLEARANCE: Final = 1e-11  # a lower bound stays so far inside, for the rounding of its tests
_ROUNDING: Final = 2.0**-20
_LARGEST_LOSS: Final = 2.0**20
_RATIO: Final = 1.2
_FEW: Final = 512  # losses on a side: then their ends are not searched for, the highest loss is the end


def grid_of(
    pair: DominatingPair, *, step: float, negligible: float, is_upper: bool, fits_both_ends: bool = False
) -> Grid:
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
    return Grid(lowest=Fraction(end) - below * Fraction(step), step=step, size=below + 1 + extra)


def upper_law(pair: DominatingPair, grid: Grid) -> Law:
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
    return Law(lowest=grid.lowest, step=grid.step, masses=masses, infinite_mass=float(forward[-1]))


def lower_law(pair: DominatingPair, grid: Grid) -> Law:
    """The lines of tests half-way between the losses of a grid, each used up to the losses on its two sides.

    **Guarantee**: in every composition it reveals at most as much as the laws of the tests. Proof:
    proofs/accounting/pld/accountant.md §2.

    Edge cases: where the grid is too coarse for any test near 0 to say something, the law has no mass.
    """
    losses = grid.losses
    zero = int(np.searchsorted(losses, 0.0))
    ahead, behind = _tested_lines(pair, losses, zero)
    forward = _lowest_points(pair.forward, losses[zero:], ahead, has_first=zero > 0)
    backward = _lowest_points(pair.backward, -losses[:zero][::-1], behind, has_first=True)
    if forward is None or backward is None:
        return Law(lowest=grid.lowest, step=grid.step, masses=np.zeros(grid.size), infinite_mass=0.0)
    masses = polygon_masses(losses, forward, backward[::-1], is_upper=False)
    return Law(lowest=grid.lowest, step=grid.step, masses=masses, infinite_mass=float(forward[-1]))


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
    """A loss below which the first law puts no more than a negligible probability."""
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
