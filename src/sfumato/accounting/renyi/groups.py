"""A group of units, where nothing is known but the bound for one: a chain of triangle inequalities."""

from dataclasses import replace
from math import inf
from typing import Final

import numpy as np

from sfumato.accounting.renyi.bound import EVERYTHING, RenyiBound, times
from sfumato.accounting.renyi.losses import Array

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
