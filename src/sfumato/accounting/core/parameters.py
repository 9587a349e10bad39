"""What the Gaussian curves share: the range of their parameters, and the search for a standard deviation."""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative, positive, probability
from sfumato.numeric.rounding import inflated
from sfumato.numeric.search import smallest_dyadic

_LARGEST: Final = 2**500  # beyond it squares leave the range of floats
_SMALLEST_DELTA: Final = 1e-304  # no smaller δ is ever certified


def in_range(value: Number, name: str) -> Fraction:
    """A number between 2^-500 and 2^500."""
    number = positive(value, name)
    if not Fraction(1, _LARGEST) <= number <= _LARGEST:
        raise ParameterError(name, value, "must lie between 2^-500 and 2^500, where floats certify Gaussian noise")
    return number


def in_range_or_zero(value: Number, name: str) -> Fraction:
    """An ε or ρ: 0, or as `in_range`."""
    return in_range(value, name) if nonnegative(value, name) else Fraction(0)


def as_delta(*bounds: float) -> float:
    """The least of some upper bounds on a δ, with the rounding errors of computing them."""
    return min(max(inflated(min(bounds)), _SMALLEST_DELTA), 1.0)


def open_delta(delta: Number, name: str = "delta") -> Fraction:
    """A δ between 0 and 1, both excluded: what Gaussian noise and advanced composition need."""
    value = probability(delta, name)
    if value in {0, 1}:
        raise ParameterError(name, delta, "must be above 0 and below 1")
    return value


def certified_stddev(delta_up: Callable[[Fraction], float], delta: Fraction, *, guess: Fraction) -> Fraction:
    """The smallest standard deviation, as a short dyadic, at which a certified δ is at most the one asked for."""
    found = smallest_dyadic(lambda stddev: delta_up(stddev) <= delta, guess=guess)
    if found is None:
        raise ParameterError("delta", float(delta), "is too small to be certified at this ε; raise ε or δ")
    return found
