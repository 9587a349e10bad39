"""Rows for networks: grouped by their units, in blocks of one shape, and never shown."""

import numpy as np
import pytest
import torch

from sfumato.errors import ParameterError
from sfumato.learn.torch.training.examples import Examples

CPU = torch.device("cpu")


def placed(examples):
    return examples.opened(CPU).places


def test_each_row_is_a_unit_if_nothing_is_said():
    assert placed(Examples(np.ones((3, 2)), np.zeros(3))).tolist() == [[0], [1], [2]]


def test_of_a_unit_so_many_rows_are_kept_and_each_of_them_may_be():
    units = np.array(["b", "a", "b", "b", "c", "b"])
    seen = set()
    for _ in range(200):  # each of the four is left out of all of them with a chance of 2^-200
        places = placed(Examples(np.ones((6, 1)), np.zeros(6), units=units, rows_per_unit=2))
        assert [set(row.tolist()) - {-1} for row in places][::2] == [{1}, {4}]
        assert len(set(places[1].tolist())) == 2
        seen |= set(places[1].tolist())
    assert seen == {0, 2, 3, 5}


def test_blocks_have_one_shape_and_zeros_in_their_empty_places():
    rows = Examples(np.arange(1, 6)[:, None], np.arange(5)).opened(CPU)
    blocks = list(rows.blocks(np.array([4, 0, 2]), 2))
    assert [(inputs.tolist(), targets.tolist(), used.tolist()) for inputs, targets, used in blocks] == [
        ([[5], [1]], [4, 0], [True, True]),
        ([[3], [0]], [2, 0], [True, False]),
    ]
    assert [used.tolist() for _, _, used in rows.blocks(np.array([], dtype=np.intp), 2)] == [[False, False]]


def test_there_may_be_no_rows():
    rows = Examples(np.ones((0, 2)), np.zeros(0)).opened(CPU)
    assert rows.places.shape == (0, 1)
    rows = Examples(np.ones((0, 2)), np.zeros(0), units=np.zeros(0, dtype=int), rows_per_unit=3).opened(CPU)
    assert rows.places.shape == (0, 3)


def test_nothing_of_the_rows_is_shown():
    shown = repr(Examples(np.full((7, 2), 123.5), np.arange(7)))
    assert shown == "Examples(of 1 row a unit)"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"inputs": "abc", "targets": np.zeros(3)}, "inputs"),
        ({"inputs": np.ones((3, 1)), "targets": np.zeros(2)}, "targets"),
        ({"inputs": np.ones((3, 1)), "targets": np.array(["a", "b", "c"])}, "targets"),
        ({"inputs": np.ones((3, 1)), "targets": np.zeros(3), "rows_per_unit": 2}, "units"),
        ({"inputs": np.ones((3, 1)), "targets": np.zeros(3), "units": [1, 2]}, "units"),
        ({"inputs": np.ones((3, 1)), "targets": np.zeros(3), "units": [1, "a", None]}, "units"),
        ({"inputs": np.ones((3, 1)), "targets": np.zeros(3), "rows_per_unit": 0, "units": [1, 2, 3]}, "rows_per_unit"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, named):
    with pytest.raises(ParameterError) as error:
        Examples(**arguments)
    assert error.value.name == named
