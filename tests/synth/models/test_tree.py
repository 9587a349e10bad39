from itertools import combinations

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.shape import TableShape
from sfumato.synth.models.tree import ROOT, junction_tree

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42)


def shape_of(sizes):
    return TableShape({f"c{place}": size for place, size in enumerate(sizes)})


def assert_is_junction_tree(tree, groups):
    """Every group is in a clique, none in another, and cliques with a column hang together."""
    cliques = [set(clique) for clique in tree.cliques]
    assert all(any(set(group) <= clique for clique in cliques) for group in groups)
    assert not any(one <= other for one in cliques for other in cliques if one is not other)
    assert set().union(*cliques) == set(tree.shape.sizes)
    assert tree.parents[0] == ROOT
    for place in range(1, len(cliques)):
        parent = tree.parents[place]
        assert 0 <= parent < place
        assert set(tree.separators[place]) == cliques[place] & cliques[parent]
        assert tree.cliques[place][: len(tree.separators[place])] == tree.separators[place]
        earlier = set().union(*cliques[:place])
        assert cliques[place] & earlier <= cliques[parent], "what was seen before is in the parent"


@pytest.mark.parametrize("seed", range(25))
def test_trees_of_random_graphs_are_junction_trees(seed):
    generator = np.random.default_rng(seed)
    columns = [f"c{place}" for place in range(generator.integers(1, 10))]
    shape = TableShape({column: int(generator.integers(1, 6)) for column in columns})
    groups = [
        tuple(generator.choice(columns, size=min(len(columns), int(generator.integers(1, 4))), replace=False).tolist())
        for _ in range(generator.integers(0, 9))
    ]
    assert_is_junction_tree(junction_tree(shape, groups), groups)


def test_a_tree_of_pairs_has_the_pairs_as_cliques():
    pairs = [("c0", f"c{place}") for place in range(1, 13)]
    tree = junction_tree(shape_of(ADULT), pairs)
    assert {frozenset(clique) for clique in tree.cliques} == {frozenset(pair) for pair in pairs}
    assert tree.cells == sum(85 * size for size in ADULT[1:])
    assert tree.size == 8 * tree.cells


def test_columns_that_nothing_joins_are_cliques_of_their_own():
    tree = junction_tree(shape_of((2, 3, 4)), [])
    assert sorted(tree.cliques) == [("c0",), ("c1",), ("c2",)]
    assert tree.separators == ((), (), ())
    assert tree.cells == 9


def test_a_cycle_is_cut_where_it_costs_least():
    cycle = [("c0", "c1"), ("c1", "c2"), ("c2", "c3"), ("c0", "c3")]
    tree = junction_tree(shape_of((10, 2, 10, 2)), cycle)
    assert {frozenset(clique) for clique in tree.cliques} == {
        frozenset(("c0", "c1", "c3")),
        frozenset(("c1", "c2", "c3")),
    }
    assert tree.cells == 80


def test_the_home_of_columns_is_the_smallest_clique_that_has_them():
    tree = junction_tree(shape_of((2, 50, 3)), [("c0", "c1"), ("c0", "c2")])
    assert set(tree.cliques[tree.home(("c0",))]) == {"c0", "c2"}
    assert tree.home(("c1", "c2")) is None


def test_more_memory_than_allowed_is_refused_before_it_is_taken():
    shape, pairs = shape_of(ADULT), [("c0", "c2"), ("c2", "c9"), ("c0", "c9")]
    cells = 85 * 100 * 100 + sum(size for place, size in enumerate(ADULT) if place not in {0, 2, 9})
    needed = 3 * 8 * cells + 1000
    assert junction_tree(shape, pairs, memory_limit=needed, arrays=3, beside=1000).cells == cells
    with pytest.raises(ParameterError, match=r"most of them of c0, c2, c9\. Leave out .* or state a tree_limit"):
        junction_tree(shape, pairs, memory_limit=needed - 1, arrays=3, beside=1000)


def test_a_tree_too_large_to_be_drawn_is_refused_at_once():
    shape = shape_of([100] * 100)
    with pytest.raises(ParameterError, match="c0, c1, c2, c3, c4 and others"):
        junction_tree(shape, combinations(shape.sizes, 2), memory_limit=1 << 40)
