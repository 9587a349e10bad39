"""Marginals, conditions and rows of mixtures, beside the table of all rows."""

from itertools import permutations, product

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.mixture import MixtureModel, halved, parts_of, products
from sfumato.synth.models.shape import TableShape

SHAPE = TableShape({"a": 2, "b": 3, "c": 4, "d": 2})
BLOCKS = (("a",), ("b", "d"), ("c",))


def made_up(seed=1, components=3, total=240, blocks=BLOCKS):
    generator = np.random.default_rng(seed)
    own = {block: generator.gamma(0.5, size=(components, *SHAPE.lengths(block))) for block in blocks}
    return MixtureModel(SHAPE, generator.gamma(1, size=components), own, total=total)


def table_of(model):
    """The expected count of each row, by the definition."""
    sizes = model.shape.sizes
    table = np.zeros(tuple(sizes.values()))
    for values in product(*map(range, sizes.values())):
        row = dict(zip(sizes, values, strict=True))
        for component, weight in enumerate(model.weights):
            share = weight
            for block, own in model.probabilities.items():
                share *= own[(component, *(row[name] for name in block))]
            table[values] += model.total * share
    return table


@pytest.mark.parametrize("seed", range(3))
def test_marginals_are_those_of_the_whole_table(seed):
    model = made_up(seed)
    table, names = table_of(model), list(SHAPE.sizes)
    assert table.sum() == pytest.approx(240)
    for size in range(5):
        for columns in permutations(names, size):
            rest = tuple(axis for axis, name in enumerate(names) if name not in columns)
            left = [name for name in names if name in columns]
            expected = table.sum(axis=rest).transpose([left.index(name) for name in columns])
            assert np.allclose(model.marginal(columns), expected), columns


@pytest.mark.parametrize("fixed", [{"a": 1}, {"b": 2}, {"d": 0, "c": 3}, {"b": 0, "d": 1}, dict.fromkeys("abcd", 1)])
def test_a_condition_is_exact(fixed):
    model = made_up()
    table, names = table_of(model), list(SHAPE.sizes)
    expected = np.zeros(table.shape)
    place = tuple(fixed.get(name, slice(None)) for name in names)
    expected[place] = table[place]
    narrowed = model.given(fixed)
    assert narrowed.total == pytest.approx(expected.sum())
    assert np.allclose(table_of(narrowed), expected)
    assert {name: set(own.tolist()) for name, own in narrowed.rows(50, seed=1).items() if name in fixed} == {
        name: {value} for name, value in fixed.items()
    }


def test_a_condition_leaves_out_components_without_such_rows():
    own = {("a",): [[1, 0], [0, 1], [1, 1]], ("b", "d"): np.ones((3, 3, 2)), ("c",): np.ones((3, 4))}
    model = MixtureModel(SHAPE, [1, 2, 1], own, total=80)
    assert model.given({"a": 0}).weights.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert model.given({"a": 0}).total == pytest.approx(30)
    assert model.given({}) is model
    zero = MixtureModel(SHAPE, [1, 0, 0], own, total=80)
    with pytest.raises(ParameterError, match="some row"):
        zero.given({"a": 1})
    for values in ({"x": 1}, {"a": 2}, {"a": -1}, {"a": "1"}, 5):
        with pytest.raises(ParameterError):
            model.given(values)


def test_conditions_on_many_columns_do_not_underflow():
    shape = TableShape({f"c{place}": 1_000 for place in range(200)})
    own = {(name,): np.ones((2, 1_000)) for name in shape.sizes}
    model = MixtureModel(shape, [1, 3], own, total=10)
    assert model.given(dict.fromkeys(shape.sizes, 7)).weights.tolist() == pytest.approx([0.25, 0.75])


