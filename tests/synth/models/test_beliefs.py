"""Against sums over whole tables of up to 10^5 cells."""

from itertools import combinations

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.beliefs import believed
from sfumato.synth.models.layout import laid_out
from sfumato.synth.models.shape import TableShape
from sfumato.synth.models.tree import junction_tree

MANY = 1 << 30


def whole_table(shape, potentials):
    """exp of the sum of all potentials, cell by cell, and its logarithmic sum."""
    letters = {column: chr(97 + place) for place, column in enumerate(shape.sizes)}
    logs = np.zeros(tuple(shape.sizes.values()))
    for columns, values in potentials.items():
        lengths = [shape.sizes[column] if column in columns else 1 for column in shape.sizes]
        logs = logs + values.reshape(lengths)  # columns come in the order of the table
    peak = logs.max()
    table = np.exp(logs - peak)
    return letters, table / table.sum(), peak + np.log(table.sum())


def drawn(seed, *, scale=2.0, share_of_zeros=0.0):
    """Random columns, groups of one to three of them, and normal potentials, of which some are −∞."""
    generator = np.random.default_rng(seed)
    shape = TableShape({f"c{place}": int(size) for place, size in enumerate(generator.integers(1, 6, size=7))})
    columns = list(shape.sizes)
    groups = {
        shape.ordered(generator.choice(columns, size=int(generator.integers(1, 4)), replace=False).tolist())
        for _ in range(generator.integers(1, 8))
    }
    potentials = {}
    for group in sorted(groups):
        values = scale * generator.normal(size=shape.lengths(group))
        values[
            (generator.random(values.shape) < share_of_zeros) & (np.arange(values.size).reshape(values.shape) > 0)
        ] = -np.inf
        potentials[group] = values
    return shape, potentials


def beliefs_of(shape, potentials):
    tree = junction_tree(shape, potentials)
    layout = laid_out(tree, potentials)
    return believed(tree, layout.spread([potentials[group] for group in layout.groups]))


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_marginals_inside_and_across_cliques_are_those_of_the_whole_table(seed, share_of_zeros):
    shape, potentials = drawn(seed, share_of_zeros=share_of_zeros)
    found = beliefs_of(shape, potentials)
    letters, table, log_total = whole_table(shape, potentials)
    assert found.log_total == pytest.approx(log_total, abs=1e-10)
    for count in range(4):
        for group in combinations(shape.sizes, count):
            columns = group[::-1]  # any order of axes
            expected = np.einsum(f"{''.join(letters.values())}->{''.join(letters[name] for name in columns)}", table)
            assert np.allclose(found.marginal(columns, memory_limit=MANY), expected, atol=1e-10, rtol=0), columns
    everything = found.marginal(tuple(shape.sizes), memory_limit=MANY)
    assert np.allclose(everything, table, atol=1e-10, rtol=0)


def test_a_table_of_a_hundred_thousand_cells():
    shape = TableShape({"a": 10, "b": 8, "c": 12, "d": 10, "e": 10})
    generator = np.random.default_rng(5)
    groups = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("d", "e")]  # a cycle with a tail
    potentials = {group: generator.normal(size=shape.lengths(group)) for group in groups}
    found = beliefs_of(shape, potentials)
    _, table, _ = whole_table(shape, potentials)
    assert np.allclose(found.marginal(("b", "d"), memory_limit=MANY), table.sum(axis=(0, 2, 4)), atol=1e-10, rtol=0)
    assert np.allclose(found.marginal(("e", "a"), memory_limit=MANY), table.sum(axis=(1, 2, 3)).T, atol=1e-10, rtol=0)


def test_potentials_of_thousands_stay_exact():
    shape, potentials = drawn(3, scale=2000)
    found = beliefs_of(shape, potentials)
    letters, table, _ = whole_table(shape, potentials)
    columns = tuple(shape.sizes)[:2]
    expected = np.einsum(f"{''.join(letters.values())}->{''.join(letters[name] for name in columns)}", table)
    assert np.allclose(found.marginal(columns, memory_limit=MANY), expected, atol=1e-10, rtol=0)


def test_joints_are_conditionals_times_what_the_parent_says():
    found = beliefs_of(*drawn(4, share_of_zeros=0.2))
    for place, separator in enumerate(found.tree.separators):
        axes = tuple(range(len(separator), found.joints[place].ndim))
        shared = found.joints[place].sum(axis=axes, keepdims=True)
        assert np.allclose(found.joints[place], found.conditionals[place] * shared, atol=1e-14)
        sums = found.conditionals[place].sum(axis=axes)
        assert np.all(np.isclose(sums, 1) | (sums == 0))


def test_the_slope_of_the_logarithmic_sum_is_the_marginals():
    shape, potentials = drawn(6)
    group = max(potentials, key=lambda columns: potentials[columns].size)
    found = beliefs_of(shape, potentials).marginal(group, memory_limit=MANY)
    step = 1e-5
    for place in np.ndindex(*found.shape):
        sides = []
        for sign in (1, -1):
            moved = {columns: values.copy() for columns, values in potentials.items()}
            moved[group][place] += sign * step
            sides.append(beliefs_of(shape, moved).log_total)
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(found[place], abs=1e-8)


def test_where_no_row_is_possible_the_sum_is_zero():
    shape = TableShape({"a": 2, "b": 2})
    never = np.full(2, -np.inf)
    assert np.isneginf(beliefs_of(shape, {("a",): never, ("a", "b"): np.zeros((2, 2))}).log_total)


def test_a_marginal_beyond_memory_is_refused():
    shape = TableShape({f"c{place}": 50 for place in range(6)})
    chain = [(f"c{place}", f"c{place + 1}") for place in range(5)]
    found = beliefs_of(shape, {pair: np.zeros((50, 50)) for pair in chain})
    ends = found.marginal(("c0", "c5"), memory_limit=8 * 2500)
    assert np.allclose(ends, 1 / 2500)
    with pytest.raises(ParameterError, match="1,000,000 bytes for the marginal of c0, c2, c5"):
        found.marginal(("c0", "c2", "c5"), memory_limit=999_999)  # of 125,000 numbers
