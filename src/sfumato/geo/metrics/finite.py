"""Metrics on finite sets, in whole steps of a public size, so that no distance is rounded afterwards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import nonnegative, set_fields

MOST_POINTS: Final = 1024
"""The most points of a metric of which all distances are kept."""
LARGEST_DISTANCE: Final = 1 << 40
"""The largest distance in steps."""

Steps = NDArray[np.int64]


class PointMetric(Protocol):
    """A public metric on finitely many points: distance 0 to itself alone, symmetric, and no shorter way round."""

    @property
    def unit(self) -> str:
        """The name of the unit of distance."""
        ...

    @property
    def step(self) -> Fraction:
        """The size of a step, in units."""
        ...

    def __len__(self) -> int:
        """How many points there are."""
        ...

    def index(self, point: Any) -> int:
        """The number of a point; of whatever is none, that of the point that stands for it. Never an error."""
        ...

    def point(self, index: int) -> Any:
        """The point with a number."""
        ...

    def steps_from(self, index: int) -> Steps:
        """The distances from a point to each one, in steps."""
        ...


@dataclass(frozen=True, slots=True, init=False, eq=False)
class FiniteMetric:
    """A metric that is listed: its points, and the distance of every two of them.

    What is no point counts as the first one, so that no value is ever an error.

    Args:
        points: Different points, such as names; at most 1,024.
        distances: A row for each point, with the distance to each, as numbers or text of numbers. Of a float its
            shortest decimal is meant.
        unit: The name of the unit of distance.

    Raises:
        ParameterError: There are too many points or none, two are equal, or the distances are no metric.

    Example:
        >>> wards = FiniteMetric(["A", "B", "C"], [[0, 1, 2], [1, 0, "1.5"], [2, "1.5", 0]], unit="floor")
        >>> len(wards), wards.step, wards.steps_from(wards.index("B")).tolist()
        (3, Fraction(1, 2), [2, 0, 3])
    """

    points: tuple[Any, ...]
    unit: str
    step: Fraction
    _rows: Steps
    _indexes: dict[Any, int]

    def __init__(self, points: Iterable[Any], distances: Sequence[Sequence[Any]], *, unit: str) -> None:
        named = listed(points, "points", of="points")
        of_kind(unit, "unit", str, "the name of a unit of distance")
        indexes = numbered(named, "points")
        if not 1 <= len(named) <= MOST_POINTS:
            raise ParameterError("points", f"{len(named)} of them", f"must be from 1 to {MOST_POINTS:,}")
        step, rows = _in_steps(distances, len(named))
        _require_metric(rows)
        set_fields(self, points=named, unit=unit, step=step, _rows=rows, _indexes=indexes)

    def __len__(self) -> int:
        return len(self.points)

    def index(self, point: Any) -> int:
        """The number of a point; 0 of what is none."""
        try:
            return self._indexes.get(point, 0)
        except TypeError:  # it cannot be looked up, and so is none
            return 0

    def point(self, index: int) -> Any:
        """The point with a number."""
        return self.points[index]

    def steps_from(self, index: int) -> Steps:
        """The distances from a point to each one, in steps."""
        row: Steps = self._rows[index]
        return row


def has_constant_normalizer(metric: PointMetric) -> bool:
    """Whether every point sees the same distances, in some order: then Σ exp(−ε·d) is the same from each.

    So it is on circles and other sets that look alike from everywhere. It is checked exactly: whole numbers are
    compared, and no sum of powers.

    Example:
        >>> ring = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
        >>> has_constant_normalizer(FiniteMetric(list("NESW"), ring, unit="turn"))
        True
    """
    first = np.sort(metric.steps_from(0))
    return all(bool((np.sort(metric.steps_from(index)) == first).all()) for index in range(1, len(metric)))


def numbered(points: tuple[Any, ...], name: str) -> dict[Any, int]:
    """Points by their number."""
    try:
        indexes = {point: index for index, point in enumerate(points)}
    except TypeError:
        raise ParameterError(name, "some", "must be values such as texts or numbers") from None
    if len(indexes) < len(points):
        raise ParameterError(name, f"{len(points)} of them", "must all be different")
    return indexes


def _in_steps(distances: Any, count: int) -> tuple[Fraction, Steps]:
    """Distances as whole multiples of the largest number of which all are multiples of the form 1/n."""
    rows = [
        [nonnegative(number, "distances") for number in listed(row, "distances")]
        for row in listed(distances, "distances")
    ]
    if len(rows) != count or any(len(row) != count for row in rows):
        raise ParameterError("distances", f"{len(rows)} rows", f"must be {count} rows of {count} distances")
    shared = 1
    for row in rows:
        shared = lcm(shared, *(number.denominator for number in row))
        if shared > LARGEST_DISTANCE:
            raise ParameterError("distances", "some", "must have short decimals in common, such as 0.25")
    if max(number for row in rows for number in row) * shared > LARGEST_DISTANCE:
        raise ParameterError("distances", "some", "must be at most 2^40 times the step that all are multiples of")
    whole = [[int(number * shared) for number in row] for row in rows]
    return Fraction(1, shared), np.array(whole, dtype=np.int64)


def _require_metric(rows: Steps) -> None:
    """Refuse what is no metric, exactly."""
    apart = rows[~np.eye(len(rows), dtype=np.bool_)]
    if rows.diagonal().any() or (apart == 0).any():
        raise ParameterError("distances", "some", "must be 0 from each point to itself, and above 0 to every other")
    if (rows != rows.T).any():
        raise ParameterError("distances", "some", "must be the same in both directions")
    for row in range(len(rows)):
        if (rows[row] > (rows + rows[row][:, None]).min(axis=0)).any():
            raise ParameterError("distances", "some", "must have no way through a third point that is shorter")
