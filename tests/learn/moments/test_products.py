"""Noisy moments: exact sensitivity over all neighbors of small data, and nothing but noisy numbers in a model."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import UNIT, centered_design
from sfumato.learn.moments.products import CenteredMoments, NoisyProducts, products_of
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

COLUMNS = [NUMBER, CENTERED, KIND]
CHARGES = (PureDP(1), ApproxDP(1, "1e-6"))
DESIGNS = {
    name: centered_design(COLUMNS, norm=norm, l1_norm=l1_norm, is_of_columns=False)
    for name, norm, l1_norm in (("bounds", None, None), ("l2", 1, None), ("l1", None, "0.75"))
}


def fitted(design="bounds", *, charge=CHARGES[0], moved_rows=1, with_sums=True):
    found = DESIGNS[design] if isinstance(design, str) else design
    return NoisyProducts(design=found, with_sums=with_sums, moved_rows=moved_rows, charge=charge)


@pytest.mark.parametrize("design", DESIGNS)
def test_no_neighbor_moves_moments_further_than_noise_is_made_for(design):
    """All pairs of tables of up to two rows, in both relations; together they cost ε at most."""
    records = [(*record, 0) for record in product((0, 1, 2), (0, 1, 2), (0, 2))]
    fits = [fitted(design, moved_rows=moved) for moved in (1, 2)]
    each = {record: fits[0].exact(training_rows([record])) for record in records}
    empty = fits[0].exact(training_rows([]))
    assert not any(part.any() for part in empty)
    for fit, pairs in zip(fits, neighbors(records, most=1), strict=True):
        parts, scales = fit.parts(), [noise.scale for noise in fit.noises]
        for first, second in pairs:
            cost = Fraction(0)
            for place, (part, scale) in enumerate(zip(parts, scales, strict=True)):
                moved = sum(each[one][place] for one in second) - sum(each[one][place] for one in first)
                numbers = [int(one) for one in np.atleast_1d(moved)]
                assert sum(map(abs, numbers)) <= part.l1_sensitivity
                assert sum(one**2 for one in numbers) <= part.l2_sensitivity**2
                assert np.count_nonzero(numbers) <= part.l0_sensitivity
                cost += sum(map(abs, numbers)) / scale
            assert cost <= fit.charge.epsilon


def test_rows_at_the_bounds_reach_the_sensitivities():
    """So no smaller noise would do."""
    wide = [NUMBER, CENTERED, TrainingColumn(name="one", values=("a",))]
    fit = fitted(centered_design(wide, norm=None, l1_norm=None, is_of_columns=False))
    for found, part in zip(fit.exact(training_rows([(2, 2, 0, 0)])), fit.parts(), strict=True):
        assert int(np.abs(found).sum()) == part.l1_sensitivity
        assert sum(int(one) ** 2 for one in found) == pytest.approx(float(part.l2_sensitivity**2), rel=1e-12)
    assert sum(part.share for part in fit.parts()) == 1


def test_moments_are_those_of_single_rows_in_any_order_by_another_computation():
    generator = np.random.default_rng(1)
    records = np.stack([generator.integers(0, 3, 20_000) for _ in range(4)], axis=1)
    fit = fitted()
    whole = fit.exact(training_rows(records))
    assert all((one == other).all() for one, other in zip(whole, fit.exact(training_rows(records[::-1])), strict=True))
    rows = [[int(step) for step in row] for row in fit.design.rows(records[:, :3].astype(np.int32))]
    width = fit.design.width
    assert whole[0].tolist() == [20_000]
    triangle = [sum(row[i] * row[j] for row in rows) for i in range(width) for j in range(i, width)]
    assert whole[1].tolist() == triangle
    assert whole[2].tolist() == [sum(row[i] for row in rows) for i in range(width)]


@pytest.mark.parametrize("charge", CHARGES, ids=("pure", "approximate"))
@pytest.mark.parametrize("with_sums", [True, False])
def test_only_noisy_numbers_reach_a_model(charge, with_sums, monkeypatch):
    """With the same noisy numbers all data give the same model; and as many are drawn as the event says."""
    drawn = []

    def same(noise, value):
        drawn.append(noise.event)
        return np.arange(np.size(value)) * 2**20

    for noise in (Laplace, GaussianNoise):
        monkeypatch.setattr(noise, "release", same)
    fit = fitted(charge=charge, with_sums=with_sums)
    tables = ([], [(0, 0, 0, 0)], [(2, 2, 2, 0)] * 7)
    models = [fit.release(secret_rows(table)) for table in tables]
    assert models[0] == models[1] == models[2]
    assert tuple(drawn) == fit.event.events * 3
    require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)


def test_without_noise_moments_are_those_of_numpy():
    generator = np.random.default_rng(0)
    records = np.stack([generator.integers(0, 3, 500) for _ in range(4)], axis=1)
    fit = fitted(charge=PureDP(10**12))
    moments = CenteredMoments.of(fit, fit.release(secret_rows(records)))
    features = fit.design.rows(records[:, :3].astype(np.int32)) / UNIT
    assert np.allclose(moments.mean, features.mean(axis=0))
    assert np.allclose(moments.covariance, np.cov(features.T, bias=True))
    fit = fitted(charge=PureDP(10**12), with_sums=False)
    moments = CenteredMoments.of(fit, fit.release(secret_rows(records)))
    assert np.allclose(moments.covariance, features.T @ features / 500)


@pytest.mark.parametrize("records", [[], [(2, 2, 2, 0)] * 3])
@pytest.mark.parametrize("epsilon", ["0.0001", 10**12])
def test_moments_are_those_of_some_rows_within_the_bounds(records, epsilon):
    for charge in (PureDP(epsilon), ApproxDP(min(float(epsilon), 100), "1e-9")):
        fit = fitted(charge=charge)
        moments = CenteredMoments.of(fit, fit.release(secret_rows(records)))
        assert (np.abs(moments.mean) <= 1).all()
        assert (np.abs(moments.covariance) <= 1).all()
        assert (np.diagonal(moments.covariance) >= 0).all()
        assert (moments.covariance == moments.covariance.T).all()


def test_it_takes_the_noise_that_is_less():
    wide = [TrainingColumn(name=f"x{place}", lower=Fraction(0), upper=Fraction(1)) for place in range(30)]
    for columns, charge in ((wide, ApproxDP(1, "1e-6")), (wide[:1], PureDP(1))):
        design = centered_design(columns, norm=None, l1_norm=None, is_of_columns=False)
        fit = products_of(design, with_sums=True, moved_rows=1, total=ApproxDP(1, "1e-6"))
        assert fit.charge == charge
        assert products_of(design, with_sums=True, moved_rows=1, total=ApproxDP(1, 0)).is_pure


def test_what_cannot_be_fitted_is_refused():
    for charge in (PureDP("1e-15"), PureDP(0)):
        with pytest.raises(ParameterError, match="epsilon"):
            fitted(charge=charge)
    wide = [TrainingColumn(name=f"x{place}", values=tuple(range(600))) for place in range(2)]
    with pytest.raises(ParameterError, match="features"):
        fitted(centered_design(wide, norm=None, l1_norm=None, is_of_columns=False))


def test_its_document_tells_fits_apart():
    changes = ({}, {"design": "l2"}, {"moved_rows": 2}, {"with_sums": False})
    documents = [fitted(**change).document() for change in changes]
    assert all(documents.count(one) == 1 for one in documents)
