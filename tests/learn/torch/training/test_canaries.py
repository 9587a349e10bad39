"""A training attacked by canaries in its gradients: what it claims holds, and what it forgets is found."""

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from tests.learn.torch.training.small import network, planned, rows
from torch import nn

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.steps import IndependentNoise
from sfumato.learn.torch.training.clipping import AdaptiveClip
from sfumato.learn.torch.training.examples import Examples

RARELY = 1e-6
NOBODY = (torch.zeros(0, 6), torch.zeros(0, dtype=torch.int64))


def wide(**changed):
    """A plan of 10,000 parameters with one update, in which everybody takes part."""
    model = nn.Sequential(nn.Linear(6, 1250), nn.ReLU(), nn.Linear(1250, 1, bias=False))
    return planned(NOBODY, model=model, **{"epsilon": 8, "epochs": 1, "batch_size": 60, "block": 64} | changed)


def test_a_training_is_not_refuted_and_the_bound_is_near_the_claim():
    """The bound is 0.47 of the claim on average, with a spread of 0.03 over trainings."""
    plan = wide()
    found = plan.audited(canaries=10_000)
    assert found.epsilon_lower_bound >= 0.3 * 8
    assert not plan.audited(canaries=2_000, significance=RARELY).is_refuted


@pytest.mark.parametrize("changed", [{"adaptive_clip": AdaptiveClip(stddev=10)}, {"batch_size": 6}])
def test_nothing_is_found_in_other_trainings(changed):
    plan = planned(NOBODY, epsilon=1, **changed)
    before = [own.clone() for own in plan.model.parameters()]
    found = sf.learn.audit(plan, significance=RARELY)
    assert not found.is_refuted
    assert found.findings[0].claim == plan.charge
    assert all(torch.equal(one, other) for one, other in zip(before, plan.model.parameters(), strict=True))


def test_in_batches_that_are_cut_canaries_are_some_of_the_units():
    data = Examples(*rows(), neighboring_relation="replace_one")
    found = planned(data, epsilon=1, largest_batch=12).audited(significance=RARELY)
    assert "60 canaries" in str(found)
    assert not found.is_refuted


def test_what_forgets_part_of_the_noise_is_refuted():
    plan = wide(epsilon=1, delta="1e-12")  # a larger δ explains a perfect score now and then
    less = IndependentNoise(
        Fraction(1, 10), l2_sensitivity=plan.sums.sensitivity, steps=1, participation=plan.noise.participation
    )
    assert replace(plan, noise=less).audited(canaries=2_000, significance=RARELY).is_refuted


@pytest.mark.parametrize(
    ("canaries", "plan"), [(31, {}), (10**6, {}), (40, {"mode": "ghost"})], ids=["few", "many", "ghost"]
)
def test_what_cannot_be_attacked_so_is_said(canaries, plan):
    with pytest.raises(ParameterError):
        planned(model=network(), **plan).audited(canaries=canaries)


def test_rows_are_refused():
    with pytest.raises(ParameterError, match="must be left out"):
        sf.learn.audit(planned(), [[1.0]], [0])
