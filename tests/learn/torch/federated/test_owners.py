"""What an owner computes: its own update, clipped as one, in whole numbers; 0 where training fails."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from tests.learn.torch.federated.federations import line, odd_owners, one_owner, weights_of
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.federated import owners
from sfumato.learn.torch.federated.owners import STEPS, LocalTraining, Owner, as_clip, square_of, whole_steps

LOSS = nn.MSELoss()
GRADIENT = LocalTraining("gradient")


def clipped(owner, *, local=GRADIENT, model=None, loss=LOSS, **arguments):
    model = line() if model is None else model
    return local.clipped(model, loss, owner, **({"clip": Fraction(1)} | arguments)).open_for_noise()


VECTORS = [
    np.array([1e308, -1e308, 1e308]), np.array([5e-324, 0, 5e-324]), np.full(1000, 1e-3), np.full(1000, 1.0),
    np.array([0.6, 0.8]), np.array([0.6, 0.8]) * (1 + 1e-15), np.array([-1.0]), np.array([1.0, 1e-300]),
    np.arange(1.0, 5000.0), np.array([7.0, 24.0]), np.array([0.5, 0.5, 0.5, 0.5]),
]  # fmt: skip


@pytest.mark.parametrize("most", [0, 1, 25, STEPS - 1, STEPS])
def test_no_norm_is_above_the_clip_in_whole_numbers(most):
    for clip in ("1e-30", "0.3", 1, 1e30):
        for vector in VECTORS:
            steps = whole_steps(vector, clip=as_clip(clip), most=most)
            assert steps.dtype == np.int64
            assert sum(step**2 for step in steps.tolist()) <= most**2
            assert square_of(steps) == sum(step**2 for step in steps.tolist())


def test_the_norm_holds_however_floats_round(monkeypatch):
    monkeypatch.setattr(owners.np, "sqrt", lambda number: 0.9999 * math.sqrt(number))
    for vector in VECTORS:
        assert square_of(whole_steps(vector, clip=Fraction(1, 10**6))) <= STEPS**2


def test_an_update_within_the_clip_is_cut_towards_0_and_a_longer_one_is_scaled():
    assert whole_steps(np.array([0.5, -0.25]), clip=Fraction(1)).tolist() == [STEPS // 2, -STEPS // 4]
    assert whole_steps(np.array([1.9, -1.9]) / STEPS, clip=Fraction(1)).tolist() == [1, -1]
    long = whole_steps(np.array([30.0, -40.0]), clip=Fraction(1)) / STEPS
    assert np.allclose(long, [0.6, -0.8], atol=2 / STEPS)
    assert whole_steps(np.array([]), clip=Fraction(1)).tolist() == []
    for missing in (np.nan, np.inf, -np.inf):
        assert whole_steps(np.array([1.0, missing]), clip=Fraction(1)).tolist() == [0, 0]


def test_a_gradient_is_that_of_the_mean_loss_of_all_samples_of_the_owner():
    owner, model = one_owner(), line()
    inputs, targets = owner.samples.open_for_noise()
    residual = inputs.double() @ torch.tensor([[0.5], [-0.25]]).double() + 0.125 - targets.double()
    slopes = torch.cat([(2 * residual * inputs).mean(dim=0), (2 * residual).mean(dim=0)])
    steps = clipped(owner, model=model, clip=Fraction(8))
    assert np.allclose(steps / STEPS * 8, slopes.numpy(), atol=1e-5)


def test_an_average_is_how_far_training_in_batches_moves_the_weights():
    owner, model = one_owner(samples=5), line()
    inputs, targets = (part.double() for part in owner.samples.open_for_noise())
    weight, bias = torch.tensor([[0.5], [-0.25]]).double(), 0.125
    for _ in range(2):
        for batch in (slice(0, 2), slice(2, 4), slice(4, 5)):
            residual = inputs[batch] @ weight + bias - targets[batch]
            weight, bias = (
                weight - 0.1 * (2 * residual * inputs[batch]).mean(dim=0, keepdim=True).T,
                bias - 0.1 * float((2 * residual).mean()),
            )
    local = LocalTraining("average", epochs=2, batch_size=2, rate="0.1")
    steps = clipped(owner, local=local, model=model, clip=Fraction(8))
    moved = [0.5 - float(weight[0]), -0.25 - float(weight[1]), 0.125 - bias]
    assert np.allclose(steps / STEPS * 8, moved, atol=1e-5)
    assert weights_of(model).tolist() == [0.5, -0.25, 0.125]  # the public model stays as it was


def test_an_owner_is_clipped_as_one_however_many_samples_it_has():
    few, many = (Owner(str(samples), torch.ones(samples, 2) * 10, torch.ones(samples, 1) * 1e4) for samples in (1, 50))
    for local in (GRADIENT, LocalTraining(epochs=3, batch_size=1, rate="0.001")):
        assert all(square_of(clipped(owner, local=local)) <= STEPS**2 for owner in (few, many))
        assert square_of(clipped(many, local=local)) > 0.99 * STEPS**2


def test_odd_samples_add_0_and_raise_nothing():
    sizes = {owner.name: square_of(clipped(owner)) for owner in odd_owners()}
    assert [name for name, size in sizes.items() if size == 0] == [
        "tiny", "nan", "infinite", "none", "wrong shape", "whole numbers",
    ]  # fmt: skip
    assert all(size <= STEPS**2 for size in sizes.values())
    classes = Owner("classes", torch.ones(2, 2), torch.tensor([0, 7]))
    assert not clipped(classes, model=nn.Linear(2, 2), loss=nn.CrossEntropyLoss()).any()


class Remembering(nn.Module):
    """A network that writes down what it saw, and warns of it."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.register_buffer("seen", torch.zeros(2))
        self.last = None

    def forward(self, inputs):
        self.seen += inputs.detach().sum(dim=0)
        self.last = inputs
        if inputs.sum() > 0:
            import warnings

            warnings.warn(f"saw {inputs}", stacklevel=1)
        return self.line(inputs)


