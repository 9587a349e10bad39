"""What a network is trained on: rows with targets in memory, or those of a query, grouped by their units."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import UNIT, Design, design_of
from sfumato.learn.torch.gradients.places import blocks_of
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import positive_integer, set_fields
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn, TrainingRows

MOST_ROWS: Final = 1 << 12
"""So many rows of a unit are used at most: all of them are in one block."""

_ORDERS: Final = 1 << 62
_NOBODY: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows on the device of a model, which only the sums of a training see.

    Attributes:
        inputs: One row a row.
        targets: The same.
        places: The rows of each unit, one unit a row; −1 where it has fewer.
    """

    inputs: torch.Tensor = field(repr=False)
    targets: torch.Tensor = field(repr=False)
    places: npt.NDArray[np.int64] = field(repr=False)

    def blocks(
        self, units: npt.NDArray[Any], block: int
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:  # fmt: skip
        """Inputs, targets and which places are used, of some units, a block of so many places at a time.

        Empty places hold zeros, so that each block has the same shapes.
        """
        device = self.inputs.device
        for own, is_filled in zip(*blocks_of(self.places[units].reshape(-1), block), strict=True):
            used = torch.from_numpy(is_filled & (own != _NOBODY)).to(device)
            index = torch.from_numpy(np.maximum(own, 0)).to(device)
            yield _filled(self.inputs, index, used), _filled(self.targets, index, used), used


def _filled(table: torch.Tensor, index: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
    """The rows of a table in the places that are used, and zeros in the others."""
    if not len(table):
        return table.new_zeros((len(index), *table.shape[1:]))
    return only(table[index], used)


def only(rows: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
    """Rows, with zeros for those that are not used.

    Example:
        >>> only(torch.tensor([[1, 2], [3, 4]]), torch.tensor([False, True])).tolist()
        [[0, 0], [3, 4]]
    """
    return torch.where(used.reshape(-1, *[1] * (rows.dim() - 1)), rows, torch.zeros_like(rows))


@dataclass(frozen=True, slots=True, init=False)
class Examples:
    """Rows with targets in memory, for `private`: arrays of NumPy or tensors, and the unit of each row.

    Nothing of them is shown, and no number of rows is taken from them. Of a unit with more than `rows_per_unit` rows,
    so many are drawn at random, once.

    Args:
        inputs: What the model is called with, one row a row.
        targets: What the loss compares its outputs with, as many.
        units: What identifies the unit of each row; None where each row is a unit.
        rows_per_unit: How many rows of a unit are used, at most; 1 where each row is a unit.
        neighboring_relation: What may change between neighboring databases.

    Raises:
        ParameterError: They are not as many, or no numbers.

    Example:
        >>> Examples(np.zeros((4, 2), np.float32), np.array([0, 1, 0, 1]), units=["a", "a", "b", "c"], rows_per_unit=2)
        Examples(of 2 rows a unit)
    """

    inputs: Secret[torch.Tensor]
    targets: Secret[torch.Tensor]
    places: Secret[npt.NDArray[np.int64]]
    input_like: torch.Tensor
    """Zeros of the shape and type of one row."""
    target_like: torch.Tensor
    rows_per_unit: int
    neighboring_relation: NeighboringRelation

    def __init__(
        self,
        inputs: Any,
        targets: Any,
        *,
        units: Any = None,
        rows_per_unit: int = 1,
        neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE,
    ) -> None:
        rows, labels = _tensor(inputs, "inputs"), _tensor(targets, "targets")
        if len(rows) != len(labels):
            raise ParameterError("targets", "targets", "must be as many as there are inputs")
        most = positive_integer(rows_per_unit, "rows_per_unit", most=MOST_ROWS)
        if units is None and most > 1:
            raise ParameterError("units", None, "must be stated where a unit has several rows")
        places = np.arange(len(rows))[:, None] if units is None else _places_of(units, len(rows), most)
        set_fields(
            self, inputs=Secret(rows), targets=Secret(labels), places=Secret(places), rows_per_unit=most,
            input_like=rows.new_zeros(rows.shape[1:]), target_like=labels.new_zeros(labels.shape[1:]),
            neighboring_relation=as_relation(neighboring_relation),
        )  # fmt: skip

    def __repr__(self) -> str:
        """Nothing of the rows."""
        return f"Examples(of {self.rows_per_unit} row{'s' * (self.rows_per_unit > 1)} a unit)"

    @property
    def public_units(self) -> int | None:
        """How many units there are, where units are replaced and their number is public; else None."""
        return len(self.places.open_for_noise()) if self.neighboring_relation is REPLACE_ONE else None

    def opened(self, device: torch.device) -> Rows:
        """The rows on a device, for a training that was charged."""
        inputs, targets = self.inputs.open_for_noise(), self.targets.open_for_noise()
        return Rows(inputs=inputs.to(device), targets=targets.to(device), places=self.places.open_for_noise())


def _tensor(values: Any, name: str) -> torch.Tensor:
    try:
        found = values.detach() if isinstance(values, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(values))
    except (TypeError, ValueError):
        found = None
    if found is None or found.dim() == 0:
        raise ParameterError(name, f"a {type(values).__name__}", "must be an array of numbers or a tensor, row by row")
    return found.to(torch.float32) if found.dtype == torch.float64 else found


def _places_of(units: Any, count: int, most: int) -> npt.NDArray[np.int64]:
    """The rows of each unit, in random order and no more than so many."""
    found = np.asarray(listed(units, "units"))
    if found.shape != (count,) or found.dtype.kind == "O":
        raise ParameterError("units", "units", "must be one for each row, of one type, such as whole numbers")
    own = np.unique(found, return_inverse=True)[1]
    order = np.lexsort((np.asarray(uniform_below(_ORDERS, count)), own))
    starts = np.searchsorted(own[order], np.arange(own.max(initial=-1) + 1))
    rank = np.arange(count) - starts[own[order]]
    places = np.full((len(starts), most), _NOBODY, dtype=np.int64)
    kept = rank < most
    places[own[order][kept], rank[kept]] = order[kept]
    return places


def features_of(columns: tuple[TrainingColumn, ...]) -> Design:
    """The features of a query as a network sees them: numbers scaled to [0, 1] or [−1, 1], one 0/1 feature a value."""
    return design_of(columns, norm=None, l1_norm=None, intercept=False)


def rows_of_query(rows: TrainingRows, design: Design, target: TrainingColumn, device: torch.device) -> Rows:
    """The rows of a training set: each is drawn by itself, as the units of its rows are not known.

    A category is the place of its value in the list, a number is in the unit of its column.
    """
    inputs = torch.from_numpy((design.rows(rows.codes) / UNIT).astype(np.float32))
    codes = np.zeros(len(rows.codes), dtype=np.int32) if rows.target is None else rows.target
    numbers = target.decode(codes).astype(np.float32)[:, None] if target.is_number else codes.astype(np.int64)
    places = np.arange(len(codes))[:, None]
    return Rows(inputs=inputs.to(device), targets=torch.from_numpy(numbers).to(device), places=places)
