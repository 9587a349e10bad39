"""Sums of clipped gradients in whole numbers: what the rows of a block add to an update, before its noise.

A unit's gradient is shortened to the norm `clip`, and its numbers are cut off to whole steps of clip/`STEPS`. So the
sum over units is a vector of whole numbers, the same in whatever order they come, and one unit moves it by at most
`STEPS` in L2.

Proof: proofs/learn/torch/gradients/sums.md.
"""

from fractions import Fraction
from typing import Final, Protocol

import torch

STEPS: Final = 1 << 17
"""How many lattice steps the clip has: 128 clipped numbers add up to at most 2^24, which single precision holds."""

_AT_ONCE: Final = (1 << 24) // STEPS
"""So many rows are added up exactly in single precision."""

_CHUNK: Final = 2048
"""So many squares are added up in single precision, with a relative error of at most 2^-12."""

_BELOW: Final = 1 - 2.0**-12
"""A factor of scales that outweighs every rounding."""

_TINY: Final = 2.0**-60
"""More than is lost of a norm where squares are too small for single precision."""


class RowGradients(Protocol):
    """Who computes the gradients of single rows, such as `PerExampleGradients`."""

    @property
    def width(self) -> int:
        """How many numbers a gradient has."""

    def parts(self, inputs: torch.Tensor, targets: torch.Tensor, /) -> list[torch.Tensor]:
        """One gradient a row, in single precision, parameter by parameter; whoever gets them may overwrite them."""


class ClippedSums(Protocol):
    """Who adds up clipped gradients, block by block.

    A block is of `block` places, some of which are empty, so that kernels always see the same shapes. Units fill whole
    groups of `rows_per_unit` places.
    """

    @property
    def width(self) -> int:
        """How many numbers a gradient has."""

    @property
    def block(self) -> int:
        """The places of a block."""

    @property
    def rows_per_unit(self) -> int:
        """The places of a unit."""

    @property
    def steps(self) -> int:
        """How many lattice steps the clip has."""

    @property
    def sensitivity(self) -> Fraction:
        """How far one unit, which enters or leaves, moves the sum of a batch in L2, at most, in lattice steps."""

    @property
    def is_exact(self) -> bool:
        """Whether the sensitivity is proved for the numbers as they are computed."""

    def add(
        self, inputs: torch.Tensor, targets: torch.Tensor, used: torch.Tensor, clip: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What a block adds: whole numbers as int64, one a number of a gradient; and which of its units lie within.

        Args:
            inputs: One row a place.
            targets: The same.
            used: Which places are of a unit.
            clip: The largest norm.
        """


class ExactSums:
    """Sums of the gradients of single units, each of which is computed, clipped and cut off to the lattice by itself.

    The gradient of a unit of several rows is their mean.

    **Guarantee**: one unit that enters or leaves moves the sum by at most `STEPS` in L2, where a row's gradient depends
    on the row and its place alone. Proof: proofs/learn/torch/gradients/sums.md.

    Args:
        gradients: Who computes the gradients of single rows.
        block: The places of a block, a multiple of `rows_per_unit`.
        rows_per_unit: The places of a unit.
    """

    is_exact: Final = True
    steps: Final = STEPS

    def __init__(self, gradients: RowGradients, *, block: int, rows_per_unit: int = 1) -> None:
        self._gradients, self.block, self.rows_per_unit = gradients, block, rows_per_unit

    @property
    def width(self) -> int:
        """How many numbers a gradient has."""
        return self._gradients.width

    @property
    def sensitivity(self) -> Fraction:
        """How far one unit moves the sum of a batch in L2, at most, in lattice steps."""
        return Fraction(STEPS)

    def add(
        self, inputs: torch.Tensor, targets: torch.Tensor, used: torch.Tensor, clip: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What a block adds, and which of its units lie within the clip."""
        parts = self._gradients.parts(inputs, targets)
        if self.rows_per_unit > 1:
            parts, used = _means(parts, used, self.rows_per_unit)
        return lattice_sums(parts, used, clip)


def lattice_sums(
    parts: list[torch.Tensor], used: torch.Tensor, clip: float
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The sum of clipped rows in whole lattice steps, and which of the rows that are used lie within the clip.

    A row with a number that is not finite, or of a norm that single precision cannot hold, counts as zeros.

    Args:
        parts: Gradients in single precision, one a row, in several pieces beside each other. They are overwritten: no
            two of them may share memory.
        used: Which rows count.
        clip: The largest norm, from 2^-20 to 2^20.

    Example:
        >>> rows, used = torch.tensor([[3.0, 4.0], [0.3, 0.4], [torch.nan, 0.0]]), torch.tensor([True, True, True])
        >>> sums, within = lattice_sums([rows], used, 1.0)
        >>> (sums * 100 // STEPS).tolist(), within.tolist()  # hundredths
        ([89, 119], [False, True, False])
    """
    norms = _norms_up(parts)
    counts = used & norms.isfinite()
    if not bool(norms.isfinite().all()):  # zeros times what is not finite would be none
        parts = [torch.where(counts[:, None], part, 0.0) for part in parts]
    scales = torch.where(counts, STEPS * _BELOW / norms.clamp(min=clip), 0.0).to(torch.float32)
    ones = scales.new_ones(_AT_ONCE)
    sums = []
    for part in parts:
        pieces = part.mul_(scales[:, None]).trunc_().split(_AT_ONCE)
        sums.append(torch.stack([ones[: len(piece)] @ piece for piece in pieces]).to(torch.int64).sum(dim=0))
    return torch.cat(sums), counts & (norms <= clip)


def _norms_up(parts: list[torch.Tensor]) -> torch.Tensor:
    """The L2 norm of each row in double precision, at most 2^-12 below; infinite or NaN where the row is not finite."""
    pieces = []
    for part in parts:
        whole = part.shape[1] // _CHUNK * _CHUNK
        if whole:
            pieces.append(torch.linalg.vector_norm(part[:, :whole].unflatten(1, (-1, _CHUNK)), dim=2))
        if whole < part.shape[1]:
            pieces.append(torch.linalg.vector_norm(part[:, whole:], dim=1, keepdim=True))
    return torch.linalg.vector_norm(torch.cat(pieces, dim=1).double(), dim=1) + _TINY


def _means(
    parts: list[torch.Tensor], used: torch.Tensor, rows_per_unit: int
) -> tuple[list[torch.Tensor], torch.Tensor]:  # fmt: skip
    """The mean of the used rows of each unit, and which units have one."""
    counts = used.unflatten(0, (-1, rows_per_unit)).sum(dim=1)
    filled = (torch.where(used[:, None], part, 0.0).unflatten(0, (-1, rows_per_unit)) for part in parts)
    return [part.sum(dim=1) / counts.clamp(min=1)[:, None] for part in filled], counts > 0
