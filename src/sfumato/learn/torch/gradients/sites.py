"""The layers whose gradients are known from what enters them and from the slope of the loss by what comes out.

Proof: proofs/learn/torch/gradients/pieces.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

import torch
from torch import nn
from torch.nn import functional

from sfumato.learn.torch.gradients.pieces import GramPiece, OuterPiece, Piece, RowsPiece, TokensPiece


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A layer with trainable parameters, or one product of an attention.

    Attributes:
        path: The path of its module in the model.
        module: The module.
        weight: The place of its weight in the flat gradient, None where it has none or is frozen.
        bias: Likewise of its bias.
    """

    path: str
    module: nn.Module
    weight: int | None
    bias: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What went through a layer: the rows of a block.

    Attributes:
        site: The layer.
        inputs: What entered it.
        slopes: The slopes of the rows' losses by what came out.
    """

    site: Site
    inputs: torch.Tensor
    slopes: torch.Tensor


def pieces_of(passage: Passage) -> list[Piece]:
    """The gradients of a layer's parameters.

    Args:
        passage: What went through the layer.

    Example:
        >>> site = Site(path="", module=nn.Linear(2, 1), weight=0, bias=2)
        >>> passage = Passage(site=site, inputs=torch.tensor([[3.0, 4.0]]), slopes=torch.tensor([[2.0]]))
        >>> [piece.squares().item() for piece in pieces_of(passage)]
        [4.0, 100.0]
    """
    return _PIECES[type(passage.site.module)](passage.site, passage.inputs, passage.slopes)


def _linear(site: Site, inputs: torch.Tensor, slopes: torch.Tensor) -> list[Piece]:
    given, made = _places(inputs), _places(slopes)
    pieces: list[Piece] = [] if site.bias is None else [RowsPiece(start=site.bias, rows=made.sum(dim=1))]
    return pieces + ([] if site.weight is None else [_product(site.weight, given, made)])


def _places(values: torch.Tensor) -> torch.Tensor:
    """Rows × places × numbers: whatever lies between the rows and the numbers are places."""
    return values[:, None] if values.ndim == 2 else values.flatten(1, -2)  # noqa: PLR2004 # rows of one place


def _product(start: int, inputs: torch.Tensor, slopes: torch.Tensor) -> Piece:
    """Σ_t b_t ⊗ a_t, formed where that takes less than comparing all places with each other."""
    places, given, made = inputs.shape[1], inputs.shape[2], slopes.shape[2]
    if places == 1:
        return OuterPiece(start=start, inputs=inputs[:, 0], slopes=slopes[:, 0])
    if 2 * places**2 <= given * made:
        return GramPiece(start=start, inputs=inputs.double(), slopes=slopes.double())
    return RowsPiece(start=start, rows=(slopes.mT @ inputs).flatten(1))


def _convolution(site: Site, inputs: torch.Tensor, slopes: torch.Tensor) -> list[Piece]:
    made = slopes.flatten(2)
    pieces: list[Piece] = [] if site.bias is None else [RowsPiece(start=site.bias, rows=made.sum(dim=2))]
    if site.weight is None:
        return pieces
    groups = site.module.groups
    seen = windows(site.module, inputs)
    if groups == 1:
        return [*pieces, _product(site.weight, seen.mT, made.mT)]
    rows = made.unflatten(1, (groups, -1)) @ seen.unflatten(1, (groups, -1)).mT
    return [*pieces, RowsPiece(start=site.weight, rows=rows.flatten(1))]


def windows(module: Any, inputs: torch.Tensor) -> torch.Tensor:
    """What each place of a convolution sees: rows × (channels · numbers of the kernel) × places.

    Example:
        >>> windows(nn.Conv1d(1, 1, 2), torch.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[1.0, 2.0], [2.0, 3.0]]]
    """
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
    padded = functional.pad(inputs, module._reversed_padding_repeated_twice, mode=mode)  # noqa: SLF001 # also of "same"
    kernel, steps, gaps = module.kernel_size, module.stride, module.dilation
    lengths = padded.shape[2:]
    sizes = [
        (length - gap * (width - 1) - 1) // step + 1
        for length, width, step, gap in zip(lengths, kernel, steps, gaps, strict=True)
    ]
    rows, channels, *along = padded.stride()
    strides = [rows, channels]
    strides += [stride * gap for stride, gap in zip(along, gaps, strict=True)]
    strides += [stride * step for stride, step in zip(along, steps, strict=True)]
    seen = padded.as_strided([*padded.shape[:2], *kernel, *sizes], strides)
    return seen.flatten(2 + len(sizes)).flatten(1, 1 + len(sizes))


def _embedding(site: Site, inputs: torch.Tensor, slopes: torch.Tensor) -> list[Piece]:
    if site.weight is None:
        return []
    tokens = inputs.flatten(1) if inputs.ndim > 1 else inputs[:, None]
    made = slopes.reshape(*tokens.shape, -1)
    if site.module.padding_idx is not None:
        made = made.masked_fill((tokens == site.module.padding_idx)[:, :, None], 0)
    same = tokens[:, :, None] == tokens[:, None, :]
    repeated = same.tril(-1).any(dim=2)
    sums = (same.to(made.dtype) @ made).masked_fill(repeated[:, :, None], 0)
    return [TokensPiece(start=site.weight, size=site.module.num_embeddings, tokens=tokens, slopes=sums)]


def _whole_norm(site: Site, inputs: torch.Tensor, slopes: torch.Tensor) -> list[Piece]:
    """LayerNorm and RMSNorm: a parameter for each number that is normalized."""
    module: Any = site.module
    if isinstance(module, nn.LayerNorm):
        normal = functional.layer_norm(inputs, module.normalized_shape, None, None, module.eps)
    else:
        normal = functional.rms_norm(inputs, module.normalized_shape, None, module.eps)
    size = prod(module.normalized_shape)
    return _scaled(site, normal, slopes, lambda values: values.reshape(len(values), -1, size).sum(dim=1))


def _channel_norm(site: Site, inputs: torch.Tensor, slopes: torch.Tensor) -> list[Piece]:
    """GroupNorm and InstanceNorm: a parameter for each channel."""
    module: Any = site.module
    groups = module.num_groups if isinstance(module, nn.GroupNorm) else inputs.shape[1]
    normal = functional.group_norm(inputs, groups, None, None, module.eps)
    return _scaled(site, normal, slopes, lambda values: values.reshape(*values.shape[:2], -1).sum(dim=2))


def _scaled(
    site: Site, normal: torch.Tensor, slopes: torch.Tensor, summed: Callable[[torch.Tensor], torch.Tensor]
) -> list[Piece]:
    pieces: list[Piece] = [] if site.bias is None else [RowsPiece(start=site.bias, rows=summed(slopes))]
    if site.weight is None:
        return pieces
    return [*pieces, RowsPiece(start=site.weight, rows=summed(normal * slopes))]


_Maker: TypeAlias = Callable[[Site, torch.Tensor, torch.Tensor], list[Piece]]

_PIECES: Final[dict[type[nn.Module], _Maker]] = {
    nn.Linear: _linear, nn.MultiheadAttention: _linear, nn.Embedding: _embedding,
    nn.Conv1d: _convolution, nn.Conv2d: _convolution, nn.Conv3d: _convolution,
    nn.LayerNorm: _whole_norm, nn.RMSNorm: _whole_norm, nn.GroupNorm: _channel_norm,
    nn.InstanceNorm1d: _channel_norm, nn.InstanceNorm2d: _channel_norm, nn.InstanceNorm3d: _channel_norm,
}  # fmt: skip

LAYERS: Final = frozenset(_PIECES)
"""The kinds of modules whose trainable parameters ghost clipping trains."""
