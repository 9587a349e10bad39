"""Levels of a quadtree add up, share one charge, and lie where their quarters say."""

import numpy as np
import pytest
from tests.geo.maps.test_cells import PARIS, counts, opened

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.geo.maps.noisy_map import noisy_map
from sfumato.geo.maps.quadtree import Quadtree


@pytest.fixture(scope="module")
def points():
    drawn = np.random.default_rng(17).uniform(-1, 1, (2, 3000))
    return 48.8566 + drawn[0] * 0.02, 2.3522 + drawn[1] * 0.03


def test_levels_of_a_tree_add_up_and_share_one_charge(points):
    tree = Quadtree(PARIS, width=2000, levels=3)
    found = counts(tree, *points)
    for quarter in range(4):
        inner = [value for keys, value in found.items() if keys[0] == quarter and keys[1] is not None]
        leaves = [value for keys, value in found.items() if keys[0] == quarter and None not in keys]
        assert found[quarter, None, None] == sum(leaves) == sum(inner) - sum(leaves)
    with opened(*points) as db:
        asked = noisy_map(db.table(), cells=tree)
        assert asked.cost(epsilon=1) == sf.PureDP(1)
        assert asked.explain(epsilon=1).count("discrete Laplace, scale 3") == 3
        asked.release(epsilon="0.5")
        assert db.spent == sf.PureDP("0.5")


def test_squares_of_a_tree_lie_where_their_quarters_say():
    tree = Quadtree(PARIS, width=2000, levels=2)
    whole = [tree.rings((quarter, None))[0][0] for quarter in range(4)]
    assert whole[0][2] == whole[3][0]  # the south-western one ends where the north-eastern one begins
    assert tree.rings((3, 3))[0][0][2] == whole[3][2]
    assert tree.label((3, None)) == "quarters 3"


def test_trees_that_cannot_be_drawn_are_refused():
    for options in ({"levels": 9}, {"levels": 0}, {"width": 10**7}):
        with pytest.raises(ParameterError):
            Quadtree(PARIS, **({"width": 1000, "levels": 2} | options))
