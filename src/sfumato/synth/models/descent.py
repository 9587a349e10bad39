"""The minimum of a smooth convex function of very many numbers: limited-memory BFGS with a diagonal as first guess."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sfumato.synth.models.factors import Floats

_SUFFICIENT: Final = 1e-4
_HALVINGS: Final = 40
_MEMORY: Final = 8
"""Steps that are remembered."""
VECTORS: Final = 2 * _MEMORY + 10
"""How many arrays as large as a point are held at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchPoint:
    """Where the search is.

    Attributes:
        at: The numbers.
        value: That of the function.
        gradient: Its slope.
        curvature: About the second derivative along each number, above 0.
        gap: How far the value may be from the least one, in units that the caller knows.
    """

    at: Floats
    value: float
    gradient: Floats
    curvature: Floats
    gap: float


def minimized(
    function: Callable[[Floats], SearchPoint], start: Floats, *, gap: float, max_iterations: int
) -> tuple[SearchPoint, int]:
    """Search until the gap is small, or no step leads down any more, or there were so many iterations.

    Args:
        function: Gives the point at some numbers.
        start: Where to begin.
        gap: What is small enough.
        max_iterations: How many steps at most.

    Returns:
        The last point, and how many steps led to it.

    Example:
        >>> import numpy as np
        >>> def bowl(at):
        ...     square = float(at @ at)
        ...     return SearchPoint(at=at, value=square / 2, gradient=at, curvature=np.ones(2), gap=square)
        >>> point, steps = minimized(bowl, np.array([3.0, 4.0]), gap=1e-9, max_iterations=9)
        >>> point.at.tolist(), steps
        ([0.0, 0.0], 1)

    References:
        [LN89] for limited-memory BFGS.
    """
    point, steps = function(start), 0
    history: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    while point.gap > gap and steps < max_iterations:
        direction = _direction(point, history)
        slope = float(point.gradient @ direction)
        following = _step(function, point, direction, slope) if slope < 0 else None
        if following is None and not history:
            break  # rounding is all that is left
        if following is None:
            history.clear()  # what was remembered misled: go on from the diagonal alone
            continue
        moved, change = following.at - point.at, following.gradient - point.gradient
        if (product := float(moved @ change)) > 0:
            history.append((moved, change, product))
        point, steps = following, steps + 1
    return point, steps


def _step(
    function: Callable[[Floats], SearchPoint], point: SearchPoint, direction: Floats, slope: float
) -> SearchPoint | None:
    """The first of ever smaller steps that leads down enough."""
    length = 1.0
    for _ in range(_HALVINGS):
        following = function(point.at + length * direction)
        if following.value <= point.value + _SUFFICIENT * length * slope:
            return following
        length /= 2
    return None


def _direction(point: SearchPoint, history: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Downward, by the two loops of limited-memory BFGS."""
    direction = -point.gradient
    shares = []
    for moved, change, product in reversed(history):
        share = float(moved @ direction) / product
        direction -= share * change
        shares.append(share)
    inverse = 1 / point.curvature
    if history:
        _, change, product = history[-1]
        inverse *= product / float(change @ (inverse * change))
    direction *= inverse
    for (moved, change, product), share in zip(history, reversed(shares), strict=True):
        direction += (share - float(change @ direction) / product) * moved
    return direction
