"""Several pairs composed into one, for all losses at once: for a picture, a sample, or a part of a partition."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from sfumato.accounting.pld.bounds import Pairs, both_orders, first_step, laws_of
from sfumato.accounting.pld.convolve import Composition, Cumulants, compose
from sfumato.accounting.pld.discretize import UNIT, LossDistribution
from sfumato.accounting.profiles.profile import TINY, Array, DominatingPair

_DELTAS: Final = (1e-3, 1e-6, 1e-10, 1e-15, 1e-20, 1e-30)
_PRECISION: Final = 1e-4
_TRIES: Final = 12
_LONGEST: Final = 600.0  # beyond it e^−loss leaves the range of floats
_LARGEST: Final = 700.0  # with TINY more than 1, which is no claim


@dataclass(frozen=True, eq=False)
class LossProfile:
    """The privacy profile between two distributions on grids."""

    upper: LossDistribution
    lower: LossDistribution | None

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ of the upper distribution."""
        more, less = _sums(self.upper, self._sums_up, epsilon)
        margin = _margin(self.upper)
        return np.clip(more * (1 + margin) - less * (1 - margin) + self.upper.infinite_mass * (1 + margin), 0.0, 1.0)

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the losses of the lower distribution above ε."""
        if self.lower is None:
            return np.zeros_like(epsilon), np.zeros_like(epsilon)
        (masses, weighted), margin = self._sums_down, _margin(self.lower)
        place = np.searchsorted(self.lower.losses, epsilon, side="right")
        first = (masses[place] + self.lower.infinite_mass) * (1 - margin)
        second = (weighted[place] * (1 + margin) + TINY) * math.exp(min(-float(self.lower.lowest), _LARGEST)) + TINY
        return first, np.minimum(np.where(place < len(self.lower.masses), second, 0.0), 1.0)

    @cached_property
    def highest_loss(self) -> float:
        """The last loss of the upper distribution."""
        return math.nextafter(float(self.upper.losses[-1]), math.inf)

    @cached_property
    def _sums_up(self) -> tuple[Array, Array]:
        return _suffix_sums(self.upper)

    @cached_property
    def _sums_down(self) -> tuple[Array, Array]:
        return _suffix_sums(self.upper if self.lower is None else self.lower)


@lru_cache(maxsize=64)
def composed(pairs: Pairs) -> DominatingPair:
    """One pair for several, each so many times: the profiles of the composed distributions.

    **Guarantee**: dominates the adaptive composition, and its tests hold for it. Proof:
    proofs/accounting/pld/accountant.md §5.
    """
    profiles = [composed_profile(order) for order in both_orders(pairs)]
    return DominatingPair(profiles[0], profiles[-1])


def composed_profile(pairs: Pairs) -> LossProfile:
    """The profile of several pairs in their order."""
    step = first_step(pairs, _DELTAS[-1], precision=_PRECISION)
    for _ in range(_TRIES):
        upper = _flat(pairs, step, is_upper=True)
        if upper is not None:
            lower = _flat(pairs, step, is_upper=False)
            is_short = lower is not None and lower.step * len(lower.masses) < _LONGEST
            return LossProfile(upper, lower if is_short else None)
        step *= 2
    return LossProfile(LossDistribution(lowest=Fraction(0), step=step, masses=np.zeros(1), infinite_mass=1.0), None)


def _flat(pairs: Pairs, step: float, *, is_upper: bool) -> LossDistribution | None:
    found = laws_of(pairs, step=step, delta=_DELTAS[-1], is_upper=is_upper)
    if found is None:
        return None
    laws, counts = found
    cumulants = Cumulants(laws, counts)
    tilts = (0.0, *(cumulants.tilt_for_delta(delta) for delta in _DELTAS))
    windows = [compose(laws, counts, cumulants=cumulants, tilt=tilt, is_upper=is_upper) for tilt in sorted(set(tilts))]
    known = [window for window in windows if window is not None]
    return flattened_law(known, is_upper=is_upper) if len(known) == len(windows) else None


def _margin(law: LossDistribution) -> float:
    """Above the relative error of the sums, of which each term has a few roundings, and an exponential."""
    return UNIT * 4 * (len(law.masses) + 1000)


def _suffix_sums(law: LossDistribution) -> tuple[Array, Array]:
    """Σ of masses, and Σ of masses times e^−(loss − lowest), from each place on; then a last 0."""
    weighted = law.masses * np.exp(-law.step * np.arange(len(law.masses)))
    return np.append(np.cumsum(law.masses[::-1])[::-1], 0.0), np.append(np.cumsum(weighted[::-1])[::-1], 0.0)


def _sums(law: LossDistribution, sums: tuple[Array, Array], epsilon: Array) -> tuple[Array, Array]:
    """Over losses above ε: Σ masses, and e^ε·Σ masses·e^−loss, or less where floats do not reach."""
    place = np.searchsorted(law.losses, epsilon, side="right")
    growth = np.exp(np.minimum(epsilon - float(law.lowest), _LONGEST))
    return sums[0][place], np.minimum(sums[1][place] * growth, sums[0][place])


_OUTWARD: Final = 64 * UNIT


def flattened_law(windows: Sequence[Composition], *, is_upper: bool) -> LossDistribution:
    """The masses that several windows of one composition, tilted ever more, bound together.

    Each mass is the smallest of the upper bounds that the windows give it, or the largest of the lower bounds. What
    lies above all windows becomes infinite loss, what lies below them moves up to the lowest loss.

    **Guarantee**: at or above the composed distribution in every further composition, for an upper bound, else at or
    below it.
    """
    base, step = windows[0], windows[0].step
    starts = [window.first - base.first + round((window.center - base.center) / Fraction(step)) for window in windows]
    lowest, end = starts[0], _end_of_chain(windows, starts)
    masses = np.full(end - lowest, math.inf if is_upper else 0.0)
    for window, start in zip(windows, starts, strict=True):
        part = _masses(window, is_upper=is_upper)[max(0, lowest - start) :]
        at = max(start, lowest) - lowest
        part = part[: max(0, len(masses) - at)]
        target = masses[at : at + len(part)]
        (np.minimum if is_upper else np.maximum)(target, part, out=target)
    infinite = base.infinite_mass
    if is_upper:
        infinite += min(_beyond(window, start, end) for window, start in zip(windows, starts, strict=True))
        masses[0] += 0.0 if base.is_complete_below else base.stray  # untilted, so that `stray` is a probability
    return LossDistribution(
        lowest=windows[0].center + (windows[0].first) * Fraction(step),
        step=step,
        masses=masses,
        infinite_mass=min(infinite, 1.0),
    )


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
