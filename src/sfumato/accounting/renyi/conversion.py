"""From Rényi divergences to (ε, δ): the best order, found on a grid and then around its best point.

Every order gives a valid bound, so the search needs no proof, only a good end.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.renyi.curves import Array
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, nonnegative, positive, probability
from sfumato.numeric.rounding import exp_up, float_up, log_near

_MARGIN: Final = 1e-14  # of the sum of the sizes of all terms
_ROUNDS: Final = 4
_POINTS: Final = 17  # each round narrows the distance of the orders 8-fold
_ENOUGH: Final = 1.125  # times what is wanted: larger orders no longer help
_WHOLE_FROM: Final = 4096.0  # where whole orders are dense enough; bounds of samples are best there
_SMALLEST_ROUNDED: Final = 1.5

_LARGEST: Final = Fraction(10**280)  # an ε above it is read as it, which can only raise δ

Curve: TypeAlias = Callable[[Array], Array]


def _orders(low: float, high: float, points: int) -> Array:
    """Orders α with α − 1 between two bounds, and the whole numbers next to the larger ones."""
    orders = 1 + np.geomspace(low, high, points)
    return np.unique(np.concatenate([orders[orders < _WHOLE_FROM], np.rint(orders[orders > _SMALLEST_ROUNDED])]))


ORDERS: Final = np.unique(np.concatenate([_orders(1e-5, 1e7, 73), np.arange(2.0, 17.0)]))
"""The first orders that are tried."""
_BLOCKS: Final = tuple(np.split(ORDERS, np.searchsorted(ORDERS, [20, 200, 2000])))


def rdp_epsilon_up(divergences: Mapping[Number, Number], *, delta: Number) -> float:
    """The smallest ε at δ that Rényi divergences at some orders imply, rounded up.

    min over the orders α of D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1).

    **Guarantee**: every mechanism whose Rényi divergences of these orders are at most these is (ε, δ)-differentially
    private, for the relation of the divergences. Proof: proofs/accounting/renyi/accountant.md.

    Args:
        divergences: For each order above 1 a divergence of 0 or more, in nats.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: An order, a divergence or δ lies outside, or there is no order.

    Example:
        >>> round(rdp_epsilon_up({2: "0.1", 8: "0.4", 32: "1.6"}, delta="1e-6"), 4)
        1.9021

    References:
        [CKS20] Proposition 12; [BBGHS20].
    """
    orders, values = _points(divergences)
    allowed = probability(delta, "delta")
    if allowed in {0, 1}:
        raise ParameterError("delta", delta, "must be above 0 and below 1")
    return max(float(_epsilons(orders, values, log_near(allowed)).min()), 0.0)


def rdp_delta_up(divergences: Mapping[Number, Number], *, epsilon: Number) -> float:
    """The smallest δ at ε that Rényi divergences at some orders imply, rounded up: the inverse of `rdp_epsilon_up`.

    Raises:
        ParameterError: An order, a divergence or ε lies outside, or there is no order.

    Example:
        >>> rdp_delta_up({2: "0.1", 8: "0.4", 32: "1.6"}, epsilon="1.9022") <= 1e-6
        True
    """
    orders, values = _points(divergences)
    log_delta = float(_log_deltas(orders, values, float(min(nonnegative(epsilon, "epsilon"), _LARGEST))).min())
    return 1.0 if log_delta >= 0 else exp_up(Fraction(log_delta))


def _points(divergences: Mapping[Number, Number]) -> tuple[Array, Array]:
    """Orders rounded down, as a divergence grows with its order, and divergences rounded up."""
    if not of_kind(divergences, "divergences", Mapping, "a bound for each order, such as {2: 0.1}"):
        raise ParameterError("divergences", divergences, "must have at least one order")
    orders = np.array([-float_up(-positive(order, "order")) for order in divergences])
    if not np.all((orders > 1) & (orders <= ORDERS[-1])):
        raise ParameterError("order", tuple(divergences), f"must be above 1 and at most {ORDERS[-1]:g}")
    return orders, np.array([float_up(nonnegative(value, "divergence")) for value in divergences.values()])


def epsilon_up(divergence: Curve, delta: Fraction) -> float:
    """The smallest ε at δ, rounded up: min over α of D_α + ln(1 − 1/α) − (ln δ + ln α)/(α − 1) [CKS20], [BBGHS20]."""
    log_delta = log_near(delta)
    return max(least(lambda orders, values: _epsilons(orders, values, log_delta), divergence), 0.0)


def delta_up(divergence: Curve, epsilon: Fraction) -> float:
    """The smallest δ at ε, rounded up: ln δ = min of (α − 1)(D_α − ε) + α ln(1 − 1/α) − ln(α − 1) [CKS20]."""
    value = float(min(epsilon, _LARGEST))
    log_delta = least(lambda orders, values: _log_deltas(orders, values, value), divergence, value)
    return 1.0 if log_delta >= 0 else exp_up(Fraction(log_delta))


def _epsilons(orders: Array, values: Array, log_delta: float) -> Array:
    extra = orders - 1
    below, share = np.log1p(1 / extra), (log_delta + np.log(orders)) / extra
    size = values + below + (abs(log_delta) + np.log(orders)) / extra
    return values - below - share + _MARGIN * size


def _log_deltas(orders: Array, values: Array, epsilon: float) -> Array:
    extra = orders - 1
    terms = extra * np.log1p(1 / extra) + np.log(orders)
    with np.errstate(over="ignore"):
        return extra * (values - epsilon) - terms + _MARGIN * (extra * (values + epsilon) + terms)


def least(objective: Callable[[Array, Array], Array], divergence: Curve, limit: float | None = None) -> float:
    """The least value over orders.

    Args:
        objective: From orders and divergences to values.
        divergence: A bound at any orders that grow.
        limit: Above an order whose divergence clearly exceeds it, no order is tried; if None, the least value so far.
    """
    values = np.empty(0)
    for block in _BLOCKS:
        divergences = divergence(block)
        values = np.concatenate([values, objective(block, divergences)])
        if divergences[-1] > _ENOUGH * (values.min() if limit is None else limit):
            break
    orders, best = ORDERS[: len(values)], float(values.min())
    for _ in range(_ROUNDS):
        where, extra = int(np.argmin(values)), orders - 1
        orders = _orders(extra[max(where - 1, 0)], extra[min(where + 1, len(extra) - 1)], _POINTS)
        values = objective(orders, divergence(orders))
        best = min(best, float(values.min()))
    return best
