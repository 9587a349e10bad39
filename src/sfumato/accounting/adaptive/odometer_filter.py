"""The filter of an odometer: go on as long as its reading stays within ε and δ."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.odometers import Odometer
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.numeric.rationals import nonnegative
from sfumato.privacy.events import ApproxEvent, Event, FullyAdaptiveEvent
from sfumato.privacy.neighbors import NeighboringRelation


@dataclass(frozen=True, slots=True)
class OdometerFilter:
    """Grants while the odometer would read at most ε and δ.

    With an `RDPOdometer` this is the filter that may use whichever order turns out best: the odometer has paid for it.

    **Guarantee**: everything released together is (ε, δ)-differentially private, for the odometer's neighbouring
    relation.

    Args:
        epsilon: 0 or more.
        delta: At least the odometer's reading, and below 1.
        odometer: Of what was released so far; a fresh one for a fresh budget.

    Raises:
        ParameterError: A parameter lies outside, or the odometer reads more already.

    Example:
        >>> from sfumato.accounting.adaptive.renyi_odometers import RDPOdometer
        >>> from sfumato.privacy.events import GaussianEvent
        >>> account = OdometerFilter(2, "1e-6", odometer=RDPOdometer("1e-6"))
        >>> account.can_spend(GaussianEvent(10), count=11), account.can_spend(GaussianEvent(10), count=12)
        (True, False)

    References:
        [RRUV16]; [FZ21]
    """

    epsilon: Fraction
    delta: Fraction
    odometer: Odometer

    def __post_init__(self) -> None:
        if isinstance(self.odometer, type) or not hasattr(self.odometer, "neighboring_relation"):
            raise ParameterError("odometer", self.odometer, "must be an odometer, such as PureOdometer()")
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", nonnegative(self.delta, "delta"))
        if self.delta >= 1 or not self._allows(self.odometer):
            raise ParameterError("delta", self.delta, "must be below 1, and the odometer's reading within ε and δ")

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """The odometer's."""
        return self.odometer.neighboring_relation

    @property
    def budget(self) -> Amounts:
        """ε and δ."""
        return Amounts((("epsilon", self.epsilon), ("delta", self.delta)))

    @property
    def remaining(self) -> Amounts:
        """By how much the readings may still grow."""
        return _readings(self.odometer).left_of(self.budget)

    @property
    def event(self) -> FullyAdaptiveEvent:
        """The whole run: an (ε, δ)-differentially private event."""
        return FullyAdaptiveEvent(ApproxEvent(self.epsilon, self.delta))

    def supports(self, event: Event) -> bool:
        """Whether there is a price for the event and everything nested in it."""
        return self.odometer.supports(event)

    def can_spend(self, event: Event, *, count: int = 1) -> bool:
        """Whether the event may still be released `count` times; an event without a price may not."""
        return self.supports(event) and self._allows(self.odometer.compose(event, count=count))

    def spend(self, event: Event, *, count: int = 1) -> Self:
        """The filter after the event was released `count` times.

        Raises:
            BudgetExceededError: The odometer would read more than ε or δ.
            UnsupportedEventError: The event, or one nested in it, has no price by the odometer.
            ParameterError: The count is not at least 1.
        """
        grown = self.odometer.compose(event, count=count)
        if not self._allows(grown):
            raise BudgetExceededError(f"a reading of {_readings(grown)}", f"a reading of {self.budget}")
        return replace(self, odometer=grown)

    def _allows(self, odometer: Odometer) -> bool:
        return _readings(odometer).is_within(self.budget)


def _readings(odometer: Odometer) -> Amounts:
    return Amounts((("epsilon", odometer.epsilon), ("delta", odometer.delta)))
