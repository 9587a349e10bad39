"""One update: the sum of clipped gradients is whole, and one unit moves it by no more than its noise is for."""

import numpy as np
import pytest
import torch
from tests.learn.torch.training.small import planned, rows

from sfumato.learn.torch.training.clipping import AdaptiveClip
from sfumato.learn.torch.training.examples import Examples


def test_a_whole_batch_is_the_sum_of_its_parts_bit_for_bit():
    plan = planned()
    run = plan.started()
    data = plan.data.opened(torch.device("cpu"))
    units = np.random.default_rng(0).permutation(60)[:37]
    whole, below = run.exact(data, units)
    for pieces in (np.array_split(units, 5), [units[::-1]], [units[k : k + 1] for k in range(37)]):
        parts = [run.exact(data, piece) for piece in pieces]
        assert np.array_equal(whole, sum(part for part, _ in parts))
        assert below == sum(number for _, number in parts)


@pytest.mark.parametrize("mode", ["per example", "ghost"])
def test_one_unit_moves_the_sum_of_a_batch_by_no_more_than_is_stated(mode):
    inputs, targets = rows()
    inputs[3], inputs[4, 2], inputs[5] = 1e6, torch.nan, 0
    plan = planned((inputs, targets), clip="0.5", mode=mode)
    run, data = plan.started(), plan.data.opened(torch.device("cpu"))
    units = np.arange(13)
    whole, _ = run.exact(data, units)
    for left in range(13):
        moved = whole - run.exact(data, np.delete(units, left))[0]
        assert sum(int(number) ** 2 for number in moved) <= plan.sums.sensitivity**2


def test_all_rows_of_a_unit_move_the_sum_as_one_row_does():
    inputs, targets = rows(60)
    units = np.arange(60) // 3
    plan = planned(Examples(inputs * 100, targets, units=units, rows_per_unit=3), rows=20, clip="0.1")
    run, data = plan.started(), plan.data.opened(torch.device("cpu"))
    whole, _ = run.exact(data, np.arange(20))
    for left in range(20):
        moved = whole - run.exact(data, np.delete(np.arange(20), left))[0]
        assert sum(int(number) ** 2 for number in moved) <= plan.sums.sensitivity**2
    assert plan.train(progress=False).updates == plan.steps


def test_a_clip_follows_the_norms():
    plan = planned(adaptive_clip=AdaptiveClip(stddev=1, rate=1), epochs=30, clip=1000, epsilon=50)
    run = plan.started()
    data = plan.data.opened(torch.device("cpu"))
    for _ in range(20):
        run.update(data, np.arange(10), np.zeros(run.sums.width, dtype=np.int64))
    assert run.clip < 10


@pytest.mark.parametrize("mode", ["per example", "ghost"])
def test_a_row_that_the_loss_cannot_take_counts_as_nothing_and_changes_no_other(mode):
    inputs, targets = rows()
    targets = targets.clone()
    targets[5], targets[11] = 9, -3  # there are two classes
    plan = planned((inputs, targets), mode=mode)
    run, data = plan.started(), plan.data.opened(torch.device("cpu"))
    whole, _ = run.exact(data, np.arange(13))
    others, _ = run.exact(data, np.delete(np.arange(13), [5, 11]))
    moved = whole - others  # in ghost mode, of another order of rows
    allowed = plan.sums.sensitivity - plan.sums.steps
    assert sum(int(number) ** 2 for number in moved) <= allowed**2
    assert plan.train(progress=False).updates == plan.steps
