"""A filter by Rényi divergences: every order has a bound of its own, and keeps it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.event_prices import order_name, renyi_orders, renyi_price
from sfumato.accounting.adaptive.privacy_filter import AdditiveFilter
from sfumato.accounting.core.parameters import open_delta
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, nonnegative
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import ApproxEvent, Event, FullyAdaptiveEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation


@dataclass(frozen=True, slots=True)
class RDPFilter(AdditiveFilter):
    """Grants while Σ D_αᵢ ≤ bound, at every one of its orders α.

    **Guarantee**: everything released together has a Rényi divergence of at most the bound at each of the orders, in
    both directions, and is (ε, δ)-differentially private for the δ given and the ε of `event`.

    Several orders restrict one another: it is not enough that *some* order keeps a bound from which (ε, δ) would
    follow, because which one does may depend on the answers. To use whichever order is best in the end, pay for all
    of them: `OdometerFilter` over an `RDPOdometer`.

    Args:
        orders: Above 1, each once.
        bounds: One for each order, 0 or more.
        delta: Above 0 and below 1: where `event` is stated.

    Raises:
        ParameterError: A parameter lies outside, or there are not as many bounds as orders.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> account = RDPFilter((2, 8), (1, "3.1"), delta="1e-6")
        >>> account.can_spend(GaussianEvent(2), count=3), account.can_spend(GaussianEvent(2), count=4)
        (True, False)

    References:
        [FZ21]; [Lec21].
    """

    orders: tuple[Fraction, ...]
    bounds: tuple[Fraction, ...]
    delta: Fraction

    def __post_init__(self) -> None:
        AdditiveFilter.__post_init__(self)
        object.__setattr__(self, "orders", renyi_orders(self.orders))
        object.__setattr__(
            self, "bounds", tuple(nonnegative(bound, "bounds") for bound in listed(self.bounds, "bounds"))
        )
        object.__setattr__(self, "delta", open_delta(self.delta))
        if len(self.bounds) != len(self.orders):
            raise ParameterError("bounds", self.bounds, f"must be one for each of the {len(self.orders)} orders")

    @classmethod
    def for_guarantee(
        cls,
        epsilon: Number,
        delta: Number,
        *,
        order: Number,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> Self:
        """The filter at one order whose run is (ε, δ)-differentially private.

        Raises:
            ParameterError: A parameter lies outside, or at this order not even a divergence of 0 shows (ε, δ).

        Example:
            >>> RDPFilter.for_guarantee(1, "1e-6", order=20).event.budget.epsilon
            Fraction(1, 1)

        References:
            [CKS20] Proposition 12.
        """
        (alpha,), allowed, target = renyi_orders((order,)), open_delta(delta), nonnegative(epsilon, "epsilon")
        bound = target - _excess(alpha, allowed)
        if bound < 0:
            raise ParameterError("order", order, "must be higher: at this one δ alone takes more than ε")
        return cls((alpha,), (bound,), allowed, neighboring_relation=neighboring_relation)

    @property
    def budget(self) -> Amounts:
        """The bounds, each under the name of its order."""
        return Amounts(tuple(zip(map(order_name, self.orders), self.bounds, strict=True)))

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: an event of δ and the smallest ε that follows from a bound."""
        pairs = zip(self.orders, self.bounds, strict=True)
        epsilon = min(bound + _excess(order, self.delta) for order, bound in pairs)
        return FullyAdaptiveEvent(ApproxEvent(max(epsilon, Fraction(0)), self.delta))

    def _price(self, event: Event) -> Amounts | None:
        return renyi_price(event, self.orders, self.neighboring_relation)


def _excess(order: Fraction, delta: Fraction) -> Fraction:
    """By how much ε exceeds the divergence of an order: ln(1 − 1/α) + ln(1/(αδ))/(α − 1), rounded up."""
    return log_up(1 - 1 / order) + log_up(1 / (order * delta)) / (order - 1)