def test_rows_of_components_are_in_proportion():
    """Of components that differ in the value of a column, each has as many rows as its weight says, rounded."""
    own = {("a",): [[1, 0], [0, 1]], ("b", "d"): np.ones((2, 3, 2)), ("c",): [[1, 1, 0, 0], [0, 0, 3, 1]]}
    model = MixtureModel(SHAPE, [3, 1], own, total=400)
    rows = model.rows(seed=1)
    assert np.bincount(rows["a"]).tolist() == [300, 100]
    assert np.bincount(rows["c"]).tolist() == [150, 150, 75, 25]
    assert set(rows["c"][rows["a"] == 1].tolist()) == {2, 3}
    assert list(rows) == list(SHAPE.sizes)
    few = model.rows(3, seed=1)
    assert len(few["a"]) == 3
    assert np.bincount(few["a"]).tolist() in ([2, 1], [3])


def test_rows_follow_the_whole_table():
    model = made_up(seed=4)
    rows = model.rows(200_000, seed=2)
    counts = np.bincount(np.ravel_multi_index(list(rows.values()), SHAPE.lengths(tuple(SHAPE.sizes))), minlength=48)
    assert np.abs(counts / 200_000 - table_of(model).ravel() / 240).max() < 0.005
    assert {name: own.tolist() for name, own in model.rows(40, seed=3).items()} == {
        name: own.tolist() for name, own in model.rows(40, seed=3).items()
    }
    assert model.rows(40, seed=3)["c"].tolist() != model.rows(40, seed=4)["c"].tolist()
    assert len(model.rows(5)["a"]) == 5  # of the system's generator
    for n, seed in ((-1, None), (1.5, None), (2, -1), (2, "one")):
        with pytest.raises(ParameterError):
            model.rows(n, seed=seed)


def test_rows_come_in_no_order_of_components():
    own = {("a",): [[1, 0], [0, 1]], ("b", "d"): np.ones((2, 3, 2)), ("c",): np.ones((2, 4))}
    first = MixtureModel(SHAPE, [1, 1], own, total=1).rows(2_000, seed=1)["a"]
    assert 400 < first[:1_000].sum() < 600


def test_what_is_no_mixture_is_refused():
    own = {block: np.ones((2, *SHAPE.lengths(block))) for block in BLOCKS}
    never = {block: np.zeros(array.shape) for block, array in own.items()}
    for changed in (
        {"shape": {"a": 2}}, {"weights": [1]}, {"weights": [1, -1]}, {"weights": [0, 0]}, {"weights": [[1, 1]]},
        {"weights": "ab"}, {"weights": [np.nan, 1]}, {"weights": []}, {"weights": [np.inf, 1]}, {"total": -1},
        {"probabilities": 5}, {"probabilities": {("a",): own["a",]}}, {"probabilities": own | {("c", "d"): 1}},
        {"probabilities": own | {("x",): [[1]]}}, {"probabilities": own | {("a",): np.ones((2, 3))}},
        {"probabilities": own | {("a",): [[1, -1], [1, 2]]}}, {"probabilities": own | {("a",): never["a",]}},
        {"probabilities": {"a": 1, **own}}, {"memory_limit": 100}, {"memory_limit": 0},
    ):  # fmt: skip
        given = {"shape": SHAPE, "weights": [1, 1], "probabilities": own, "total": 5} | changed
        with pytest.raises(ParameterError):
            MixtureModel(given.pop("shape"), given.pop("weights"), given.pop("probabilities"), **given)


def test_a_marginal_beyond_memory_is_refused():
    shape = TableShape(dict.fromkeys("abcd", 100))
    own = {(name,): np.ones((2, 100)) for name in shape.sizes}
    model = MixtureModel(shape, [1, 1], own, total=5, memory_limit=1_000_000)
    assert model.cells == 802
    assert model.marginal(["a", "b"]).shape == (100, 100)
    with pytest.raises(ParameterError, match="marginal of a, b, c"):
        model.marginal(["a", "b", "c"])
    with pytest.raises(ParameterError, match="columns"):
        model.marginal(["a", "a"])


def test_products_are_cut_where_both_sides_are_smallest():
    assert [halved(lengths) for lengths in ([], [5], [5, 5], [2, 3, 4, 5])] == [0, 0, 1, 2]
    arrays = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0], [6.0]])]
    assert products(arrays, 2).tolist() == [[5.0, 10.0], [18.0, 24.0]]
    assert products([], 2).tolist() == [[1.0], [1.0]]
    assert list(parts_of(BLOCKS, [])) == []
