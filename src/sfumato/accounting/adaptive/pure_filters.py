"""Filters for releases of known ε and δ: by sums, and by the rate of advanced composition."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.event_prices import approx_price, pure_price
from sfumato.accounting.adaptive.privacy_filter import AdditiveFilter
from sfumato.accounting.core.parameters import open_delta
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import nonnegative, positive, sqrt_up
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import ApproxEvent, Event, FullyAdaptiveEvent, PureEvent


@dataclass(frozen=True, slots=True)
class PureFilter(AdditiveFilter):
    """Grants while Σ εᵢ ≤ ε.

    **Guarantee**: everything released together is ε-differentially private. Sums are exact.

    Edge cases: Gaussian noise, and any event with δ above 0, has an infinite ε and is refused.

    Args:
        epsilon: 0 or more.

    Raises:
        ParameterError: ε lies outside.

    Example:
        >>> tenths = PureFilter(1).spend(PureEvent("0.1"), count=10)
        >>> str(tenths.remaining), tenths.can_spend(PureEvent("1e-100"))
        ('epsilon 0', False)

    References:
        [RRUV16].
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        AdditiveFilter.__post_init__(self)
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))

    @property
    def budget(self) -> Amounts:
        """ε."""
        return Amounts((("epsilon", self.epsilon),))

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: an ε-differentially private event."""
        return FullyAdaptiveEvent(PureEvent(self.epsilon))

    def _price(self, event: Event) -> Amounts | None:
        return pure_price(event, self.neighboring_relation)


@dataclass(frozen=True, slots=True)
class ApproxFilter(AdditiveFilter):
    """Grants while Σ εᵢ ≤ ε and Σ δᵢ ≤ δ.

    **Guarantee**: everything released together is (ε, δ)-differentially private. Sums are exact.

    Edge cases: Gaussian noise has an ε for every δ, and so no price of its own: choose a δ and spend
    `ApproxEvent(epsilon, delta)`, or use a `ZCDPFilter`.

    Args:
        epsilon: 0 or more.
        delta: At least 0 and below 1.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> half = ApproxFilter(1, "1e-6").spend(ApproxEvent("0.5", "1e-7"))
        >>> str(half.remaining)
        'epsilon 0.5, delta 9e-07'

    References:
        [RRUV16].
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        AdditiveFilter.__post_init__(self)
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", nonnegative(self.delta, "delta"))
        if self.delta >= 1:
            raise ParameterError("delta", self.delta, "must be at least 0 and below 1")

    @property
    def budget(self) -> Amounts:
        """ε and δ."""
        return Amounts((("epsilon", self.epsilon), ("delta", self.delta)))

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: an (ε, δ)-differentially private event."""
        return FullyAdaptiveEvent(ApproxEvent(self.epsilon, self.delta))

    def _price(self, event: Event) -> Amounts | None:
        return approx_price(event, self.neighboring_relation)


@dataclass(frozen=True, slots=True)
class AdvancedFilter(AdditiveFilter):
    """Grants while √(2 ln(1/δ') Σ εᵢ²) + Σ εᵢ²/2 ≤ ε and Σ δᵢ ≤ δ − δ': the rate of advanced composition.

    With s = Σ εᵢ² this is s ≤ 2ε and 2s ln(1/δ') ≤ (ε − s/2)², which needs no root; only the logarithm is rounded, up.

    **Guarantee**: everything released together is (ε, δ)-differentially private.

    Edge cases: as for `ApproxFilter`. One release alone may not cost all of ε: that is what the rate takes.

    Args:
        epsilon: 0 or more.
        delta: Above 0 and below 1.
        delta_slack: δ', the part of δ that pays for the rate; above 0 and at most δ.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> account = AdvancedFilter(1, "1e-6", delta_slack="5e-7")
        >>> account.can_spend(PureEvent("0.01"), count=333), account.can_spend(PureEvent("0.01"), count=334)
        (True, False)

    References:
        [WRRW23] Theorem 1.
    """

    epsilon: Fraction
    delta: Fraction
    delta_slack: Fraction

    def __post_init__(self) -> None:
        AdditiveFilter.__post_init__(self)
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", open_delta(self.delta))
        object.__setattr__(self, "delta_slack", positive(self.delta_slack, "delta_slack"))
        if self.delta_slack > self.delta:
            raise ParameterError("delta_slack", self.delta_slack, "must be at most delta")

    @property
    def budget(self) -> Amounts:
        """ε and δ, δ' included."""
        return Amounts((("epsilon", self.epsilon), ("delta", self.delta)))

    @property
    def remaining(self) -> Amounts:
        """ε and δ of the largest single release that would still be granted; ε rounded down."""
        most = (2 * self.epsilon / (sqrt_up(self._doubled_log + 2 * self.epsilon) + sqrt_up(self._doubled_log))) ** 2
        left = max(most - Fraction(self.spent["squared_epsilon"]), Fraction(0))
        epsilon = left / sqrt_up(left) if left else left
        return Amounts((("epsilon", epsilon), ("delta", self.delta - self.delta_slack - self.spent["delta"])))

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: an (ε, δ)-differentially private event."""
        return FullyAdaptiveEvent(ApproxEvent(self.epsilon, self.delta))

    @property
    def _doubled_log(self) -> Fraction:
        return 2 * log_up(1 / self.delta_slack)

    def _price(self, event: Event) -> Amounts | None:
        price = approx_price(event, self.neighboring_relation)
        return price and Amounts((("squared_epsilon", price["epsilon"] ** 2), ("delta", price["delta"])))

    def _allows(self, total: Amounts) -> bool:
        squares, delta = total["squared_epsilon"], total["delta"]
        return (
            delta <= self.delta - self.delta_slack
            and squares <= 2 * self.epsilon
            and self._doubled_log * squares <= (self.epsilon - squares / 2) ** 2
        )
