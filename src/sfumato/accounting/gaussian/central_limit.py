"""The central limit of many sampled Gaussian releases: an estimate, which may be far too small, and never a bound."""

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, sqrt
from typing import Final

from sfumato.accounting.gaussian.gdp import gdp_delta_up, gdp_epsilon_up
from sfumato.errors import UnsupportedEventError
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.events import Event, GaussianEvent, PoissonSampledEvent

_LARGEST_COUNT: Final = 10**18
_LARGEST_EXPONENT: Final = 600  # beyond it everything is revealed


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a central limit says, and no theorem for finitely many releases. Nothing may be spent or released by it."""

    mu: float
    """The μ to which the trade-off curve tends."""

    def epsilon(self, delta: Number) -> float:
        """About the ε at δ, often too small."""
        return float(gdp_epsilon_up(mu=self.mu, delta=delta))

    def delta(self, epsilon: Number) -> float:
        """About the δ at ε, often too small."""
        return gdp_delta_up(mu=self.mu, epsilon=epsilon)


def clt_estimate(event: Event, count: int) -> Estimate:
    """The central limit μ = q √(T (e^(1/σ²) - 1)) of T Poisson-sampled Gaussian releases, for adding or removing one.

    It is widely used and is no guarantee: with σ = 0.6, q = 0.001, T = 100 and δ = 1e-9 it says ε = 0.200, and the
    truth is 3.435, 17 times as much. Compare it with a `PLDAccountant`.

    Args:
        event: A `PoissonSampledEvent` of a `GaussianEvent`.
        count: T, how often it is composed.

    Raises:
        UnsupportedEventError: The event is another one.
        ParameterError: The count is not at least 1.

    Example:
        >>> event = PoissonSampledEvent(Fraction(1, 1000), GaussianEvent(Fraction(3, 5)))
        >>> round(clt_estimate(event, 100).epsilon("1e-9"), 3)
        0.2

    References:
        [BDLS20]
    """
    match event:
        case PoissonSampledEvent(probability, GaussianEvent(noise_multiplier)):
            exponent = float(min(noise_multiplier**-2, Fraction(_LARGEST_EXPONENT)))
            releases = positive_integer(count, "count", most=_LARGEST_COUNT)
            return Estimate(float(probability) * sqrt(releases) * sqrt(expm1(exponent)))
        case _:
            raise UnsupportedEventError(event, "clt_estimate")
