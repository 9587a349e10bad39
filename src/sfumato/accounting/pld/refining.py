"""ε and δ of composed pairs on grids fine enough: the step shrinks until the bounds meet or no longer move."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.accounting.pld.bounds import CertifiedCurve
from sfumato.accounting.pld.composing import (
    Pairs,
    curve_at_delta,
    curve_at_epsilon,
    first_step,
    highest_loss,
    infinite_loss_up,
    orders,
)

_PRECISION: Final = 5e-4
_DELTA_PRECISION: Final = 5e-3
_STABLE: Final = 3e-4
_STUCK: Final = 0.75
_FINEST: Final = 1 / 4
_COARSER: Final = 8.0  # where a grid would have too many losses
_ROUNDS: Final = 7
_LARGEST_WORK: Final = 2**23  # losses of a window times distinct pairs
_LARGEST_TOTAL_WORK: Final = 2**22  # the same, of all rounds for a δ together; one more round may exceed it
_DELTA_ROUNDS: Final = 24
_CALM: Final = 2  # rounds without much gain: a kink may happen to lie badly on one grid
_FIRST_GUESS: Final = 1e-5
_FAR_BELOW: Final = 1e-3
_SMALLEST_GUESS: Final = 1e-280


@dataclass(frozen=True, slots=True)
class Bounds:
    """Certified on both sides."""

    lower: float
    upper: float


def epsilon_bounds(pairs: Pairs, delta: Fraction, *, needs_lower: bool = True) -> Bounds:
    """The smallest ε at a δ above 0, in either order of the pairs, between a lower and an upper bound.

    Where the lower bound is not needed, and no finer grid is affordable, it is left out; the upper bound is the same.
    """
    both = orders(pairs)
    step = first_step(pairs, float(delta), precision=1.5 * _PRECISION)
    best, before, gap_before = Bounds(0.0, math.inf), math.inf, math.inf
    for _ in range(_ROUNDS):
        made = [curve_at_delta(order, float(delta), step=step, is_upper=True) for order in both]
        uppers = [_at_most(order, delta, one) for order, one in zip(both, made, strict=True)]
        worst = uppers.index(max(uppers))
        best, found = Bounds(best.lower, min(best.upper, max(uppers))), made[worst]
        if found is None:
            step *= _COARSER
            continue
        work = len(found.law.masses) * len(pairs)
        if not needs_lower and 2 * work > _LARGEST_WORK:
            break
        below = curve_at_delta(both[worst], float(delta), step=step, is_upper=False)
        lower = 0.0 if below is None else below.epsilon(delta)
        best = Bounds(min(max(best.lower, lower), best.upper), best.upper)
        gap, is_stable = best.upper - best.lower, before - best.upper <= _STABLE * best.upper
        if math.isinf(gap) or gap <= _PRECISION * best.upper:
            break
        shrink = max(_FINEST, min(0.5, 0.9 * math.sqrt(_PRECISION * best.upper / gap)))
        # A gap that does not close is not the grid's: the worst mechanism is not known so well.
        is_stuck = is_stable and gap > _STUCK * gap_before
        if work / shrink > _LARGEST_WORK or is_stuck:
            break
        before, gap_before, step = best.upper, gap, step * shrink
    return best


def _at_most(pairs: Pairs, delta: Fraction, found: CertifiedCurve | None) -> float:
    """The bound of ε by a curve, or the sum of the highest losses if that is less and infinite ones rarer than δ."""
    upper = math.inf if found is None else found.epsilon(delta)
    highest = highest_loss(pairs)
    if highest is None or upper <= highest or infinite_loss_up(pairs) > delta:
        return upper
    return math.nextafter(float(highest), math.inf)


def delta_upper(pairs: Pairs, epsilon: Fraction) -> float:
    """At or above the smallest δ at an ε, in either order of the pairs."""
    worst = 0.0
    for order in orders(pairs):
        worst = max(worst, _delta_upper(order, epsilon, enough=worst))
    return worst


def _delta_upper(pairs: Pairs, epsilon: Fraction, *, enough: float) -> float:
    """The same in this order, as closely as is of use when `enough` is known of the other."""
    highest = highest_loss(pairs)
    if highest is not None and epsilon >= highest:
        return min(1.0, infinite_loss_up(pairs))
    best, calm, work, is_finer = 1.0, 0, 0, False
    guess = _FIRST_GUESS
    step = first_step(pairs, guess, precision=_PRECISION)
    for _ in range(_DELTA_ROUNDS):
        found = curve_at_epsilon(pairs, epsilon, step=step, delta=guess, is_upper=True)
        size = 0 if found is None else len(found.law.masses) * len(pairs)
        work += size
        before, best = best, min(best, 1.0 if found is None else found.delta(epsilon))
        if best <= enough or work > _LARGEST_TOTAL_WORK:
            break
        if best < guess * _FAR_BELOW and guess > _SMALLEST_GUESS:
            guess, is_finer = max(best * _FAR_BELOW, _SMALLEST_GUESS), False
            continue
        if found is None:
            if is_finer:
                break
            step *= _COARSER
            continue
        calm = calm + 1 if before - best <= _DELTA_PRECISION * best else 0
        if calm == _CALM or size > _LARGEST_WORK:
            break
        below = curve_at_epsilon(pairs, epsilon, step=step, delta=guess, is_upper=False)
        if below is not None and best <= below.delta(epsilon) * (1 + _DELTA_PRECISION):
            break
        step, is_finer = step / 2, True
    return best
