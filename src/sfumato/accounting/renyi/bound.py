"""What accounting by Rényi divergences must know of an event, and how two such bounds compose."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.renyi.losses import Array
from sfumato.numeric.rounding import inflated

Epsilon: TypeAlias = Fraction | float


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
        divergence=lambda orders: np.sum([part.divergence(orders) * count for part, count in counts], axis=0),
        epsilon=_total(times(part.epsilon, count) for part, count in counts),
        failure=min(sum((part.failure * count for part, count in counts), start=Fraction(0)), Fraction(1)),
        is_symmetric=all(part.is_symmetric for part, _ in counts),
        is_slow=any(part.is_slow for part, _ in counts),
    )


def times(epsilon: Epsilon, count: Fraction | int) -> Epsilon:
    """ε so many times; a float is rounded up."""
    return epsilon * count if isinstance(epsilon, Fraction) else inflated(epsilon * float(count))


def _total(epsilons: Iterable[Epsilon]) -> Epsilon:
    """The sum of some ε; a float is rounded up."""
    total = sum(epsilons, start=Fraction(0))
    return total if isinstance(total, Fraction) else inflated(total)


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
