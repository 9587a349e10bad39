"""What accounting by Rényi divergences must know of an event, and how two such bounds compose."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import nlargest
from math import inf
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.renyi.losses import Array
from sfumato.numeric.rounding import float_up, inflated

Epsilon: TypeAlias = Fraction | float
_BATCH: Final = 512  # curves that are computed at once


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiBound:
    """Of any two neighbours' laws P, Q, up to a failure that is as likely under both.

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
