"""Gradients of rows: those of autograd one by one, each a function of its own row."""

from typing import get_args

import pytest
import torch
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.per_example import (
    PerExampleGradients,
    Way,
    evaluated,
    gradients_for,
    made_up_rows,
    same_in_every_place,
    trainable_parameters,
)

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


def by_autograd(model, loss, inputs, targets):
    """A loop over rows, without torch.func."""
    found = []
    for place in range(len(inputs)):
        value = loss(model(inputs[place : place + 1]), targets[place : place + 1])
        parts = torch.autograd.grad(value, list(trainable_parameters(model).values()))
        found.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(found)


def mlp(width=6):
    return nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, CLASSES))


class TestRows:
    @pytest.mark.parametrize("name", [*LAYERS, *APART])
    def test_rows_are_gradients_of_autograd_one_by_one(self, name):
        make, like = (LAYERS | APART)[name]
        model = make().eval()
        inputs, targets = block_of(like)
        gradients = PerExampleGradients(model, LOSS, way="apart" if name in APART else "together")
        rows = gradients.rows(inputs, targets)
        assert rows.shape == (BLOCK, gradients.width)
        assert rows.dtype == torch.float32
        assert rows.abs().sum(1).min() > 0
        torch.testing.assert_close(rows, by_autograd(model, LOSS, inputs, targets), rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("name", ["Linear", "Conv2d", "Embedding", "LSTM", "tied weights", "low-rank adapter"])
    def test_all_ways_agree(self, name):
        make, like = LAYERS[name]
        model = make()
        inputs, targets = block_of(like)
        together, *others = [PerExampleGradients(model, LOSS, way=way).rows(inputs, targets) for way in get_args(Way)]
        for other in others:
            torch.testing.assert_close(other, together, rtol=1e-5, atol=1e-6)

    def test_frozen_parameters_are_no_part_of_a_row(self):
        model = LowRank()
        gradients = PerExampleGradients(model, LOSS)
        assert gradients.names == ("down.weight", "up.weight")
        assert gradients.shapes == ((2, 6), (CLASSES, 2))
        assert gradients.width == 2 * 6 + CLASSES * 2

    def test_a_tied_weight_is_one_parameter(self):
        assert PerExampleGradients(Tied(), LOSS).names == ("words.weight", "scores.bias")

    def test_mixed_precision_gives_float32_near_to_those_of_float32(self):
        inputs, targets = block_of(NUMBERS)
        model = mlp()
        exact = PerExampleGradients(model, LOSS).rows(inputs, targets)
        mixed = PerExampleGradients(model, LOSS, autocast=torch.bfloat16).rows(inputs, targets)
        assert mixed.dtype == torch.float32
        assert not torch.equal(mixed, exact)
        torch.testing.assert_close(mixed, exact, rtol=0.05, atol=0.05)

    def test_masks_differ_by_row_and_time_whatever_the_seed_of_torch_is(self):
        model = nn.Sequential(nn.Dropout(), nn.Linear(40, CLASSES))
        inputs = torch.ones(BLOCK, 40)
        targets = torch.zeros(BLOCK, dtype=torch.int64)
        gradients = PerExampleGradients(model, LOSS)
        torch.manual_seed(7)
        first = gradients.rows(inputs, targets)
        after = torch.rand(1)
        torch.manual_seed(7)
        second = gradients.rows(inputs, targets)
        masks = torch.cat([first, second])[:, :40] != 0
        assert len(masks.unique(dim=0)) == 2 * BLOCK
        assert 0.3 < masks.float().mean() < 0.7
        torch.manual_seed(7)
        assert torch.equal(torch.rand(1), after)

    def test_what_torch_had_is_restored(self):
        model = mlp()
        inputs, targets = block_of(NUMBERS)
        PerExampleGradients(model, LOSS).rows(inputs, targets)
        assert torch.get_deterministic_debug_mode() == 0
        assert torch.utils.deterministic.fill_uninitialized_memory
        assert all(parameter.grad is None for parameter in model.parameters())

    def test_unfreezing_while_training_is_refused(self):
        model = LowRank()
        gradients = PerExampleGradients(model, LOSS)
        model.base.requires_grad_()
        with pytest.raises(ParameterError, match="other trainable parameters than at the start"):
            gradients.rows(*block_of(NUMBERS))

    def test_parameters_that_cannot_be_used_are_refused(self):
        with pytest.raises(ParameterError, match="unfreeze"):
            PerExampleGradients(mlp().requires_grad_(False), LOSS)
        with pytest.raises(ParameterError, match=r"torch\.bfloat16"):
            PerExampleGradients(mlp(), LOSS, autocast=torch.float64)
        with pytest.raises(ParameterError, match="one of together, apart, one by one"):
            PerExampleGradients(mlp(), LOSS, way="by magic")


class Neighborly(nn.Module):
    """A loss that lets one row see another through memory that both share."""

    def __init__(self, places):
        super().__init__()
        self.layer = nn.Linear(6, CLASSES)
        self.places = places
        self.seen = 0

    def forward(self, x):
        self.seen += 1
        scale = 1 if self.seen % self.places else 2
        return self.layer(x) * scale


class TestPlaces:
    @pytest.mark.parametrize("name", ["Linear", "Conv2d", "Embedding", "GroupNorm", "TransformerEncoderLayer", "LSTM"])
    def test_a_row_has_the_same_bits_in_every_place(self, name):
        make, like = LAYERS[name]
        gradients = gradients_for(make(), LOSS, 8, like, TARGETS)
        inputs, targets = block_of(like, 8)
        with evaluated(gradients.model):
            rows = gradients.rows(inputs, targets)
            order = torch.tensor([5, 0, 3, 6, 2, 7, 1, 4])
            assert torch.equal(gradients.rows(inputs[order], targets[order]), rows[order])

    @pytest.mark.parametrize("name", ["Linear", "GRU", "low-rank adapter"])
    def test_rows_apart_have_the_same_bits_in_every_place(self, name):
        make, like = (LAYERS | APART)[name]
        gradients = PerExampleGradients(make(), LOSS, way="apart")
        assert same_in_every_place(gradients, *block_of(like, 8))

    def test_a_row_that_depends_on_its_place_is_found(self):
        gradients = PerExampleGradients(Neighborly(places=BLOCK), LOSS, way="one by one")
        assert not same_in_every_place(gradients, *block_of(NUMBERS))

    def test_a_slower_way_is_taken_where_a_faster_one_mixes_rows(self, monkeypatch):
        exact = PerExampleGradients.rows

        def mixing(self, inputs, targets):
            rows = exact(self, inputs, targets)
            return rows if self.way == "one by one" else rows + rows.nan_to_num().mean()

        monkeypatch.setattr(PerExampleGradients, "rows", mixing)
        assert gradients_for(mlp(), LOSS, 8, NUMBERS, TARGETS).way == "one by one"

    def test_a_neighbor_that_is_not_finite_is_found(self, monkeypatch):
        exact = PerExampleGradients.rows

        def masking(self, inputs, targets):
            rows = exact(self, inputs, targets)
            return rows + 0 * rows.sum()

        monkeypatch.setattr(PerExampleGradients, "rows", masking)
        assert not same_in_every_place(PerExampleGradients(mlp(), LOSS), *block_of(NUMBERS))

    def test_a_model_that_is_random_in_eval_mode_is_refused(self):
        class Random(nn.Linear):
            def forward(self, x):
                return super().forward(x) * torch.rand(())

        with pytest.raises(ParameterError, match="another gradient each time"):
            gradients_for(Random(6, CLASSES), LOSS, 4, NUMBERS, TARGETS)

    def test_what_has_no_gradient_is_refused(self):
        class Branching(nn.Linear):
            def forward(self, x):
                return super().forward(x) * (1 if x.sum() > 0 else 2)

        with pytest.raises(ParameterError, match=r"no gradients of rows by torch\.func: vmap.*control flow"):
            gradients_for(Branching(6, CLASSES), LOSS, 4, NUMBERS, TARGETS)
        with pytest.raises(ParameterError, match="1 or more"):
            gradients_for(mlp(), LOSS, 0, NUMBERS, TARGETS)

    def test_modes_are_restored_one_by_one(self):
        model = nn.Sequential(nn.Dropout(), nn.Dropout().eval())
        with evaluated(model):
            assert not any(module.training for module in model.modules())
        assert [module.training for module in model.modules()] == [True, True, False]


class TestMadeUpRows:
    def test_rows_have_the_shape_and_range_of_what_they_are_like(self):
        words = made_up_rows(WORDS, 100)
        assert words.shape == (100, 3)
        assert words.dtype == torch.int64
        assert (words.min(), words.max()) == (0, 9)
        assert made_up_rows(NUMBERS, 3).std() > 0.5
        assert not torch.equal(made_up_rows(NUMBERS, 3), made_up_rows(NUMBERS, 3, start=1))

    def test_rows_like_nothing_are_refused(self):
        with pytest.raises(ParameterError, match="at least one"):
            made_up_rows(torch.zeros(0, 3), 2)
