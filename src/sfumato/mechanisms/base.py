"""What every mechanism can do.

The fields of a mechanism are public; what is given to `release` may be secret, and only the answer may leave.
"""

from fractions import Fraction
from typing import Any, Protocol, TypeVar

from sfumato.numeric.rationals import Number
from sfumato.privacy.events import Event
from sfumato.privacy.secret import Secret

T = TypeVar("T")


class Mechanism(Protocol):
    """Releases a noisy answer, and says what was released."""

    @property
    def event(self) -> Event:
        """What one call of `release` tells of the data, for accountants."""
        ...

    def release(self, exact: Any, /) -> Any:
        """The noisy answer."""
        ...


class AdditiveMechanism(Mechanism, Protocol):
    """A mechanism that adds noise whose law is public, so that its error is known before anything is spent."""

    @property
    def variance(self) -> float:
        """The variance of the noise on each number, in squared lattice steps."""
        ...

    @property
    def stddev(self) -> Fraction | float:
        """The standard deviation of the noise in lattice steps; of Gaussian noise its parameter, hardly larger."""
        ...

    def accuracy(self, confidence: Number = ...) -> Fraction | float:
        """How far an answer may lie from the truth, with this confidence for each answer."""
        ...


def opened(exact: T | Secret[T]) -> T:
    """The value to add noise to, out of its wrapper if it has one."""
    return exact.open_for_noise() if isinstance(exact, Secret) else exact
