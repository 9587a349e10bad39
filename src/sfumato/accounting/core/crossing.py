"""Where a cost crosses its limit, in few evaluations: secants on a log-log scale, inside a bracket that always holds.

Costs are close to powers of noise, counts and probabilities, so their logarithms are close to straight lines.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

_LONGEST_STEP_TO_SAFETY: Final = 30.0  # in natural logarithms
_LONGEST_STEP_TO_COST: Final = math.log(16)
_FIRST_STEP_TO_COST: Final = math.log(2)  # with little noise ε explodes, and is slow to account for
_SHORTEST_STEP: Final = 0.01  # or the tolerance, a quarter of which may lie between short numbers
_SHORTEST_STEP_OF_INTEGERS: Final = math.log(2)  # it always leads to another integer
_OVERSHOOT: Final = 1.05  # of a step that is to cross
_INWARD: Final = 0.4  # of the tolerance: how near to a known value another is tried
_PATIENCE: Final = 3  # secants in which a bracket must have halved


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The values that a parameter may take, from the one that costs most to the one that costs least."""

    costliest: Fraction
    cheapest: Fraction
    tolerance: Fraction
    """Relative; how near to the best value the result is to lie."""
    is_whole: bool = False

    @property
    def direction(self) -> int:
        """1 where larger values cost less, −1 where they cost more."""
        return 1 if self.cheapest > self.costliest else -1

    def value(self, position: float) -> Fraction:
        """The short number nearest to a logarithm, within the ends of the axis."""
        number = math.exp(self.direction * position)
        short = Fraction(round(number)) if self.is_whole else _short(number, self.tolerance)
        return self.nearest(short)

    def nearest(self, value: Fraction) -> Fraction:
        """The value itself, or the end of the axis beyond which it lies."""
        return max(min(value, max(self.costliest, self.cheapest)), min(self.costliest, self.cheapest))

    def position(self, value: Fraction) -> float:
        """The logarithm of a value, turned so that it grows while the cost falls."""
        return self.direction * math.log(value)

    def are_close(self, first: Fraction, second: Fraction) -> bool:
        """Whether nothing worth trying lies between."""
        least = self.tolerance * min(first, second)
        return abs(first - second) <= (max(least, Fraction(1)) if self.is_whole else least)


@dataclass(frozen=True, slots=True)
class _Trial:
    position: float
    value: Fraction
    excess: float

    @property
    def holds(self) -> bool:
        return self.excess <= 0


def costliest_allowed(excess: Callable[[Fraction], float], *, axis: Axis, guess: Fraction) -> Fraction | None:
    """The costliest value of an axis at which the excess is at most 0.

    If the excess is not monotone the result still has an excess of at most 0.

    Args:
        excess: ln(cost/limit): at most 0 exactly where the cost is allowed.
        axis: The values that may be tried.
        guess: The value tried first.

    Returns:
        A value that was tried and allowed; None where not even the cheapest is.

    Example:
        >>> axis = Axis(costliest=Fraction(1, 1000), cheapest=Fraction(1000), tolerance=Fraction(1, 1000))
        >>> round(float(costliest_allowed(lambda noise: math.log(3 / noise), axis=axis, guess=Fraction(1))), 2)
        3.0
    """

    def tried(value: Fraction) -> _Trial:
        return _Trial(axis.position(value), value, excess(value))

    first, second = _bracket(tried, axis, guess)
    if second is None:
        return first.value if first.holds else None
    return _closed(tried, axis, *((first, second) if first.holds else (second, first)))


def _bracket(tried: Callable[[Fraction], _Trial], axis: Axis, guess: Fraction) -> tuple[_Trial, _Trial | None]:
    """Two trials of which exactly one holds; or the last of the axis alone, where all up to it are alike."""
    here, before = tried(guess), None
    end = axis.costliest if here.holds else axis.cheapest
    while here.value != end:
        there = tried(axis.value(here.position + _step(axis, here, before)))
        if there.holds != here.holds:
            return here, there
        here, before = there, here
    return here, None


def _step(axis: Axis, here: _Trial, before: _Trial | None) -> float:
    """Along the secant to a little beyond the crossing, in the direction in which it must lie."""
    longest = _LONGEST_STEP_TO_COST if here.holds else _LONGEST_STEP_TO_SAFETY
    if here.holds and axis.direction > 0:
        longest = _FIRST_STEP_TO_COST if before is None else 2 * abs(here.position - before.position)
    shortest = _SHORTEST_STEP_OF_INTEGERS if axis.is_whole else max(_SHORTEST_STEP, float(axis.tolerance))
    length = min(max(_wanted_step(here, before), shortest), longest)
    return -length if here.holds else length


def _wanted_step(here: _Trial, before: _Trial | None) -> float:
    if not math.isfinite(here.excess):
        return _LONGEST_STEP_TO_COST if before is None else 2 * abs(here.position - before.position)
    slope = -1.0
    if before is not None and math.isfinite(before.excess):
        slope = (here.excess - before.excess) / (here.position - before.position)
    return abs(here.excess / slope) * _OVERSHOOT if slope < 0 else _LONGEST_STEP_TO_COST


def _closed(tried: Callable[[Fraction], _Trial], axis: Axis, allowed: _Trial, refused: _Trial) -> Fraction:
    """Shrink a bracket by the Illinois method, and by halving where that is slow."""
    weights = (allowed.excess, refused.excess)
    held_before: bool | None = None
    widths: list[float] = []
    while not axis.are_close(allowed.value, refused.value):
        widths.append(allowed.position - refused.position)
        is_slow = len(widths) > _PATIENCE and widths[-1] > widths[-1 - _PATIENCE] / 2
        there = tried(_between(axis, allowed, refused, None if is_slow else weights))
        repeated = 0.5 if there.holds is held_before else 1.0  # an end that stays for long pulls the secant less
        if there.holds:
            allowed, weights = there, (there.excess, weights[1] * repeated)
        else:
            refused, weights = there, (weights[0] * repeated, there.excess)
        held_before = there.holds
    return allowed.value


def _between(axis: Axis, allowed: _Trial, refused: _Trial, weights: tuple[float, float] | None) -> Fraction:
    """A value strictly between, where the secant of the weights crosses 0; the middle without weights."""
    share = 0.5
    if weights is not None and all(map(math.isfinite, weights)) and weights[0] < weights[1]:
        share = weights[1] / (weights[1] - weights[0])
    width = allowed.position - refused.position
    inward = min(_INWARD * float(axis.tolerance), width / 2)
    value = axis.value(refused.position + min(max(share * width, inward), width - inward))
    if not axis.is_whole:
        return value
    low, high = sorted((allowed.value, refused.value))
    return max(min(value, high - 1), low + 1)


def _short(number: float, tolerance: Fraction) -> Fraction:
    """The nearest dyadic number that is fine enough for a tolerance."""
    bits = 4 + tolerance.denominator.bit_length() - tolerance.numerator.bit_length()
    mantissa, octave = math.frexp(number)
    return Fraction(round(math.ldexp(mantissa, bits))) * Fraction(2) ** (octave - bits)
