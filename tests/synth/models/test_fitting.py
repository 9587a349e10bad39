"""Against general solvers on whole tables, and against what is true where noise is small."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from sfumato.errors import ParameterError
from sfumato.synth.models.fitting import fit_model
from sfumato.synth.models.measured import NoisyMarginal
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.models.shape import TableShape

SHAPE = TableShape({"a": 3, "b": 2, "c": 4})
GROUPS = (("a", "b"), ("b", "c"), ("c",))
ROWS = 500


def true_table(seed=1):
    return (
        np.random.default_rng(seed)
        .multinomial(ROWS, np.random.default_rng(seed).dirichlet(np.ones(24)))
        .reshape(3, 2, 4)
    )


def summed(table, group):
    return table.sum(axis=tuple(axis for axis, name in enumerate(SHAPE.sizes) if name not in group))


def measured(groups=GROUPS, *, stddevs=(12, 7, 20), seed=1):
    generator = np.random.default_rng(seed)
    found = []
    for group, stddev in zip(groups, stddevs, strict=True):
        noise = stddev * generator.normal(size=SHAPE.lengths(group))
        found.append(NoisyMarginal(group, summed(true_table(seed), group) + noise, stddev=stddev))
    return found


def loss(table, marginals):
    return sum(((summed(table, m.columns) - m.counts) ** 2).sum() / m.stddev**2 for m in marginals) / 2


def queries(marginals):
    """The matrix that takes a whole table to all counts, each over its standard deviation, and these counts."""
    cells = np.eye(24).reshape(24, 3, 2, 4)
    matrix = np.concatenate(
        [np.array([summed(cell, m.columns).ravel() for cell in cells]).T / m.stddev for m in marginals]
    )
    return matrix, np.concatenate([m.counts.ravel() / m.stddev for m in marginals])


def best_step(marginals, last, *, weight):
    """The table of least loss + weight·KL(table ‖ last), of shares, by a general solver over all cells."""
    matrix, counts = queries(marginals)

    def objective(logs):
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        residuals = ROWS * matrix @ shares - counts
        logarithms = np.log(shares / last)
        slope = ROWS * matrix.T @ residuals + weight * (logarithms + 1)
        return residuals @ residuals / 2 + weight * shares @ logarithms, shares * (slope - shares @ slope)

    found = minimize(objective, np.log(last), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000})
    shares = np.exp(found.x - found.x.max())
    return shares / shares.sum(), found.fun


def weight_of(marginals):
    """τ: three times the rows over the geometric mean of standard deviations, each as often as it has counts."""
    logs = np.concatenate([np.full(m.counts.size, np.log(m.stddev)) for m in marginals])
    return 3 * ROWS / np.exp(logs.mean())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_step_is_the_best_one_by_a_general_solver(seed):
    marginals = measured(seed=seed)
    shares = np.full(24, 1 / 24)
    for steps in (1, 2, 3):
        shares, _ = best_step(marginals, shares, weight=weight_of(marginals))
        model = fit_model(SHAPE, marginals, total=ROWS, steps=steps, tolerance=1e-12)
        assert model.report.is_converged
        assert np.allclose(model.marginal(["a", "b", "c"]).ravel(), ROWS * shares, atol=1e-4 * ROWS)


def test_many_steps_have_the_least_loss_of_all_tables():
    marginals = measured()
    matrix, counts = queries(marginals)
    heavy = 1e4  # the row that keeps the total
    best, _ = nnls(np.vstack([matrix, np.full(24, heavy)]), np.append(counts, heavy * ROWS))
    least = loss(best.reshape(3, 2, 4), marginals)
    losses = [
        fit_model(SHAPE, marginals, total=ROWS, steps=steps, tolerance=1e-9, max_iterations=10**6).report.loss
        for steps in (1, 3, 30, 200)
    ]
    assert losses == sorted(losses, reverse=True)
    assert least - 1e-4 <= losses[-1] <= least + weight_of(marginals) * np.log(24) / 200
    assert losses[0] > least + 0.1


def test_the_report_says_what_is_true_of_the_model():
    marginals = measured()
    model = fit_model(SHAPE, marginals, total=ROWS)
    assert model.report.loss == pytest.approx(loss(model.marginal(["a", "b", "c"]), marginals))
    assert model.report.expected_loss == (6 + 8 + 4) / 2
    assert len(model.report.path) == 3
    assert model.report.is_converged
    assert 0 <= model.report.gap <= 0.005 * 9


@pytest.mark.parametrize("tolerance", [1.0, 0.1, 0.01])
def test_the_gap_bounds_how_far_a_step_is_from_its_best(tolerance):
    marginals = measured()
    weight = weight_of(marginals)
    _, least = best_step(marginals, np.full(24, 1 / 24), weight=weight)
    model = fit_model(SHAPE, marginals, total=ROWS, steps=1, tolerance=tolerance)
    shares = model.marginal(["a", "b", "c"]).ravel() / ROWS
    objective = loss(ROWS * shares.reshape(3, 2, 4), marginals) + weight * shares @ np.log(24 * shares)
    assert least - 1e-6 <= objective <= least + model.report.gap + 1e-6
    assert model.report.gap <= 9 * tolerance


def test_where_noise_is_small_the_model_has_the_true_marginals():
    marginals = measured(stddevs=(0.01, 0.01, 0.01))
    model = fit_model(SHAPE, marginals, steps=10)
    for group in GROUPS:
        assert np.allclose(model.marginal(group), summed(true_table(), group), atol=0.5)
    assert model.total == pytest.approx(ROWS, abs=0.1)


def test_the_total_is_estimated_or_as_said():
    marginals = measured()
    sums = np.array([m.counts.sum() for m in marginals])
    weights = np.array([1 / (m.counts.size * m.stddev**2) for m in marginals])
    assert fit_model(SHAPE, marginals).total == pytest.approx((sums * weights).sum() / weights.sum())
    assert fit_model(SHAPE, marginals, total=480).total == 480
    assert fit_model(SHAPE, marginals, total=480).marginal(["a"]).sum() == pytest.approx(480)
    assert fit_model(SHAPE, marginals, total=0).total == 0


def test_an_empty_table_is_answered():
    noise = np.random.default_rng(1).normal(size=(3, 2)) * 50 - 100
    model = fit_model(SHAPE, [NoisyMarginal(["a", "b"], noise, stddev=50)])
    assert model.total == 1
    assert np.isfinite(model.marginal(["a", "b"])).all()
    assert len(model.rows(seed=1)["c"]) == 1


def test_without_marginals_the_model_is_uniform():
    assert np.allclose(fit_model(SHAPE, [], total=24).marginal(["a", "b", "c"]), 1)


def test_impossible_combinations_get_nothing_and_their_counts_are_ignored():
    never = np.zeros((3, 2), dtype=bool)
    never[0, 1] = never[2, 0] = True
    marginals = measured()
    model = fit_model(SHAPE, marginals, total=ROWS, impossible={("a", "b"): never})
    assert not model.marginal(["a", "b"])[never].any()
    assert (model.marginal(["a", "b"])[~never] > 0).all()
    wild = [NoisyMarginal(["a", "b"], np.where(never, 1e6, marginals[0].counts), stddev=12), *marginals[1:]]
    other = fit_model(SHAPE, wild, total=ROWS, impossible={("a", "b"): never})
    assert np.allclose(other.marginal(["a", "b", "c"]), model.marginal(["a", "b", "c"]))
    assert model.report.expected_loss == (4 + 8 + 4) / 2
    assert fit_model(SHAPE, wild, impossible={("a", "b"): never}).total < 2 * ROWS
    rows = model.rows(1000, seed=1)
    assert not never[rows["a"], rows["b"]].any()
    singles = [NoisyMarginal(["a"], [9, 9, 9], stddev=1)]
    for found in (model, fit_model(SHAPE, singles, impossible={("a", "b"): never})):
        assert np.array_equal(np.isneginf(found.potentials["a", "b"]), never)
        assert not found.marginal(["a", "b"])[never].any()


def test_a_start_saves_iterations_and_changes_nothing_else():
    marginals = measured()
    earlier = fit_model(SHAPE, marginals[:1], total=ROWS, tolerance=1e-6)
    cold = fit_model(SHAPE, marginals, total=ROWS, tolerance=1e-8)
    warm = fit_model(SHAPE, marginals, total=ROWS, tolerance=1e-8, start=earlier)
    again = fit_model(SHAPE, marginals, total=ROWS, tolerance=1e-8, start=cold)
    assert np.allclose(warm.marginal(["a", "b", "c"]), cold.marginal(["a", "b", "c"]), atol=0.05)
    assert again.report.iterations < cold.report.iterations / 4
    bare = GraphicalModel(SHAPE, {}, total=1)
    assert fit_model(SHAPE, marginals, total=ROWS, start=bare).report.is_converged


def test_too_few_iterations_are_said():
    report = fit_model(SHAPE, measured(), total=ROWS, tolerance=1e-12, max_iterations=2).report
    assert report.iterations == 2
    assert not report.is_converged


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"total": -1}, "total"), ({"total": np.nan}, "total"), ({"steps": 0}, "steps"),
        ({"tolerance": 0}, "tolerance"), ({"tolerance": 2}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"), ({"memory_limit": 10}, "too small"),
        ({"impossible": {("a",): [True] * 3}}, "at least one row"), ({"impossible": 5}, "impossible"),
        ({"start": 5}, "start"), ({"start": GraphicalModel(TableShape({"a": 3}), {}, total=1)}, "same columns"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)  # fmt: skip
def test_bad_input_is_refused(more, said):
    with pytest.raises(ParameterError, match=said):
        fit_model(SHAPE, measured(), **more)
    with pytest.raises(ParameterError, match="TableShape"):
        fit_model({"a": 3}, measured())


def test_a_domain_beyond_memory_is_refused_before_any_of_it_is_taken():
    shape = TableShape({"a": 10**6, "b": 10**6})
    single = [NoisyMarginal([name], np.zeros(10**6), stddev=1) for name in ("a", "b")]
    huge = {("a", "b"): np.zeros((1, 1), dtype=bool)}
    with pytest.raises(ParameterError, match="must have the shape"):
        fit_model(shape, single, impossible=huge)
    triangle = TableShape({"a": 500, "b": 500, "c": 500})
    pairs = [NoisyMarginal(pair, np.zeros((500, 500)), stddev=1) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]
    with pytest.raises(ParameterError, match=r"125,000,000 cells or more, most of them of a, b, c"):
        fit_model(triangle, pairs)
