"""Trees of items: what is a tree, how often a basket is divided by one, and subsets by their ranks."""

from itertools import combinations

import pytest
from tests.synth.baskets.small import PAIRS, RAGGED

from sfumato.errors import ParameterError
from sfumato.synth.baskets.taxonomy import ItemTree, subset, subsets_up_to


def test_groups_are_numbered_level_by_level():
    assert PAIRS.children == ((1, 2), (3, 4), (5, 6), (), (), (), ())
    assert PAIRS.members == ((0, 1, 2, 3), (0, 1), (2, 3), (0,), (1,), (2,), (3,))


def test_a_group_of_one_is_its_member():
    assert RAGGED.items == (2, 0, 1, 5, 3, 4)
    tree = RAGGED.placed(range(6))
    assert [tree.members[node] for node in tree.children[0]] == [(0, 1), (2,), (3, 4, 5)]
    assert [tree.inner[node] for node in (0, *tree.children[0])] == [(1, 2, 1), (0, 1), (), (0, 1, 1)]
    assert ItemTree.of([["tea"], [["milk"]]]).children == ((1, 2), (), ())


def test_items_have_the_places_that_are_asked_for():
    tree = ItemTree.of({"b": ["x", "y"], "a": ["z", "w"]}).placed(["w", "x", "y", "z"])
    assert tree.members[0] == (1, 2, 3, 0)
    assert tree.items == ("w", "x", "y", "z")
    for others in (["w", "x", "y"], ["w", "x", "y", "z", "v"], ["w", "x", "y", "z", "z"]):
        with pytest.raises(ParameterError, match="all declared items"):
            tree.placed(others)


@pytest.mark.parametrize("tree", [PAIRS, RAGGED, ItemTree.even(range(27), members=3)])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_basket_is_divided_more_often_than_is_said(tree, most):
    """Over all baskets: the groups that have one of its items, against what is said before and after each step."""
    groups = [node for node, below in enumerate(tree.children) if below]
    baskets = [set(one) for size in range(1, most + 1) for one in combinations(range(len(tree.items)), size)]
    furthest = 0
    for basket in baskets:
        cut, steps = [0], 0
        while inner := [node for node in cut if tree.children[node]]:
            before = tree.expansions(cut, most)
            members = [one for one in tree.children[inner[0]] if basket & set(tree.members[one])]
            cut = [node for node in cut if node != inner[0]] + members
            steps += 1
            assert tree.expansions(cut, most) < before
        assert steps == sum(bool(basket & set(tree.members[node])) for node in groups)
        furthest = max(furthest, steps)
    assert furthest <= tree.expansions([0], most) <= len(groups)


@pytest.mark.parametrize(("members", "most"), [(1, 1), (4, 1), (4, 2), (5, 5), (6, 3)])
def test_each_subset_has_one_rank(members, most):
    found = [subset(rank, members, most) for rank in range(subsets_up_to(members, most))]
    wanted = [one for one in range(1, 1 << members) if one.bit_count() <= most]
    assert sorted(found) == wanted
    assert [one.bit_count() for one in found] == sorted(one.bit_count() for one in wanted)


def test_an_even_tree_has_groups_of_about_as_many():
    tree = ItemTree.even(range(120), members=10)
    assert [len(own) for own in tree.children if own] == [2, 6, 6, *[10] * 12]
    assert tree.items == tuple(range(120))
    assert ItemTree.even(["tea"]).children == ((),)


@pytest.mark.parametrize("groups", [
    [], [["a"], []], ["a", "a"], [["a"], ["a"]], range(33), [1.5, 2], [None, "a"],
    [[[[[[[[[[[[[[[[[["a"]]]]]]]]]]]]]]]]], "b"],
])  # fmt: skip
def test_what_is_no_tree_is_refused(groups):
    with pytest.raises(ParameterError):
        ItemTree.of(groups)
    with pytest.raises(ParameterError):
        ItemTree.even(range(5), members=1)
