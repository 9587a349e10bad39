"""Networks over a real gateway: owners in threads, with DP-FedAvg and DP-FedSGD, against the same plan in one place."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import torch
from tests.learn.torch.federated.federations import line, one_owner, shared, weights_of
from tests.server.running import Beside, running
from torch import nn

import sfumato as sf
from sfumato.learn.torch import LocalTraining
from sfumato.learn.torch.federated.owners import STEPS
from sfumato.mechanisms.distributed.gaussian import DistributedGaussian

PEOPLE = ("ann", "bob", "cem", "olga")
QUIET = {"parties": 4, "l2_sensitivity": STEPS, "l0_sensitivity": 3, "max_dropouts": 2, "rho": 10**9}
"""Noise of some tens of steps of a million."""
SECRET = bytes(range(32))
NUMBERS = count()


@pytest.fixture(scope="module")
def gateway():
    found = Beside(running())
    yield found
    found.stop()


def plan_of(local, **changes):
    plan = shared(owners=4, local=local)  # priced for three rounds, as those of other tests are
    return replace(plan, **({"rounds": 2, "noise": DistributedGaussian(**QUIET)} | changes))


@pytest.mark.parametrize("local", [LocalTraining(rate="0.25", epochs=2, batch_size=2), LocalTraining("gradient")])
def test_owners_train_a_network_as_in_one_place(gateway, tmp_path, local):
    host, port = gateway.address
    url, name = f"http://{host}:{port}", f"networks {next(NUMBERS)}".replace(" ", "-")
    sf.open_federation(url, name, plan_of(local), PEOPLE, token=gateway.keys["admin"])
    owners = [one_owner(person, slope) for slope, person in enumerate(PEOPLE)]

    def take_part(owner):
        with sf.join_federation(url, name, token=gateway.keys[owner.name]) as federation:
            return federation.take_part(
                plan_of(local), owner, secret=SECRET, journal=tmp_path / owner.name, pause="0.01"
            )

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(take_part, owners))
    first = weights_of(found[0].model)
    assert [one.rounds for one in found] == [2] * 4
    assert all((weights_of(one.model) == first).all() for one in found)
    here = plan_of(local)
    for _ in range(2):
        exact = sum(here.contribution(owner).open_for_noise() for owner in owners)
        here.move(exact, shares=4)
    assert np.allclose(first, weights_of(here.public.model), atol=1e-3)
    assert not np.allclose(first, weights_of(line()), atol=1e-2)


def test_documents_tell_plans_apart_by_all_that_owners_agree_on():
    local = LocalTraining(rate="0.25")
    same = plan_of(local).document()
    assert same == plan_of(local).document()
    other = line()
    with torch.no_grad():
        other.bias.fill_(0.25)
    plan = plan_of(local)
    changed = {
        "weights": shared(other, owners=4), "local": plan_of(LocalTraining("gradient")),
        "clip": replace(plan, clip=plan.clip * 2), "rounds": replace(plan, rounds=1),
        "loss": replace(plan, loss=nn.L1Loss()),
        "noise": plan_of(local, noise=DistributedGaussian(**QUIET | {"rho": 9})),
        "optimizer": replace(plan, public=type(plan.public)(model := line(), torch.optim.Adam(model.parameters()))),
        "relation": replace(plan, neighboring_relation=sf.REPLACE_ONE),
        "charge": replace(plan, charge=sf.ApproxDP(3, "1e-5")),
    }  # fmt: skip
    for field, one in changed.items():
        assert one.document()[field] != same[field], field
    frozen = line()
    frozen.bias.requires_grad_(False)
    own = torch.optim.SGD([frozen.weight], lr=1)
    assert replace(plan, public=type(plan.public)(frozen, own)).document()["trained"] == "weight"
    assert "function" in plan_loss(plan)


def plan_loss(plan):
    def function(outputs, targets):
        return ((outputs - targets) ** 2).mean()

    return replace(plan, loss=function).document()["loss"]
