"""Privacy filters: may this still be spent, if each cost depends on the answers so far? By sums of ε and δ.

A filter says yes only as long as everything released together keeps the budget's guarantee, however cleverly the
queries and their costs were chosen [RRUV16]. Arithmetic is exact: a request that spends the budget to the last bit
is granted, and one that is any larger is not.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.event_prices import PriceSum, approx_price, pure_price
from sfumato.errors import BudgetExceededError, ParameterError, UnsupportedEventError
from sfumato.numeric.rationals import nonnegative, open_probability, positive, set_fields, sqrt_up
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import ApproxEvent, Event, FullyAdaptiveEvent, PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, Guarantee, NoGuarantee, PureDP, as_guarantee
from sfumato.privacy.neighbors import NeighboringRelation


def fits(*, spent: Guarantee, request: Guarantee, budget: Guarantee) -> bool:
    """Whether a request may still be granted: spent + request ≤ budget, in ε and in δ.

    **Guarantee**: if every release was granted by it, their composition has the budget's guarantee, also where
    requests depend on earlier answers. A `PureDP` budget refuses every request with δ above 0.

    Example:
        >>> fits(spent=PureDP("0.9"), request=PureDP("0.1"), budget=PureDP(1))
        True
        >>> fits(spent=PureDP("0.9"), request=PureDP("0.1000001"), budget=PureDP(1))
        False

    References:
        [RRUV16]
    """
    spent, request = as_guarantee(spent, "spent"), as_guarantee(request, "request")
    return spent + request <= as_guarantee(budget, "budget")


def remaining(*, budget: Guarantee, spent: Guarantee) -> Guarantee:
    """The largest request that still `fits`: what is left of ε and of δ.

    Edge cases: nothing can be taken from `NO_GUARANTEE`, which stays.

    Raises:
        ParameterError: More was spent than the budget holds.

    Example:
        >>> remaining(budget=ApproxDP(1, "1e-6"), spent=PureDP("0.25"))
        ApproxDP(epsilon=Fraction(3, 4), delta=Fraction(1, 1000000))

    References:
        [RRUV16]
    """
    if isinstance(as_guarantee(budget, "budget"), NoGuarantee):
        return NO_GUARANTEE
    if isinstance(as_guarantee(spent, "spent"), NoGuarantee) or not spent <= budget:
        raise ParameterError("spent", str(spent), f"must not exceed the budget of {budget}")
    if isinstance(budget, PureDP):
        return PureDP(budget.epsilon - spent.epsilon)
    return ApproxDP(budget.epsilon - spent.epsilon, budget.delta - spent.delta)


class PrivacyFilter(Protocol):
    """A budget for releases whose mechanisms, parameters and number depend on the answers so far.

    A frozen value: `spend` returns the filter after the release. Spend first, release afterwards.

    **Guarantee**: if every release was spent on the filter before it was made, everything released until the analyst
        stops, for whatever reason, costs at most the filter's budget, for its neighboring relation. Edge cases: a
        release that fills the budget exactly is granted; refusals depend on costs alone and reveal nothing.
    """

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """The neighboring relation for which the guarantee holds."""

    @property
    def budget(self) -> Amounts:
        """The most that may be spent."""

    @property
    def remaining(self) -> Amounts:
        """The remaining budget, in the same measure."""

    @property
    def event(self) -> Event:
        """The whole run under this filter, however long, as accountants read it."""

    def supports(self, event: Event) -> bool:
        """Whether there is a cost for the event and everything nested in it."""

    def can_spend(self, event: Event, *, count: int = 1) -> bool:
        """Whether the event may still be released `count` times: `spend` grants exactly this."""

    def spend(self, event: Event, *, count: int = 1) -> Self:
        """The filter after the event was released `count` times.

        Raises:
            BudgetExceededError: The cost exceeds the remaining budget.
            UnsupportedEventError: The event, or one nested in it, has no cost here.
            ParameterError: The count is not at least 1.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveFilter(PriceSum):
    """A filter by sums of costs; a subclass says which sums it allows. What allows a sum allows smaller ones."""

    def can_spend(self, event: Event, *, count: int = 1) -> bool:
        """Whether the event may still be released `count` times; an event without a cost may not."""
        try:
            return self._allows(self.spent.plus(self.cost(event, count)))
        except UnsupportedEventError:
            return False

    def spend(self, event: Event, *, count: int = 1) -> Self:
        """The filter after the event was released `count` times.

        Raises:
            BudgetExceededError: The cost exceeds the remaining budget.
            UnsupportedEventError: The event, or one nested in it, has no cost here.
            ParameterError: The count is not at least 1.
        """
        requested = self.cost(event, count)
        total = self.spent.plus(requested)
        if not self._allows(total):
            raise BudgetExceededError(requested, self.remaining)
        return replace(self, spent=total)

    @property
    @abstractmethod
    def budget(self) -> Amounts:
        """The most that may be spent."""

    @property
    def remaining(self) -> Amounts:
        """The remaining budget."""
        return self.spent.left_of(self.budget)

    def _allows(self, total: Amounts) -> bool:
        return total.is_within(self.budget)


@dataclass(frozen=True, slots=True)
class PureFilter(AdditiveFilter):
    """Grants while Σ εᵢ ≤ ε.

    **Guarantee**: everything released together is ε-differentially private. Sums are exact.

    Edge cases: Gaussian noise, and any event with δ above 0, has an infinite ε and is refused.

    Args:
        epsilon: 0 or more.

    Raises:
        ParameterError: ε is out of range.

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
        set_fields(self, epsilon=nonnegative(self.epsilon, "epsilon"))

    @property
    def budget(self) -> Amounts:
        """The budget: ε."""
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

    Edge cases: Gaussian noise has an ε for every δ, and so no cost of its own: choose a δ and spend
    `ApproxEvent(epsilon, delta)`, or use a `ZCDPFilter`.

    Args:
        epsilon: 0 or more.
        delta: At least 0 and below 1.

    Raises:
        ParameterError: A parameter is out of range.

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
        set_fields(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=nonnegative(self.delta, "delta"))
        if self.delta >= 1:
            raise ParameterError("delta", self.delta, "must be at least 0 and below 1")

    @property
    def budget(self) -> Amounts:
        """The budget: ε and δ."""
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
        delta_slack: δ', the part of δ that is used for the rate; above 0 and at most δ.

    Raises:
        ParameterError: A parameter is out of range.

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
        set_fields(
            self,
            epsilon=nonnegative(self.epsilon, "epsilon"),
            delta=open_probability(self.delta, "delta"),
            delta_slack=positive(self.delta_slack, "delta_slack"),
        )
        if self.delta_slack > self.delta:
            raise ParameterError("delta_slack", self.delta_slack, "must be at most delta")

    @property
    def budget(self) -> Amounts:
        """The budget: ε and δ; δ includes δ'."""
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
