"""Small federations for tests: networks of few weights, owners with made-up samples, plans with next to no noise."""

from dataclasses import replace
from fractions import Fraction

import torch
from torch import nn

from sfumato.learn.torch.federated.owners import STEPS, LocalTraining, Owner
from sfumato.learn.torch.federated.plan import private_federation
from sfumato.learn.torch.federated.shared import shared_federation
from sfumato.mechanisms.additive.gaussian import GaussianNoise

EXAMPLE = (torch.zeros(2, 2), torch.zeros(2, 1))
BARE = GaussianNoise(l2_sensitivity=STEPS, stddev="1/1000", l0_sensitivity=3)
"""Noise that is 0 but for one draw in 2^700000."""


def line():
    """Two weights and an intercept, of exact binary fractions."""
    model = nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.5, -0.25]]))
        model.bias.fill_(0.125)
    return model


def one_owner(name="one", slope=1.0, samples=4, epsilon=None):
    """Samples with y = slope · (x₁ + x₂)."""
    inputs = torch.arange(2.0 * samples).reshape(samples, 2) / 8
    return Owner(name, inputs, slope * inputs.sum(dim=1, keepdim=True), epsilon=epsilon)


def odd_owners():
    """Owners with samples that nobody should have, each with a name."""
    inputs = torch.ones(3, 2)
    return [
        Owner("huge", inputs * 1e15, torch.ones(3, 1)),
        Owner("opposite", -inputs * 1e15, torch.ones(3, 1)),
        Owner("many", torch.ones(50, 2) * 10, torch.ones(50, 1) * 1e4),
        Owner("tiny", inputs * 1e-30, torch.ones(3, 1) * 0.125),
        Owner("nan", inputs * float("nan"), torch.ones(3, 1)),
        Owner("infinite", inputs * float("inf"), torch.ones(3, 1)),
        Owner("none", torch.ones(0, 2), torch.ones(0, 1)),
        Owner("wrong shape", torch.ones(3, 5), torch.ones(3, 1)),
        Owner("whole numbers", torch.ones(3, 2, dtype=torch.int64), torch.ones(3, 1)),
        one_owner("usual"),
    ]


def trusted(model=None, *, bare=False, rate=1, **arguments):
    """A plan with a trusted server."""
    model = line() if model is None else model
    stated = {
        "example": EXAMPLE, "epsilon": 2, "delta": "1e-5", "owners": 40, "owners_per_round": 10, "rounds": 5,
        "clip": 1, "local": LocalTraining(rate="0.25"),
    }  # fmt: skip
    plan = private_federation(
        model, torch.optim.SGD(model.parameters(), lr=rate), nn.MSELoss(), **(stated | arguments)
    )  # fmt: skip
    return replace(plan, noise=BARE, sampling_probability=Fraction(1)) if bare else plan


def shared(model=None, **arguments):
    """A plan without a trusted server."""
    model = line() if model is None else model
    stated = {
        "example": EXAMPLE, "epsilon": 2, "delta": "1e-5", "owners": 7, "max_dropouts": 2, "rounds": 3, "clip": 1,
        "local": LocalTraining(rate="0.25"),
    }  # fmt: skip
    return shared_federation(
        model, torch.optim.SGD(model.parameters(), lr=1), nn.MSELoss(), **(stated | arguments)
    )  # fmt: skip


def weights_of(model):
    """All weights of a network, one after the other."""
    return torch.cat([weight.detach().reshape(-1).double() for weight in model.parameters()])
