"""The public model: what cannot be trained is refused by its name, and only noisy sums move it."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from tests.learn.torch.federated.federations import EXAMPLE, line, weights_of
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import STEPS, LocalTraining
from sfumato.learn.torch.federated.public_model import PublicModel

LOSS = nn.MSELoss()


def public(model, *, rate=1.0, kind=torch.optim.SGD):
    return PublicModel(model, kind([one for one in model.parameters() if one.requires_grad], lr=rate))


def test_a_layer_that_keeps_statistics_is_refused_by_its_name():
    with pytest.raises(ParameterError, match=r"(?s)1.*GroupNorm in place of BatchNorm1d"):
        public(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    kept = nn.Sequential(nn.Linear(2, 2), nn.GroupNorm(1, 2), nn.BatchNorm1d(2, track_running_stats=False))
    assert public(kept).width == 6 + 4 + 4


def test_optimizers_with_other_weights_are_refused():
    model, other = line(), line()
    for weights in (other.parameters(), [model.weight], [*model.parameters(), *other.parameters()]):
        with pytest.raises(ParameterError, match="all trainable weights"):
            PublicModel(model, torch.optim.SGD(weights, lr=1))
    with pytest.raises(ParameterError, match="LBFGS"):
        public(model, kind=torch.optim.LBFGS)
    with pytest.raises(ParameterError, match="call the model once"):
        PublicModel(nn.LazyLinear(1), torch.optim.SGD(model.parameters(), lr=1))
    for odd in (lambda: PublicModel("model", None), lambda: PublicModel(model, "SGD")):
        with pytest.raises(ParameterError):
            odd()


def test_a_weight_without_a_use_is_refused_until_it_is_frozen():
    class Partly(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.idle = nn.Linear(2, 1), nn.Linear(2, 1)

        def forward(self, inputs):
            return self.used(inputs)

    model = Partly()
    with pytest.raises(ParameterError, match=r"(?s)idle.weight.*requires_grad"):
        public(model).try_out(LocalTraining(), LOSS, EXAMPLE)
    model.idle.requires_grad_(False)  # torch's own call
    public(model).try_out(LocalTraining(), LOSS, EXAMPLE)


@pytest.mark.parametrize(
    "example",
    [None, torch.zeros(2, 2), (torch.zeros(2, 5), torch.zeros(2, 1)), (torch.ones(2, 2) * 1e38, torch.zeros(2, 1))],
    ids=["nothing", "inputs alone", "another shape", "too large"],
)
def test_an_example_that_cannot_be_trained_on_is_refused(example):
    with pytest.raises(ParameterError, match="example"):
        public(line()).try_out(LocalTraining(rate=100), LOSS, example)


def test_trying_out_changes_nothing():
    model = nn.Sequential(nn.Dropout(0.5), line())
    before, state = weights_of(model), torch.random.get_rng_state()
    public(model).try_out(LocalTraining(rate=1), LOSS, (torch.ones(2, 2), torch.ones(2, 1)))
    assert weights_of(model).tolist() == before.tolist()
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_sum_is_divided_by_the_public_number_and_taken_for_the_gradient():
    model = line()
    moving = public(model, rate=0.5)
    moving.move(np.array([STEPS, -2 * STEPS, 0]), clip=Fraction(3), owners=Fraction(4))
    assert weights_of(model).tolist() == [0.5 - 0.5 * 0.75, -0.25 + 0.5 * 1.5, 0.125]
    assert moving.rounds == 1
    assert all(weight.grad is None for weight in model.parameters())
    moving.move(np.array([0, 0, 1 << 70], dtype=object), clip=Fraction(1), owners=Fraction(1 << 50))
    assert model.bias.tolist() == [0.125 - 0.5]
