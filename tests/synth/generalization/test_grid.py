"""A grid puts each row into one cell, whatever its values are, and never makes more cells than are allowed."""

from itertools import product

import numpy as np
import pytest
from tests.synth.generalization.small import AGE, HIERARCHIES, PET

from sfumato.synth.generalization.grid import CellGrid

START = CellGrid(tuple((one,) for one in HIERARCHIES))
EVERY = np.array(list(product(range(PET.size), range(AGE.size))))


def walk(grid, most_cells):
    """All grids that follow."""
    yield grid
    for candidate in grid.candidates(most_cells=most_cells):
        yield from walk(grid.specialized(candidate), most_cells)


def first_codes(grid):
    """A row of each cell."""
    groups = grid.groups_of(np.arange(grid.cells))
    return np.array([[own[at].codes[0] for own, at in zip(grid.groups, row, strict=True)] for row in groups])


def test_each_row_is_in_the_cell_of_its_groups():
    for grid in walk(START, 100):
        cells = grid.cells_of(EVERY)
        for (pet, age), cell in zip(EVERY, cells, strict=True):
            first, second = divmod(int(cell), grid.lengths[1])
            assert pet in grid.groups[0][first].codes
            assert age in grid.groups[1][second].codes
        assert grid.cells == np.prod(grid.lengths)
        assert grid.cells_of(first_codes(grid)).tolist() == list(range(grid.cells))
        for groups, attribute in zip(grid.groups, (PET, AGE), strict=True):
            assert sorted(code for group in groups for code in group.codes) == list(range(attribute.size))


@pytest.mark.parametrize("most", [1, 2, 3, 4, 6, 7, 8, 11, 12])
def test_no_more_cells_are_made_than_are_allowed_and_all_that_are(most):
    limited, free = list(walk(START, most)), list(walk(START, 100))
    assert max(one.cells for one in limited) <= most
    assert set(limited) == {one for one in free if one.cells <= most}


def test_candidates_are_in_a_fixed_order_and_choices_are_replayed():
    first = START.candidates(most_cells=100)
    assert [(one.attribute, one.group, len(one.parts)) for one in first] == [(0, 0, 2), (1, 0, 2), (1, 0, 2)]
    second = START.specialized(first[2])
    third = second.specialized(second.candidates(most_cells=100)[0])
    assert START.replayed([2, 0], most_cells=100) == third
    assert third.lengths == (2, 2)
