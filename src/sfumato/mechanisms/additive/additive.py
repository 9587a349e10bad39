"""The way of a value through additive noise: open it, make it whole, add noise, give it back in the caller's shape."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.arrays import LARGEST, column, integer_column, is_vector, present, whole_floats, within
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import as_rational, lattice_floats, lattice_steps, to_lattice
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.privacy.secret import Secret

Vector: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]
Exact: TypeAlias = Any
"""A number or a `Vector` of numbers, or a `Secret` of either."""
Answer: TypeAlias = Any
"""An int, or a Fraction on the lattice; of a vector an array of integers, or of floats on the lattice."""


def release_on_lattice(
    exact: Exact | Secret[Exact],
    perturb: Callable[[Integers], Integers],
    perturb_one: Callable[[int], int],
    *,
    resolution: Fraction | None,
) -> Answer:
    """The answer `resolution · perturb(steps of exact)`; without a resolution the values are integers themselves."""
    value = opened(exact)
    if type(value) is int and resolution is None:
        return perturb_one(within(value))
    if is_vector(value):
        return _vector(value, perturb, resolution)
    if resolution is None:
        return perturb_one(within(_integer(value)))
    return perturb_one(to_lattice(_scalar(value), resolution)) * resolution


def _scalar(value: Any) -> Any:
    """What is in an array without dimensions; a masked one is left for `present`."""
    is_plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
    return value.item() if is_plain else value


def _vector(values: Vector, perturb: Callable[[Integers], Integers], resolution: Fraction | None) -> Answer:
    """Integers, or floats on the lattice: whatever holds the values, and whatever their types."""
    if resolution is None:
        return perturb(integers(values))
    return lattice_floats(perturb(lattice_steps(values, resolution)), resolution)


def half_width(steps: int, resolution: Fraction | None) -> int | Fraction:
    """The error of an answer that noise moves by at most `steps`: on a lattice, rounding adds half a step."""
    return steps if resolution is None else (steps + Fraction(1, 2)) * resolution


def integers(values: Iterable[Any]) -> Integers:
    """A `Vector` of integers, exactly, whatever holds them; missing ones are 0, and those beyond ±10^308 are that.

    Floats may hold them, as pandas writes integers of which one is missing, if all of them are whole. One clamp for
    all holders: neighbours may differ in whether one is missing, and must not differ by more than that.

    Raises:
        ParameterError: It holds something else.
    """
    exact = _whole(values)
    return np.clip(exact, -LARGEST, LARGEST) if exact.dtype == object else exact


def _whole(values: Iterable[Any]) -> Integers:
    plain = column(values)
    if isinstance(plain, list):
        return narrow(python_integers(_integer(value) for value in plain))
    exact = whole_floats(plain) if plain.dtype.kind == "f" else integer_column(plain)
    if exact is None:
        requirement = "must hold integers; give real numbers a resolution"
        raise ParameterError("exact", f"an array of {plain.dtype}", requirement)
    return exact


def _integer(value: Any) -> int:
    number = present(_scalar(value))
    match number:
        case float() | np.floating():
            return int(_whole(np.array([number], dtype=np.float64))[0])
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


def stated_for_vectors(l0_sensitivity: int | None, numbers: int) -> None:
    """Refuse a vector where it was not stated how many of its numbers one unit moves: 1 would be a guess.

    Raises:
        ParameterError: So it is.
    """
    if l0_sensitivity is None and numbers != 1:
        requirement = "must be stated to release a vector: how many of its numbers one unit moves"
        raise ParameterError("l0_sensitivity", None, requirement)
