"""What every mechanism can do, and the way of a value through additive noise.

The fields of a mechanism are public; what is given to `release` may be secret, and only the answer may leave.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import (
    LARGEST,
    as_rational,
    column,
    integer_column,
    is_vector,
    lattice_floats,
    lattice_steps,
    present,
    to_lattice,
    whole_floats,
    within,
)
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.events import Event
from sfumato.privacy.secret import Secret

T = TypeVar("T")
Vector: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]
Exact: TypeAlias = Any
"""A number or a `Vector` of numbers, or a `Secret` of either."""
Answer: TypeAlias = Any
"""An int, or a Fraction on the lattice; of a vector an array of integers, or of floats on the lattice."""


class Mechanism(Protocol):
    """Releases a noisy answer, and says what was released."""

    @property
    def event(self) -> Event:
        """The event of one call of `release`, which accountants read."""
        ...

    def release(self, exact: Any, /) -> Any:
        """Release the value with noise."""
        ...


class AdditiveMechanism(Mechanism, Protocol):
    """A mechanism that adds noise whose distribution is public, so that its error is known before anything is spent."""

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


class LatticeNoise(ABC):
    """Integer noise on integers, or on real numbers in steps of a public resolution; on each number by itself.

    A value is opened, made whole, noised by the subclass, and given back in the caller's shape.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # a field of most subclasses, which a property here would give a default

        @property
        def resolution(self) -> Fraction | None:
            """The width of a lattice step; None where the exact values are integers."""

    def release(self, exact: Exact | Secret[Exact]) -> Answer:
        """The exact value, a number or a vector of numbers, with noise.

        Returns:
            An int, or with a resolution a Fraction; of a vector, an array of as many: int64 where all answers fit,
            Python integers otherwise; with a resolution floats, each nearest to its lattice point.

        Raises:
            ParameterError: Without a resolution, something is no integer; with one, no number. A vector is not of the
                dimension that was stated, or nothing was stated of vectors.
        """
        value, resolution = opened(exact), self.resolution
        if resolution is None:
            if type(value) is int:
                return self._perturb_one(within(value))
            return self._perturb(integers(value)) if is_vector(value) else self._perturb_one(within(_integer(value)))
        if is_vector(value):
            return lattice_floats(self._perturb(lattice_steps(value, resolution)), resolution)
        return self._perturb_one(to_lattice(_scalar(value), resolution)) * resolution

    @abstractmethod
    def _perturb(self, steps: Integers) -> Integers:
        """A vector in lattice steps with noise; it stays as it is."""

    @abstractmethod
    def _perturb_one(self, step: int) -> int:
        """A number in lattice steps with noise."""


def opened(exact: T | Secret[T]) -> T:
    """The value to add noise to, out of its wrapper if it has one."""
    return exact.open_for_noise() if isinstance(exact, Secret) else exact


def half_width(steps: int, resolution: Fraction | None) -> int | Fraction:
    """The error of an answer that noise moves by at most `steps`: on a lattice, rounding adds half a step."""
    return steps if resolution is None else (steps + Fraction(1, 2)) * resolution


def integers(values: Iterable[Any]) -> Integers:
    """A `Vector` of integers, exactly, whatever holds them; missing ones are 0, and those beyond ±10^308 are that.

    Floats may hold them, as pandas writes integers of which one is missing, if all of them are whole. One clamp for
    all holders: neighbors may differ in whether one is missing, and must not differ by more than that.

    Raises:
        ParameterError: It holds something else.
    """
    plain = column(values)
    if isinstance(plain, list):
        exact = narrow(python_integers(_integer(value) for value in plain))
    elif (whole := whole_floats(plain) if plain.dtype.kind == "f" else integer_column(plain)) is not None:
        exact = whole
    else:
        requirement = "must hold integers; give real numbers a resolution"
        raise ParameterError("exact", f"an array of {plain.dtype}", requirement)
    return np.clip(exact, -LARGEST, LARGEST) if exact.dtype == object else exact


def stated_numbers(l0_sensitivity: int | None) -> int | None:
    """The most numbers of a vector that one unit changes, if that was stated.

    Raises:
        ParameterError: It is no positive integer.
    """
    return None if l0_sensitivity is None else positive_integer(l0_sensitivity, "l0_sensitivity")


def stated_for_vectors(l0_sensitivity: int | None, numbers: int) -> None:
    """Refuse a vector without a stated number of entries that one unit changes: 1 would be a guess.

    Raises:
        ParameterError: So it is.
    """
    if l0_sensitivity is None and numbers != 1:
        requirement = "must be given to release a vector: how many of its numbers one unit can change"
        raise ParameterError("l0_sensitivity", None, requirement)


def _integer(value: Any) -> int:
    number = present(_scalar(value))
    match number:
        case float() | np.floating():
            return int(integers(np.array([number], dtype=np.float64))[0])
        case int() | np.bool_():
            return int(number)
        case np.integer() if number.dtype.kind in "iu":  # not a timedelta, which NumPy takes for one
            return int(number)
        case Fraction() if number.denominator == 1:
            return within(int(number))
        case Decimal() if not number.is_nan() and (held := as_rational(number)).denominator == 1:
            return int(held)
        case _:
            requirement = "must be an integer, or have a resolution"
            raise ParameterError("exact", type(value).__name__, requirement)


def _scalar(value: Any) -> Any:
    """What is in an array without dimensions; a masked one is left for `present`."""
    is_plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
    return value.item() if is_plain else value
