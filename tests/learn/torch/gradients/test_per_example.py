"""Gradients of rows: those of autograd one by one, each a function of its own row."""

from typing import get_args

import pytest
import torch
from tests.learn.torch.layers import (
    APART,
    BLOCK,
    CLASSES,
    LAYERS,
    LOSS,
    NUMBERS,
    TARGETS,
    WORDS,
    LowRank,
    Tied,
    block_of,
)
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

    def test_attention_with_dropout_works_in_mixed_precision(self):
        model = nn.Sequential(nn.TransformerEncoderLayer(CLASSES, 2, 8, batch_first=True), nn.Flatten())
        inputs, targets = block_of(torch.zeros(1, 3, CLASSES))
        assert PerExampleGradients(model, LOSS, autocast=torch.bfloat16).rows(inputs, targets).isfinite().all()

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


class Counted(nn.Module):
    """Counts what it was given, and doubles what it gives to one row in so many."""

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
        gradients = PerExampleGradients(Counted(places=1), LOSS, way="one by one")
        assert same_in_every_place(gradients, *block_of(NUMBERS))
        gradients = PerExampleGradients(Counted(places=BLOCK), LOSS, way="one by one")
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
        gradients = PerExampleGradients(mlp(), LOSS, way="apart")
        inputs, targets = block_of(NUMBERS)
        assert same_in_every_place(gradients, inputs, targets)

        def masking(self, inputs, targets):
            rows = exact(self, inputs, targets)
            return rows + (0 * rows.sum()).abs()  # 0, unless some row is not finite

        monkeypatch.setattr(PerExampleGradients, "rows", masking)
        assert not same_in_every_place(gradients, inputs, targets)

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


class Added(nn.Module):
    """Two parameters whose gradients are one tensor."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(torch.zeros(6)), nn.Parameter(torch.zeros(6))

    def forward(self, inputs):
        return inputs + (self.first + self.second)


def test_parts_share_no_memory():
    gradients = PerExampleGradients(Added(), nn.MSELoss())
    inputs, targets = torch.rand(4, 6), torch.rand(4, 6)
    before = gradients.rows(inputs, targets)
    parts = gradients.parts(inputs, targets)
    assert len({part.untyped_storage().data_ptr() for part in parts}) == 2
    parts[0].zero_()
    assert torch.equal(parts[1], before[:, 6:])
