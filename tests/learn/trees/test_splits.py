"""Random trees: splits that separate levels, each column until one level of it is left, uniform and drawn afresh."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.learn.made import KIND, NUMBER

from sfumato.learn.trees.splits import Feature, feature_of, levels_of, random_tree, tree_of
from sfumato.session.training.columns import TrainingColumn

ALPHA = 1e-6
FEATURES = (
    Feature(steps=5, levels=6, is_ordered=True), Feature(steps=2, levels=3, is_ordered=False),
    Feature(steps=1, levels=2, is_ordered=False),
)  # fmt: skip
EVERY = np.array(list(product(range(6), range(3), range(2))))


def walked(tree, row):
    """The leaf of one row, node by node, and what is left of each column there."""
    node, left = 0, [[0, feature.levels - 1] for feature in FEATURES]
    ranks = [tree.orders[place][level] if place in tree.orders else level for place, level in enumerate(row)]
    while node < len(tree.columns):
        column, threshold = tree.columns[node], tree.thresholds[node]
        low, high = left[column]
        if any(first < last for first, last in left):
            assert low <= threshold < high  # it separates two levels
        else:
            assert threshold >= high  # all is spent: every row goes to the left
        goes_right = ranks[column] > threshold
        left[column] = [threshold + 1, high] if goes_right else [low, min(threshold, high)]
        node = 2 * node + 1 + goes_right
    return node - len(tree.columns), left


@pytest.mark.parametrize("depth", [1, 3, 9])
def test_each_split_separates_levels_that_are_left(depth):
    for _ in range(5):
        tree = random_tree(FEATURES, depth=depth)
        assert (tree.depth, len(tree.thresholds)) == (depth, 2**depth - 1)
        leaves = tree.leaves_of(EVERY)
        for row, leaf in zip(EVERY.tolist(), leaves.tolist(), strict=True):
            found, left = walked(tree, row)
            assert found == leaf
            if depth == 9:  # more than there are levels to separate: no two rows share a leaf
                assert all(low == high for low, high in left)
        assert depth < 9 or len(set(leaves.tolist())) == len(EVERY)


def test_orders_of_categories_are_orders_and_numbers_have_none():
    tree = random_tree(FEATURES, depth=2)
    assert {place: sorted(order.tolist()) for place, order in tree.orders.items()} == {1: [0, 1, 2], 2: [0, 1]}


def test_a_value_that_is_not_listed_goes_to_the_left():
    kind = Feature(steps=2, levels=3, is_ordered=False)
    tree = random_tree((kind,), depth=2)
    first = int(np.argmin(tree.orders[0]))
    assert tree.leaves_of(np.array([[-1]])) == tree.leaves_of(np.array([[first]])) == 0
    codes = np.array([[-1], [9]], dtype=np.int32)
    assert levels_of((kind,), codes, is_listed=False).tolist() == [[-1], [2]]
    assert levels_of((kind,), codes, is_listed=True).tolist() == [[0], [2]]


def test_levels_of_columns():
    assert feature_of(NUMBER) == Feature(steps=2, levels=3, is_ordered=True)
    assert feature_of(KIND) == feature_of(KIND, is_category=True) == Feature(steps=2, levels=3, is_ordered=False)
    months = TrainingColumn(name="month", lower=Fraction(1), upper=Fraction(12))
    feature = feature_of(months, is_category=True)
    assert (feature.levels, feature.is_ordered) == (12, False)
    assert feature.level_of(months.encode([1, 2, 7, 7.4, 12])).tolist() == [0, 1, 6, 6, 11]
    assert feature_of(months).levels == 4097


def test_a_document_is_the_tree():
    tree = random_tree(FEATURES, depth=4)
    again = tree_of(json.loads(json.dumps(tree.document())))
    assert (again.leaves_of(EVERY) == tree.leaves_of(EVERY)).all()
    assert again.document() == tree.document()


def test_no_rows_have_no_leaves():
    assert random_tree(FEATURES, depth=3).leaves_of(np.zeros((0, 3), dtype=np.int64)).shape == (0,)


@pytest.mark.statistical
def test_columns_thresholds_and_orders_are_uniform():
    """Of 3,000 trees the root, and below it, where one of two columns may be spent; type-I error 1e-6 each."""
    features = (Feature(steps=1, levels=2, is_ordered=True), Feature(steps=3, levels=4, is_ordered=False))
    trees = [random_tree(features, depth=2) for _ in range(3000)]
    roots = [(int(tree.columns[0]), int(tree.thresholds[0])) for tree in trees]
    shares = {(0, 0): 1 / 2, (1, 0): 1 / 6, (1, 1): 1 / 6, (1, 2): 1 / 6}
    expected = [3000 * shares[one] for one in shares]
    assert chisquare([roots.count(one) for one in shares], expected).pvalue > ALPHA
    after = [int(tree.columns[1]) for tree, root in zip(trees, roots, strict=True) if root == (1, 2)]
    assert chisquare([after.count(0), after.count(1)]).pvalue > ALPHA
    assert all(tree.columns[1] == 1 for tree, root in zip(trees, roots, strict=True) if root == (0, 0))
    orders = [tuple(tree.orders[1].tolist()) for tree in trees]
    assert chisquare([orders.count(one) for one in set(orders)]).pvalue > ALPHA
    assert len(set(orders)) == 24
