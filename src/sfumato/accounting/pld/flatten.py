"""A composed law as masses on its grid, for all losses at once: what a picture shows, and what a sample contains."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.accounting.pld.convolve import Composition
from sfumato.accounting.pld.law import UNIT, Law
from sfumato.accounting.profiles.profile import Array

_OUTWARD: Final = 64 * UNIT


def flattened_law(windows: Sequence[Composition], *, is_upper: bool) -> Law:
    """The masses that several windows of one composition, tilted ever more, bound together.

    Each mass is the smallest of the upper bounds that the windows give it, or the largest of the lower bounds. What
    lies above all windows becomes infinite loss, what lies below them moves up to the lowest loss.

    **Guarantee**: at or above the composed law in every further composition, for an upper bound, else at or below it.
    """
    step = windows[0].step
    starts = [_offset(window, windows[0]) for window in windows]
    lowest, end = starts[0], _end_of_chain(windows, starts)
    masses = np.full(end - lowest, math.inf if is_upper else 0.0)
    for window, start in zip(windows, starts, strict=True):
        part = _masses(window, is_upper=is_upper)[max(0, lowest - start) :]
        at = max(start, lowest) - lowest
        part = part[: max(0, len(masses) - at)]
        target = masses[at : at + len(part)]
        (np.minimum if is_upper else np.maximum)(target, part, out=target)
    infinite = windows[0].infinite_mass
    if is_upper:
        infinite += min(_beyond(window, start, end) for window, start in zip(windows, starts, strict=True))
        masses[0] += _missing(windows[0])
    return Law(
        lowest=windows[0].center + (windows[0].first) * Fraction(step),
        step=step,
        masses=masses,
        infinite_mass=min(infinite, 1.0),
    )


def _offset(window: Composition, base: Composition) -> int:
    """The place of a window's first mass on the grid of another's."""
    return window.first - base.first + round((window.center - base.center) / Fraction(window.step))


def _end_of_chain(windows: Sequence[Composition], starts: Sequence[int]) -> int:
    """The end of the windows that follow the first without a gap."""
    end = starts[0]
    for window, start in zip(windows, starts, strict=True):
        if start <= end:
            end = max(end, start + len(window.masses))
    return end


def _masses(window: Composition, *, is_upper: bool) -> Array:
    """Untilted, each error counted in full on each mass."""
    places = window.first + np.arange(len(window.masses))
    exponents = window.log_scale - window.tilt * window.step * places
    sign = 1 if is_upper else -1
    doubt = window.error if is_upper else -window.error - 2 * window.stray
    slack = window.relative_error + UNIT * 8 * (np.abs(exponents) + abs(window.log_scale) + 16)
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum(window.masses + doubt, 0.0) * np.exp(exponents) * (1 + sign * slack))


def _beyond(window: Composition, start: int, end: int) -> float:
    """The untilted probability of losses above `end`, if the window reaches so far."""
    if start + len(window.masses) < end or window.stray == 0:
        return 0.0 if start + len(window.masses) >= end else math.inf
    place = window.first + end - start
    return window.stray * math.exp(min(window.log_scale - window.tilt * window.step * place, 0.0)) * (1 + _OUTWARD)


def _missing(window: Composition) -> float:
    """What lies below the first window: its tilt is 0, so that `stray` is a probability."""
    return 0.0 if window.is_complete_below else window.stray
