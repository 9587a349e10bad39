"""What documented deployments spend a day, and what that comes to where nothing limits a lifetime.

The numbers are those that Apple published [App17], and those that were measured on devices [TKBWL17].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.errors import ParameterError
from sfumato.local.devices.budget import DeviceBudget
from sfumato.numeric.arguments import listed, of_kind, real
from sfumato.numeric.rationals import positive_integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One use of local differential privacy, as its maker or others describe it.

    Attributes:
        name: What is collected.
        epsilon: The ε of one report.
        reports_per_day: How many reports a device sends a day, at most.
        source: A key of the bibliography.
    """

    name: str
    epsilon: float
    reports_per_day: int
    source: str

    @property
    def per_day(self) -> float:
        """The ε of one day."""
        return self.epsilon * self.reports_per_day


DEPLOYMENTS: Final = (
    Deployment(name="Health types", epsilon=2, reports_per_day=1, source="App17"),
    Deployment(name="Emoji", epsilon=4, reports_per_day=1, source="App17"),
    Deployment(name="Lookup hints", epsilon=4, reports_per_day=2, source="App17"),
    Deployment(name="Safari domains that use much energy or crash", epsilon=4, reports_per_day=2, source="App17"),
    Deployment(name="QuickType words", epsilon=8, reports_per_day=2, source="App17"),
    Deployment(name="Safari domains that play media", epsilon=8, reports_per_day=2, source="App17"),
)
"""Uses that Apple documents; none has a limit beyond the day."""

MEASURED: Final = (
    Deployment(name="iOS 10, all uses", epsilon=14, reports_per_day=1, source="TKBWL17"),
    Deployment(name="macOS 10.12, all uses", epsilon=16, reports_per_day=1, source="TKBWL17"),
)
"""The most that a device spends a day, found by taking its software apart."""


def spent_by(per_day: float, days: Sequence[int], *, budget: DeviceBudget | None = None) -> list[float]:
    """The ε that a device has spent after so many days of use.

    Args:
        per_day: What it spends a day.
        days: Numbers of days.
        budget: A limit for the day and for the lifetime; without one, all that was spent adds up.

    Raises:
        ParameterError: What is spent a day is not above 0, or a number of days is none.

    Example:
        >>> spent_by(16, [1, 365])
        [16.0, 5840.0]
        >>> spent_by(16, [1, 365], budget=DeviceBudget(per_use=1, per_day=1, lifetime=50))
        [1.0, 50.0]
    """
    daily = real(per_day, "per_day", is_finite=True)
    if not daily > 0:
        raise ParameterError("per_day", per_day, "must be above 0")
    numbers = [positive_integer(day, "days") for day in listed(days, "days", of="numbers of days")]
    if budget is None:
        return [daily * day for day in numbers]
    of_kind(budget, "budget", DeviceBudget, "a DeviceBudget, or None")
    limited, most = min(daily, float(budget.per_day)), float(budget.lifetime)
    return [min(most, limited * day) for day in numbers]
