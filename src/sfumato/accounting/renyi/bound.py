"""What accounting by Rényi divergences must know of an event, and how such bounds compose, also for groups."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from heapq import nlargest
from math import inf
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.renyi.curves import Array
from sfumato.numeric.rounding import float_up, inflated

Epsilon: TypeAlias = Fraction | float
_BATCH: Final = 512  # curves that are computed at once


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiBound:
    """Of any two neighbors' distributions P, Q, up to a failure that is as likely under both.

    **Guarantee**: P = (1 − δ)P' + δP'' and Q = (1 − δ)Q' + δQ'' with δ = `failure`, and D_α(P'‖Q') and D_α(Q'‖P') are
    at most `divergence(α)` for finite α > 1, and at most `epsilon` at α = ∞. Bounds add up under adaptive composition.
    """

    divergence: Callable[[Array], Array]
    """At orders that grow; may be infinite."""
    epsilon: Epsilon = float("inf")
    failure: Fraction = Fraction(0)
    is_symmetric: bool = False
    """Whether P', Q' are post-processed from one pair that a reflection exchanges, and that attains no more."""
    is_slow: bool = False
    """Whether the divergence is found by integration, so that thousands of orders take long."""


NOTHING: Final = RenyiBound(divergence=np.zeros_like, epsilon=Fraction(0), is_symmetric=True)
EVERYTHING: Final = RenyiBound(divergence=np.zeros_like, epsilon=Fraction(0), failure=Fraction(1), is_symmetric=True)

UNBOUNDED: Final = RenyiBound(divergence=lambda orders: np.full_like(orders, np.inf))


def composed(parts: Iterable[tuple[RenyiBound, int]]) -> RenyiBound:
    """The bound of all parts together, each so many times: divergences and failures add up."""
    counts = tuple(parts)
    if not counts:
        return NOTHING
    return RenyiBound(
        divergence=lambda orders: np.sum(list(_divergences(counts, orders)), axis=0),
        epsilon=_total(times(part.epsilon, count) for part, count in counts),
        failure=min(sum((part.failure * count for part, count in counts), start=Fraction(0)), Fraction(1)),
        is_symmetric=all(part.is_symmetric for part, _ in counts),
        is_slow=any(part.is_slow for part, _ in counts),
    )


def _divergences(counts: Sequence[tuple[RenyiBound, int]], orders: Array) -> Iterator[Array]:
    """Of the parts; those whose curves differ in their ε alone come in batches, already added up."""
    alike: defaultdict[Callable[..., Array], list[tuple[float, float]]] = defaultdict(list)
    for part, count in counts:
        match part.divergence:
            case partial(func=curve, args=(), keywords={"epsilon": float(epsilon), **other}) if not other:
                alike[curve].append((epsilon, _times_up(count)))
            case curve:
                yield _repeated(curve(orders), _times_up(count))
    for curve, cases in alike.items():
        for start in range(0, len(cases), _BATCH):
            epsilons, many = np.array(cases[start : start + _BATCH]).T[:, :, None]
            yield _repeated(curve(orders, epsilon=epsilons), many).sum(axis=0)


def _repeated(divergences: Array, count: Array | float) -> Array:
    """So many times; of 0 that is 0, and of what could not be computed infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total: Array = np.where(divergences == 0, 0.0, np.maximum(divergences * count, 0.0))
    return np.where(np.isnan(total), np.inf, total)


def _times_up(count: Fraction | int) -> float:
    return float_up(Fraction(count))


def as_float_up(epsilon: Epsilon) -> float:
    """ε as a float, rounded up; infinite where it is larger than any."""
    return float_up(epsilon) if isinstance(epsilon, Fraction) else epsilon


def times(epsilon: Epsilon, count: Fraction | int) -> Epsilon:
    """ε so many times; a float is rounded up."""
    return epsilon * count if isinstance(epsilon, Fraction) else inflated(epsilon * _times_up(count))


def _total(epsilons: Iterable[Epsilon]) -> Epsilon:
    """The sum of some ε, exact unless it is infinite."""
    listed = tuple(epsilons)
    return inf if inf in listed else sum((Fraction(epsilon) for epsilon in listed), start=Fraction(0))


def worst(*bounds: RenyiBound) -> RenyiBound:
    """The bound of something that is one of these."""
    return RenyiBound(
        divergence=lambda orders: np.max([bound.divergence(orders) for bound in bounds], axis=0),
        epsilon=max(bound.epsilon for bound in bounds),
        failure=max(bound.failure for bound in bounds),
        is_slow=any(bound.is_slow for bound in bounds),
    )


def costliest(bounds: Sequence[tuple[RenyiBound, int]], parts: int) -> RenyiBound:
    """The bound of any so many of these together, each of which there is a number of."""
    listed = [bound for bound, count in bounds for _ in range(count)]

    def divergence(orders: Array) -> Array:
        each = [np.tile(bound.divergence(orders), (count, 1)) for bound, count in bounds]
        total: Array = np.sort(np.concatenate(each), axis=0)[-parts:].sum(axis=0)
        return total

    return RenyiBound(
        divergence=divergence,
        epsilon=_total(nlargest(parts, (bound.epsilon for bound in listed))),
        failure=min(sum(nlargest(parts, (bound.failure for bound in listed)), start=Fraction(0)), Fraction(1)),
        is_slow=any(bound.is_slow for bound, _ in bounds),
    )


_MOST_TERMS: Final = 64
_MARGIN: Final = 1 + 1e-13


def grouped_bound(single: RenyiBound, size: int) -> RenyiBound:
    """D_α over `size` steps is at most Σ_{j<c} αc/(αc − j) · D_{αc−j} over one; for a curve αρ that is exactly αc²ρ.

    It follows from D_α(P‖R) ≤ (α−1/p)/(α−1) D_{pα}(P‖Q) + D_{(pα−1)/(p−1)}(Q‖R) [Mir17, Proposition 11] with
    p = 1 + (c−1)(α−1)/α, step by step. Edge cases: failures of one step are not those of the next; nothing is promised.
    """
    if size == 1:
        return single
    if single.failure:
        return EVERYTHING
    return replace(
        single,
        divergence=lambda orders: _over_steps(single, size, orders),
        epsilon=times(single.epsilon, size) if single.epsilon != inf else inf,
        is_symmetric=False,
    )


def _over_steps(single: RenyiBound, size: int, orders: Array) -> Array:
    """Of many steps only some are looked at; each stands for those after it, whose orders are smaller."""
    few = size <= _MOST_TERMS
    stops = np.arange(1.0, size + 2) if few else np.unique(np.geomspace(1, size + 1, _MOST_TERMS + 1).round())
    total = np.zeros_like(orders)
    for first, after in zip(stops[:-1] - 1, stops[1:] - 1, strict=True):
        largest_factor = orders * size / (1 + (orders - 1) * size + (size - after))
        total = total + (after - first) * largest_factor * single.divergence(orders * size - first)
    return total * _MARGIN
