"""A training runs as its plan says: updates, noise and batches are those that were paid for."""

import numpy as np
import pytest
import torch
from tests.learn.torch.training.small import network, planned, rows
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.torch.training.loop import Run


def weights_of(model):
    return torch.cat([own.detach().reshape(-1) for own in model.parameters()])


def test_updates_are_counted_and_not_blocks():
    plan = planned(block=2)
    assert plan.train(progress=False).updates == plan.steps == 18


@pytest.mark.parametrize("mode", ["per example", "ghost"])
def test_a_network_learns_where_noise_is_small(mode):
    inputs, targets = rows(600, width=16)
    model = network(width=16, hidden=32, classes=16)  # layers of even sizes are alike in every place of a block
    plan = planned(
        (inputs, targets), model=model, epsilon=200, epochs=10, batch_size=60, rows=600, mode=mode, rate=2.0, block=64
    )
    model = plan.train(progress=False).model
    # about 0.93 with a spread of 0.04
    assert (model(inputs).argmax(dim=1) == targets).float().mean() > 0.6


def test_noise_is_on_every_parameter_whoever_is_there():
    """Of no rows at all an update is noise alone, of the stated width on each parameter."""
    plan = planned((torch.zeros(0, 6), torch.zeros(0, dtype=torch.int64)), epochs=50, rate=1.0)
    before = weights_of(plan.model)
    trained = plan.train(progress=False)
    moved = (before - weights_of(trained.model)).double() * plan.batch_size / plan.steps**0.5
    for own in moved.split([parameter.numel() for parameter in plan.model.parameters()]):
        # 2 numbers at least: their mean square lies within these limits but with a chance below 1e-7
        assert 1e-4 < float(own.square().mean()) ** 0.5 / plan.noise_multiplier < 5
    # of 74 numbers √(χ²/74) is within a factor of these but with a chance below 1e-7
    assert 0.55 < float(moved.square().mean()) ** 0.5 / plan.noise_multiplier < 1.5


def test_who_takes_part_changes_from_update_to_update(monkeypatch):
    plan = planned(epochs=30)
    seen, update = [], Run.update

    def updating(run, data, units, noise):
        seen.append(len(units))
        update(run, data, units[:0], noise)

    monkeypatch.setattr(Run, "update", updating)
    plan.train(progress=False)
    assert len(seen) == plan.steps == 180
    # of 180 batches of Bin(60, 1/6), the mean is within these limits but with a chance below 1e-9, and all are alike
    # with one of 10^-100
    assert 8.5 < np.mean(seen) < 11.5
    assert np.std(seen) > 1.5


def test_a_plan_trains_once():
    plan = planned()
    plan.train(progress=False)
    with pytest.raises(ParameterError, match="as each costs"):
        plan.train(progress=False)


def test_a_model_that_has_changed_since_is_refused():
    plan = planned()
    with torch.no_grad():
        plan.model[0].bias += 1
    with pytest.raises(ParameterError, match="as it was"):
        plan.train(progress=False)


def test_a_weight_that_does_not_move_is_named():
    plan = planned(rate=0.0)
    with pytest.raises(ParameterError, match=r"0\.weight.*must move"):
        plan.train(progress=False)


def test_a_schedule_steps_after_each_update():
    plan = planned(schedule=lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5))
    plan.train(progress=False)
    assert plan.optimizer.param_groups[0]["lr"] == 0.5 * 0.5**plan.steps


def test_a_plan_says_what_it_costs_and_nothing_of_the_rows():
    said = str(planned())
    for part in ("ε 3, δ 1e-05", "updates     18", "exact"):
        assert part in said
    assert "tensor" not in repr(planned())


def test_a_model_is_trained_in_the_mode_it_is_in_and_is_ready_afterwards():
    plan = planned()
    plan.model[1].eval()
    modes = [part.training for part in plan.model.modules()]
    plan.audited(canaries=40)
    assert [part.training for part in plan.model.modules()] == modes
    seen = []
    plan.model[1].register_forward_hook(lambda part, *_: seen.append(part.training))
    trained = plan.train(progress=False)
    assert set(seen) == {False}
    assert not any(part.training for part in trained.model.modules())


def of_loss(weight):
    return {"loss": nn.CrossEntropyLoss(weight=torch.tensor([1.0, weight]))}


def of_schedule(factor):
    return {"schedule": lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=factor)}


def of_functions(factor):
    return {"schedule": lambda optimizer: torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: factor)}


@pytest.mark.parametrize("changed", [of_loss, of_schedule, of_functions])
def test_a_stored_training_is_not_taken_for_one_of_another_loss_or_schedule(changed):
    assert planned(**changed(0.5)).document() != planned(**changed(0.25)).document()
    if changed is not of_functions:
        assert planned(**changed(0.5)).document() == planned(**changed(0.5)).document()
