"""The most that one privacy unit changes what a strategy measures: exact bounds for the matrix of whole numbers.

Each measurement is m·B₁ ⊗ … ⊗ B_d, with one component for each column. Its Gram matrix is the product of those of its
components, so that limits of its entries are products of their limits; those of the whole strategy are sums.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.components import Component
from sfumato.numeric.rationals import flag, positive_integer, set_fields
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation

_MOST_TERMS: Final = 1 << 15  # of a bound by which columns two cells differ; beyond, the largest diagonal bounds all


@dataclass(frozen=True, slots=True, init=False)
class CellSensitivity:
    """The most that one privacy unit changes a histogram of whole numbers, if it is added or removed.

    Under REPLACE_ONE the unit takes one such vector away and adds another one.

    Args:
        l0: How many cells it changes, at most.
        linf: How much it changes each, at most.
        l1: How much it changes all together; l0·linf if not given.
        l2_squared: The square of the same in L2; l1·linf if not given.
        is_nonnegative: Whether a unit that is added lowers no cell, as counts do and sums may not.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is no positive whole number.

    Example:
        >>> rows = CellSensitivity(l0=3, linf=2, is_nonnegative=True)
        >>> rows.l1, rows.l2_squared
        (6, 12)
    """

    l0: int
    linf: int
    l1: int
    l2_squared: int
    is_nonnegative: bool
    neighboring_relation: NeighboringRelation

    def __init__(
        self,
        *,
        l0: int,
        linf: int,
        l1: int | None = None,
        l2_squared: int | None = None,
        is_nonnegative: bool,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        cells, most = positive_integer(l0, "l0"), positive_integer(linf, "linf")
        together = cells * most if l1 is None else min(cells * most, positive_integer(l1, "l1"))
        squared = together * min(most, together)
        if l2_squared is not None:
            squared = min(squared, positive_integer(l2_squared, "l2_squared"))
        set_fields(
            self,
            l0=cells,
            linf=most,
            l1=together,
            l2_squared=squared,
            is_nonnegative=flag(is_nonnegative, "is_nonnegative"),
            neighboring_relation=as_relation(neighboring_relation),
        )

    @property
    def vectors(self) -> int:
        """How many such vectors the difference of two neighboring histograms is made of."""
        return 1 if self.neighboring_relation is ADD_OR_REMOVE_ONE else 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """m·B₁ ⊗ … ⊗ B_d: a whole multiple of a product of components, one for each column.

    Args:
        multiplier: m, at least 1.
        components: B₁, …, B_d.
    """

    multiplier: int
    components: tuple[Component, ...]

    def __post_init__(self) -> None:
        positive_integer(self.multiplier, "multiplier")

    @property
    def size(self) -> int:
        """How many numbers are measured."""
        return prod(component.measured for component in self.components)


@dataclass(frozen=True, slots=True, kw_only=True)
class _GramLimits:
    """Limits of the Gram matrix of a strategy."""

    diagonal: int
    lowest: int
    """Of the inner products of two columns, which may be the same."""
    highest: int
    """Of the inner products of two different columns, or 0 if none is above."""
    eigenvalue: int


def l0_sensitivity(measurements: Iterable[Measurement], unit: CellSensitivity) -> int:
    """How many measured numbers one unit changes, at most."""
    measured = tuple(measurements)
    of_one_cell = sum(prod(part.bounds.l0 for part in each.components) for each in measured)
    return min(sum(each.size for each in measured), unit.l0 * unit.vectors * of_one_cell)


def l1_sensitivity(measurements: Iterable[Measurement], unit: CellSensitivity) -> int:
    """How much one unit changes the measured numbers in L1, at most: each cell by the L1 length of its column."""
    of_one_cell = sum(each.multiplier * prod(part.bounds.l1 for part in each.components) for each in measurements)
    return unit.l1 * unit.vectors * of_one_cell


def l2_sensitivity_squared(
    measurements: Sequence[Measurement], unit: CellSensitivity, *, is_orthogonal: bool = False
) -> int:
    """The square of how much one unit changes the measured numbers in L2, at most.

    Exact for a unit that changes one cell, if the strategy is orthogonal. Else it is the least of three bounds: by
    inner products of columns, by the largest eigenvalue, and by both for each measurement alone.

    Args:
        measurements: What is measured.
        unit: The most that one unit changes the histogram.
        is_orthogonal: Whether no measurement sees what another one sees, so that eigenvalues do not add up.

    Raises:
        ParameterError: Nothing is measured.
    """
    if not measurements:
        raise ParameterError("measurements", measurements, "must not be empty")
    each = [(_limits([measurement], unit), measurement) for measurement in measurements]
    joint = _limits(measurements, unit)
    if is_orthogonal:
        largest = max(limits.eigenvalue for limits, _ in each)
        joint = _GramLimits(diagonal=joint.diagonal, lowest=joint.lowest, highest=joint.highest, eigenvalue=largest)
    return min(_changed(joint, unit), sum(_changed(limits, unit) for limits, _ in each))


def _changed(gram: _GramLimits, unit: CellSensitivity) -> int:
    """At least uᵀGu for every change u of the histogram by a unit; under REPLACE_ONE that is a difference u − v."""
    highest = min(gram.diagonal, gram.highest if unit.is_nonnegative else max(gram.highest, -gram.lowest))
    by_products = (gram.diagonal - highest) * unit.l2_squared + highest * unit.l1**2
    of_a_vector = min(by_products, gram.eigenvalue * unit.l2_squared)
    if unit.neighboring_relation is ADD_OR_REMOVE_ONE:
        return of_a_vector
    if not unit.is_nonnegative:
        return 4 * of_a_vector
    if gram.lowest >= 0:  # a unit that is in no cell before or after changes one vector; else uᵀGv is at least this
        return max(of_a_vector, 2 * of_a_vector - 2 * gram.lowest)
    crossed = min(of_a_vector, -gram.lowest * unit.l1**2)
    return min(2 * of_a_vector + 2 * crossed, 2 * gram.eigenvalue * unit.l2_squared)


def _limits(measurements: Sequence[Measurement], unit: CellSensitivity) -> _GramLimits:
    parts = [(each.multiplier**2, [part.bounds for part in each.components]) for each in measurements]
    diagonal = sum(square * prod(limits.diagonal[1] for limits in bounds) for square, bounds in parts)
    eigenvalue = sum(square * prod(limits.eigenvalue for limits in bounds) for square, bounds in parts)
    lowest, highest = _inner_limits(measurements, diagonal, unit)
    return _GramLimits(diagonal=diagonal, lowest=lowest, highest=highest, eigenvalue=eigenvalue)


def _inner_limits(measurements: Sequence[Measurement], diagonal: int, unit: CellSensitivity) -> tuple[int, int]:
    """The lowest and the highest inner product, as `_GramLimits` has them, by the columns in which cells differ."""
    wide = [column for column, part in enumerate(measurements[0].components) if part.cells > 1]
    needless = unit.l0 == 1 and unit.neighboring_relation is ADD_OR_REMOVE_ONE
    if needless or len(measurements) << len(wide) > _MOST_TERMS:
        return -diagonal, diagonal
    lowest, highest = diagonal, 0
    for chosen in product((False, True), repeat=len(wide)):
        differs = {column for column, is_chosen in zip(wide, chosen, strict=True) if is_chosen}
        limits = [_inner_products(each, differs) for each in measurements]
        lowest = min(lowest, sum(low for low, _ in limits))
        if differs:
            highest = max(highest, sum(high for _, high in limits))
    return lowest, highest


def _inner_products(measurement: Measurement, differs: set[int]) -> tuple[int, int]:
    """Limits of the inner products of the columns of two cells that differ in these columns and in no others."""
    low = high = measurement.multiplier**2
    for column, part in enumerate(measurement.components):
        limits = part.bounds.off_diagonal if column in differs else part.bounds.diagonal
        corners = [first * second for first in (low, high) for second in limits]
        low, high = min(corners), max(corners)
    return low, high
