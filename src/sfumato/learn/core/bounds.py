"""What the owner declares of the columns of an array: bounds or a norm, and classes; never read from data."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, positive
from sfumato.session.training.columns import STEPS, TrainingColumn

Bounds: TypeAlias = tuple[Any, Any]
"""A lower and an upper bound: of each column, or one of all."""

_HOW: Final = "must state what no value exceeds, such as bounds=(0, 1), bounds=([0, 17], [1, 90]) or norm=2"


def declared_columns(
    names: Sequence[str], *, bounds: Bounds | None, norm: Number | None
) -> tuple[TrainingColumn, ...]:  # fmt: skip
    """The columns of an array of numbers, by bounds, or by a norm that no row exceeds.

    Args:
        names: The names of the columns.
        bounds: A pair of lower and upper bounds: two numbers, or two lists with a number for each column.
        norm: The largest L2 norm of a row, where there are no bounds: each column then lies within ±norm.

    Raises:
        ParameterError: Neither is given, there are too few or too many, or a lower bound is not below its upper bound.

    Example:
        >>> [str(one.upper) for one in declared_columns(["age", "pay"], bounds=(0, [99, 1000]), norm=None)]
        ['99', '1000']
    """
    if bounds is None:
        if norm is None:
            raise ParameterError("bounds", None, _HOW)
        most = positive(norm, "norm")
        bounds = (-most, most)
    pair = listed(bounds, "bounds")
    if len(pair) != 2:  # noqa: PLR2004 # a lower and an upper one
        raise ParameterError("bounds", f"{len(pair)} values", _HOW)
    lower, upper = (_each(end, len(names)) for end in pair)
    return tuple(
        TrainingColumn(name=name, lower=low, upper=high, steps=2 * STEPS if low == -high else STEPS)
        for name, low, high in zip(names, lower, upper, strict=True)
    )


def _each(end: Any, count: int) -> list[Fraction]:
    """A bound for each column."""
    values = np.asarray(end, dtype=object)
    if values.ndim == 0:
        return [exact(end, "bounds")] * count
    if values.shape != (count,):
        raise ParameterError("bounds", f"{values.size} numbers", f"must be one number, or one for each of {count}")
    return [exact(value, "bounds") for value in values.tolist()]


def declared_classes(classes: Iterable[Any] | None) -> tuple[Any, ...]:
    """The classes that the owner lists, sorted.

    Raises:
        ParameterError: None are listed, only one, or one of them twice.

    Example:
        >>> declared_classes(["yes", "no"])
        ('no', 'yes')
    """
    if classes is None:
        raise ParameterError("classes", None, "must list all classes: those that occur would reveal who is in the data")
    found = np.asarray(listed(classes, "classes"))
    sorted_classes = tuple(np.unique(found).tolist())
    if len(sorted_classes) != len(found) or len(sorted_classes) < 2:  # noqa: PLR2004 # with one nothing is to be told
        raise ParameterError("classes", f"{len(found)} classes", "must be at least two, each listed once")
    return sorted_classes
