"""Mixtures fitted to noisy counts, beside finite differences and whole tables."""

import tracemalloc
from itertools import combinations, product
from math import inf

import numpy as np
import pytest
from tests.synth.models.test_mixture import table_of

from sfumato.errors import ParameterError
from sfumato.synth.models.factors import summed
from sfumato.synth.models.fitting import fit_model
from sfumato.synth.models.measured import NoisyMarginal, combined, zeros
from sfumato.synth.models.mixture import MixtureModel
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.relaxed import fit_mixture, joined_columns, mixture_loss, mixture_memory
from sfumato.synth.models.shape import TableShape

SHAPE = TableShape({"a": 2, "b": 3, "c": 4, "d": 2, "e": 1})
OPTIONS = {"total": None, "tolerance": 0.005, "max_iterations": 2_000, "memory_limit": 1 << 30}


def marginals_of(shape, groups, table, stddev, generator=None):
    found = []
    for group in groups:
        counts = summed(table, tuple(shape.sizes), shape.ordered(group))
        counts = counts.transpose([shape.ordered(group).index(name) for name in group])
        noise = 0 if generator is None else stddev * generator.normal(size=counts.shape)
        found.append(NoisyMarginal(group, counts + noise, stddev=stddev))
    return found


@pytest.mark.parametrize(
    ("groups", "impossible"),
    [
        ([("a",), ("b", "a"), ("c", "d")], {}),
        ([("a", "b", "c"), ("d", "e"), ("b",)], {}),
        ([("a", "b", "c", "d"), ("c", "a")], {("b", "d"): [[True, False], [False, False], [False, True]]}),
        ([("b", "c"), ("d", "c"), ("d", "b")], {("d", "b"): np.eye(2, 3, dtype=bool), ("c",): np.arange(4) < 1}),
    ],
    ids=range(4),
)  # fmt: skip
def test_the_slope_is_that_of_finite_differences(groups, impossible):
    generator = np.random.default_rng(7)
    table = generator.integers(0, 50, SHAPE.lengths(tuple(SHAPE.sizes))).astype(float)
    counts = combined(SHAPE, marginals_of(SHAPE, groups, table, 5.0, generator))
    problem = mixture_loss(SHAPE, counts, zeros(SHAPE, impossible), total=500, components=3)
    at = 0.3 * generator.normal(size=3 * (1 + sum(mask.size for mask in problem.masks)))
    logs = problem.split(at)  # views
    for place, mask in enumerate(problem.masks, start=1):
        logs[place] += mask.ravel()
    loss, slope = problem(at)
    weights, shares = problem.shares(at)
    model = MixtureModel(SHAPE, weights, dict(zip(problem.blocks, shares, strict=True)), total=500)
    expected = 0.0
    for group, own in counts.items():
        means = model.marginal(group)
        expected += (((means - own.counts)[means > 0]) ** 2).sum() / (2 * own.variance)
    assert loss == pytest.approx(expected)
    for place in np.flatnonzero(np.isfinite(at)):
        step = np.zeros(at.shape)
        step[place] = 1e-5
        measured = (problem(at + step)[0] - problem(at - step)[0]) / 2e-5
        assert slope[place] == pytest.approx(measured, rel=1e-4, abs=1e-3), place
    assert not slope[~np.isfinite(at)].any()


def test_all_pairs_of_six_columns_are_fitted_nearly_exactly_without_noise():
    shape = TableShape({name: 2 + place % 3 for place, name in enumerate("abcdef")})
    table = np.random.default_rng(1).gamma(0.3, size=shape.lengths(tuple(shape.sizes)))
    table *= 10_000 / table.sum()
    pairs = list(combinations(shape.sizes, 2))
    model = fit_mixture(shape, combined(shape, marginals_of(shape, pairs, table, 1.0)), {}, **OPTIONS)
    assert model.report.is_converged
    assert model.report.loss <= model.report.expected_loss
    assert model.report.gap == inf
    assert model.total == pytest.approx(10_000)
    for pair in pairs:
        exact = summed(table, tuple(shape.sizes), pair)
        assert np.sqrt(((model.marginal(pair) - exact) ** 2).mean()) < 5, pair  # of 10,000, where noise is 1
    closer = fit_mixture(
        shape, combined(shape, marginals_of(shape, pairs, table, 0.1)), {}, **OPTIONS | {"tolerance": 1e-3}, start=model
    )  # fmt: skip
    worst = max(np.abs(closer.marginal(pair) - summed(table, tuple(shape.sizes), pair)).max() for pair in pairs)
    assert worst < 2


def test_the_search_ends_where_noise_would_be_fitted():
    table = np.random.default_rng(2).integers(50, 500, (6, 5, 4)).astype(float)
    shape = TableShape({"a": 6, "b": 5, "c": 4})
    noisy = marginals_of(shape, combinations(shape.sizes, 2), table, 40.0, np.random.default_rng(3))
    report = fit_mixture(shape, combined(shape, noisy), {}, **OPTIONS).report
    assert report.is_converged
    assert 0.7 * report.expected_loss < report.loss <= report.expected_loss == (30 + 24 + 20) / 2


def test_a_search_that_is_cut_short_says_so():
    table = np.random.default_rng(2).integers(50, 500, (6, 5)).astype(float)
    shape = TableShape({"a": 6, "b": 5})
    counts = combined(shape, marginals_of(shape, [("a", "b")], table, 1e-3))
    report = fit_mixture(shape, counts, {}, **OPTIONS | {"max_iterations": 30}).report
    assert (report.is_converged, report.iterations) == (False, 30)


