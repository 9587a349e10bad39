"""The way of a value through additive noise: open it, make it whole, add noise, give it back in the caller's shape."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import index
from typing import Any, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import lattice_floats, lattice_steps, to_lattice
from sfumato.noise.integers import Integers, narrow, python_integers
from sfumato.privacy.secret import Secret

Vector: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]
Exact: TypeAlias = Any
"""A number or a `Vector` of numbers, or a `Secret` of either."""
Answer: TypeAlias = Any
"""An int, or a Fraction on the lattice; of a vector, an array of the same length, of floats if floats went in."""


def release_on_lattice(
    exact: Exact | Secret[Exact],
    perturb: Callable[[Integers], Integers],
    perturb_one: Callable[[int], int],
    *,
    resolution: Fraction | None,
) -> Answer:
    """The answer `resolution · perturb(steps of exact)`; without a resolution the values are integers themselves."""
    value = opened(exact)
    if np.ndim(value) > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence):
        return _vector(value, perturb, resolution)
    if resolution is None:
        return perturb_one(value if type(value) is int else _integer(value))
    number = value.item() if isinstance(value, np.ndarray) else value
    return perturb_one(to_lattice(number, resolution)) * resolution


def _vector(values: Vector, perturb: Callable[[Integers], Integers], resolution: Fraction | None) -> Answer:
    """Floats out where an array of floats went in, otherwise what holds each answer exactly."""
    if resolution is None:
        return perturb(integers(values))
    noisy = perturb(lattice_steps(values, resolution))
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return lattice_floats(noisy, resolution)
    return noisy.astype(object) * resolution


def half_width(steps: int, resolution: Fraction | None) -> int | Fraction:
    """The error of an answer that noise moves by at most `steps`: on a lattice, rounding adds half a step."""
    return steps if resolution is None else (steps + Fraction(1, 2)) * resolution


def integers(values: Iterable[Any]) -> Integers:
    """A `Vector` of integers, exactly, whatever holds them.

    Raises:
        ParameterError: It holds something else, which its public type decides.
    """
    if isinstance(values, np.ndarray) and values.dtype != object:
        if values.ndim != 1 or values.dtype.kind not in "iub":
            requirement = "must be one-dimensional and hold integers; give real numbers a resolution"
            raise ParameterError("exact", f"an array of {values.dtype}, {values.ndim}-dimensional", requirement)
        values = values.astype(object) if values.dtype == np.uint64 else values.astype(np.int64)
        return narrow(values)
    return narrow(python_integers(_integer(value) for value in values))


def _integer(value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise ParameterError("exact", type(value).__name__, "must be an integer, or have a resolution") from None
