"""Filters for Gaussian noise: zero-concentrated privacy, and Gaussian privacy where the noise is continuous."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.event_prices import gdp_price, zcdp_price
from sfumato.accounting.adaptive.privacy_filter import AdditiveFilter
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import nonnegative, positive
from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, FullyAdaptiveEvent, GaussianEvent, ZCDPEvent


@dataclass(frozen=True, slots=True)
class ZCDPFilter(AdditiveFilter):
    """Grants while Σ ρᵢ ≤ ρ and Σ δᵢ ≤ δ.

    **Guarantee**: everything released together is δ-approximately ρ-zero-concentrated differentially private; ρ-zCDP
    for δ = 0. Prices are exact, or rounded up where they are not rational.

    Args:
        rho: 0 or more.
        delta: At least 0 and below 1: what releases of (ε, δ) events may use.

    Raises:
        ParameterError: A parameter lies outside.

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
        object.__setattr__(self, "rho", nonnegative(self.rho, "rho"))
        object.__setattr__(self, "delta", nonnegative(self.delta, "delta"))
        if self.delta >= 1:
            raise ParameterError("delta", self.delta, "must be at least 0 and below 1")

    @property
    def budget(self) -> Amounts:
        """ρ and δ."""
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
    neighbour than N(μ, 1) from N(0, 1). Nothing is lost against noise chosen in advance. Sums are exact.

    Edge cases: discrete Gaussian noise is not Gaussian, and is refused; so is whatever else is no Gaussian noise.

    Args:
        mu: Above 0.

    Raises:
        ParameterError: μ lies outside.

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
        object.__setattr__(self, "mu", positive(self.mu, "mu"))

    @property
    def budget(self) -> Amounts:
        """μ²."""
        return Amounts((("squared_mu", self.mu**2),))

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: Gaussian noise of noise multiplier 1/μ."""
        return FullyAdaptiveEvent(GaussianEvent(1 / self.mu))

    def _price(self, event: Event) -> Amounts | None:
        return gdp_price(event, self.neighboring_relation)
