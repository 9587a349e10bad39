"""Attention as torch computes it, step by step: each product is seen, and the weights stay outside of the graph.

`nn.MultiheadAttention` keeps three weights in one parameter and calls no module for any of them, so that no hook sees
what enters them and what comes out.
"""

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, Final, TypeAlias

import torch
from torch.nn import functional

Seen: TypeAlias = Callable[[str, torch.Tensor, torch.Tensor], torch.Tensor]
"""Takes the name of a product, what entered it and what came out; returns what comes out."""

PRODUCTS: Final = ("query", "key", "value", "out")


def attended(
    module: Any,
    seen: Seen,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    key_padding_mask: torch.Tensor | None = None,
    need_weights: bool = True,  # noqa: FBT001, FBT002 # as torch has it, and its layers call it
    attn_mask: torch.Tensor | None = None,
    average_attn_weights: bool = True,  # noqa: FBT001, FBT002
    is_causal: bool = False,  # noqa: ARG001, FBT001, FBT002 # a hint of what attn_mask says
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What `nn.MultiheadAttention` returns of the same arguments, but for the last bits.

    Args:
        module: The attention.
        seen: Told of each product.
        query: rows × places × numbers, or places first if the module says so.
        key: Likewise.
        value: Likewise.
        key_padding_mask: rows × places of the keys: those that nothing attends to.
        need_weights: Whether the weights of attention are returned.
        attn_mask: Which place may not attend to which: places × places, or one for each row and head.
        average_attn_weights: Whether the weights are averaged over the heads.
        is_causal: What torch takes as a hint.

    Example:
        >>> attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        >>> rows = torch.ones(1, 3, 4)
        >>> ours = attended(attention, lambda name, given, made: made, rows, rows, rows)[0]
        >>> torch.allclose(ours, attention(rows, rows, rows)[0], atol=1e-6)
        True
    """
    rows = [given if module.batch_first else given.transpose(0, 1) for given in (query, key, value)]
    projected = [
        seen(name, given, functional.linear(given, weight, bias)).unflatten(2, (module.num_heads, -1)).transpose(1, 2)
        for name, given, (weight, bias) in zip(PRODUCTS, rows, _entering(module), strict=False)
    ]
    mask = _mask(attn_mask, key_padding_mask, module.num_heads, projected[0])
    mixed, weights = _mixed(projected, mask, module.dropout if module.training else 0.0, need_weights=need_weights)
    heads = mixed.transpose(1, 2).flatten(2)
    bias = module.out_proj.bias
    made = functional.linear(heads, module.out_proj.weight.detach(), None if bias is None else bias.detach())
    out = seen("out", heads, made)
    if weights is not None and average_attn_weights:
        weights = weights.mean(dim=1)
    return out if module.batch_first else out.transpose(0, 1), weights


def _entering(module: Any) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
    """The weights and biases of what enters an attention."""
    bias = module.in_proj_bias
    biases = (None, None, None) if bias is None else bias.detach().chunk(3)
    if module.in_proj_weight is not None:
        weights = module.in_proj_weight.detach().chunk(3)
    else:
        weights = [part.detach() for part in (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)]
    return list(zip(weights, biases, strict=True))


def _mask(
    attention: torch.Tensor | None, padding: torch.Tensor | None, heads: int, like: torch.Tensor
) -> torch.Tensor | None:
    """What is added to the scores: rows × heads × places × places, as far as these differ."""
    parts = []
    if attention is not None:
        added = _added(attention, like)
        parts.append(added.unflatten(0, (-1, heads)) if added.ndim == 3 else added)  # noqa: PLR2004 # one for each row and head
    if padding is not None:
        parts.append(_added(padding, like)[:, None, None, :])
    return sum(parts[1:], parts[0]) if parts else None


def _added(mask: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    if mask.dtype is not torch.bool:
        return mask.to(like.dtype)
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, -inf)


def _mixed(
    projected: list[torch.Tensor], mask: torch.Tensor | None, dropout: float, *, need_weights: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The values, mixed by the softmax of the scores, and the weights if they are needed."""
    query, key, value = projected
    if not need_weights:
        return functional.scaled_dot_product_attention(query, key, value, mask, dropout), None
    scores = query @ key.mT / sqrt(query.shape[-1])
    weights = functional.dropout((scores if mask is None else scores + mask).softmax(dim=-1), dropout)
    return weights @ value, weights
