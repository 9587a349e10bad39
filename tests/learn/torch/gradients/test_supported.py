"""Models that cannot be trained with one gradient a row are refused, by path and with the fix."""

import pytest
import torch
from tests.learn.torch.layers import (
    APART,
    CLASSES,
    IMAGES,
    LAYERS,
    LOSS,
    NUMBERS,
    SERIES,
    TARGETS,
    WORDS,
    LowRank,
    Recurrent,
)
from torch import nn
from torch.nn.utils import parametrizations

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.supported import check_model


def check(model, like=NUMBERS, *, optimizer=None, loss=LOSS, targets=TARGETS):
    if optimizer is None:
        optimizer = torch.optim.SGD([value for value in model.parameters() if value.requires_grad], lr=0.1)
    check_model(model, optimizer, loss, like, targets)


def ends(*layers):
    """Layers between two linear ones."""
    return nn.Sequential(nn.Linear(6, 8), *layers, nn.Linear(8, CLASSES))


class Mean(nn.Module):
    """Subtracts the mean over rows, as a normalization of one's own."""

    def forward(self, x):
        return x - x.mean(0)


class Sums(nn.Module):
    """Adds all rows before."""

    def forward(self, x):
        return x.cumsum(0)


class Share(nn.Module):
    """Divides by the number of rows."""

    def forward(self, x):
        return x / len(x)


class Counting(nn.Module):
    """Keeps a running mean while it is trained, in place or as a new tensor."""

    def __init__(self, *, in_place):
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.in_place = in_place

    def forward(self, x):
        if self.training and self.in_place:
            self.mean.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)
        elif self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return x - self.mean


class Branching(nn.Module):
    """Control flow that depends on values."""

    def forward(self, x):
        return x if x.abs().sum() > 0 else 2 * x


class Caching(nn.Linear):
    """Uses a weight that it remembers, which torch.func cannot replace."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.remembered = [self.weight]

    def forward(self, x):
        return nn.functional.linear(x, self.remembered[0], self.bias)


class Idle(nn.Module):
    """Has a head that nothing uses."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, CLASSES)
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.body(x)


