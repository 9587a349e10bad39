"""What a model is fitted to: arrays under the owner's declarations, or a training set of a session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.session.asking.training_set import encoded
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.columns import Codes, TrainingColumn, TrainingRows
from sfumato.session.training.ordered import RowsElsewhere
from sfumato.session.training.plan import PrivateFit

Rows: TypeAlias = npt.NDArray[np.float64] | Mapping[str, Sequence[Any]]
"""Numbers, one row a row; or the values of each column by its name, as of a data frame."""


_BLOCK: Final = 1024  # rows


class FitRelease(Protocol):
    """What a fit released."""

    @property
    def model(self) -> Mapping[str, Any]:
        """The model as JSON values."""

    @property
    def receipt(self) -> Receipt | None:
        """What it cost an account; None where there is none."""


class TrainingData(Protocol):
    """Rows that only a fit may see, and what is publicly known of them; a `TrainingSet` is one."""

    @property
    def columns(self) -> tuple[TrainingColumn, ...]:
        """The features, as they are declared."""

    @property
    def target(self) -> TrainingColumn | None:
        """What is to be predicted, as it is declared; None if nothing is."""

    @property
    def rows_per_unit(self) -> int:
        """How many rows one unit has, at most."""

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """What may change between neighboring databases."""

    def fit(self, fit: PrivateFit, /) -> FitRelease:
        """Charge a fit where there is an account, and run it."""


def run_fit(data: TrainingData, fit: PrivateFit, estimator: Any) -> FitRelease:
    """Have a fit charged and run where the rows are: here, or elsewhere by the name and the arguments of its estimator.

    Args:
        data: What the estimator is fitted to.
        fit: What the estimator planned for it.
        estimator: The estimator as it was given, with all that it has inside.
    """
    found: FitRelease = data.order(estimator, fit) if isinstance(data, RowsElsewhere) else data.fit(fit)
    return found


def moved_rows(data: TrainingData) -> int:
    """How many rows enter or leave, at most, from a database to its neighbor."""
    replaces = data.neighboring_relation is NeighboringRelation.REPLACE_ONE
    return data.rows_per_unit * (2 if replaces else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedModel:
    """What a fit on arrays released; its owner keeps account of it."""

    model: Mapping[str, Any] = field(repr=False)
    receipt: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayData:
    """Arrays in memory in which each row is a unit, under the owner's declarations.

    Attributes:
        columns: The features, as they are declared.
        target: What is to be predicted, as it is declared; None if nothing is.
        neighboring_relation: What may change between neighboring databases.
        rows: The codes of the rows.
    """

    columns: tuple[TrainingColumn, ...]
    target: TrainingColumn | None
    neighboring_relation: NeighboringRelation
    rows: Secret[TrainingRows]

    @property
    def rows_per_unit(self) -> int:
        """Each row is a unit."""
        return 1

    def fit(self, fit: PrivateFit, /) -> ReleasedModel:
        """Run a fit."""
        return ReleasedModel(model=fit.release(self.rows))


def array_data(
    features: npt.NDArray[np.float64],
    labels: npt.NDArray[Any] | None,
    *,
    columns: tuple[TrainingColumn, ...],
    target: TrainingColumn | None,
    neighboring_relation: NeighboringRelation,
) -> ArrayData:
    """Arrays as codes.

    Args:
        features: Numbers without NaN, one row a row.
        labels: The target, one a row; None where there is none.
        columns: The features, as they are declared.
        target: The target, as it is declared.
        neighboring_relation: What may change between neighboring databases.

    Raises:
        ParameterError: A label is not one of the listed classes.
    """
    codes = None if labels is None or target is None else _target_codes(labels, target)
    if codes is not None and (codes < 0).any():
        raise ParameterError("y", "a label", "must be one of the listed classes; drop other rows, or list their class")
    rows = Secret(TrainingRows(codes=_codes(features, columns), target=codes))
    return ArrayData(columns=columns, target=target, neighboring_relation=neighboring_relation, rows=rows)


def of_units(data: TrainingData, units: Sequence[Any] | npt.NDArray[Any]) -> ArrayData:
    """Arrays in which each row belongs to a stated unit, for fits that keep the rows of a unit together.

    Args:
        data: Arrays; a training set has the units of its policy.
        units: What identifies the unit of each row; compared as NumPy does, and not kept.

    Raises:
        ParameterError: The data is of a session, or there are not as many units as rows.
    """
    if not isinstance(data, ArrayData):
        raise ParameterError("units", "units", "must be left out with a session: its policy declares the units")
    rows = data.rows.open_for_noise()
    found = np.asarray(listed(units, "units"))
    if found.shape != (len(rows.codes),) or found.dtype.kind == "O":
        raise ParameterError("units", "units", "must be one for each row in X, of one type, such as whole numbers")
    places = np.unique(found, return_inverse=True)[1].astype(np.int32)
    return replace(data, rows=Secret(replace(rows, units=places)))


def codes_of(rows: Rows, columns: tuple[TrainingColumn, ...]) -> Codes:
    """Rows to predict for, as codes: clamped to the same bounds as those that the model was fitted to.

    Raises:
        ParameterError: A column is missing, or a number; or the model has categories and the rows have no names.
    """
    if isinstance(rows, np.ndarray):
        if not all(one.is_number for one in columns):
            requirement = "must have the columns by name, as a dictionary or a data frame: the model has categories"
            raise ParameterError("X", "an array", requirement)
        return _codes(rows, columns)
    codes = encoded(columns, rows)
    if any((codes[:, place] < 0).any() for place, one in enumerate(columns) if one.is_number):
        raise ParameterError("X", "a missing number", "must have a number in each row; fill it in, or drop the row")
    return codes


def _target_codes(labels: npt.NDArray[Any], target: TrainingColumn) -> Codes:
    if target.is_number:
        return target.encode(labels)
    if labels.dtype.kind == "O":  # values of several types have no order
        return target.encode(labels.tolist())
    distinct, places = np.unique(labels, return_inverse=True)
    return target.encode(distinct.tolist())[places]


def _codes(features: npt.NDArray[np.float64], columns: tuple[TrainingColumn, ...]) -> Codes:
    """What `encode` of each column says, for all columns at once, in blocks that stay in the processor's cache."""
    ends = [(one.lower, one.upper) for one in columns if one.lower is not None and one.upper is not None]
    lower, upper = (np.array(end, dtype=np.float64) for end in zip(*ends, strict=True))
    steps = np.array([one.steps for one in columns], dtype=np.float64)
    codes = np.empty(features.shape, dtype=np.int32)
    for start in range(0, len(features), _BLOCK):
        inside = np.clip(features[start : start + _BLOCK], lower, upper)
        lattice = np.floor((inside - lower) / (upper - lower) * steps + 0.5)
        codes[start : start + _BLOCK] = np.clip(lattice, 0, steps)
    return codes
