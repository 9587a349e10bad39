"""Scores are what their definition says, and no unit moves them further than is stated."""

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
from tests.synth.generalization.small import AGE, HIERARCHIES, PET, rows_of
from tests.synth.generalization.test_grid import START

from sfumato.synth.generalization.grid import CellGrid
from sfumato.synth.generalization.scores import ClassRows, right_rows

KINDS = list(product(range(PET.size), range(AGE.size), range(2)))
FEW = [(2, 0, 0), (2, 0, 1), (0, 2, 1), (1, 1, 0)]
GRIDS = (START, START.replayed([0], most_cells=100), START.replayed([1, 0, 2], most_cells=100))


def by_definition(given, grid, candidates):
    """Row by row, cell by cell."""
    found = []
    for candidate in candidates:
        after, counts = grid.specialized(candidate), {}
        for (pet, age, label), amount in given.items():
            cell = int(after.cells_of(np.array([[pet, age]]))[0])
            counts.setdefault(cell, Counter())[label] += amount
        found.append(sum(max(own.values()) for own in counts.values()))
    return found


def test_scores_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    for grid in GRIDS:
        candidates = grid.candidates(most_cells=100)
        for _ in range(20):
            given = dict(zip(KINDS, rng.integers(0, 6, len(KINDS)).tolist(), strict=True))
            assert right_rows(rows_of(given), grid, candidates) == by_definition(given, grid, candidates)


def test_without_rows_all_scores_are_0_and_without_candidates_there_are_none():
    assert right_rows(rows_of({}), START, START.candidates(most_cells=100)) == [0, 0, 0]
    assert right_rows(rows_of({(0, 0, 0): 3}), START, ()) == []


def test_no_row_moves_a_score_further_than_one():
    """All tables of up to four rows of four kinds, and each neighbor: adding raises, and replacing moves by one."""
    reached = set()
    for grid in GRIDS:
        candidates = grid.candidates(most_cells=100)
        known = {
            own: np.array(right_rows(rows_of(Counter(own)), grid, candidates))
            for size in range(6)
            for own in combinations_with_replacement(FEW, size)
        }
        for own, scores in known.items():
            if len(own) == 5:
                continue
            added = [known[tuple(sorted((*own, row), key=FEW.index))] - scores for row in FEW]
            assert all(((one >= 0) & (one <= 1)).all() for one in added)
            for one, other in product(added, added):
                assert (np.abs(one - other) <= 1).all()
                reached |= set((one - other).tolist())
    assert reached == {-1, 0, 1}


def test_values_of_other_attributes_keep_cells_apart():
    both = CellGrid((HIERARCHIES[0].below, HIERARCHIES[1].specializations[0]))
    given = {(2, 0, 0): 3, (2, 1, 1): 2, (1, 0, 1): 1, (3, 2, 0): 7}
    candidates = both.candidates(most_cells=100)
    assert right_rows(rows_of(given), both, candidates) == by_definition(given, both, candidates)


def test_there_may_be_more_attributes_than_arrays_have_axes():
    many = CellGrid((HIERARCHIES[:1],) * 80)
    codes = np.tile([[2], [1]], (1, 80))
    rows = ClassRows(codes=codes, labels=np.array([0, 1]), amounts=np.array([5, 4]), classes=2)
    assert right_rows(rows, many, many.candidates(most_cells=100)) == [9] * 80
    last = many.specialized(many.candidates(most_cells=100)[79])
    assert last.groups_of(np.arange(2))[:, 78:].tolist() == [[0, 0], [0, 1]]
