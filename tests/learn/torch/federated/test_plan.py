"""A federation with a trusted server: what one owner moves, what is charged, and what a round does."""

from fractions import Fraction
from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
import torch
from tests.learn.torch.federated.federations import (
    line,
    odd_owners,
    one_owner,
    trusted,
    weights_of,
)
from torch import nn

from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import STEPS, LocalTraining
from sfumato.learn.torch.federated.plan import private_federation
from sfumato.privacy.events import DiscreteGaussianEvent, GroupEvent, PoissonSampledEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

RELATIONS = (ADD_OR_REMOVE_ONE, REPLACE_ONE)


def cost(event, relation=ADD_OR_REMOVE_ONE, delta="1e-5"):
    return PLDAccountant(neighboring_relation=relation).compose(event).epsilon(delta)


@pytest.mark.parametrize(
    "local", [LocalTraining("gradient"), LocalTraining(epochs=2, batch_size=25, rate="0.001")], ids=["SGD", "avg"]
)
def test_one_owner_moves_a_sum_by_the_clip_whatever_its_samples_and_those_of_others_are(local):
    plan = trusted(bare=True, local=local, clip="0.5")
    everybody = odd_owners()
    others = [everybody[i] for i in (0, 2, 4)]
    largest = 0
    for size in range(len(others) + 1):
        for beside in combinations(others, size):
            without = plan.exact_sum(beside)
            for place in {0, size}:
                with_one = [plan.exact_sum([*beside[:place], one, *beside[place:]]) for one in everybody[1:4]]
                for found in with_one:
                    moved = int(((found - without) ** 2).sum())
                    assert moved <= STEPS**2
                    largest = max(largest, moved)
                for first, second in combinations(with_one, 2):
                    assert int(((first - second) ** 2).sum()) <= (2 * STEPS) ** 2
    assert largest > 0.99 * STEPS**2  # not looser than it must be


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_event_is_that_of_the_rounds_and_costs_what_was_asked(relation):
    plan = trusted(neighboring_relation=relation)
    noise = DiscreteGaussianEvent(plan.noise.stddev, Fraction(STEPS), 3)
    assert plan.event == SelfComposedEvent(PoissonSampledEvent(Fraction(1, 4), noise), 5)
    assert 1.97 < cost(plan.event, relation) <= 2
    assert str(plan.charge) == "ε 2, δ 1e-05"
    less = SelfComposedEvent(PoissonSampledEvent(Fraction(1, 4), replace_stddev(noise, Fraction(19, 20))), 5)
    assert cost(less, relation) > 2


def replace_stddev(event, factor):
    return DiscreteGaussianEvent(event.stddev * factor, event.l2_sensitivity, event.l0_sensitivity)


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_owner_is_drawn_so_rarely_that_its_own_epsilon_is_kept(relation):
    plan = trusted(neighboring_relation=relation, rounds=2)
    for own in ("0.01", 1) if relation is ADD_OR_REMOVE_ONE else ("0.5",):
        owner = one_owner(epsilon=own)
        assert 0.97 * float(Fraction(own)) < cost(plan.event_of(owner), relation) <= Fraction(own)
        assert str(plan.guarantee_of(owner)) == f"ε {own}, δ 1e-05"
    usual = one_owner(), one_owner(epsilon=2), one_owner(epsilon=50)
    assert {plan.probability_of(owner) for owner in usual} == {Fraction(1, 4)}
    assert {plan.guarantee_of(owner) for owner in usual} == {plan.charge}


def test_each_owner_is_drawn_with_its_own_probability():
    plan, count = trusted(), 4_000
    owners = [one_owner() for _ in range(count)] + [one_owner(epsilon="0.5") for _ in range(count)]
    own = plan.probability_of(owners[-1])
    assert own < Fraction(1, 8)
    drawn = {id(owner) for owner in plan._drawn(tuple(owners))}
    for part, probability in ((owners[:count], Fraction(1, 4)), (owners[count:], own)):
        found = sum(id(owner) in drawn for owner in part)
        margin = sqrt(count / 2 * log(4 / 1e-6))  # Hoeffding's
        assert abs(found - count * probability) < margin, "type-I error 1e-6"


