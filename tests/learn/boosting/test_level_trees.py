"""Trees with one split a level: one leaf a row, and splits that are uniform."""

from itertools import product

import numpy as np
import pytest
from tests.learn.made import KIND, NUMBER

from sfumato.learn.boosting.bins import FeatureBins
from sfumato.learn.boosting.level_trees import LevelTree, level_tree_of, random_level_tree
from sfumato.session.training.columns import TrainingColumn

BINS = FeatureBins(columns=(NUMBER, KIND), most=3)
ONE = TrainingColumn(name="one", values=("a",))


def test_each_row_is_in_one_leaf_whatever_stands_in_it():
    """By hand: the bits of a leaf are the sides of its bins; codes beyond their ranges have the nearest bin."""
    codes = np.array(list(product((-5, 0, 1, 2, 9), (-1, 0, 1, 2, 9))), dtype=np.int32)
    for _ in range(20):
        tree = random_level_tree(BINS, depth=3)
        found = tree.leaves_of(BINS.rows_placed(codes))
        for row, leaf in zip(codes, found.tolist(), strict=True):
            bins = [min(max(int(code), 0), 2) for code in row]
            sides = zip(tree.columns, tree.sides, strict=True)
            assert leaf == sum(int(side[bins[column]]) << level for level, (column, side) in enumerate(sides))
            assert 0 <= leaf < tree.leaves == 8
        assert (tree.leaves_of(BINS.rows_placed(codes[::-1])) == found[::-1]).all()


def test_a_value_that_is_not_listed_goes_to_the_left():
    tree = LevelTree(columns=(1, 1), sides=(np.array([1, 1, 0]), np.array([0, 1, 1])))
    assert tree.leaves_of(BINS.places(np.array([[0, -1], [0, 9], [0, 1]]))).tolist() == [0, 2, 3]


@pytest.mark.statistical
def test_splits_are_uniform():
    """Of a number two cuts, of a category of three values six parts: each is drawn as often, within six deviations."""
    draws = 1200
    trees = [random_level_tree(BINS, depth=2) for _ in range(draws)]
    for level in range(2):
        found = [(tree.columns[level], tuple(tree.sides[level].tolist())) for tree in trees]
        numbers = [(0, (0, 0, 1)), (0, (0, 1, 1))]
        kinds = [(1, sides) for sides in product((0, 1), repeat=3) if 0 < sum(sides) < 3]
        assert set(found) == {*numbers, *kinds}
        for one, chance in [*((one, 1 / 4) for one in numbers), *((one, 1 / 12) for one in kinds)]:
            assert abs(found.count(one) - draws * chance) < 6 * (draws * chance * (1 - chance)) ** 0.5


def test_columns_of_one_bin_are_not_split():
    both = FeatureBins(columns=(ONE, NUMBER), most=3)
    assert {column for _ in range(20) for column in random_level_tree(both, depth=2).columns} == {1}
    alone = FeatureBins(columns=(ONE,), most=3)
    tree = random_level_tree(alone, depth=2)
    assert tree.leaves_of(alone.places(np.zeros((3, 1), dtype=np.int32))).tolist() == [0, 0, 0]


def test_a_document_has_the_tree():
    tree = random_level_tree(BINS, depth=4)
    copy = level_tree_of(tree.document())
    assert copy.columns == tree.columns
    assert [side.tolist() for side in copy.sides] == [side.tolist() for side in tree.sides]
