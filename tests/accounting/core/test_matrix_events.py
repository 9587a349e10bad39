from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato.accounting.core.matrix_events import matrix_event, tree_aggregation_event
from sfumato.errors import ParameterError
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE


@pytest.mark.parametrize(("steps", "levels"), [(1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11)])
def test_a_leaf_is_in_one_node_of_each_level(steps, levels):
    event = tree_aggregation_event(7, steps)
    assert float(event.noise_multiplier) == pytest.approx(7 / np.sqrt(levels))
    assert event.noise_multiplier**2 * levels <= 49


def test_of_several_trees_a_unit_is_in_the_largest_at_worst():
    assert tree_aggregation_event(7, [3, 500, 24]) == tree_aggregation_event(7, 500)


@pytest.mark.parametrize("steps", [0, -1, [], [3, 0], 2.5, True])
def test_steps_are_checked(steps):
    with pytest.raises(ParameterError, match="steps"):
        tree_aggregation_event(7, steps)


def test_the_longest_column_is_what_one_participation_moves():
    prefix = np.tril(np.ones((4, 4), dtype=int)).tolist()
    assert matrix_event(prefix, 1, participations=1).noise_multiplier == Fraction(1, 2)
    assert matrix_event(np.eye(3).tolist(), "2.5", participations=1).noise_multiplier == Fraction(5, 2)


def test_rounding_never_lengthens_the_noise():
    event = matrix_event([["0.1"], ["0.3"]], 1, participations=1)
    assert event.noise_multiplier**2 * Fraction(1, 10) <= 1
    assert float(event.noise_multiplier) == pytest.approx(1 / np.sqrt(0.1), rel=1e-15)


@pytest.mark.parametrize("participations", [1, 2, 3])
def test_no_participation_moves_more_than_the_bound(participations):
    encoder = [[3, 1, 0], [-4, 2, 1], [0, 2, "0.5"]]
    limit = 1 / float(matrix_event(encoder, 1, participations=participations).noise_multiplier)
    matrix = np.array(encoder, dtype=float)
    for moved in product((-1, 0, 1), repeat=3):
        if np.count_nonzero(moved) <= participations:
            assert np.linalg.norm(matrix @ moved) <= limit * (1 + 1e-12)


def test_an_encoder_of_zeros_releases_nothing():
    assert matrix_event([[0, 0]], 1, participations=1) == ComposedEvent(())


@pytest.mark.parametrize("encoder", [[], [[]], [[1, 2], [3]]])
def test_the_shape_of_the_encoder_is_checked(encoder):
    with pytest.raises(ParameterError, match="encoder"):
        matrix_event(encoder, 1, participations=1)


@pytest.mark.parametrize(("noise", "participations", "name"), [(0, 1, "noise_multiplier"), (1, 0, "participations")])
def test_parameters_are_checked(noise, participations, name):
    with pytest.raises(ParameterError, match=name):
        matrix_event([[1]], noise, participations=participations)


def nodes_of(leaves):
    """For each leaf the nodes of complete binary trees that hold it, one row of ones and zeros for each node."""
    whole = [(start, width) for width in (1, 2, 4, 8) for start in range(0, leaves - width + 1, width)]
    return np.array([[int(start <= leaf < start + width) for leaf in range(leaves)] for start, width in whole])


@pytest.mark.parametrize("leaves", range(1, 9))
def test_no_replacement_in_another_leaf_moves_a_tree_more_than_the_bound(leaves):
    tree = nodes_of(leaves)
    limits = {
        relation: 1 / float(tree_aggregation_event(1, leaves, neighboring_relation=relation).noise_multiplier)
        for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE)
    }
    moved = np.array([np.linalg.norm(tree[:, one] + tree[:, other]) for one in range(leaves) for other in range(one)])
    assert np.all(np.linalg.norm(tree, axis=0) <= limits[ADD_OR_REMOVE_ONE] * (1 + 1e-12))
    assert np.all(moved <= limits[REPLACE_ONE] * (1 + 1e-12))
    if leaves in {2, 4, 8}:
        assert moved.max() == pytest.approx(limits[REPLACE_ONE])


def test_a_replacement_may_move_twice_as_many_rows():
    encoder = [[3, 1, 0], [-4, 2, 1], [0, 2, "0.5"]]
    for rows in (1, 2):
        replaced = matrix_event(encoder, 1, participations=rows, neighboring_relation=REPLACE_ONE)
        assert replaced == matrix_event(encoder, 1, participations=2 * rows)


def test_an_unknown_relation_is_refused():
    for make in (
        lambda name: tree_aggregation_event(1, 2, neighboring_relation=name),
        lambda name: matrix_event([[1]], 1, neighboring_relation=name, participations=1),
    ):
        with pytest.raises(ParameterError, match="neighboring_relation"):
            make("swap")
