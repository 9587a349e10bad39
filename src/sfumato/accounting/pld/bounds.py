"""Certified bounds of ε and δ of composed pairs, on grids fine enough: their step shrinks until the bounds meet.

A `CertifiedCurve` counts every error of one composition to the safe side.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.core.accountant import EpsilonInterval
from sfumato.accounting.pld.convolve import LARGEST_SIZE, Composition, Cumulants, compose
from sfumato.accounting.pld.discretize import UNIT, LossDistribution, grid_of, lower_law, upper_law
from sfumato.accounting.profiles.profile import Array, DominatingPair

_REFINEMENTS: Final = 18
_INTERPOLATED: Final = 2  # of three turns; the third halves
_PRECISE: Final = Fraction(1, 10**9)
_LARGEST_EXPONENT: Final = 700.0
_SLACK: Final = 1e-9


class CertifiedCurve:
    """The profile of a composition, at or above the true one for an upper bound, else at or below it.

    δ(ε) = infinite_mass + e^(log_scale − tilt·(ε − center)) Σ masses·e^(−tilt·x)(1 − e^−x), over x = loss − ε > 0.
    """

    def __init__(self, law: Composition, *, is_upper: bool) -> None:
        self.law = law
        self._is_upper = is_upper

    def delta(self, epsilon: Fraction) -> float:
        """The bound of δ at ε."""
        if self._is_upper:
            if epsilon >= self._lowest or self.law.is_complete_below:
                return self._at(epsilon)
            # Only untilted is it known how little lies below the window.
            return 1.0 if self.law.tilt else min(1.0, self._at(epsilon) + self.law.stray * (1 + 4 * UNIT))
        # Far below the mean of the tilted law rounding errors hide the curve, which is higher there than at the mean.
        known = max((value for at, value in self._known if at >= epsilon), default=0.0)
        return max(self._at(max(epsilon, self._lowest)), known)

    def epsilon(self, delta: Fraction) -> float:
        """The bound of the smallest ε at which δ is enough; an upper bound may be infinite."""
        if self.delta(Fraction(0)) <= delta:
            return 0.0
        fails = max(-1, math.floor(-self._lowest / Fraction(self.law.step)))
        index = self._first_enough(delta, fails, len(self.law.masses))
        if index == len(self.law.masses):
            return math.inf if self._is_upper else self._rounded(self._loss(index - 1))
        return self._rounded(self._refined(delta, max(Fraction(0), self._loss(index - 1)), self._loss(index)))

    def _at(self, epsilon: Fraction) -> float:
        """The bound at an ε of the window, or above it, or below a window that nothing lies below."""
        law = self.law
        first_above = max(0, math.floor((epsilon - self._lowest) / Fraction(law.step)) + 1)
        distance = float(self._lowest - epsilon + first_above * Fraction(law.step))
        place = law.tilt * law.step * (law.first + first_above)
        exponent, size = law.log_scale - place, len(law.masses) - first_above
        slack = law.relative_error + UNIT * 8 * (abs(law.log_scale) + abs(place) + len(law.masses) + 16)
        value, doubt = (self._sum(first_above, distance), self._doubt(distance)) if size > 0 else (0.0, 0.0)
        if self._is_upper:
            beyond = law.stray * math.exp(-law.tilt * law.step * max(size, 0))
            return self._up(value + doubt + beyond, exponent, slack)
        return self._down(value - doubt, exponent, slack)

    @cached_property
    def _known(self) -> tuple[tuple[Fraction, float], ...]:
        """The bound at some losses where most of the tilted distribution lies, or a little below."""
        places, masses = np.arange(len(self.law.masses)), self.law.masses / max(float(self.law.masses.sum()), _SLACK)
        mean = float((masses * places).sum())
        spread = max(1.0, math.sqrt(float((masses * (places - mean) ** 2).sum())))
        chosen = (self._loss(round(mean - share * spread)) for share in (0.25, 0.5, 1, 1.5, 2, 3, 4))
        return tuple((place, self._at(place)) for place in chosen if place >= self._lowest)

    @property
    def _lowest(self) -> Fraction:
        return self._loss(0)

    def _loss(self, index: int) -> Fraction:
        return self.law.center + (self.law.first + index) * Fraction(self.law.step)

    def _first_enough(self, delta: Fraction, fails: int, holds: int) -> int:
        """The first place in the window where δ is enough; the number of places if it is nowhere."""
        while holds - fails > 1:
            middle = (fails + holds) // 2
            if self.delta(self._loss(middle)) <= delta:
                holds = middle
            else:
                fails = middle
        return holds

    def _refined(self, delta: Fraction, low: Fraction, high: Fraction) -> Fraction:
        """Between two losses, where δ is not enough at `low` and enough at `high`, and nearly linear."""
        at_low, at_high = self.delta(low), self.delta(high)
        if at_low <= delta:
            return low
        for turn in range(_REFINEMENTS):
            if high - low <= _PRECISE * high:
                break
            share = (at_low - float(delta)) / (at_low - at_high) if turn % 3 < _INTERPOLATED else 0.5
            share += 1e-7 if self._is_upper else -1e-7
            middle = low + Fraction(min(max(share, 0.001), 0.999)) * (high - low)
            at_middle = self.delta(middle)
            if at_middle <= delta:
                high, at_high = middle, at_middle
            else:
                low, at_low = middle, at_middle
        return high if self._is_upper else low

    def _rounded(self, epsilon: Fraction) -> float:
        nearest = float(epsilon)
        return math.nextafter(nearest, math.inf) if self._is_upper else max(0.0, math.nextafter(nearest, 0.0))

    def _sum(self, first: int, distance: float) -> float:
        """Σ masses·e^(−tilt·(x − distance))(1 − e^−x) from a place on, which is `distance` above ε."""
        masses = self.law.masses[first:]
        decaying = float((masses * self._decay[: len(masses)]).sum())
        rising = float((masses * self._kernel[: len(masses)]).sum())
        return -math.expm1(-distance) * decaying + math.exp(-distance) * rising

    def _doubt(self, distance: float) -> float:
        """How far the errors of the masses can move that sum."""
        law = self.law
        shift = math.exp(min(law.tilt * distance, _LARGEST_EXPONENT))
        norm = min(shift * self._kernel_norm, self._decay_norm)
        return law.error * norm + (0 if self._is_upper else 2 * law.stray * min(shift * self._highest_kernel, 1.0))

    def _up(self, value: float, exponent: float, slack: float) -> float:
        if exponent > _LARGEST_EXPONENT:
            return 1.0
        return min(1.0, (math.exp(exponent) * value * (1 + slack) + self.law.infinite_mass) * (1 + 4 * UNIT))

    def _down(self, value: float, exponent: float, slack: float) -> float:
        finite = math.exp(min(exponent, _LARGEST_EXPONENT)) * max(value, 0.0) * max(1 - slack, 0.0)
        return min(1.0, (finite + self.law.infinite_mass) * (1 - 4 * UNIT))

    @cached_property
    def _decay(self) -> Array:
        """e^(−tilt·x) at x = j·step."""
        return np.asarray(np.exp(-self.law.tilt * self.law.step * np.arange(len(self.law.masses))))

    @cached_property
    def _kernel(self) -> Array:
        """e^(−tilt·x)·(1 − e^−x) at x = j·step."""
        return np.asarray(-np.expm1(-self.law.step * np.arange(len(self.law.masses))) * self._decay)

    @cached_property
    def _highest_kernel(self) -> float:
        """The maximum over x of e^(−tilt·x)·(1 − e^−x)."""
        tilt = self.law.tilt
        return math.exp(tilt * math.log(tilt / (1 + tilt))) / (1 + tilt) if tilt else 1.0

    @cached_property
    def _kernel_norm(self) -> float:
        """The L2 norm of that hump of height m on any grid of this step: Σ ≤ m² + ∫/step."""
        tilt, highest = self.law.tilt, self._highest_kernel**2
        integral = 1 / (2 * tilt * (tilt + 1) * (2 * tilt + 1)) if tilt else math.inf
        return math.sqrt(min(len(self.law.masses) * highest, highest + integral / self.law.step)) * (1 + _SLACK)

    @cached_property
    def _decay_norm(self) -> float:
        """The L2 norm of e^(−tilt·j·step)."""
        rate = 2 * self.law.tilt * self.law.step
        count = len(self.law.masses)
        return math.sqrt(min(count, -1 / math.expm1(-rate)) if rate else count) * (1 + _SLACK)


Pairs: TypeAlias = tuple[tuple[DominatingPair, int], ...]

_NEGLIGIBLE: Final = 1e-7  # of δ may be cut off the upper ends of all laws together
_SMALLEST_DELTA: Final = 1e-290
_LARGEST_GRID: Final = 2**17  # losses of one law; only a law with a tail far out would use more
_LARGEST_TOTAL: Final = 2**21  # losses of all laws together
_SURE: Final = 1 - 1e-12


def both_orders(pairs: Pairs) -> tuple[Pairs, ...]:
    """The pairs from the database with the unit, and from the one without it where that differs."""
    if all(pair.is_symmetric for pair, _ in pairs):
        return (pairs,)
    return pairs, tuple((pair.reversed(), count) for pair, count in pairs)


def laws_of(
    pairs: Pairs, *, step: float, delta: float, is_upper: bool
) -> tuple[list[LossDistribution], list[int]] | None:
    """Each pair in its order on a grid that is wide enough for a δ, and how often each is composed.

    Edge cases: None where nothing can be said: the grids would need too many losses, or all loss is infinite.
    """
    negligible = max(delta, _SMALLEST_DELTA) * _NEGLIGIBLE / sum(count for _, count in pairs)
    alone = len(pairs) == 1
    grids = [
        grid_of(pair, step=step, negligible=negligible, is_upper=is_upper, fits_both_ends=alone) for pair, _ in pairs
    ]
    sizes = [grid.size for grid in grids]
    if max(sizes) > _LARGEST_GRID or sum(sizes) > _LARGEST_TOTAL:
        return None
    make = upper_law if is_upper else lower_law
    made = [(make(pair, grid), count) for (pair, count), grid in zip(pairs, grids, strict=True)]
    # An event of which nothing is known from below is left out of a lower bound.
    kept = [(law, count) for law, count in made if is_upper or law.masses.any()]
    if not kept or not all(law.masses.any() for law, _ in kept):
        return None
    return [law for law, _ in kept], [count for _, count in kept]


def curve_at_delta(pairs: Pairs, delta: float, *, step: float, is_upper: bool) -> CertifiedCurve | None:
    """The certified curve of pairs in their order, precise where it passes δ; None where nothing can be said."""
    return _curve(
        pairs, step, delta, lambda cumulants: cumulants.tilt_for_delta(max(delta, _SMALLEST_DELTA)), is_upper=is_upper
    )


def curve_at_epsilon(
    pairs: Pairs, epsilon: Fraction, *, step: float, delta: float, is_upper: bool
) -> CertifiedCurve | None:
    """The certified curve of pairs in their order, precise at ε, where it should be about δ; None as above."""
    return _curve(pairs, step, delta, lambda cumulants: cumulants.tilt_for_loss(float(epsilon)), is_upper=is_upper)


def _curve(
    pairs: Pairs, step: float, delta: float, tilt_of: Callable[[Cumulants], float], *, is_upper: bool
) -> CertifiedCurve | None:
    found = laws_of(pairs, step=step, delta=delta, is_upper=is_upper)
    if found is None:
        return None
    laws, counts = found
    cumulants = Cumulants(laws, counts)
    composed = compose(laws, counts, cumulants=cumulants, tilt=tilt_of(cumulants), is_upper=is_upper)
    return None if composed is None else CertifiedCurve(composed, is_upper=is_upper)


def first_step(pairs: Pairs, delta: float, *, precision: float) -> float:
    """A distance of losses at which the bounds of ε should be about a relative `precision` apart.

    As if all events were Gaussian noise of the same total variation: each composition on a grid adds some step²/12 of
    variance, which a loss in the tail feels tilt + 1 times.
    """
    total = sum(count for _, count in pairs)
    gaussian = math.sqrt(sum(count * _gaussian_mu(pair) ** 2 for pair, count in pairs))
    deviations = math.sqrt(2 * math.log(1 / max(delta, _SMALLEST_DELTA)) + 1)
    epsilon = gaussian * (gaussian / 2 + deviations)
    precise = math.sqrt(8 * precision * epsilon / (total * (deviations / gaussian + 1)))
    return max(min(precise, gaussian / 4), 32 * gaussian / LARGEST_SIZE)


def highest_loss(pairs: Pairs) -> Fraction | None:
    """The largest loss of all together that is not infinite; None where there is none."""
    singles = [(pair.forward.highest_loss, count) for pair, count in pairs]
    if not all(math.isfinite(loss) for loss, _ in singles):
        return None
    return sum((Fraction(loss) * count for loss, count in singles), start=Fraction(0))


def infinite_loss_up(pairs: Pairs) -> float:
    """At or above the probability that some loss lies beyond the highest one of its pair."""
    logs = 0.0
    for pair, count in pairs:
        single = float(pair.forward.delta_up(np.array([pair.forward.highest_loss]))[0])
        logs += count * math.log1p(-single) if single < 1 else -math.inf
    return min(1.0, -math.expm1(logs) * (1 + 1e-12)) if logs else 0.0


def _gaussian_mu(pair: DominatingPair) -> float:
    total_variation = float(pair.forward.delta_up(np.zeros(1))[0])
    return max(2 * NormalDist().inv_cdf((1 + min(total_variation, _SURE)) / 2), 1e-12)


PRECISION: Final = 5e-4
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


def epsilon_bounds(
    pairs: Pairs, delta: Fraction, *, needs_lower: bool = True, precision: float = PRECISION
) -> EpsilonInterval:
    """The smallest ε at a δ above 0, in either order of the pairs, between a lower and an upper bound.

    Where the lower bound is not needed, and no finer grid is affordable, it is left out; the upper bound is the same.
    """
    both = both_orders(pairs)
    step = first_step(pairs, float(delta), precision=1.5 * precision)
    best, before, gap_before = EpsilonInterval(0.0, math.inf), math.inf, math.inf
    for _ in range(_ROUNDS):
        made = [curve_at_delta(order, float(delta), step=step, is_upper=True) for order in both]
        uppers = [_at_most(order, delta, one) for order, one in zip(both, made, strict=True)]
        worst = uppers.index(max(uppers))
        best, found = EpsilonInterval(best.lower, min(best.upper, max(uppers))), made[worst]
        if found is None:
            step *= _COARSER
            continue
        work = len(found.law.masses) * len(pairs)
        if not needs_lower and 2 * work > _LARGEST_WORK:
            break
        below = curve_at_delta(both[worst], float(delta), step=step, is_upper=False)
        lower = 0.0 if below is None else below.epsilon(delta)
        best = EpsilonInterval(min(max(best.lower, lower), best.upper), best.upper)
        gap, is_stable = best.upper - best.lower, before - best.upper <= _STABLE * best.upper
        if math.isinf(gap) or gap <= precision * best.upper:
            break
        shrink = max(_FINEST, min(0.5, 0.9 * math.sqrt(precision * best.upper / gap)))
        # A gap that does not close is not the grid's: the worst mechanism is not known so well.
        is_stuck = is_stable and gap > _STUCK * gap_before
        if work / shrink > _LARGEST_WORK or is_stuck:
            break
        before, gap_before, step = float(best.upper), float(gap), step * shrink
    return best


def _at_most(pairs: Pairs, delta: Fraction, found: CertifiedCurve | None) -> float:
    """The bound of ε by a curve, or the sum of the highest losses if that is less and infinite ones rarer than δ."""
    upper = math.inf if found is None else found.epsilon(delta)
    highest = highest_loss(pairs)
    if highest is None or upper <= highest or infinite_loss_up(pairs) > delta:
        return upper
    return math.nextafter(float(highest), math.inf)


def delta_bound(pairs: Pairs, epsilon: Fraction) -> float:
    """At or above the smallest δ at an ε, in either order of the pairs."""
    worst = 0.0
    for order in both_orders(pairs):
        worst = max(worst, _delta_bound(order, epsilon, enough=worst))
    return worst


def _delta_bound(pairs: Pairs, epsilon: Fraction, *, enough: float) -> float:
    """The same in this order, as closely as is of use when `enough` is known of the other."""
    highest = highest_loss(pairs)
    if highest is not None and epsilon >= highest:
        return min(1.0, infinite_loss_up(pairs))
    best, calm, work, is_finer = 1.0, 0, 0, False
    guess = _FIRST_GUESS
    step = first_step(pairs, guess, precision=PRECISION)
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
