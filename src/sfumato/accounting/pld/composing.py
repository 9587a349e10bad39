"""Pairs composed on one grid: from dominating pairs to a certified curve about a wanted δ or ε."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.pld.bounds import CertifiedCurve
from sfumato.accounting.pld.convolve import LARGEST_SIZE, compose
from sfumato.accounting.pld.cumulants import Cumulants
from sfumato.accounting.pld.discretize import grid_of, lower_law, upper_law
from sfumato.accounting.pld.law import Law
from sfumato.accounting.profiles.profile import DominatingPair

Pairs: TypeAlias = tuple[tuple[DominatingPair, int], ...]

_NEGLIGIBLE: Final = 1e-7  # of δ may be cut off the upper ends of all laws together
_SMALLEST_DELTA: Final = 1e-290
_LARGEST_GRID: Final = 2**17  # losses of one law; only a law with a tail far out would use more
_LARGEST_TOTAL: Final = 2**21  # losses of all laws together
_SURE: Final = 1 - 1e-12


def orders(pairs: Pairs) -> tuple[Pairs, ...]:
    """The pairs from the database with the unit, and from the one without it where that differs."""
    if all(pair.is_symmetric for pair, _ in pairs):
        return (pairs,)
    return pairs, tuple((DominatingPair(pair.backward, pair.forward), count) for pair, count in pairs)


def laws_of(pairs: Pairs, *, step: float, delta: float, is_upper: bool) -> tuple[list[Law], list[int]] | None:
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
