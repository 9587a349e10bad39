"""Counters with a Toeplitz strategy C: noise u = C⁻¹·z, so that sums of it stay small.

With noise z on the measurements C·x + z, what is released is v = x + C⁻¹·z, of which all sums are computed. Tick by
tick u_t = z_t − r_t, where r_t = c_1·u_{t−1} + c_2·u_{t−2} + … is a function of earlier noise. Strategies differ in how
they keep what they need for r_t.

All is whole numbers: z is discrete Gaussian noise on a public lattice, and r_t lies on it.
"""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING, Final

from scipy.special import ndtri

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.base import ROUNDED, ContinualMechanism, checked_step
from sfumato.mechanisms.continual.contribution import Contribution
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import DecayingSum, RunningTotal, SlidingWindow, Sums
from sfumato.noise.uniform.integers import LARGEST_SCALE
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields, sqrt_up
from sfumato.numeric.rounding import RELATIVE_MARGIN, dyadic_up
from sfumato.privacy.events import DiscreteGaussianEvent, Event, ZCDPEvent

NOISE_DIGITS: Final = 42
"""So many binary digits has the stddev of z in steps of its lattice, if that is not finer than allowed."""

_LEAST_BITS: Final = 12
_STEPS: Final = 6  # bits of the stddev of u in its own steps, if the lattice of the data is not finer
_DIGITS: Final = 24
_OF_EACH_COLUMN: Final = 2**-40
_NORMAL: Final = 1e-6  # relative: more than discrete noise of so many steps differs from normal noise


class ToeplitzCounter(ContinualMechanism):
    """What counters with a Toeplitz strategy share: the noise for a sensitivity, and the error of each release."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def stddev_steps(self) -> Fraction:
            """The stddev of z in steps of its lattice."""

        @property
        def lattice_bits(self) -> int:
            """The lattice of z is that of multiples of 2^−lattice_bits."""

    @property
    def largest_stddev(self) -> float:
        """The largest standard deviation of the noise on a number, of all ticks: that of the last."""
        return self.stddev(self.horizon or 1)

    def stddev(self, step: int) -> float:
        """The standard deviation of the noise on each number that is released at a tick, in units of the data."""
        squared = self._decoded_squared(checked_step(step, self.horizon))
        of_noise = float(self.stddev_steps) ** 2 / 4.0**self.lattice_bits + self._rounding_variance
        return sqrt(squared * of_noise + ROUNDED)

    def half_width(self, step: int, confidence: Number = "0.95") -> float:
        """How far a number that is released at a tick may lie from the exact sum, with this confidence for each."""
        deviations = -float(ndtri(float(failure_probability(confidence)) / 2))
        return self.stddev(step) * deviations * (1 + _NORMAL) + 1

    @property
    def _rounding_variance(self) -> float:
        """Of what rounding u adds to z, in squared units of the data."""
        return 0.0

    @abstractmethod
    def _decoded_squared(self, step: int) -> float:
        """‖b‖² for the weights b of z in the sum at a tick."""


def checked_counter(
    horizon: int, most: int, rho: Number, contribution: Contribution, participation: Participation, sums: Sums
) -> dict[str, object]:
    """The fields that all these counters have.

    Raises:
        ParameterError: One of them is out of range.
    """
    return {
        "horizon": positive_integer(horizon, "horizon", most=most),
        "epsilon": None,
        "rho": positive(rho, "rho"),
        "contribution": of_kind(contribution, "contribution", Contribution, "a Contribution"),
        "participation": of_kind(participation, "participation", Participation, "a Participation"),
        "sums": of_kind(sums, "sums", (RunningTotal, SlidingWindow, DecayingSum), "a RunningTotal or another sum"),
    }


def set_noise(
    counter: ToeplitzCounter,
    *,
    norm: Fraction,
    slack: Callable[[int], Fraction] = lambda _: Fraction(0),
    finest: int,
) -> None:
    """The lattice, the stddev and the event of a counter.

    A unit moves the measurements by at most norm·Δ₂, and by rounding each of its numbers at each tick by at most
    `slack` of the lattice's bits. The lattice is chosen from the first, then the noise from both.

    Args:
        counter: With its other fields.
        norm: The largest L2 norm of what a unit that adds 1 at its ticks moves in C·x.
        slack: Of the lattice's bits, in units of the data.
        finest: The most bits of the lattice.

    Raises:
        ParameterError: The noise is too wide for any lattice.
    """
    bound, horizon, rho = counter.contribution, counter.horizon or 1, counter.rho or Fraction(0)
    times = counter.participation.within(horizon)
    distance, per_rho = norm * bound.l2_sensitivity, sqrt_up(1 / (2 * rho))
    bits = min(finest, NOISE_DIGITS - ceil(distance * per_rho).bit_length())
    numbers = bound.l0_sensitivity * times
    if bits < _LEAST_BITS:
        raise ParameterError(
            "rho", rho, "is too small for events of this size: give a larger rho, or sums a coarser unit"
        )
    moved = distance + slack(bits) * sqrt_up(Fraction(horizon * numbers))
    in_steps = moved * (1 << bits)
    stddev = dyadic_up(in_steps * per_rho, bits=_DIGITS)
    if not 1 <= stddev <= LARGEST_SCALE:
        raise ParameterError("rho", rho, "must be smaller: the noise would be narrower than the lattice")
    event: Event = DiscreteGaussianEvent(stddev, in_steps, horizon * numbers) if times == 1 else ZCDPEvent(rho)
    set_fields(counter, stddev_steps=stddev, lattice_bits=bits, event=event)


def coarse_bits(stddev_steps: Fraction, lattice_bits: int) -> int:
    """The steps of u are 2^−bits for these: coarse beside the noise, so that products with coefficients are small.

    Example:
        >>> coarse_bits(Fraction(1 << 40), 40), coarse_bits(Fraction(1 << 40), 30)
        (6, 0)
    """
    of_noise = log2(float(stddev_steps)) - lattice_bits
    return max(0, min(lattice_bits, _STEPS - int(of_noise // 1)))


def rounded_up(norm_squared: float, times: int) -> Fraction:
    """A rational at or above the root of ‖Σ c_i‖², a float to which each of so many columns adds a relative error."""
    return sqrt_up(Fraction(norm_squared * (1 + RELATIVE_MARGIN + times * _OF_EACH_COLUMN)))
