"""The utilities of candidates as whole numbers over one denominator, exactly, whatever holds them."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.arrays import LARGEST, column, integer_column
from sfumato.mechanisms.lattice import as_rational, lattice_steps
from sfumato.noise.uniform.integers import SAFE, Integers, narrow, python_integers

Scores: TypeAlias = Sequence[Any] | NDArray[Any]
"""The utility of each candidate: numbers, in the order of the candidates."""


def whole_scores(scores: Iterable[Any], resolution: Fraction | None) -> tuple[Integers, int]:
    """Integers n_i and a denominator d: utility i is n_i/d; or with a resolution n_i steps of it, and d is 1.

    Raises:
        ParameterError: There is no candidate, or a utility is no number.

    Example:
        >>> whole_scores([Fraction(1, 2), 0.25, 3], None)
        (array([ 2,  1, 12]), 4)
        >>> whole_scores([0.5, 0.25, 3], Fraction(1, 2))  # halves upward
        (array([1, 1, 6]), 1)
    """
    values = column(scores, "scores")
    if len(values) == 0:
        raise ParameterError("scores", "an empty sequence", "must hold at least one candidate")
    if resolution is not None:
        return lattice_steps(values, resolution), 1
    integers = integer_column(values)
    if integers is None:
        return _on_one_denominator([as_rational(value) for value in values])
    return (np.clip(integers, -LARGEST, LARGEST) if integers.dtype == object else integers), 1


def gaps_below_best(scores: Integers, factor: int) -> Integers:
    """factor·(best − score) for each score, exactly, for a whole factor ≥ 0."""
    best = int(scores.max())
    if scores.dtype != object and max(1, best - int(scores.min())) * factor > SAFE:
        scores = scores.astype(object)
    gaps: Integers = best - scores
    gaps *= factor
    return gaps


def _on_one_denominator(values: list[Fraction]) -> tuple[Integers, int]:
    denominator = lcm(*(value.denominator for value in values))
    numerators = python_integers(value.numerator * (denominator // value.denominator) for value in values)
    return narrow(numerators), denominator
