"""Small networks, one for each kind of layer, and the gradients of their rows by a loop of autograd."""

from fractions import Fraction

import torch
from torch import nn

ROWS = 6
TARGETS = torch.tensor([0, 1, 2, 0, 1, 2])


class Attending(nn.Module):
    """Attention of rows to themselves, then a classifier of what it gives on average."""

    def __init__(self, *, key_mask=None, mask=None, need_weights=True, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, **options)
        self.classifier = nn.Linear(8, 3)
        self.masks = {"key_padding_mask": key_mask, "attn_mask": mask, "need_weights": need_weights}

    def forward(self, rows):
        first = rows if self.attention.batch_first else rows.transpose(0, 1)
        masks = {name: mask for name, mask in self.masks.items() if mask is not None}
        if "key_padding_mask" in masks:
            masks["key_padding_mask"] = masks["key_padding_mask"].expand(len(rows), -1)
        mixed, _ = self.attention(first, first, first, **masks)
        return self.classifier(mixed.mean(dim=1 if self.attention.batch_first else 0))


def classifier(*layers, given):
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(given, 3))


def networks():
    """Each kind of layer: a network, and the shape of a row, or the number of tokens."""
    later = torch.ones(4, 4, dtype=torch.bool).triu(1)
    first = nn.Linear(5, 4)
    first.weight.requires_grad_(False)
    padded = nn.Conv2d(2, 4, 3, stride=2, padding=1, padding_mode="circular")
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return {
        "linear": (classifier(nn.Linear(5, 4), nn.ReLU(inplace=True), given=4), (5,)),
        "without bias": (nn.Sequential(nn.Linear(5, 4, bias=False), nn.Tanh(), nn.Linear(4, 3)), (5,)),
        "frozen weight": (classifier(first, given=4), (5,)),
        "many places": (classifier(nn.Linear(5, 4), nn.Tanh(), given=28), (7, 5)),
        "few places": (classifier(nn.Linear(8, 6), nn.Tanh(), given=18), (3, 8)),
        "Conv1d": (classifier(nn.Conv1d(2, 4, 3, padding="same", dilation=2), nn.ReLU(), given=36), (2, 9)),
        "Conv2d": (classifier(padded, nn.Tanh(), nn.Conv2d(4, 6, 2, groups=2, bias=False), given=72), (2, 9, 8)),
        "Conv2d, few places": (classifier(nn.Conv2d(9, 8, 3), given=32), (9, 4, 4)),
        "Conv3d": (classifier(nn.Conv3d(2, 4, 2, stride=(1, 2, 1)), nn.ReLU(), given=72), (2, 4, 4, 4)),
        "Embedding": (classifier(nn.Embedding(5, 4, padding_idx=1), given=24), 5),
        "LayerNorm": (classifier(nn.LayerNorm((3, 5)), nn.Linear(5, 4), nn.LayerNorm(4), given=12), (3, 5)),
        "RMSNorm": (classifier(nn.Linear(5, 4), nn.RMSNorm(4), given=4), (5,)),
        "GroupNorm": (classifier(nn.Conv1d(2, 4, 3), nn.GroupNorm(2, 4), given=28), (2, 9)),
        "InstanceNorm1d": (classifier(nn.InstanceNorm1d(2, affine=True), given=18), (2, 9)),
        "InstanceNorm2d": (classifier(nn.InstanceNorm2d(2, affine=True), given=18), (2, 3, 3)),
        "InstanceNorm3d": (classifier(nn.InstanceNorm3d(2, affine=True), given=16), (2, 2, 2, 2)),
        "attention": (Attending(batch_first=True, need_weights=False, mask=later), (4, 8)),
        "attention, places first": (Attending(bias=False), (4, 8)),
        "attention, three weights": (Attending(batch_first=True, kdim=8, vdim=8), (4, 8)),
        "transformer": (nn.Sequential(layer, nn.Flatten(), nn.Linear(32, 3)), (4, 8)),
    }  # fmt: skip


def rows_for(shape, *, seed=0):
    generator = torch.Generator().manual_seed(seed)
    if isinstance(shape, int):
        return torch.randint(0, shape, (ROWS, 6), generator=generator)
    return torch.randn(ROWS, *shape, generator=generator)


def looped(model, loss, inputs, targets):
    """The gradient of each row alone, by autograd."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rows = []
    for index in range(len(inputs)):
        alone = slice(index, index + 1)
        gradients = torch.autograd.grad(loss(model(inputs[alone]), targets[alone]), trained)
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]))
    return torch.stack(rows)


def fractions(numbers):
    return [Fraction(number) for number in numbers.double().flatten().tolist()]