def test_a_round_is_that_computed_by_hand():
    owners, model = [one_owner("a", 1.0), one_owner("b", -1.0)], line()
    plan = trusted(model, bare=True, rounds=2, clip="0.5", rate=0.5)
    weights = torch.tensor([0.5, -0.25, 0.125]).double()
    for _ in range(2):
        total = torch.zeros(3).double()
        for owner in owners:
            inputs, targets = (part.double() for part in owner.samples.open_for_noise())
            rows = torch.cat([inputs, torch.ones(len(inputs), 1)], dim=1)
            slope = 2 * (rows * (rows @ weights[:, None] - targets)).mean(dim=0)
            update = 0.25 * slope
            total += update * min(1, 0.5 / float(update.norm()))
        weights = weights - 0.5 * total / 10
    found = plan.train(owners)
    assert np.allclose(weights_of(found.model), weights, atol=1e-5)
    assert (found.rounds, found.event, found.guarantee) == (2, plan.event, plan.charge)


def test_rounds_without_anybody_get_the_noise_of_every_other_round():
    with torch.no_grad():
        model = nn.Linear(1_000, 1, bias=False)
        model.weight.zero_()
    plan = trusted(model, example=(torch.zeros(1, 1_000), torch.zeros(1, 1)), rounds=4, clip=3)
    found = weights_of(plan.train([]).model)
    stddev = float(plan.noise.stddev) / STEPS * 3 / 10 * sqrt(4)
    ratio = float((found**2).mean()) / stddev**2
    assert abs(ratio - 1) < 0.27, "type-I error 1e-6: six standard deviations of a mean of 1000 squares"


def test_a_sum_is_divided_by_the_public_number_whoever_took_part():
    for owners in ([], [one_owner("a")], [one_owner("a"), *odd_owners()[4:9]]):
        model = line()
        plan = trusted(model, bare=True, rounds=1)
        total = plan.exact_sum(owners)
        before = weights_of(model)
        plan.train(owners)
        assert np.allclose(before - weights_of(model), total / STEPS / 10, atol=1e-6)


def test_a_plan_runs_once_and_refuses_two_owners_of_one_name():
    plan = trusted()
    with pytest.raises(ParameterError, match="different names"):
        plan.train([one_owner("a"), one_owner("a")])
    with pytest.raises(ParameterError, match="Owner"):
        plan.train([("a", torch.zeros(1, 2), torch.zeros(1, 1))])
    plan.train([one_owner("a")])
    with pytest.raises(ParameterError, match="may run once"):
        plan.train([one_owner("a")])


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_group_of_owners_costs_more_and_what_the_accountant_says(relation):
    plan = trusted(neighboring_relation=relation)
    assert plan.epsilon_of_group(1) <= 2
    assert 2 < plan.epsilon_of_group(2) < plan.epsilon_of_group(3)
    assert plan.epsilon_of_group(3) == cost(GroupEvent(plan.event, 3), relation)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"owners_per_round": 41}, "owners_per_round"), ({"owners": 0}, "owners"), ({"rounds": 0}, "rounds"),
        ({"clip": 0}, "clip"), ({"delta": 0}, "target"), ({"epsilon": 0, "delta": 0}, "target"),
        ({"neighboring_relation": "some"}, "neighboring_relation"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-",
)  # fmt: skip
def test_arguments_out_of_range_are_refused(arguments, named):
    with pytest.raises(ParameterError, match=named):
        trusted(**arguments)


def test_noise_of_a_few_steps_is_refused(monkeypatch):
    monkeypatch.setitem(private_federation.__globals__, "smallest_noise", lambda *_, **__: Fraction(31, STEPS))
    with pytest.raises(ParameterError, match="must be smaller"):
        trusted()
