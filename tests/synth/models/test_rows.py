import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.rows import rounded
from sfumato.synth.models.shape import TableShape

SHAPE = TableShape({"a": 3, "b": 4, "c": 2, "d": 5})
GROUPS = [("a", "b"), ("b", "c", "d")]


def drawn(seed=1, share_of_zeros=0.0):
    generator = np.random.default_rng(seed)
    potentials = {group: generator.normal(size=SHAPE.lengths(group)) for group in GROUPS}
    potentials["a", "b"][generator.random((3, 4)) < share_of_zeros] = -np.inf
    return GraphicalModel(SHAPE, potentials, total=1000)


def counted(rows, columns):
    lengths = SHAPE.lengths(columns)
    places = np.ravel_multi_index([rows[column].astype(np.int64) for column in columns], lengths)
    return np.bincount(places, minlength=np.prod(lengths)).reshape(lengths)


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 50_000])
def test_among_rows_of_a_separator_counts_are_within_one_of_what_the_model_says(n):
    model = drawn(share_of_zeros=0.2)
    rows = model.rows(n, seed=3)
    tree = model.beliefs.tree
    for place, clique in enumerate(tree.cliques):
        counts = counted(rows, clique)
        axes = tuple(range(len(tree.separators[place]), len(clique)))
        expected = counts.sum(axis=axes, keepdims=True) * model.beliefs.conditionals[place]
        assert (np.abs(counts - expected) < 1 + 1e-9).all()
        assert not counts[expected == 0].any()


def test_many_rows_have_the_marginals_of_the_model():
    model, n = drawn(), 200_000
    rows = model.rows(n, seed=1)
    for columns in (("a", "b"), ("b", "c", "d"), ("a", "d"), ("a", "c", "d")):
        expected = model.marginal(columns) * n / model.total
        deviations = np.abs(counted(rows, columns) - expected) / np.sqrt(expected)
        assert deviations.max() < 6, columns


def test_columns_are_independent_given_the_separator():
    """a and d are apart given b: no order of rows, which earlier columns leave, may join them."""
    rows = drawn().rows(100_000, seed=2)
    tables = counted(rows, ("b", "a", "d"))
    expected = (
        tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / tables.sum(axis=(1, 2), keepdims=True)
    )
    assert ((tables - expected) ** 2 / expected).sum() < 32 + 6 * 8  # χ² of 32 degrees: 6 of its standard deviations


def test_the_order_of_rows_says_nothing():
    rows = drawn().rows(100_000, seed=2)
    first = {column: values[:50_000] for column, values in rows.items()}
    expected = counted(rows, ("a", "b")) / 2
    assert (np.abs(counted(first, ("a", "b")) - expected) / np.sqrt(expected)).max() < 6


def test_a_seed_decides_the_rows_and_none_draws_others():
    model = drawn()
    once, again, other = (model.rows(500, seed=seed) for seed in (7, 7, 8))
    assert all(np.array_equal(once[column], again[column]) for column in SHAPE.sizes)
    assert any(not np.array_equal(once[column], other[column]) for column in SHAPE.sizes)
    first, second = model.rows(500), model.rows(500)
    assert any(not np.array_equal(first[column], second[column]) for column in SHAPE.sizes)


def test_values_are_small_whole_numbers_in_the_order_of_the_table():
    rows = drawn().rows(10, seed=1)
    assert list(rows) == list(SHAPE.sizes)
    assert {values.dtype for values in rows.values()} == {np.dtype(np.uint8)}
    wide = GraphicalModel(TableShape({"zip": 100_000}), {}, total=1).rows(10, seed=1)["zip"]
    assert wide.dtype == np.uint32
    assert wide.max() < 100_000


def test_separators_too_wide_for_a_word_are_ordered_all_the_same():
    shape = TableShape({"a": 2000, "b": 2, "c": 2})
    group = ("a", "b", "c")
    tree_wide = TableShape({"a": 1 << 10, "b": 1 << 10, "c": 2, "d": 2})
    potentials = {columns: np.zeros(tree_wide.lengths(columns)) for columns in (("a", "b", "c"), ("a", "b", "d"))}
    rows = GraphicalModel(tree_wide, potentials, total=1).rows(1 << 14, seed=1)
    assert rows["d"].mean() == pytest.approx(0.5, abs=0.03)
    flat = GraphicalModel(shape, {group: np.zeros(shape.lengths(group))}, total=1).rows(8000, seed=1)
    assert np.bincount(flat["a"], minlength=2000).tolist() == [4] * 2000


@pytest.mark.parametrize("offset", [0.0, 0.3, 1 - 2**-53])
def test_counts_add_up_and_are_rounded_up_or_down(offset):
    generator = np.random.default_rng(4)
    shares = generator.dirichlet(np.full(9, 0.3), size=50)
    shares[3], shares[4, 5:] = 0, 0
    shares[4] /= shares[4].sum()
    sizes = generator.integers(0, 1000, size=50)
    sizes[3] = 0
    counts = rounded(shares, sizes, np.full(50, offset))
    assert np.array_equal(counts.sum(axis=1), sizes)
    assert (counts >= 0).all()
    assert (np.abs(counts - shares * sizes[:, np.newaxis]) < 1 + 1e-9).all()
    assert not counts[shares == 0].any()


def test_counts_are_right_on_average():
    shares, sizes = np.array([[0.05, 0.15, 0.7, 0.1]]), np.array([3])
    offsets = (np.arange(1000) + 0.5) / 1000
    counts = sum(rounded(shares, sizes, np.array([offset])) for offset in offsets)
    assert np.allclose(counts / 1000, 3 * shares, atol=2e-3)


@pytest.mark.parametrize(("n", "seed"), [(-1, 1), (2.5, 1), ((1 << 31) + 1, 1), (5, -1), (5, "1"), ("5", 1)])
def test_no_number_of_rows_and_no_seed_is_refused(n, seed):
    with pytest.raises(ParameterError):
        drawn().rows(n, seed=seed)
