"""What a model is fitted to: noisy counts that were released, and what is known in public."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, listed, of_kind, real, truths
from sfumato.numeric.rationals import set_fields
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.shape import Columns, TableShape

_LARGEST: Final = 1e15
"""Of a noisy count and of a standard deviation."""
_SMALLEST: Final = 1e-6
"""Of a standard deviation."""
_ZEROS: Final = "a mapping of tuples of columns to arrays that are True where a combination is impossible"


@dataclass(frozen=True, slots=True, init=False, eq=False)
class NoisyMarginal:
    """Released noisy counts of all combinations of some columns.

    Args:
        columns: Which columns, at least one.
        counts: One noisy count for each combination: an array with one axis for each column, in the same order.
        stddev: The standard deviation of the noise of each count.

    Raises:
        ParameterError: There is no column, the array has another number of axes, a count is beyond ±1e15, or the
            standard deviation is not from 1e-6 to 1e15.

    Example:
        >>> float(NoisyMarginal(["smokes"], [310, 495], stddev=10).counts.sum())
        805.0
    """

    columns: Columns
    counts: Floats
    stddev: float

    def __init__(self, columns: Iterable[str], counts: ArrayLike, *, stddev: float) -> None:
        named = tuple(of_kind(column, "columns", str, "names of columns") for column in listed(columns, "columns"))
        numbers = floats(counts, "counts")
        if not named or numbers.ndim != len(named):
            raise ParameterError("counts", type(counts), f"must be an array with an axis for each of {list(named)}")
        if not (np.abs(numbers) <= _LARGEST).all():
            raise ParameterError("counts", type(counts), f"must be numbers within ±{_LARGEST:g}")
        deviation = real(stddev, "stddev", is_finite=True)
        if not _SMALLEST <= deviation <= _LARGEST:
            raise ParameterError("stddev", stddev, f"must be from {_SMALLEST:g} to {_LARGEST:g}")
        set_fields(self, columns=named, counts=numbers, stddev=deviation)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AveragedCounts:
    """Noisy counts of one group of columns, in the order of the table.

    Attributes:
        counts: One for each combination.
        variance: Of each count.
    """

    counts: Floats
    variance: float


def combined(shape: TableShape, marginals: Iterable[NoisyMarginal]) -> dict[Columns, AveragedCounts]:
    """For each group of columns what all its marginals say, weighted by inverse variance.

    Args:
        shape: The columns.
        marginals: Noisy counts with independent noise.

    Raises:
        ParameterError: Something is no marginal, names what is no column, or has an array of another shape.

    Example:
        >>> shape = TableShape({"smokes": 2})
        >>> twice = [NoisyMarginal(["smokes"], [n, 0], stddev=3) for n in (10, 20)]
        >>> combined(shape, twice)["smokes",]
        AveragedCounts(counts=array([15.,  0.]), variance=4.5)
    """
    sums: dict[Columns, tuple[Floats, float]] = {}
    for given in listed(marginals, "marginals", of="noisy marginals"):
        marginal = of_kind(given, "marginals", NoisyMarginal, "NoisyMarginal(columns, counts, stddev=)")
        columns = shape.checked(marginal.columns, "marginals")
        turned = in_order(shape, columns, marginal.counts, "marginals")
        weight = marginal.stddev**-2
        total, weights = sums.get(shape.ordered(columns), (0.0, 0.0))
        sums[shape.ordered(columns)] = (total + weight * turned, weights + weight)
    return {
        columns: AveragedCounts(counts=total / weights, variance=1 / weights)
        for columns, (total, weights) in sums.items()
    }


def zeros(shape: TableShape, impossible: Mapping[Columns, ArrayLike]) -> dict[Columns, Floats]:
    """For each group of columns the logarithms of 0 where a combination is impossible, and of 1 elsewhere.

    Raises:
        ParameterError: It is no such mapping, names what is no column, or has an array of another shape.

    Example:
        >>> zeros(TableShape({"sex": 2}), {("sex",): [True, False]})["sex",].tolist()
        [-inf, 0.0]
    """
    found: dict[Columns, Floats] = {}
    for group, cells in of_kind(impossible, "impossible", Mapping, _ZEROS).items():
        columns = shape.checked(of_kind(group, "impossible", tuple, _ZEROS), "impossible")
        logs = np.where(truths(cells, "impossible"), -np.inf, 0.0)
        target = shape.ordered(columns)
        found[target] = in_order(shape, columns, logs, "impossible") + found.get(target, 0.0)
    return found


def in_order(shape: TableShape, columns: Columns, values: Floats, name: str) -> Floats:
    """An array over columns with its axes in the order of the table.

    Raises:
        ParameterError: An axis has not as many places as the column has values.
    """
    if values.shape != shape.lengths(columns):
        wanted = f"must have the shape {shape.lengths(columns)} for the columns {', '.join(columns)}"
        raise ParameterError(name, f"an array of shape {values.shape}", wanted)
    return values.transpose([columns.index(column) for column in shape.ordered(columns)])


def estimated_total(measured: Iterable[tuple[Floats, float]]) -> float:
    """How many rows there are, by the sums of all marginals, weighted by inverse variance; at least 1.

    Args:
        measured: For each marginal its counts of possible combinations, and the variance of each.

    Example:
        >>> estimated_total([(np.array([40.0, 60.0]), 1.0), (np.array([103.0]), 4.0)])
        101.0
    """
    sums = [(float(counts.sum()), variance * counts.size) for counts, variance in measured if counts.size]
    weights = sum(1 / variance for _, variance in sums)
    return max(1.0, sum(total / variance for total, variance in sums) / weights) if weights else 1.0
