"""Attention, step by step, gives what torch gives."""

from itertools import product

import pytest
import torch
from torch import nn

from sfumato.learn.torch.gradients.attention import PRODUCTS, attended

torch.manual_seed(6)


def nothing(_name, _given, made):
    return made


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"kdim": 5, "vdim": 3}, {"batch_first": True}], ids=str)
def test_it_gives_what_torch_gives(options):
    attention = nn.MultiheadAttention(4, 2, **options)
    sizes = {"kdim": 4, "vdim": 4} | options
    query, key, value = torch.randn(2, 3, 4), torch.randn(2, 5, sizes["kdim"]), torch.randn(2, 5, sizes["vdim"])
    if "batch_first" not in options:
        query, key, value = (rows.transpose(0, 1) for rows in (query, key, value))
    padding = torch.tensor([[False] * 5, [False, True, False, True, True]])
    masks = [None, torch.randn(3, 5), torch.eye(3, 5, dtype=torch.bool), torch.randn(4, 3, 5)]
    for mask, hidden, need, average in product(masks, (None, padding), (True, False), (True, False)):
        given = {"key_padding_mask": hidden, "attn_mask": mask, "need_weights": need, "average_attn_weights": average}
        if hidden is not None and mask is not None and mask.dtype is not torch.bool:
            given["key_padding_mask"] = torch.zeros(2, 5).masked_fill(hidden, -torch.inf)
        ours, theirs = attended(attention, nothing, query, key, value, **given), attention(query, key, value, **given)
        assert torch.allclose(ours[0], theirs[0], atol=1e-6)
        assert (ours[1] is None) == (theirs[1] is None) == (not need)
        if need:
            assert torch.allclose(ours[1], theirs[1], atol=1e-6)


def test_weights_are_dropped_in_training_alone():
    attention = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)
    rows = torch.randn(1, 6, 4)
    for need in (True, False):
        first, second = (attended(attention.train(), nothing, rows, rows, rows, need_weights=need)[0] for _ in range(2))
        assert not torch.equal(first, second)
        first, second = (attended(attention.eval(), nothing, rows, rows, rows, need_weights=need)[0] for _ in range(2))
        assert torch.equal(first, second)


def test_each_product_is_seen_with_rows_first():
    seen = {}

    def seeing(name, given, made):
        seen[name] = given.shape[:2], made.shape[:2]
        return made

    rows = torch.randn(3, 2, 4)
    attended(nn.MultiheadAttention(4, 2), seeing, rows, rows, rows)
    assert seen == dict.fromkeys(PRODUCTS, ((2, 3), (2, 3)))
