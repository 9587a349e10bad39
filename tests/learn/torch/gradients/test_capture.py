"""What goes through a network's layers, and each network that ghost clipping refuses."""

import copy

import pytest
import torch
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.capture import Network, refuse, row_losses

torch.manual_seed(7)
TARGETS = torch.tensor([0, 1, 1, 0])


class Model(nn.Module):
    """A layer, another of its size, and a classifier, used as a function says."""

    def __init__(self, use, *, layer=None):
        super().__init__()
        self.first, self.second, self.last = layer or nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.use = use

    def forward(self, rows):
        return self.use(self, rows)


def changed(model, rows):
    doubled = 2 * rows
    mixed = model.first(doubled)
    doubled += 1
    return model.last(model.second(mixed))


def replaced(model):
    model.first.forward = lambda rows: 2 * rows
    return model


def with_weights_of(model):
    model.second.weight = model.first.weight
    return model


def plain(model, rows):
    return model.last(model.second(model.first(rows)))


REFUSED = {
    "called twice": (Model(lambda m, r: m.last(m.second(m.first(m.first(r))))), "first", "called twice"),
    "used in a function": (Model(lambda m, r: plain(m, r) + (m.first.weight**2).sum()), "first", "used outside"),
    "only in a function": (Model(lambda m, r: m.last(m.second(r @ m.first.weight))), "first", "used outside"),
    "shared module": (nn.Sequential(*[nn.Linear(4, 4)] * 2, nn.Linear(4, 2)), "1", "shared"),
    "shared weight": (with_weights_of(Model(plain)), "second", "shared"),
    "changed in place": (Model(changed), "first", "changed in place"),
    "replaced forward": (replaced(Model(plain)), "first", "replaced"),
    "unknown layer": (Model(plain, layer=nn.Bilinear(4, 4, 4)), "first", "not known"),
    "own parameter": (Model(plain, layer=nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))), "first", "not known"),
    "places first": (Model(lambda m, r: m.last(m.first(r.repeat(2, 1, 1)).sum(0))), "first", "rows must come first"),
    "running statistics": (
        Model(plain, layer=nn.InstanceNorm1d(4, affine=True, track_running_stats=True)), "first", "running",
    ),
    "bounded tokens": (Model(plain, layer=nn.Embedding(4, 4, max_norm=1.0)), "first", "max_norm"),
    "added zeros": (Model(plain, layer=nn.MultiheadAttention(4, 2, add_zero_attn=True)), "first", "zero_attn"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_trained_is_refused_by_its_path(case):
    model, path, why = REFUSED[case]
    with pytest.raises(ParameterError, match=why) as refusal:
        Network(model, nn.CrossEntropyLoss()).checked_passages(torch.randn(4, 4), TARGETS)
    assert f"{path} (" in str(refusal.value)
    assert 'mode="per example"' in str(refusal.value)


def test_a_model_without_trainable_parameters_is_refused():
    with pytest.raises(ParameterError, match="requires a gradient"):
        Network(nn.Linear(2, 1).requires_grad_(False), nn.MSELoss())
    with pytest.raises(ParameterError, match="the model itself"):
        refuse("", nn.Linear(1, 1), "it is made up")


def test_nothing_of_a_model_changes():
    model = nn.Sequential(
        nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0), nn.Flatten(), nn.Linear(8, 2)
    )
    before = copy.deepcopy(model.state_dict())
    network = Network(model, nn.CrossEntropyLoss())
    network.checked_passages(torch.randn(4, 2, 4), TARGETS)
    assert len(network.passages(torch.randn(4, 2, 4), TARGETS)) == len(network.sites) == 9
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(not module._forward_hooks and "forward" not in vars(module) for module in model.modules())


def test_the_slopes_are_those_before_what_comes_out_is_changed_in_place():
    layers = nn.Linear(3, 4), nn.Linear(4, 2)
    inputs = torch.randn(4, 3)
    plain, in_place = (
        Network(nn.Sequential(layers[0], nn.ReLU(inplace=inplace), layers[1]), nn.CrossEntropyLoss())
        for inplace in (False, True)
    )
    for ours, theirs in zip(in_place.passages(inputs, TARGETS), plain.passages(inputs, TARGETS), strict=True):
        assert torch.equal(ours.inputs, theirs.inputs)
        assert torch.equal(ours.slopes, theirs.slopes)


def test_mixed_precision_gives_single_precision():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    inputs = torch.randn(4, 3)
    low = Network(model, nn.CrossEntropyLoss(), torch.bfloat16).checked_passages(inputs, TARGETS)
    high = Network(model, nn.CrossEntropyLoss()).passages(inputs, TARGETS)
    for ours, theirs in zip(low, high, strict=True):
        assert ours.slopes.dtype == ours.inputs.dtype == torch.float32
        assert torch.allclose(ours.slopes, theirs.slopes, atol=0.02)
        assert torch.allclose(ours.inputs, theirs.inputs, atol=0.02)
    assert not torch.equal(low[0].slopes, high[0].slopes)


def test_each_row_has_the_loss_of_a_batch_of_one():
    outputs = torch.randn(4, 2)
    losses = row_losses(nn.CrossEntropyLoss(label_smoothing=0.1), outputs, TARGETS)
    alone = [nn.CrossEntropyLoss(label_smoothing=0.1)(outputs[i : i + 1], TARGETS[i : i + 1]) for i in range(4)]
    assert losses.tolist() == pytest.approx([loss.item() for loss in alone])