def test_what_is_impossible_has_probability_zero_and_its_counts_are_ignored():
    shape = TableShape({"age": 3, "ill": 2, "married": 2})
    never = {("married", "age"): [[False] * 3, [True, False, False]], ("ill",): [False, True]}
    table = np.full((3, 2, 2), 100.0)
    counts = combined(shape, marginals_of(shape, combinations(shape.sizes, 2), table, 3.0))
    model = fit_mixture(shape, counts, zeros(shape, never), **OPTIONS)
    assert list(model.probabilities) == [("age", "married"), ("ill",)]
    assert not model.marginal(["age", "married", "ill"])[0, 1].any()
    assert not model.marginal(["ill"])[1]
    assert model.report.expected_loss == (3 + 5 + 2) / 2
    rows = model.rows(5_000, seed=1)
    assert not ((rows["age"] == 0) & (rows["married"] == 1)).any()
    assert not rows["ill"].any()
    with pytest.raises(ParameterError, match="at least one row"):
        fit_mixture(shape, counts, zeros(shape, {("ill",): [True, True]}), **OPTIONS)


def test_the_same_counts_have_the_same_fit_and_a_start_saves_iterations():
    shape = TableShape(dict.fromkeys("abcde", 4))
    table = np.random.default_rng(4).gamma(0.5, size=(4,) * 5)
    table *= 20_000 / table.sum()
    noisy = marginals_of(shape, combinations(shape.sizes, 2), table, 20.0, np.random.default_rng(5))
    counts = combined(shape, noisy)
    first, again = (fit_mixture(shape, counts, {}, **OPTIONS) for _ in range(2))
    for group, own in first.probabilities.items():
        assert np.array_equal(own, again.probabilities[group])
    assert fit_mixture(shape, counts, {}, **OPTIONS, start=first).report.iterations == 25 < first.report.iterations
    other = MixtureModel(shape, [1], {(name,): np.ones((1, 4)) for name in shape.sizes}, total=1)
    unused = fit_mixture(shape, counts, {}, **OPTIONS, start=other)
    assert np.array_equal(unused.weights, first.weights)


def test_marginals_of_which_a_tree_is_far_too_large_are_fitted_within_memory():
    """All pairs of 10 columns of 20 values: a tree has 20^10 cells."""
    shape = TableShape({f"c{place}": 20 for place in range(10)})
    generator = np.random.default_rng(6)
    noisy = [
        NoisyMarginal(pair, generator.poisson(25, (20, 20)), stddev=5.0)
        for pair in combinations(shape.sizes, 2)
    ]  # fmt: skip
    counts = combined(shape, noisy)
    needed = mixture_memory(shape, counts, [])
    assert needed < 4_000_000
    with pytest.raises(ParameterError, match="mixture needs"):
        fit_model(shape, noisy, tree_limit=10**6, memory_limit=needed - 1)
    tracemalloc.start()
    model = fit_model(shape, noisy, tree_limit=10**6, memory_limit=needed, max_iterations=25)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < needed
    assert isinstance(model, MixtureModel)
    assert model.report.loss < 1.1 * model.report.expected_loss


def test_a_tree_limit_decides_which_model_is_fitted():
    shape = TableShape({"a": 2, "b": 3, "c": 4})
    table = np.full((2, 3, 4), 100.0)
    noisy = marginals_of(shape, combinations(shape.sizes, 2), table, 5.0)  # a tree of 24 cells
    kinds = [type(fit_model(shape, noisy, tree_limit=limit)) for limit in (None, 24, 23, 1)]
    assert kinds == [GraphicalModel, GraphicalModel, MixtureModel, MixtureModel]
    mixture = fit_model(shape, noisy, tree_limit=1)
    assert isinstance(fit_model(shape, noisy, start=mixture), GraphicalModel)
    assert isinstance(fit_model(shape, noisy, start=fit_model(shape, noisy), tree_limit=1), MixtureModel)
    for limit in (0, -1, 1.5, "many", True):
        with pytest.raises(ParameterError, match="tree_limit"):
            fit_model(shape, noisy, tree_limit=limit)


def test_what_nothing_measured_is_uniform_nearly_and_no_counts_are_no_error():
    shape = TableShape({"a": 2, "b": 5})
    model = fit_model(shape, [], tree_limit=1, total=50)
    assert np.abs(model.marginal(["a", "b"]) - 5).max() < 1
    assert model.report.loss == 0
    one = fit_model(shape, [NoisyMarginal(["a"], [-40, -2], stddev=3)], tree_limit=1)
    assert one.total == 1
    assert (
        fit_model(shape, [NoisyMarginal(["a"], [30, 10], stddev=3)], tree_limit=1, total=0).rows(seed=1)["b"].size == 0
    )


def test_columns_are_joined_along_groups():
    shape = TableShape(dict.fromkeys("abcdef", 2))
    assert joined_columns(shape, [("f", "b"), ("d",), ("b", "e"), ("c", "a")]) == [("a", "c"), ("b", "e", "f"), ("d",)]
    assert joined_columns(shape, []) == [(name,) for name in "abcdef"]


def test_a_mixture_is_a_distribution_of_whole_rows():
    shape = TableShape({"a": 2, "b": 3, "c": 2})
    table = np.random.default_rng(8).integers(10, 90, (2, 3, 2)).astype(float)
    model = fit_mixture(shape, combined(shape, marginals_of(shape, [("a", "b", "c")], table, 1.0)), {}, **OPTIONS)
    whole = table_of(model)
    for values in product(range(2), range(3), range(2)):
        assert whole[values] == pytest.approx(table[values], abs=5)
