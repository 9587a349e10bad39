"""How far a unit moves the nodes of a tree: never further than stated, by trying every placement."""

from itertools import product

import pytest
from tests.mechanisms.continual.streams import largest_move, nodes_of_a_tree

from sfumato.errors import ParameterError
from sfumato.mechanisms import Participation


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 7, 8])
def test_no_placement_moves_a_tree_further_than_stated(horizon):
    nodes, levels = nodes_of_a_tree(horizon), horizon.bit_length()
    for most, separation in product((1, 2, 3), (1, 2, 3, 4)):
        several = Participation(most, separation)
        squared = largest_move(nodes, most, separation, (-1, 1), power=2)
        assert squared <= several.nodes_squared(levels, horizon)
        assert largest_move(nodes, most, separation, (-1, 1), power=1) <= levels * several.within(horizon)
        if most == 1 or horizon in {1, 2, 4, 8}:
            assert squared >= several.nodes_squared(levels, horizon) * 0.7


def test_one_participation_moves_one_node_of_each_level():
    assert [Participation().nodes_squared(levels, 1 << levels - 1) for levels in (1, 2, 11)] == [1, 2, 11]
    assert Participation(most=5, separation=1).nodes_squared(1, 8) == 5


def test_the_separation_limits_how_often():
    assert Participation(most=9, separation=7).within(15) == 3
    assert Participation(most=2, separation=7).within(15) == 2


@pytest.mark.parametrize("wrong", [{"most": 0}, {"separation": 0}, {"most": 1.0}, {"most": True}])
def test_what_is_no_count_is_refused(wrong):
    with pytest.raises(ParameterError):
        Participation(**wrong)
