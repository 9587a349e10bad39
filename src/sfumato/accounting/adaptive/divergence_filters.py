"""Filters by Rényi divergences: zero-concentrated and Gaussian privacy, and single orders with bounds of their own."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.event_prices import gdp_price, order_name, renyi_orders, renyi_price, zcdp_price
from sfumato.accounting.adaptive.filters import AdditiveFilter
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, nonnegative, open_probability, positive, set_fields
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, FullyAdaptiveEvent, GaussianEvent, ZCDPEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation


@dataclass(frozen=True, slots=True)
class ZCDPFilter(AdditiveFilter):
    """Grants while Σ ρᵢ ≤ ρ and Σ δᵢ ≤ δ.

    **Guarantee**: everything released together is δ-approximately ρ-zero-concentrated differentially private; ρ-zCDP
    for δ = 0. Costs are exact, or rounded up where they are not rational.

    Args:
        rho: 0 or more.
        delta: At least 0 and below 1: what releases of (ε, δ) events may use.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> account = ZCDPFilter("0.5").spend(GaussianEvent(2), count=3)
        >>> str(account.remaining), account.can_spend(GaussianEvent(2)), account.can_spend(GaussianEvent("1.99"))
        ('rho 0.125, delta 0', True, False)

    References:
        [FZ21]; [WRRW23]; [BS16] Definition 8.1.
    """

    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        AdditiveFilter.__post_init__(self)
        set_fields(self, rho=nonnegative(self.rho, "rho"), delta=nonnegative(self.delta, "delta"))
        if self.delta >= 1:
            raise ParameterError("delta", self.delta, "must be at least 0 and below 1")

    @property
    def budget(self) -> Amounts:
        """The budget: ρ and δ."""
        return Amounts((("rho", self.rho), ("delta", self.delta)))

    @property
    def event(self) -> FullyAdaptiveEvent | ComposedEvent:
        """The whole run: a ρ-zCDP event; for δ above 0, beside a (0, δ)-differentially private one."""
        run = FullyAdaptiveEvent(ZCDPEvent(self.rho))
        if self.delta == 0:
            return run
        return ComposedEvent((run, FullyAdaptiveEvent(ApproxEvent(Fraction(0), self.delta))))

    def _price(self, event: Event) -> Amounts | None:
        return zcdp_price(event, self.neighboring_relation)


@dataclass(frozen=True, slots=True)
class GDPFilter(AdditiveFilter):
    """Grants continuous Gaussian noise while Σ 1/noise_multiplierᵢ² ≤ μ².

    **Guarantee**: everything released together is μ-Gaussian differentially private: no easier to tell from its
    neighbor than N(μ, 1) from N(0, 1). Nothing is lost against noise chosen in advance. Sums are exact.

    Edge cases: discrete Gaussian noise is not Gaussian, and is refused; so is whatever else is no Gaussian noise.

    Args:
        mu: μ, above 0.

    Raises:
        ParameterError: μ is out of range.

    Example:
        >>> account = GDPFilter(1).spend(GaussianEvent(2), count=3)
        >>> str(account.remaining), account.can_spend(GaussianEvent(2)), account.can_spend(GaussianEvent("1.99"))
        ('squared_mu 0.25', True, False)

    References:
        [ST22]; [KTH23].
    """

    mu: Fraction

    def __post_init__(self) -> None:
        AdditiveFilter.__post_init__(self)
        set_fields(self, mu=positive(self.mu, "mu"))

    @property
    def budget(self) -> Amounts:
        """The budget: μ²."""
        return Amounts((("squared_mu", self.mu**2),))

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: Gaussian noise of noise multiplier 1/μ."""
        return FullyAdaptiveEvent(GaussianEvent(1 / self.mu))

    def _price(self, event: Event) -> Amounts | None:
        return gdp_price(event, self.neighboring_relation)


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
        ParameterError: A parameter is out of range, or there are not as many bounds as orders.

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
        set_fields(
            self,
            orders=renyi_orders(self.orders),
            bounds=tuple(nonnegative(bound, "bounds") for bound in listed(self.bounds, "bounds")),
            delta=open_probability(self.delta, "delta"),
        )
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
            ParameterError: A parameter is out of range, or at this order not even a divergence of 0 shows (ε, δ).

        Example:
            >>> RDPFilter.for_guarantee(1, "1e-6", order=20).event.budget.epsilon
            Fraction(1, 1)

        References:
            [CKS20] Proposition 12.
        """
        (alpha,), allowed, target = (
            renyi_orders((order,)),
            open_probability(delta, "delta"),
            nonnegative(epsilon, "epsilon"),
        )
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
