"""The role of an odometer, which bounds the privacy loss so far, at every time at once; and odometers by sums."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self

from sfumato.accounting.adaptive.amounts import Amount, Amounts
from sfumato.accounting.adaptive.event_prices import approx_price, pure_price
from sfumato.accounting.adaptive.meter import Meter
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import NeighboringRelation


class Odometer(Protocol):
    """What releases have cost so far, where mechanisms, parameters and the time to stop depend on the answers.

    A frozen value, grown by `compose`; it refuses nothing but events without a price.

    **Guarantee**: outside an event of probability `delta`, the privacy loss Lₙ of the first n releases is at most
    `epsilon`, for the readings after every n at once. Hence, if the analyst stops whenever she likes, and the readings
    never passed ε and δ, everything released is (ε, δ)-differentially private. Readings are rounded up.
    """

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """Between which databases the readings hold."""

    @property
    def epsilon(self) -> Amount:
        """What the privacy loss has not passed so far."""

    @property
    def delta(self) -> Amount:
        """With which probability it has, at any time so far."""

    def supports(self, event: Event) -> bool:
        """Whether there is a price for the event and everything nested in it."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """The odometer after the event was released `count` times.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no price here.
            ParameterError: The count is not at least 1.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveOdometer(Meter):
    """An odometer that reads sums of prices."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """The odometer after the event was released `count` times.

        Raises:
            UnsupportedEventError: The event, or one nested in it, has no price here.
            ParameterError: The count is not at least 1.
        """
        return replace(self, spent=self.spent.plus(self.cost(event, count)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PureOdometer(AdditiveOdometer):
    """Reads Σ εᵢ, which the privacy loss never passes.

    **Guarantee**: Lₙ ≤ `epsilon` always. Sums are exact.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> PureOdometer().compose(PureEvent("0.1"), count=10).epsilon
        Fraction(1, 1)

    References:
        [RRUV16]
    """

    @property
    def epsilon(self) -> Amount:
        """Σ εᵢ."""
        return self.spent["epsilon"]

    @property
    def delta(self) -> Fraction:
        """Always 0."""
        return Fraction(0)

    def _price(self, event: Event) -> Amounts | None:
        return pure_price(event, self.neighboring_relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicOdometer(AdditiveOdometer):
    """Reads Σ εᵢ and Σ δᵢ.

    **Guarantee**: outside an event of probability E[Σ δᵢ], the laws of the first n answers differ by at most a factor
    of e^`epsilon`, for every n at once. Sums are exact.

    Example:
        >>> from sfumato.privacy.events import ApproxEvent
        >>> odometer = BasicOdometer().compose(ApproxEvent("0.5", "1e-7"), count=2)
        >>> float(odometer.epsilon), float(odometer.delta)
        (1.0, 2e-07)

    References:
        [RRUV16]
    """

    @property
    def epsilon(self) -> Amount:
        """Σ εᵢ."""
        return self.spent["epsilon"]

    @property
    def delta(self) -> Amount:
        """Σ δᵢ; above 1 it says no more than 1."""
        return self.spent["delta"]

    def _price(self, event: Event) -> Amounts | None:
        return approx_price(event, self.neighboring_relation)