class TestModels:
    @pytest.mark.parametrize("name", [*LAYERS, *APART])
    def test_each_kind_of_layer_is_accepted(self, name):
        make, like = (LAYERS | APART)[name]
        model = make()
        before = {key: value.clone() for key, value in model.state_dict().items()}
        check(model, like)
        assert model.training
        assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
        assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (ends(nn.BatchNorm1d(8)), r"model\.1 = 'BatchNorm1d': mixes rows of a batch; use nn\.GroupNorm\(4, 8\)"),
            (ends(nn.Sequential(nn.SyncBatchNorm(8))), r"model\.1\.0 = 'SyncBatchNorm': mixes rows"),
            (ends(nn.InstanceNorm1d(8, track_running_stats=True)), r"model\.1 = .* use track_running_stats=False"),
            (nn.Sequential(nn.Embedding(9, 3, max_norm=1.0)), r"model\.0 = 'Embedding'.* use max_norm=None"),
            (nn.Sequential(nn.Embedding(9, 3, sparse=True)), r"model\.0 = 'Embedding'.* use sparse=False"),
            (nn.DataParallel(ends()), "model = 'DataParallel'.* give the network inside"),
            (nn.Sequential(nn.LazyLinear(3)), r"model\.0\.weight = .*run the model once on made-up rows"),
            (ends(Mean()), r"model\.1 = 'Mean': gives a row something of other rows"),
            (ends(Sums()), r"model\.1 = 'Sums': gives a row something of other rows"),
            (ends(Share()), "model = 'Sequential': gives a row alone something else than in a batch"),
            (ends(Counting(in_place=True)), r"model\.1 = 'Counting': writes mean in forward"),
            (ends(Counting(in_place=False)), r"model\.1 = 'Counting': writes mean in forward"),
            (
                ends(parametrizations.spectral_norm(nn.Linear(8, 8))),
                r"model\.1\.param.*writes _u in forward",
            ),
            (ends(Branching()), r"model\.1 = 'Branching': has no gradients by torch\.func .*replace it"),
            (Caching(6, CLASSES), r"model\.weight = \(4, 6\): has another gradient by torch\.func"),
            (Idle(), r"model\.head\.weight = \(3, 3\): is not used by the loss.* freeze it"),
            (ends().double(), r"model\.0\.weight = 'torch.float64': must be float32: call model\.float\(\)"),
            (nn.Linear(6, CLASSES, dtype=torch.complex64), r"model\.weight = 'torch.complex64': must be float32"),
            (ends().bfloat16(), r"model\.0\.weight = 'torch.bfloat16': .* give autocast"),
            (ends(nn.Flatten(0)), "model = 'Sequential': cannot take made-up rows of shape"),
            (nn.Sequential(*ends(), nn.Flatten(0)), "must give tensors whose first dimension is the batch"),
        ],
    )
    def test_what_cannot_be_trained_is_named_with_the_fix(self, model, message):
        state = {key: value for key, value in model.state_dict().items() if "lazy" not in str(type(value)).lower()}
        before = {key: value.clone() for key, value in state.items()} if "Lazy" not in repr(model) else {}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        like = WORDS if "Embedding" in repr(model) else NUMBERS
        with pytest.raises(ParameterError, match=message):
            check(model, like, optimizer=optimizer)
        assert all(torch.equal(model.state_dict()[key], value) for key, value in before.items())

    def test_series_need_the_batch_first(self):
        class Series(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(CLASSES, 2)

            def forward(self, x):
                return self.attention(x, x, x)[0].mean(1)

        with pytest.raises(ParameterError, match=r"model\.attention.* = .* batch_first=True"):
            check(Series(), torch.zeros(1, 3, CLASSES))
        recurrent = Recurrent(nn.LSTM)
        recurrent.layer.batch_first = False
        with pytest.raises(ParameterError, match="batch_first=True"):
            check(recurrent, SERIES)

    def test_frozen_parts_are_constants_of_any_type(self):
        model = LowRank()
        nn.init.zeros_(model.up.weight)  # as adapters start: the gradient of the other factor is 0
        check(model)
        frozen = Idle()
        frozen.head.requires_grad_(False).double()
        check(frozen)
        with pytest.raises(ParameterError, match="unfreeze some"):
            check(ends().requires_grad_(False), optimizer=torch.optim.SGD([torch.zeros(1)], lr=0.1))

    def test_dropout_is_no_dependence_on_other_rows(self):
        check(ends(nn.Dropout()))
        check(nn.Sequential(nn.Conv2d(2, 4, 2), nn.Dropout2d(), nn.GroupNorm(2, 4), nn.Flatten()), IMAGES)


class TestOptimizers:
    def test_an_optimizer_of_other_parameters_is_refused(self):
        model = LowRank()
        trained = [model.down.weight, model.up.weight]
        with pytest.raises(ParameterError, match=r"model\.up\.weight = \(4, 2\): .*would not move it"):
            check(model, optimizer=torch.optim.SGD(trained[:1], lr=0.1))
        with pytest.raises(ParameterError, match=r"model\.base\.weight = \(4, 6\): is frozen"):
            check(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
        stranger = nn.Parameter(torch.zeros(5))
        with pytest.raises(ParameterError, match=r"has 1 tensors that are not in the model, the first of shape \(5,\)"):
            check(model, optimizer=torch.optim.SGD([*trained, stranger], lr=0.1))
        check(model, optimizer=torch.optim.Adam([{"params": trained[:1]}, {"params": trained[1:], "lr": 1.0}]))

    def test_adapters_that_replace_parameters_after_the_optimizer_is_made_are_refused(self):
        model = ends()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model[0].weight = nn.Parameter(model[0].weight.detach().clone())
        with pytest.raises(ParameterError, match=r"model\.0\.weight = \(8, 6\): .*the optimizer would not move it"):
            check(model, optimizer=optimizer)

    def test_an_optimizer_with_a_closure_is_refused(self):
        model = ends()
        with pytest.raises(ParameterError, match="'LBFGS': computes the loss again"):
            check(model, optimizer=torch.optim.LBFGS(model.parameters()))


class TestLosses:
    def test_losses_that_cannot_be_used_are_refused(self):
        with pytest.raises(ParameterError, match="loss = 'CrossEntropyLoss': must give one number"):
            check(ends(), loss=nn.CrossEntropyLoss(reduction="none"))
        with pytest.raises(ParameterError, match="cannot take made-up targets of shape"):
            check(ends(), targets=torch.zeros(1, 9))
        with pytest.raises(ParameterError, match="has no parameter that moves the loss"):
            check(ends(), loss=lambda _outputs, _targets: torch.zeros(()))
        loss = nn.CrossEntropyLoss()
        loss.weight = nn.Parameter(torch.ones(CLASSES))
        with pytest.raises(ParameterError, match=r"loss\.weight = 'a parameter': would not be trained"):
            check(ends(), loss=loss)
