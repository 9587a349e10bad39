"""Ghost clipping: the sum of a block's clipped gradients, none of which is ever formed.

One forward and one backward pass give what enters each layer and the slope of each row's loss by what comes out. The
norm of a row's gradient follows from these layer by layer, and so does the sum of all gradients, each times its factor.
Both are computed in floats. The norm is rounded up by a proved bound. The sum is off by a proved bound, which is part
of the sensitivity.

Proof: proofs/learn/torch/gradients/ghost.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import ceil, isqrt
from typing import Final

import torch
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.capture import Network
from sfumato.learn.torch.gradients.per_example import Loss, made_up_rows, same_in_every_place
from sfumato.learn.torch.gradients.pieces import CHUNK, DOUBLE, NORM_MARGIN, SINGLE, GramPiece, Piece
from sfumato.learn.torch.gradients.sites import Passage, pieces_of

STEPS: Final = 2**20
"""How many lattice steps a clipped gradient is long, at most."""

LARGEST: Final = 2.0**40
"""A row in which a larger number occurs, or one that is not finite, counts as zero."""

CLIPS: Final = (2.0**-20, 2.0**20)
"""Between these lies what gradients are clipped to."""

MOST_MASS: Final = 2**16
"""Where the terms of a gradient cancel, their norms add up to so many clips at most: rows beyond are scaled down."""

CHANGED_BLOCKS: Final = 2
"""So many blocks differ at most where one row enters or leaves a batch that `places.shuffled` orders."""

_BELOW: Final = 1 - 2.0**-22
"""Takes the roundings of a factor off it."""

_EXACT_ON: Final = frozenset({"cpu"})


class GhostSums:
    """Sums of the clipped gradients of blocks of rows, by ghost clipping [LTLH22, BWZK23].

    With the row's gradient g_i and its norm N_i, rounded up, the sum is near Σ_i g_i · min(1, clip/N_i) · 2^20/clip, in
    whole lattice steps of clip/2^20.

    **Guarantee**: what one row of a block adds is a vector that depends on the row and its place alone, at most 2^20
    steps long. The sum is at most `sum_error` steps off the sum of these vectors, in L2. So where one row enters or
    leaves, and at most two blocks differ, the sum of all blocks changes by `sensitivity` steps at most:
    2^20 + 4·`sum_error`. Two blocks differ where rows keep their places, or are placed by `shuffled`.
    It holds where what goes through the layers for a row does not depend on its neighbors, nor on its place if rows
    change places: `ghost_for` tries it. Proof: proofs/learn/torch/gradients/ghost.md.

    | row | what it adds |
    |---|---|
    | not used | 0 |
    | its gradient is not finite, or numbers that make it are above 2^40 | 0 |
    | the norm is 0 | 0 |

    Attributes:
        block: How many rows a block has.
        width: How many numbers a gradient has.
        steps: How many lattice steps the clip has.
        sum_error: How far the sum of a block is from the sum of what its rows add, in steps, at most.
        is_exact: Whether all bounds hold on the device of the model: a CPU.

    Args:
        model: The network, as it is trained. Its rows must not meet: no BatchNorm.
        loss: Takes outputs and targets of a batch, and returns one number. Of each row it sees a batch of one.
        inputs_like: Made-up rows, as for `made_up_rows`.
        targets_like: Made-up targets.
        block: How many rows a block has, 1 or more.
        autocast: The type of the numbers in mixed precision, None for none.

    Raises:
        ParameterError: The gradients of a layer are not known, a module is called twice, a parameter is used outside of
            its module, or rows do not come first.

    Example:
        >>> model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
        >>> sums = GhostSums(model, nn.CrossEntropyLoss(), torch.zeros(1, 2), torch.tensor([0]), block=4)
        >>> sums.width, sums.sensitivity < 1.0001 * sums.steps
        (17, True)
        >>> used = torch.tensor([True, True, True, False])
        >>> whole, short = sums.add(torch.ones(4, 2), torch.tensor([0, 1, 0, 0]), used, clip=1.0)
        >>> whole.dtype, len(short)
        (torch.int64, 4)

    References: [LTLH22], [BWZK23], [Hig02]
    """

    steps: Final = STEPS
    rows_per_unit: Final = 1

    def __init__(
        self, model: nn.Module, loss: Loss, inputs_like: torch.Tensor, targets_like: torch.Tensor,
        *, block: int, autocast: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        if block < 1:
            raise ParameterError("block", block, "must be a number of rows, 1 or more")
        self._network = Network(model, loss, autocast)
        self.block, self.width = block, self._network.width
        self._row = (inputs_like.shape[1:], inputs_like.dtype)
        places = 0
        for rows in (block + 1, block):  # where rows do not come first, one of them shows it
            made_up = made_up_rows(inputs_like, rows), made_up_rows(targets_like, rows, start=1)
            for passage in self._network.checked_passages(*made_up):
                with torch.no_grad():
                    pieces = pieces_of(passage)
                places = max(places, *(piece.inputs.shape[1] for piece in pieces if isinstance(piece, GramPiece)), 0)
        self.sum_error = _sum_error(block, self.width, places)
        self.is_exact = {parameter.device.type for parameter in model.parameters()} <= _EXACT_ON

    @property
    def sensitivity(self) -> Fraction:
        """How far one row moves the sum of all blocks, in steps, in L2, where two blocks differ at most."""
        return STEPS + 2 * CHANGED_BLOCKS * self.sum_error

    def add(
        self, inputs: torch.Tensor, targets: torch.Tensor, used: torch.Tensor, clip: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The sum of the clipped gradients of a block, in lattice steps, and whose norm is at most the clip.

        Args:
            inputs: `block` rows.
            targets: Their targets.
            used: Which rows count.
            clip: What norms are clipped to, from 2^-20 to 2^20.

        Raises:
            ParameterError: The shape is not that of a block, or the clip is out of range.
        """
        if not CLIPS[0] <= clip <= CLIPS[1]:
            raise ParameterError("clip", clip, "must lie between 2**-20 and 2**20")
        self._check_shapes(inputs, targets, used)
        total = torch.zeros(self.width, dtype=torch.float64, device=inputs.device)
        passages = self._network.passages(inputs, targets)
        with torch.no_grad(), _plain_products(inputs.device.type):
            pieces, norms = _measured(passages)
            factors = _factors(pieces, norms, used, clip)
            for piece in pieces:
                piece.add_to(total, factors)
            return total.round().to(torch.int64), (factors != 0) & (norms <= clip)

    def norms(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The norms of the gradients of a block's rows, each rounded up: at most 1.00001 times what it is.

        They are secret. Where numbers are not finite, a norm is none either.
        """
        self._check_shapes(inputs, targets, targets)
        passages = self._network.passages(inputs, targets)
        with torch.no_grad(), _plain_products(inputs.device.type):
            return _measured(passages)[1]

    @property
    def model(self) -> nn.Module:
        """The network."""
        return self._network.model

    def rows(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """All numbers of which follows what each row adds: they must depend on that row alone."""
        passages = self._network.passages(inputs, targets)
        with torch.no_grad(), _plain_products(inputs.device.type):
            pieces, norms = _measured(passages)
            parts = [norms, *(mass for piece in pieces if (mass := piece.mass()) is not None)]
            parts += [part for piece in pieces for part in piece.made_of()]
            return torch.cat([part.reshape(len(inputs), -1).double() for part in parts], dim=1)

    def _check_shapes(self, inputs: torch.Tensor, targets: torch.Tensor, used: torch.Tensor) -> None:
        if {len(inputs), len(targets), len(used)} != {self.block}:
            raise ParameterError("inputs", tuple(inputs.shape), f"must be a block of {self.block} rows, as all else")
        if (inputs.shape[1:], inputs.dtype) != self._row:
            shape, kind = self._row
            raise ParameterError("inputs", tuple(inputs.shape), f"must have rows of the shape {tuple(shape)}, {kind}")


def ghost_for(  # what a plan knows
    model: nn.Module, loss: Loss, block: int, inputs_like: torch.Tensor, targets_like: torch.Tensor,
    autocast: torch.dtype | None = None,
) -> GhostSums:  # fmt: skip
    """Ghost clipping in the largest blocks in which what a row gives is the same in every place, bit for bit.

    Kernels of torch may round a row by its place, mostly in layers of odd and small sizes. It is tried on made-up rows.

    Args:
        model: The network.
        loss: The loss of a batch.
        block: How many rows are computed at once, at most: it is halved until it fits.
        inputs_like: Made-up rows, as for `made_up_rows`.
        targets_like: Made-up targets.
        autocast: As for `GhostSums`.

    Raises:
        ParameterError: As by `GhostSums`; or a row alone does not give the same twice.

    Example:
        >>> model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
        >>> ghost_for(model, nn.CrossEntropyLoss(), 16, torch.zeros(1, 8), torch.tensor([0, 7])).block
        16
    """
    while True:
        sums = GhostSums(model, loss, inputs_like, targets_like, block=block, autocast=autocast)
        inputs, targets = made_up_rows(inputs_like, block), made_up_rows(targets_like, block, start=1)
        if same_in_every_place(sums, inputs, targets):
            return sums
        if block == 1:
            name = type(model).__name__
            raise ParameterError(
                "model", name, "gives a row other numbers each time; remove what is random in eval mode"
            )
        block //= 2


def _sum_error(block: int, width: int, places: int) -> Fraction:
    """How far a block's sum in whole steps is from the sum of what its rows add, at most.

    Args:
        block: How many rows.
        width: How many numbers.
        places: The most places of a row whose products are summed over places and rows at once, 0 if there are none.
    """
    root = Fraction(isqrt(width << 40) + 1, 1 << 20)
    whole_rows = block * STEPS * _gamma(min(block, CHUNK) + 3, SINGLE)
    single_places = block * STEPS * MOST_MASS * _gamma(block * places + 3, DOUBLE) if places else Fraction(0)
    below_floats = block * root / (1 << 22)
    return Fraction(ceil(whole_rows + single_places + below_floats + root / 2))


def _gamma(terms: int, unit: float) -> Fraction:
    """γ_n = n·u/(1 − n·u): the relative error of a sum of n products, in any order [Hig02, section 3.1]."""
    error = terms * Fraction(unit)
    if error >= 1:
        raise ParameterError("block", terms, "sums too many terms: take smaller blocks")
    return error / (1 - error)


def _measured(passages: list[Passage]) -> tuple[list[Piece], torch.Tensor]:
    """The pieces of all gradients, and the norms of the rows, rounded up."""
    pieces = [piece for passage in passages for piece in pieces_of(passage)]
    squares = torch.stack([piece.squares() for piece in pieces]).sum(dim=0)
    return pieces, squares.sqrt() * (1 + NORM_MARGIN)


def _factors(pieces: list[Piece], norms: torch.Tensor, used: torch.Tensor, clip: float) -> torch.Tensor:
    """What each row is multiplied with, so that it is at most `STEPS` long; 0 for a row that does not count."""
    usable, limits = used & norms.isfinite(), norms.clamp(min=clip)
    for piece in pieces:
        if (largest := piece.largest()) is not None:
            usable = usable & (largest <= LARGEST)
    masses = [mass for piece in pieces if (mass := piece.mass()) is not None]
    if masses:
        limits = torch.maximum(limits, torch.stack(masses).sum(dim=0) / MOST_MASS)
    return torch.where(usable, STEPS * _BELOW / limits, 0.0).float()


@contextmanager
def _plain_products(device: str) -> Iterator[None]:
    """Meanwhile products of matrices have the precision of their numbers."""
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.autocast(device, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(precision)
