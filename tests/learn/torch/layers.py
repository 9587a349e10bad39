"""One network for each kind of layer, small, and made-up rows like which it takes."""

import torch
from torch import nn

from sfumato.learn.torch.gradients.per_example import made_up_rows

BLOCK = 6
CLASSES = 4
LOSS = nn.CrossEntropyLoss()


class Recurrent(nn.Module):
    """The last output of a recurrent layer."""

    def __init__(self, kind):
        super().__init__()
        self.layer = kind(5, CLASSES, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0][:, -1]


class Attention(nn.Module):
    """Attention of a row to itself."""

    def __init__(self, *, need_weights):
        super().__init__()
        self.layer = nn.MultiheadAttention(CLASSES, 2, batch_first=True)
        self.need_weights = need_weights

    def forward(self, x):
        return self.layer(x, x, x, need_weights=self.need_weights)[0].mean(1)


class Bilinear(nn.Module):
    """Both halves of a row."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Bilinear(3, 3, CLASSES)

    def forward(self, x):
        return self.layer(x[:, :3], x[:, 3:])


class Tied(nn.Module):
    """Words in and words out with the same weights."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 3)
        self.scores = nn.Linear(3, 10)
        self.scores.weight = self.words.weight

    def forward(self, x):
        return self.scores(self.words(x).mean(1))


class LowRank(nn.Module):
    """A frozen layer and a trainable one of rank 2."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(6, CLASSES).requires_grad_(False)
        self.down = nn.Linear(6, 2, bias=False)
        self.up = nn.Linear(2, CLASSES, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


NUMBERS = torch.zeros(1, 6)
IMAGES = torch.zeros(1, 2, 4, 4)
WORDS = torch.tensor([[0, 0, 0], [9, 9, 9]])
TARGETS = torch.tensor([0, CLASSES - 1])
SERIES = torch.zeros(1, 3, 5)
LAYERS = {
    "Linear": (lambda: nn.Linear(6, CLASSES), NUMBERS),
    "Conv1d": (lambda: nn.Sequential(nn.Conv1d(2, 3, 3, padding=1), nn.Flatten()), torch.zeros(1, 2, 5)),
    "Conv2d": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3, groups=2), nn.Flatten()), IMAGES),
    "Conv3d": (lambda: nn.Sequential(nn.Conv3d(1, 2, 2), nn.Flatten()), torch.zeros(1, 1, 3, 3, 3)),
    "ConvTranspose2d": (lambda: nn.Sequential(nn.ConvTranspose2d(2, 3, 2), nn.Flatten()), IMAGES),
    "Embedding": (lambda: nn.Sequential(nn.Embedding(10, 3), nn.Flatten()), WORDS),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(10, CLASSES), WORDS),
    "LayerNorm": (lambda: nn.LayerNorm(6), NUMBERS),
    "RMSNorm": (lambda: nn.RMSNorm(6), NUMBERS),
    "GroupNorm": (lambda: nn.Sequential(nn.GroupNorm(1, 2), nn.Flatten()), IMAGES),
    "InstanceNorm2d": (lambda: nn.Sequential(nn.InstanceNorm2d(2, affine=True), nn.Flatten()), IMAGES),
    "MultiheadAttention": (lambda: Attention(need_weights=True), torch.zeros(1, 3, CLASSES)),
    "MultiheadAttention, fused": (lambda: Attention(need_weights=False), torch.zeros(1, 3, CLASSES)),
    "TransformerEncoderLayer": (
        lambda: nn.Sequential(nn.TransformerEncoderLayer(CLASSES, 2, 8, batch_first=True), nn.Flatten()),
        torch.zeros(1, 3, CLASSES),
    ),
    "LSTM": (lambda: Recurrent(nn.LSTM), SERIES),
    "Bilinear": (Bilinear, NUMBERS),
    "PReLU": (lambda: nn.PReLU(6), NUMBERS),
    "weight_norm": (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, CLASSES)), NUMBERS),
    "tied weights": (Tied, WORDS),
    "low-rank adapter": (LowRank, NUMBERS),
}
APART = {"GRU": (lambda: Recurrent(nn.GRU), SERIES), "RNN": (lambda: Recurrent(nn.RNN), SERIES)}


def block_of(like, rows=BLOCK):
    return made_up_rows(like, rows), made_up_rows(TARGETS, rows, start=1)
