"""The rows of a linear model as whole numbers on one lattice, each row within declared norms.

A feature is scaled to [0, 1] by its bounds, or to [−1, 1] where they are ±b, and a category becomes one 0/1 feature a
value. All is in steps of 1/`UNIT`, so that norms are checked, and sums added, in whole numbers that doubles hold: no
result depends on the order of rows, nor a row's numbers on other rows.

Proof: proofs/learn/linear/design.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.session.training.columns import Codes, TrainingColumn

UNIT: Final = 4096
"""How many lattice steps a scaled feature of 1 has."""

MAX_FEATURES: Final = 4096
"""With more, sums of products would pass 2^53."""

_BLOCK: Final = 8192
_BELOW: Final = 1 - 2.0**-40
"""A factor of rows that are scaled: below it, whatever the last digit of a quotient."""

Floats: Final = np.float64
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How declared columns become the features of a linear model, and which norms no row exceeds.

    Attributes:
        columns: The declared columns.
        l1: The largest L1 norm of a scaled row in steps, without the intercept.
        square: The largest square of its L2 norm in squared steps, without the intercept.
        intercept: Whether there is one more feature that is always 1.
    """

    columns: tuple[TrainingColumn, ...]
    l1: int
    square: int
    intercept: bool

    @property
    def width(self) -> int:
        """How many features there are, the intercept among them."""
        return sum(map(_width, self.columns)) + self.intercept

    @property
    def l1_norm(self) -> Fraction:
        """What no row exceeds in L1, the intercept among its features."""
        return Fraction(self.l1, UNIT) + self.intercept

    @property
    def l2_square(self) -> Fraction:
        """What the square of no row's L2 norm exceeds, the intercept among its features."""
        return Fraction(self.square, UNIT**2) + self.intercept

    def document(self) -> Json:
        """The norms, for the document of a fit; columns are in the key of a stored model anyway."""
        return [self.l1, self.square, self.intercept]

    def rows(self, codes: Codes) -> Matrix:
        """Rows in lattice steps: whole numbers, scaled down to the norms where they exceed one of them."""
        table = np.zeros((len(codes), self.width), dtype=np.float64)
        place = 0
        for index, column in enumerate(self.columns):
            own = codes[:, index]
            if column.values is None:
                table[:, place] = _steps(column)[own]
            else:
                listed = np.flatnonzero(own >= 0)
                table[listed, place + own[listed]] = UNIT
            place += _width(column)
        features = table[:, :place]
        if self.l1 < len(self.columns) * UNIT or self.square < len(self.columns) * UNIT**2:
            for start in range(0, len(features), _BLOCK):
                self._shorten(features[start : start + _BLOCK])
        if self.intercept:
            table[:, place] = UNIT
        return table

    def products(self, codes: Codes, weights: Matrix) -> Matrix:
        """Rows times weights, feature by feature: no row's result depends on other rows, to the last digit."""
        rows = self.rows(codes)
        found = np.zeros((len(rows), weights.shape[1]), dtype=np.float64)
        for place, weight in enumerate(weights):
            found += rows[:, place, None] * weight
        return found / UNIT

    def names(self) -> tuple[str, ...]:
        """The names of the features, without the intercept: ``age``, ``sex=Female``."""
        found: list[str] = []
        for column in self.columns:
            found += [column.name] if column.values is None else [f"{column.name}={value}" for value in column.values]
        return tuple(found)

    def scales(self) -> tuple[Matrix, Matrix]:
        """For each feature how much it grows by a unit of its column, and what it is where the column is 0."""
        slopes, starts = [], []
        for column in self.columns:
            if column.lower is None or column.upper is None:
                slopes += [1.0] * _width(column)
                starts += [0.0] * _width(column)
                continue
            slope = (2 if _is_centered(column) else 1) / float(column.upper - column.lower)
            slopes.append(slope)
            starts.append(0.0 if _is_centered(column) else -float(column.lower) * slope)
        return np.array(slopes), np.array(starts)

    def _shorten(self, features: Matrix) -> None:
        """Scale rows down, toward 0, that exceed a norm."""
        sums, squares = np.abs(features).sum(axis=1), np.einsum("ij,ij->i", features, features)
        over = np.flatnonzero((sums > self.l1) | (squares > self.square))
        if not len(over):
            return
        by_sum = self.l1 / np.maximum(sums[over], 1)
        by_square = np.sqrt(self.square / np.maximum(squares[over], 1))
        factors = np.minimum(np.minimum(by_sum, by_square), 1.0) * _BELOW
        features[over] = np.trunc(features[over] * factors[:, None])


