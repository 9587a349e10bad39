"""Parts of the gradients of a block's rows: their norms and their weighted sum, never the gradients themselves.

A layer's gradient of one row is Σ_t b_t ⊗ a_t, over the places t where the row meets the weight: a_t is what enters and
b_t the slope of the loss by what comes out. A piece holds what that sum needs, and answers two questions: what the
square of a row's norm is at most, and what the weighted sum over the rows is.

Proof: proofs/learn/torch/gradients/pieces.md.
"""

from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

import torch

CHUNK: Final = 64
"""So many numbers are summed in single precision at most, one after another; sums of sums are in double precision."""

_SQUARES: Final = 32

NORM_MARGIN: Final = 2.0**-18
"""By this factor a norm is rounded up."""

SINGLE: Final = 2.0**-24
DOUBLE: Final = 2.0**-53
"""The relative errors of one step in single and in double precision."""


class Piece(Protocol):
    """A part of the gradients of all rows of a block."""

    def made_of(self) -> tuple[torch.Tensor, ...]:
        """The numbers of the rows, of which all else follows."""

    def squares(self) -> torch.Tensor:
        """For each row what the square of its norm is at most, but for a factor that `NORM_MARGIN` covers."""

    def mass(self) -> torch.Tensor | None:
        """For each row Σ_t ‖b_t‖·‖a_t‖, where an error of the sum grows with it and not with the norm."""

    def largest(self) -> torch.Tensor | None:
        """For each row the largest number that is multiplied when all rows are summed, None if its norm bounds it."""

    def add_to(self, total: torch.Tensor, factors: torch.Tensor) -> None:
        """Add the sum of all rows, each times its factor, to the gradient `total`, of doubles.

        A row of the factor 0 adds nothing, also where its numbers are not finite.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPiece:
    """Gradients that are formed, since they are small beside what they are made of.

    Attributes:
        start: The place of the first number in the flat gradient.
        rows: One row each.
    """

    start: int
    rows: torch.Tensor

    def made_of(self) -> tuple[torch.Tensor, ...]:
        """The numbers of the rows."""
        return (self.rows,)

    def squares(self) -> torch.Tensor:
        """The squares of the norms of the rows."""
        return squares_of(self.rows)

    def mass(self) -> None:
        """None: the sum is of whole rows."""

    def largest(self) -> None:
        """None: it is below the norm."""

    def add_to(self, total: torch.Tensor, factors: torch.Tensor) -> None:
        """Add the sum of all rows, each times its factor."""
        part = total[self.start : self.start + self.rows.shape[1]]
        rows = _kept(self.rows, factors)
        for first in range(0, len(factors), CHUNK):
            some = slice(first, first + CHUNK)
            part += factors[some].to(rows.dtype) @ rows[some]


@dataclass(frozen=True, slots=True, kw_only=True)
class OuterPiece:
    """Rows that meet a weight once: the gradient is b ⊗ a, and its norm ‖b‖·‖a‖.

    Attributes:
        start: The place of the first number in the flat gradient.
        inputs: a, one row each.
        slopes: b, one row each.
    """

    start: int
    inputs: torch.Tensor
    slopes: torch.Tensor

    def made_of(self) -> tuple[torch.Tensor, ...]:
        """The numbers of the rows."""
        return (self.inputs, self.slopes)

    def squares(self) -> torch.Tensor:
        """The squares of the norms of the products."""
        return self.inputs.double().square().sum(dim=1) * self.slopes.double().square().sum(dim=1)

    def mass(self) -> None:
        """None: for a single product it is the norm."""

    def largest(self) -> torch.Tensor:
        """The largest number of both."""
        return torch.maximum(_largest_of(self.inputs), _largest_of(self.slopes))

    def add_to(self, total: torch.Tensor, factors: torch.Tensor) -> None:
        """Add the sum of all products, each times its factor."""
        part = _matrix_in(total, self.start, self.slopes.shape[1], self.inputs.shape[1])
        inputs, scaled = _kept(self.inputs, factors), _kept(self.slopes, factors) * factors[:, None]
        for first in range(0, len(factors), CHUNK):
            some = slice(first, first + CHUNK)
            part += scaled[some].T @ inputs[some]


@dataclass(frozen=True, slots=True, kw_only=True)
class GramPiece:
    """Rows that meet a large weight a few times: ‖Σ_t b_t ⊗ a_t‖² = Σ_ts (a_t·a_s)(b_t·b_s), in double precision.

    Attributes:
        start: The place of the first number in the flat gradient.
        inputs: a: rows × places × numbers, as doubles.
        slopes: b, likewise.
    """

    start: int
    inputs: torch.Tensor
    slopes: torch.Tensor

    def made_of(self) -> tuple[torch.Tensor, ...]:
        """The numbers of the rows."""
        return (self.inputs, self.slopes)

    def squares(self) -> torch.Tensor:
        """The squares of the norms, with what their errors are at most."""
        places, given, made = self.inputs.shape[1], self.inputs.shape[2], self.slopes.shape[2]
        products = (self.inputs @ self.inputs.mT) * (self.slopes @ self.slopes.mT)
        margin = 2 * DOUBLE * (given + made + places**2 + 8)
        return products.sum(dim=(1, 2)).clamp(min=0) + margin * self.mass() ** 2

    def mass(self) -> torch.Tensor:
        """Σ_t ‖b_t‖·‖a_t‖ of each row."""
        return (self.inputs.square().sum(dim=2) * self.slopes.square().sum(dim=2)).sqrt().sum(dim=1)

    def largest(self) -> torch.Tensor:
        """The largest number of both."""
        return torch.maximum(_largest_of(self.inputs), _largest_of(self.slopes))

    def add_to(self, total: torch.Tensor, factors: torch.Tensor) -> None:
        """Add the sum of all products, each times its factor."""
        part = _matrix_in(total, self.start, self.slopes.shape[2], self.inputs.shape[2])
        scaled = _kept(self.slopes, factors) * factors.double()[:, None, None]
        part += scaled.flatten(0, 1).T @ _kept(self.inputs, factors).flatten(0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensPiece:
    """Rows of an embedding: slopes of equal tokens of a row are summed at the first of them, and others are 0.

    Attributes:
        start: The place of the first number in the flat gradient.
        size: How many tokens there are.
        tokens: The tokens: rows × places.
        slopes: Their sums: rows × places × numbers.
    """

    start: int
    size: int
    tokens: torch.Tensor
    slopes: torch.Tensor

    def made_of(self) -> tuple[torch.Tensor, ...]:
        """The numbers of the rows."""
        return (self.tokens, self.slopes)

    def squares(self) -> torch.Tensor:
        """The squares of the norms: different tokens are different numbers of the gradient."""
        return squares_of(self.slopes.flatten(1))

    def mass(self) -> None:
        """None: the sum is of whole rows."""

    def largest(self) -> None:
        """None: it is below the norm."""

    def add_to(self, total: torch.Tensor, factors: torch.Tensor) -> None:
        """Add the sum of all rows, each times its factor."""
        part = _matrix_in(total, self.start, self.size, self.slopes.shape[2])
        scaled = _kept(self.slopes, factors) * factors[:, None, None]
        part.index_add_(0, self.tokens.flatten(), scaled.flatten(0, 1).double())


def squares_of(rows: torch.Tensor) -> torch.Tensor:
    """The squares of the norms of rows, as doubles: `_SQUARES` numbers are summed in the precision of the rows.

    Each is right but for a factor of 1 ± 36·2^−24 and for what is lost where squares are below the range of floats.
    """
    whole = rows.shape[1] // _SQUARES * _SQUARES
    rest = torch.linalg.vector_norm(rows[:, whole:], dim=1).double().square()
    if not whole:
        return rest
    parts = rows[:, :whole].unflatten(1, (whole // _SQUARES, _SQUARES))
    return torch.linalg.vector_norm(parts, dim=2).double().square().sum(dim=1) + rest


def _matrix_in(total: torch.Tensor, start: int, height: int, width: int) -> torch.Tensor:
    return total[start : start + height * width].view(height, width)


def _kept(rows: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """The rows whose factor is not 0; the others become 0."""
    return torch.where((factors != 0).view(-1, *[1] * (rows.ndim - 1)), rows, 0)


def _largest_of(rows: torch.Tensor) -> torch.Tensor:
    """The largest size of a number in each row, which is not a number where any of them is none."""
    return torch.linalg.vector_norm(rows.flatten(1), ord=inf, dim=1).double()
