"""Strategies: the columns of each, and how far one unit moves their measurements, against brute force."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exhaustive import neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.matrix.strategies import (
    LARGEST_ENTRY,
    LARGEST_ROWS,
    hierarchical,
    identity,
    movement,
    rationals,
    whole,
    whole_multiple,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

CELLS = 3
MATRICES = st.lists(st.lists(st.integers(-3, 3), min_size=CELLS, max_size=CELLS), min_size=1, max_size=4)


def histogram(rows):
    return np.array([sum(row == cell for row in rows) for cell in range(CELLS)])


@given(MATRICES, st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_no_unit_moves_the_measurements_further_and_one_moves_them_as_far(matrix, relation):
    strategy = whole(matrix, cells=CELLS)
    pairs = neighbours([*range(CELLS), None], relation, sizes=range(2))  # None is counted in no cell
    moves = [strategy @ (histogram(first) - histogram(second)) for first, second in pairs]
    found = movement(strategy, relation)
    assert found.l0 == max(np.count_nonzero(move) for move in moves)
    assert found.l1 == max(np.abs(move).sum() for move in moves)
    assert found.l2_squared == max((move**2).sum() for move in moves)


def test_the_relation_may_be_its_name_and_nothing_else():
    assert movement(identity(2), "replace_one") == movement(identity(2), REPLACE_ONE)
    assert movement(identity(2), "add_or_remove_one") == movement(identity(2), ADD_OR_REMOVE_ONE)
    with pytest.raises(AssertionError):
        movement(identity(2), "none")


def test_the_largest_entries_and_rows_do_not_wrap():
    assert LARGEST_ROWS * (2 * LARGEST_ENTRY) ** 2 < 2**63
    strategy = np.full((1000, 2), LARGEST_ENTRY)
    strategy[:, 1] = -LARGEST_ENTRY
    assert movement(strategy, REPLACE_ONE).l2_squared == 1000 * (2 * LARGEST_ENTRY) ** 2


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 13])
def test_a_tree_holds_all_cells_each_cell_and_the_sum_of_any_two_children(cells):
    rows = {tuple(row) for row in hierarchical(cells).tolist()}
    assert len(rows) == len(hierarchical(cells)) == 2 * cells - 1
    assert {(1,) * cells, *map(tuple, identity(cells).tolist())} <= rows
    sums = {tuple(map(sum, zip(*pair, strict=True))) for pair in product(rows, repeat=2)}
    assert all(row in sums for row in rows if sum(row) > 1)
    assert movement(hierarchical(cells), ADD_OR_REMOVE_ONE).l1 == (cells - 1).bit_length() + 1


def test_the_workload_is_measured_in_whole_numbers():
    workload = rationals([["1/2", "1/3"], [1, 0]])
    assert whole_multiple(workload).tolist() == [[3, 2], [6, 0]]


@pytest.mark.parametrize("workload", [[[0.5, 2]], np.array([[0.5, 2.0]]), [("0.5", Fraction(2))]], ids=type)
def test_a_workload_is_taken_at_its_word(workload):
    assert rationals(workload) == ((Fraction(1, 2), Fraction(2)),)


@pytest.mark.parametrize(
    "workload",
    [[], [[]], [[1, 2], [3]], [1, 2], ["12"], [[LARGEST_ENTRY + 1]], [[None]], np.ones(3), np.ones((0, 3)), [[1e400]]],
    ids=str,
)
def test_what_is_no_workload_is_refused(workload):
    with pytest.raises(ParameterError, match="workload"):
        rationals(workload)


@pytest.mark.parametrize("strategy", [[], [[1]], [[1, 0.5]], [[1, -LARGEST_ENTRY - 1]], [1, 2], [[1, 2], [3]]], ids=str)
def test_what_is_no_strategy_is_refused(strategy):
    with pytest.raises(ParameterError, match="strategy"):
        whole(strategy, cells=2)


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr("sfumato.mechanisms.matrix.strategies.LARGEST_ROWS", 3)
    assert whole([[1]] * 3, cells=1).shape == (3, 1)
    with pytest.raises(ParameterError, match="strategy"):
        whole([[1]] * 4, cells=1)
