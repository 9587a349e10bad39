from fractions import Fraction
from itertools import combinations, pairwise, product

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


SIGNED = [[3, 1, 0, -2, 1, 2], [-4, 2, 1, 1, 0, -1], [0, 2, "0.5", 3, -1, 1]]


def separated(steps: int, most: int, apart: int) -> list[tuple[int, ...]]:
    sets = [chosen for count in range(1, most + 1) for chosen in combinations(range(steps), count)]
    return [chosen for chosen in sets if all(b - a >= apart for a, b in pairwise(chosen))]


def limit_of(encoder, **at) -> float:
    return 1 / float(matrix_event(encoder, 1, **at).noise_multiplier)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize(("most", "apart"), [(2, 1), (2, 2), (3, 2), (6, 3), (2, 5), (4, 1)])
def test_no_separated_participations_move_more_than_the_bound(most, apart, relation):
    """Every set of rows with every sign; of a replaced unit two such sets, where a row of both moves once."""
    limit = limit_of(SIGNED, participations=most, min_separation=apart, neighboring_relation=relation)
    matrix, sets = np.array(SIGNED, dtype=float), separated(6, most, apart)
    if relation is REPLACE_ONE:
        sets = sorted({tuple(sorted({*one, *other})) for one, other in product(sets, repeat=2)})
    moves = [np.array(list(product((-1, 1), repeat=len(chosen)))) @ matrix[:, list(chosen)].T for chosen in sets]
    largest = max(float(np.linalg.norm(move, axis=1).max()) for move in moves)
    assert largest <= limit * (1 + 1e-12)
    assert limit <= (2 if relation is REPLACE_ONE else 1.06) * largest


def test_columns_that_share_no_row_add_up_by_their_squares():
    """A band of two: participations two steps apart share no row, and those of neighbors would."""
    band = np.eye(12, dtype=int) + np.eye(12, k=-1, dtype=int)
    assert limit_of(band.tolist(), participations=4, min_separation=2) == pytest.approx(np.sqrt(8), rel=1e-9)
    assert limit_of(band.tolist(), participations=4) == pytest.approx(4, rel=1e-9)


def test_more_participations_than_fit_cost_no_more():
    once = limit_of(SIGNED, participations=1)
    assert limit_of(SIGNED, participations=9, min_separation=6) == once
    assert limit_of(SIGNED, participations=9, min_separation=5) > once
    with pytest.raises(ParameterError, match="min_separation"):
        matrix_event(SIGNED, 1, participations=1, min_separation=0)


def test_norms_alone_are_added_up_where_there_are_too_many_steps(monkeypatch):
    monkeypatch.setattr("sfumato.accounting.core.matrix_events._LARGEST_GRAM", 5)
    norms = np.linalg.norm(np.array(SIGNED, dtype=float), axis=0)
    largest = max(norms[list(chosen)].sum() for chosen in separated(6, 3, 2))
    assert limit_of(SIGNED, participations=3, min_separation=2) == pytest.approx(largest)
