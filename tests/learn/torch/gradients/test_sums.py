"""Sums of clipped gradients: whole numbers that one row moves by no more than is stated, however hostile it is."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from sfumato.learn.torch.gradients.sums import STEPS, ExactSums, lattice_sums

WIDTH = 5000  # more than two chunks of a norm


def hostile_rows():
    """Rows that stretch single precision: huge, tiny, of many sizes, cancelling, just at the clip, not finite."""
    made = torch.Generator().manual_seed(1)
    rows = torch.randn(12, WIDTH, generator=made)
    rows[1] *= 1e17
    rows[2] *= 1e-30
    rows[3] *= torch.logspace(-30, 15, WIDTH)
    rows[4] = rows[5] / rows[5].norm() * (1 + 2.0**-22)
    rows[6] = 0
    rows[6, 0] = 1 - 2.0**-24
    rows[7, 3] = torch.nan
    rows[8, 4] = torch.inf
    rows[9] = 3e38
    rows[10] = torch.finfo(torch.float32).tiny / 8
    rows[11] = 1 / np.sqrt(WIDTH)
    return rows


def summed(rows, clip=1.0):
    return lattice_sums([rows.clone()], torch.ones(len(rows), dtype=torch.bool), clip)[0]


@pytest.mark.parametrize("clip", [1.0, 2.0**-20, 2.0**20, 0.3])
def test_a_row_moves_the_sum_by_no_more_than_the_steps_and_by_itself_alone(clip):
    rows = hostile_rows()
    whole = summed(rows, clip)
    for place in range(len(rows)):
        others = torch.cat([rows[:place], rows[place + 1 :]])
        moved = whole - summed(others, clip)
        assert torch.equal(moved, summed(rows[place : place + 1], clip))
        assert sum(int(step) ** 2 for step in moved.tolist()) <= STEPS**2


def test_the_sum_is_that_of_clipped_rows():
    rows = hostile_rows()[[0, 1, 4, 5, 11]].double()
    clipped = rows / rows.norm(dim=1, keepdim=True).clamp(min=1.0)
    found = summed(rows.float()).double() / STEPS
    assert torch.allclose(found, clipped.sum(dim=0), atol=2e-4)


def test_rows_that_are_not_finite_count_as_zeros():
    rows = hostile_rows()
    assert torch.equal(summed(rows[[7, 8, 9]]), torch.zeros(WIDTH, dtype=torch.int64))


@pytest.mark.parametrize("size", [1, 5, 127, 128, 129, 300])
def test_the_sum_is_the_same_in_any_order_and_in_any_pieces(size):
    made = torch.Generator().manual_seed(size)
    rows = torch.randn(size, 40, generator=made) / 3
    order = torch.randperm(size, generator=made)
    pieces = sum(summed(piece) for piece in rows[order].split(7))
    assert torch.equal(summed(rows), pieces)


def test_a_row_in_an_empty_place_counts_nothing():
    rows = hostile_rows()[:3]
    sums, within = lattice_sums([rows.clone()], torch.tensor([True, False, True]), 1.0)
    assert torch.equal(sums, summed(rows[[0, 2]]))
    assert within.tolist() == [False, False, True]


class Given:
    """Gradients that are the inputs themselves."""

    width = 3

    def parts(self, inputs, _):
        return [inputs[:, :1].clone(), inputs[:, 1:].clone()]


def test_the_gradient_of_a_unit_is_the_mean_of_its_rows_and_is_clipped_as_one():
    sums = ExactSums(Given(), block=4, rows_per_unit=2)
    rows = torch.tensor([[3.0, 0, 0], [-3.0, 0.5, 0], [0, 0, 0.5], [9.0, 9.0, 9.0]])
    found, within = sums.add(rows, rows, torch.tensor([True, True, True, False]), 1.0)
    assert (found / STEPS).round(decimals=3).tolist() == [0, 0.25, 0.5]
    assert within.tolist() == [True, True]
    assert (sums.sensitivity, sums.is_exact) == (Fraction(STEPS), True)


def test_parts_of_a_gradient_are_clipped_as_one():
    rows = hostile_rows()
    parts = [part.clone() for part in rows.split([1, 2047, 2048, WIDTH - 4096], dim=1)]
    found, within = lattice_sums(parts, torch.ones(len(rows), dtype=torch.bool), 1.0)
    expected, also = lattice_sums([rows.clone()], torch.ones(len(rows), dtype=torch.bool), 1.0)
    assert (found - expected).abs().max() <= len(rows)  # the last digit of a norm may differ
    assert within.tolist() == also.tolist()