def design_of(
    columns: Sequence[TrainingColumn], *, norm: Fraction | None, l1_norm: Fraction | None, intercept: bool
) -> Design:
    """The features of a linear model.

    Args:
        columns: The declared columns.
        norm: The largest L2 norm of a row of scaled features; None: what the bounds imply.
        l1_norm: The same in L1.
        intercept: Whether there is an intercept.

    Raises:
        ParameterError: There are too many features, or a norm is below one lattice step.
    """
    most_l1 = len(columns) * UNIT
    l1 = most_l1 if l1_norm is None else min(most_l1, int(l1_norm * UNIT))
    square = min(len(columns) * UNIT**2, l1 * UNIT, l1**2)  # no feature exceeds one UNIT
    if norm is not None:
        square = min(square, int(norm**2 * UNIT**2))
    found = Design(columns=tuple(columns), l1=l1, square=square, intercept=intercept)
    if found.width > MAX_FEATURES:
        raise ParameterError("X", f"{found.width:,} features", f"must make at most {MAX_FEATURES:,} features")
    if l1 < 1 or square < 1:
        raise ParameterError("norm", "a norm", f"must be at least 1/{UNIT} of a scaled feature")
    features = found.width - intercept
    return Design(columns=found.columns, l1=min(l1, _root_up(square * features)), square=square, intercept=intercept)


def centered_design(
    columns: Sequence[TrainingColumn], *, norm: Number | None, l1_norm: Number | None, is_of_columns: bool
) -> Design:
    """The features of a model in which numbers are measured from the middle of their bounds: all lie within ±1.

    Args:
        columns: The declared columns; the codes of rows stay the same.
        norm: The largest L2 norm of a row; None: what the bounds imply.
        l1_norm: The largest L1 norm of a row of scaled features.
        is_of_columns: Whether `norm` is that of rows as they are, whose columns lie within ±norm.

    Raises:
        ParameterError: There are too many features, or a norm is no positive number, or below one lattice step.
    """
    moved = []
    for column in columns:
        if column.lower is None or column.upper is None:
            moved.append(column)
            continue
        half = (column.upper - column.lower) / 2
        moved.append(replace(column, lower=-half, upper=half))
    l2 = None if norm is None else positive(norm, "norm")
    l1 = None if l1_norm is None else positive(l1_norm, "l1_norm")
    scaled = Fraction(1) if l2 is not None and is_of_columns else l2
    return design_of(moved, norm=scaled, l1_norm=l1, intercept=False)


def middles(columns: Sequence[TrainingColumn]) -> Matrix:
    """What is 0 of each feature of a centered design, in the unit of its column; 0 for those of categories."""
    found: list[float] = []
    for column in columns:
        if column.lower is None or column.upper is None:
            found += [0.0] * _width(column)
        else:
            found.append(float(column.lower + column.upper) / 2)
    return np.array(found)


def squares_of(rows: Matrix) -> Matrix:
    """The squares of the L2 norms of rows in steps: whole numbers, exactly."""
    found: Matrix = np.einsum("ij,ij->i", rows, rows)
    return found


def norm_up(square: Fraction) -> Fraction:
    """A norm from its square, rounded up."""
    return sqrt_up(square)


def _root_up(number: int) -> int:
    root = isqrt(number)
    return root if root * root == number else root + 1


def _width(column: TrainingColumn) -> int:
    return 1 if column.values is None else len(column.values)


def _is_centered(column: TrainingColumn) -> bool:
    return column.lower is not None and column.upper is not None and column.lower == -column.upper


def _steps(column: TrainingColumn) -> Matrix:
    """The lattice step of each code of a number."""
    codes = np.arange(column.steps + 1, dtype=np.float64)
    scaled = (2 * codes - column.steps if _is_centered(column) else codes) * UNIT / column.steps
    return np.floor(scaled + 0.5)
