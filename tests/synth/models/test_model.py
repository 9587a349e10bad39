import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.shape import TableShape

SHAPE = TableShape({"a": 3, "b": 4, "c": 2})


def drawn(total=600):
    generator = np.random.default_rng(1)
    groups = (("a", "b"), ("c", "b"))
    return GraphicalModel(SHAPE, {group: generator.normal(size=SHAPE.lengths(group)) for group in groups}, total=total)


def whole_table(model):
    logs = model.potentials["a", "b"][:, :, np.newaxis] + model.potentials["b", "c"][np.newaxis]
    return model.total * np.exp(logs) / np.exp(logs).sum()


def test_marginals_are_expected_counts_in_the_order_asked_for():
    model = drawn()
    table = whole_table(model)
    assert np.allclose(model.marginal(["c", "a"]), table.sum(axis=1).T)
    assert np.allclose(model.marginal(["b"]), table.sum(axis=(0, 2)))
    assert model.marginal([]) == pytest.approx(600)
    assert model.cells == 12 + 8


def test_potentials_of_the_same_columns_are_added():
    ones = np.log([[1.0, 2.0], [3.0, 4.0]])
    shape = TableShape({"a": 2, "b": 2})
    model = GraphicalModel(shape, {("a", "b"): ones, ("b", "a"): ones.T}, total=30)
    assert np.allclose(model.marginal(["a", "b"]), [[1, 4], [9, 16]])


def test_no_potentials_make_all_rows_alike():
    assert np.allclose(GraphicalModel(SHAPE, {}, total=24).marginal(["a", "b", "c"]), 1)


def test_a_model_given_values_is_the_part_of_the_table_that_has_them():
    model = drawn()
    table = whole_table(model)
    part = model.given({"c": 1, "a": 2})
    assert part.total == pytest.approx(table[2, :, 1].sum())
    assert np.allclose(part.marginal(["b"]), table[2, :, 1])
    assert np.allclose(part.marginal(["a"]), [0, 0, part.total])
    rows = part.rows(500, seed=1)
    assert set(rows["a"].tolist()) == {2}
    assert set(rows["c"].tolist()) == {1}
    assert model.given({}) is model
    assert np.allclose(model.given({"c": 1}).given({"a": 2}).marginal(["b"]), table[2, :, 1])


def test_values_that_no_row_has_are_refused():
    never = np.array([0, -np.inf, 0])
    model = GraphicalModel(SHAPE, {("a",): never}, total=6)
    with pytest.raises(ParameterError, match="some row"):
        model.given({"a": 1})
    for values in ({"a": 3}, {"a": -1}, {"a": 0.5}, {"z": 0}, [("a", 1)], None):
        with pytest.raises(ParameterError, match="values"):
            model.given(values)


def test_rows_are_as_many_as_the_total_or_as_asked_for():
    model = drawn(total=99.6)
    assert len(model.rows(seed=1)["a"]) == 100
    assert len(model.rows(5, seed=1)["a"]) == 5
    assert len(drawn(total=0).rows()["a"]) == 0


@pytest.mark.parametrize(
    ("potentials", "said"),
    [
        ({("a",): [0, 0]}, "must have the shape"), ({("z",): [0, 0]}, "columns of the table"),
        ({"a": [0, 0, 0]}, "tuples"),
        ({("a",): [0, np.nan, 0]}, "logarithms"), ({("a",): [0, np.inf, 0]}, "logarithms"), (None, "mapping"),
        ({("a",): [-np.inf] * 3}, "at least one row"), ({("a",): ["x", 0, 0]}, "numbers"),
    ],
)  # fmt: skip
def test_what_are_no_potentials_is_refused(potentials, said):
    with pytest.raises(ParameterError, match=said):
        GraphicalModel(SHAPE, potentials, total=1)


@pytest.mark.parametrize("total", [-1, np.nan, np.inf, None, "x"])
def test_no_total_is_refused(total):
    with pytest.raises(ParameterError, match="total"):
        GraphicalModel(SHAPE, {}, total=total)


def test_a_model_beyond_memory_is_refused_before_it_is_made():
    shape = TableShape({"a": 1 << 20, "b": 1 << 20})
    with pytest.raises(ParameterError, match="memory_limit"):
        GraphicalModel(shape, {("a", "b"): np.zeros((1, 1))}, total=1)
    with pytest.raises(ParameterError, match="memory_limit"):
        GraphicalModel(SHAPE, {}, total=1, memory_limit=100)
    with pytest.raises(ParameterError, match="of at least 1"):
        GraphicalModel(SHAPE, {}, total=1, memory_limit=0)
