import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.layout import laid_out
from sfumato.synth.models.shape import TableShape
from sfumato.synth.models.tree import junction_tree

SHAPE = TableShape({"a": 2, "b": 3, "c": 4, "d": 5})
GROUPS = [("b",), ("a", "b"), ("b", "c", "d"), ("c", "d"), ("a",), ("c",)]
LAYOUT = laid_out(junction_tree(SHAPE, GROUPS), GROUPS)


def drawn():
    generator = np.random.default_rng(1)
    return [generator.normal(size=SHAPE.lengths(group)) for group in LAYOUT.groups]


def test_each_group_is_read_from_the_smallest_group_around_it():
    read = {
        group: None if place is None else LAYOUT.groups[place]
        for group, place in zip(LAYOUT.groups, LAYOUT.inside, strict=True)
    }
    assert read == {
        ("b", "c", "d"): None, ("a", "b"): None, ("c", "d"): ("b", "c", "d"),
        ("a",): ("a", "b"), ("b",): ("a", "b"), ("c",): ("c", "d"),
    }  # fmt: skip


def test_spread_arrays_have_the_sum_of_all_groups_in_every_row():
    values = drawn()
    cliques = LAYOUT.tree.cliques
    filled = LAYOUT.spread(values)
    for row in np.ndindex(*SHAPE.sizes.values()):
        at = dict(zip(SHAPE.sizes, row, strict=True))
        laid = sum(array[tuple(at[name] for name in clique)] for array, clique in zip(filled, cliques, strict=True))
        given = sum(
            array[tuple(at[name] for name in group)] for array, group in zip(values, LAYOUT.groups, strict=True)
        )
        assert laid == pytest.approx(given)


def test_gathering_is_the_transpose_of_spreading():
    values = drawn()
    generator = np.random.default_rng(2)
    joints = [generator.normal(size=SHAPE.lengths(clique)) for clique in LAYOUT.tree.cliques]
    spread, gathered = LAYOUT.spread(values), LAYOUT.gather(joints)
    on_cliques = sum((one * other).sum() for one, other in zip(spread, joints, strict=True))
    on_groups = sum((one * other).sum() for one, other in zip(values, gathered, strict=True))
    assert on_cliques == pytest.approx(on_groups)


def test_what_is_in_the_cliques_already_is_kept_and_not_overwritten():
    before = [np.ones(SHAPE.lengths(clique)) for clique in LAYOUT.tree.cliques]
    values = drawn()
    copies = [value.copy() for value in values]
    more = LAYOUT.spread(values, onto=before)
    assert all((part == 1).all() for part in before)
    assert all(np.array_equal(one, other) for one, other in zip(values, copies, strict=True))
    assert all(np.allclose(one, other + 1) for one, other in zip(more, LAYOUT.spread(values), strict=True))


def test_rows_are_split_as_they_were_joined():
    values = drawn()
    assert all(np.array_equal(*pair) for pair in zip(values, LAYOUT.split(LAYOUT.join(values)), strict=True))


def test_a_group_that_no_clique_has_is_refused():
    with pytest.raises(ParameterError, match="in a clique of the tree"):
        laid_out(LAYOUT.tree, [("a", "d")])
