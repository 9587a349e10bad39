"""Noisy sums: exact sensitivity over all neighbors of small data, the distribution of a release, and total solving."""

from fractions import Fraction
from itertools import product
from math import exp, pi, sqrt

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import UNIT, design_of
from sfumato.learn.linear.least_squares import NoisySums, solved
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

COLUMNS = [NUMBER, CENTERED, KIND]
PAY = TrainingColumn(name="pay", lower=Fraction(10), upper=Fraction(50), steps=2)
CHARGES = (PureDP(1), ApproxDP(1, "1e-6"))
DESIGNS = {
    "bounds": design_of(COLUMNS, norm=None, l1_norm=None, intercept=True),
    "no intercept": design_of(COLUMNS, norm=None, l1_norm=None, intercept=False),
    "l2": design_of(COLUMNS, norm=Fraction(1), l1_norm=None, intercept=True),
    "l1": design_of(COLUMNS, norm=None, l1_norm=Fraction(3, 4), intercept=False),
}


def fitted(design="bounds", *, charge=CHARGES[0], moved_rows=1, penalty=0, target=PAY, columns=None):
    found = DESIGNS[design] if columns is None else design_of(columns, norm=None, l1_norm=None, intercept=True)
    return NoisySums(
        design=found, target=target, moved_rows=moved_rows, charge=charge, penalty=Fraction(penalty)
    )  # fmt: skip


def sums_of(fit, records):
    return fit.exact(training_rows(records))


@pytest.mark.parametrize("design", DESIGNS)
def test_no_neighbor_moves_the_sums_further_than_noise_is_made_for(design):
    """All pairs of tables of up to two rows, in both relations."""
    records = list(product((0, 1, 2), (0, 1, 2), (0, 2), (0, 1, 2)))[::2]
    one, two = (fitted(design, moved_rows=moved) for moved in (1, 2))
    each = {record: [int(value) for value in sums_of(one, [record])] for record in records}
    added, replaced = neighbors(records, most=1)
    for fit, pairs in ((one, added), (two, replaced)):
        l1, l2_square = fit.l1_sensitivity, fit.l2_sensitivity**2
        for first, second in pairs:
            total = np.zeros(one.size, dtype=object)
            for table, sign in ((first, -1), (second, 1)):
                for record in table:
                    total += sign * np.array(each[tuple(record)], dtype=object)
            assert sum(map(abs, total)) <= l1
            assert sum(value**2 for value in total) <= l2_square
    assert (two.l1_sensitivity, two.l2_sensitivity) == (2 * one.l1_sensitivity, 2 * one.l2_sensitivity)


def test_rows_at_the_bounds_reach_the_sensitivities():
    """So no smaller noise would do: all features and the target at 1."""
    worst = (2, 2, 0, 2)
    fit = fitted(columns=[NUMBER, CENTERED, TrainingColumn(name="one", values=("a",))])
    found = [int(value) for value in sums_of(fit, [worst])]
    assert sum(map(abs, found)) == fit.l1_sensitivity == 14 * UNIT**2
    assert abs(sum(value**2 for value in found) - fit.l2_sensitivity**2) < 1
    assert fit.l2_sensitivity**2 >= 14 * UNIT**4


def test_the_sums_are_those_of_single_rows_in_any_order_by_another_computation():
    generator = np.random.default_rng(1)
    records = np.stack([generator.integers(0, 3, 20_000) for _ in range(4)], axis=1)
    fit = fitted()
    whole = sums_of(fit, records)
    assert (whole == sums_of(fit, records[::-1])).all()
    kinds, counts = np.unique(records, axis=0, return_counts=True)
    expected = np.zeros(fit.size, dtype=object)
    for kind, count in zip(kinds, counts, strict=True):
        row = [int(value) for value in fit.design.rows(kind[None, :3].astype(np.int32))[0]]
        target = (int(kind[3]) - 1) * UNIT
        triangle = [row[i] * row[j] for i in range(len(row)) for j in range(i, len(row))]
        expected += int(count) * np.array([*triangle, *(value * target for value in row)], dtype=object)
    assert whole.tolist() == expected.tolist()


@pytest.mark.parametrize("charge", CHARGES, ids=("pure", "approximate"))
@pytest.mark.parametrize("moved_rows", [1, 6])
def test_the_charge_covers_the_event_of_all_noisy_numbers(charge, moved_rows):
    fit = fitted(charge=charge, moved_rows=moved_rows)
    require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
    if isinstance(fit.noise, Gaussian):
        assert (fit.event.l2_sensitivity, fit.event.l0_sensitivity) == (fit.l2_sensitivity, fit.size)
    else:
        assert fit.noise.l1_sensitivity == fit.l1_sensitivity
    assert fit.size == len(sums_of(fit, [(0, 0, 0, 0)]))