def test_nothing_that_training_writes_or_warns_of_is_seen():
    model = Remembering()
    assert clipped(one_owner(), model=model).any()
    assert model.last is None
    assert model.seen.tolist() == [0, 0]


def test_a_layer_that_writes_into_its_inputs_leaves_the_samples_as_they_were():
    owner = Owner("one", torch.full((2, 2), -1.0), torch.ones(2, 1))
    assert clipped(owner, model=nn.Sequential(nn.ReLU(inplace=True), line())).any()
    assert owner.samples.open_for_noise()[0].tolist() == [[-1, -1], [-1, -1]]


def test_layers_that_drop_at_random_draw_afresh_for_each_owner_and_leave_other_draws_alone():
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(64, 1))
    owner = Owner("one", torch.ones(1, 64), torch.zeros(1, 1))
    torch.manual_seed(1)
    expected = torch.rand(3).tolist()
    torch.manual_seed(1)
    first, second = (clipped(owner, model=model) for _ in range(2))
    assert torch.rand(3).tolist() == expected
    assert (first != second).any()  # but for one time in 2^64


def test_an_owner_shows_nothing_of_its_samples():
    owner = Owner("north", torch.full((1, 2), 77.0), torch.full((1, 1), 88.0), epsilon="0.5")
    assert repr(owner) == "Owner(name='north', samples=Secret(…), epsilon=Fraction(1, 2))"
    assert "7" not in repr(GRADIENT.clipped(line(), LOSS, owner, clip=Fraction(1)))


@pytest.mark.parametrize(
    "arguments",
    [
        {"inputs": [[1.0]]}, {"targets": torch.zeros(3)}, {"inputs": torch.tensor(1.0)}, {"epsilon": 0},
        {"name": 7},
    ],
    ids=["a list", "another length", "one number", "no epsilon", "a number as name"],
)  # fmt: skip
def test_what_is_no_owner_is_refused(arguments):
    usual = {"name": "one", "inputs": torch.zeros(2, 1), "targets": torch.zeros(2)} | arguments
    with pytest.raises(ParameterError):
        Owner(usual.pop("name"), usual.pop("inputs"), usual.pop("targets"), **usual)


def test_arguments_out_of_range_are_refused():
    for arguments in ({"method": "median"}, {"epochs": 0}, {"batch_size": 0}, {"rate": 0}):
        with pytest.raises(ParameterError):
            LocalTraining(**arguments)
    for clip in (0, -1, "1e-40", 1e40):
        with pytest.raises(ParameterError):
            as_clip(clip)
