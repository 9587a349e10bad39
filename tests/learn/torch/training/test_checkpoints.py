"""Trainings that are stopped go on, and what was drawn is never drawn again."""

import pytest
import torch
from tests.learn.torch.training.small import network, planned

from sfumato.errors import StateError
from sfumato.learn.torch.training.loop import Run


class StoppedError(Exception):
    """As if the machine had failed."""


def stop_after(monkeypatch, updates):
    """Let so many updates be drawn, in all trainings together; returns how many there were."""
    drawn = []
    update = Run.update

    def stopping(run, *given):
        if len(drawn) == updates:
            raise StoppedError
        drawn.append(run.drawn)
        update(run, *given)

    monkeypatch.setattr(Run, "update", stopping)
    return drawn


@pytest.mark.parametrize("stopped", [1, 4, 5, 6, 12, 17])
def test_what_was_reserved_is_spent_and_the_rest_is_drawn(tmp_path, monkeypatch, stopped):
    path = tmp_path / "run.pt"
    with monkeypatch.context() as patched:
        stop_after(patched, stopped)
        with pytest.raises(StoppedError):
            planned().train(checkpoint=path, every=5, progress=False)
    plan = planned(model=network(seed=9))  # whatever weights it starts with, those of the checkpoint count
    drawn = stop_after(monkeypatch, 100)
    trained = plan.train(checkpoint=path, every=5, progress=False)
    spent = min((stopped // 5 + 1) * 5, plan.steps)  # the next five are reserved before the first of them is drawn
    assert len(drawn) == plan.steps - spent
    assert stopped + len(drawn) <= plan.steps
    assert trained.updates == stopped // 5 * 5 + len(drawn)


@pytest.mark.parametrize("noise", ["banded", "buffered"])
def test_correlated_noise_goes_on_where_all_units_are_drawn_anew(tmp_path, monkeypatch, noise):
    path, given = tmp_path / "run.pt", {"noise": noise, "bands": 4, "batch_size": 15}
    with monkeypatch.context() as patched:
        stop_after(patched, 6)
        with pytest.raises(StoppedError):
            planned(**given).train(checkpoint=path, every=5, progress=False)
    drawn = stop_after(monkeypatch, 100)
    planned(**given).train(checkpoint=path, every=5, progress=False)
    assert len(drawn) == 0  # ten of twelve are spent, and no turn begins before the end


@pytest.mark.parametrize("stopped", [3, 17, 18])
def test_correlated_noise_goes_on_where_the_last_turn_is_cut_short(tmp_path, monkeypatch, stopped):
    """Eighteen updates, in turns of four."""
    path, given = tmp_path / "run.pt", {"noise": "banded", "bands": 4}
    with monkeypatch.context() as patched:
        stop_after(patched, stopped)
        if stopped < 18:
            with pytest.raises(StoppedError):
                planned(**given).train(checkpoint=path, every=5, progress=False)
        else:
            planned(**given).train(checkpoint=path, every=5, progress=False)
    drawn = stop_after(monkeypatch, 100)
    planned(**given).train(checkpoint=path, every=5, progress=False)
    assert len(drawn) == (10 if stopped == 3 else 0)


def test_a_training_that_is_over_gives_its_weights_and_draws_nothing(tmp_path, monkeypatch):
    path = tmp_path / "run.pt"
    first = planned().train(checkpoint=path, progress=False)
    drawn = stop_after(monkeypatch, 0)
    again = planned(model=network(seed=9)).train(checkpoint=path, progress=False)
    assert drawn == []
    for one, other in zip(first.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_checkpoint_of_another_plan_is_refused(tmp_path):
    path = tmp_path / "run.pt"
    planned().train(checkpoint=path, progress=False)
    with pytest.raises(StateError, match="this very plan"):
        planned(epsilon=4).train(checkpoint=path, progress=False)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run.pt"
    path.write_bytes(b"PK nothing")
    with pytest.raises(StateError, match="must be a checkpoint"):
        planned().train(checkpoint=path, progress=False)