@pytest.mark.statistical
@pytest.mark.parametrize("charge", CHARGES, ids=("pure", "approximate"))
def test_each_released_sum_has_the_distribution_of_the_noise(charge, monkeypatch):
    """Of 4,000 sums the share within one noise scale, to six standard errors; and none is the exact one."""
    fit = fitted(charge=charge)
    seen = []
    kind = type(fit.noise)
    release = kind.release

    def watched(noise, value):
        seen.append(np.asarray(release(noise, value)) - np.asarray(value))
        return seen[-1] + value

    monkeypatch.setattr(kind, "release", watched)
    runs = 4_000 // fit.size
    for _ in range(runs):
        fit.release(secret_rows([(2, 2, 2, 2)]))
    assert [one.size for one in seen] == [fit.size] * runs
    is_pure = isinstance(fit.noise, Laplace)
    scale = float(fit.noise.scale if is_pure else fit.noise.stddev)
    inside = np.mean(np.abs(np.concatenate(seen)) <= scale)
    expected = 1 - exp(-1) if is_pure else 0.682689
    assert abs(inside - expected) < 6 * sqrt(0.25 / (runs * fit.size))
    correlation = np.corrcoef(np.array(seen)[:, :2].T)[0, 1]
    assert abs(correlation) < 6 / sqrt(runs)
    assert scale == pytest.approx(
        float(fit.l1_sensitivity) if is_pure else 4.22 * float(fit.l2_sensitivity), rel=pi / 1000
    )


@pytest.mark.parametrize("charge", CHARGES, ids=("pure", "approximate"))
def test_only_noisy_numbers_reach_a_model(charge, monkeypatch):
    """With the same noisy numbers all data give the same model, and noise is drawn once."""
    drawn = []

    def same(noise, value):
        drawn.append((noise.event, np.size(value)))
        return np.arange(np.size(value)) * 2**20

    monkeypatch.setattr(Gaussian, "release", same)
    monkeypatch.setattr(Laplace, "release", same)
    fit = fitted(charge=charge)
    tables = ([], [(0, 0, 0, 0)], [(2, 2, 2, 1)] * 7, [(1, 1, 1, 0), (2, 0, 1, 1)] * 50)
    models = [fit.release(secret_rows(table)) for table in tables]
    assert all(model == models[0] for model in models)
    assert drawn == [(fit.event, fit.size)] * len(tables)


def test_without_noise_the_weights_are_those_of_least_squares():
    generator = np.random.default_rng(0)
    records = np.stack([generator.integers(0, 3, 500) for _ in range(4)], axis=1)
    columns = [NUMBER, CENTERED, TrainingColumn(name="z", lower=Fraction(0), upper=Fraction(1), steps=2)]
    for penalty in (0, 30):
        fit = fitted(charge=PureDP(10**12), penalty=penalty, columns=columns)
        model = fit.release(secret_rows(records))
        features = fit.design.rows(records[:, :3].astype(np.int32)) / UNIT
        normal = features.T @ features + penalty * np.diag([1, 1, 1, 0])
        expected = np.linalg.solve(normal, features.T @ (records[:, 3] - 1.0))
        assert np.allclose(model["weights"], expected, atol=1e-9)
        assert model["strength"] == 0


def test_solving_is_total_and_no_eigenvalue_is_smaller_than_stated(monkeypatch):
    right = np.array([1.0, 2.0])
    for matrix in (np.zeros((2, 2)), np.ones((2, 2)), -1e9 * np.eye(2), np.array([[1e30, 1.0], [1.0, -1e30]])):
        weights, strength = solved(matrix, right, least=4.0)
        assert np.isfinite(weights).all()
        assert np.linalg.norm(weights) <= np.linalg.norm(right) / 4 * 1.001
        assert strength == pytest.approx(max(0.0, 4 - np.linalg.eigvalsh(matrix)[0]))
    weights, strength = solved(np.diag([4.0, 9.0]), right, least=4.0)
    assert (weights.tolist(), strength) == ([0.25, 2 / 9], 0.0)

    def fails(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "eigh", fails)
    assert solved(np.eye(2), right, least=4.0)[0].tolist() == [0, 0]


@pytest.mark.parametrize("records", [[], [(2, 2, 2, 2)] * 3])
@pytest.mark.parametrize("epsilon", ["0.0001", 10**12])
def test_models_stay_finite_whatever_the_rows(records, epsilon):
    for charge in (PureDP(epsilon), ApproxDP(min(float(epsilon), 100), "1e-9")):
        assert np.isfinite(fitted(charge=charge).release(secret_rows(records))["weights"]).all()


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ParameterError, match="epsilon"):
        fitted(charge=PureDP("1e-14"))
    with pytest.raises(ParameterError, match="bounds"):
        fitted(target=KIND).document()
    wide = [TrainingColumn(name=f"x{place}", values=tuple(range(600))) for place in range(2)]
    with pytest.raises(ParameterError, match="features"):
        fitted(columns=wide)


def test_its_document_tells_fits_apart():
    documents = [
        fitted(**change).document()
        for change in ({}, {"design": "l2"}, {"moved_rows": 2}, {"penalty": 1}, {"target": NUMBER})
    ]  # fmt: skip
    assert all(documents.count(one) == 1 for one in documents)
