"""`GaussianNB`: with negligible noise it is scikit-learn's; with much, a model within public bounds."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB as ExactNB

from sfumato.errors import ParameterError
from sfumato.learn import GaussianNB

SURE = 10**6


def made(rows=3000):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, rows)
    features = generator.normal(labels[:, None] * [[1.0, -2.0]], [[1.0, 2.0]], (rows, 2))
    return np.clip(features, -10, 10), labels


@pytest.mark.parametrize("epsilon", [1000, SURE])
def test_without_noise_it_is_the_model_of_scikit_learn(epsilon):
    rows, labels = made()
    model = GaussianNB(epsilon=epsilon, bounds=(-10, 10), classes=range(3), min_stddev="0.01").fit(rows, labels)
    exact = ExactNB().fit(rows, labels)
    assert np.abs(model.theta_ - exact.theta_).max() < 0.01
    assert np.abs(model.var_ - exact.var_).max() < 0.03
    assert np.abs(model.class_prior_ - exact.class_prior_).max() < 1e-3
    assert np.abs(model.predict_proba(rows) - exact.predict_proba(rows)).max() < 0.02
    assert (model.predict(rows) == exact.predict(rows)).mean() > 0.99


def test_means_and_variances_are_in_the_units_of_columns():
    rows, labels = made()
    scaled = rows * [1000, 0.01] + [0, 5]
    bounds = ([-10_000, 4.9], [10_000, 5.1])
    models = [
        GaussianNB(epsilon=SURE, bounds=ends, classes=range(3)).fit(data, labels)
        for ends, data in (((-10, 10), rows), (bounds, scaled))
    ]
    assert np.allclose(models[1].theta_, models[0].theta_ * [1000, 0.01] + [0, 5], rtol=1e-3, atol=1e-3)
    assert np.allclose(models[1].var_, models[0].var_ * [1e6, 1e-4], rtol=0.01)


def test_a_variance_has_a_public_floor():
    rows, labels = np.array([[0.0], [10.0]] * 500), [0, 1] * 500
    for share, smallest in ((None, 1.0), ("0.2", 2.0)):
        model = GaussianNB(epsilon=SURE, bounds=(0, 10), classes=[0, 1], min_stddev=share).fit(rows, labels)
        assert np.allclose(model.var_, smallest**2)
    for wrong in (0, -1, 2, "1e-9", "much"):
        with pytest.raises(ParameterError, match="min_stddev"):
            GaussianNB(epsilon=1, bounds=(0, 10), classes=[0, 1], min_stddev=wrong).fit(rows, labels)


def test_rows_are_clamped_when_fitting_and_when_predicting():
    rows, labels = made()
    wild = np.where(np.abs(rows) > 3, rows * 1e6, rows)
    model = GaussianNB(epsilon=SURE, bounds=(-3, 3), classes=range(3))
    first, second = (model.fit(data, labels).theta_ for data in (wild, np.clip(rows, -3, 3)))
    assert np.allclose(first, second, atol=1e-3)
    assert (model.predict_proba([[1e9, -1e9]]) == model.predict_proba([[3, -3]])).all()


def test_noise_draws_a_small_class_to_numbers_spread_evenly():
    """At ε = 0.001 a class of ten rows has the mean of the bounds, nearly, rather than one of its ends."""
    rows, labels = np.full((1000, 1), 9.0), np.repeat([0, 1], [990, 10])
    for _ in range(5):
        model = GaussianNB(epsilon="0.001", bounds=(0, 10), classes=[0, 1]).fit(rows, labels)
        assert ((model.theta_ >= 0) & (model.theta_ <= 10)).all()
        assert ((model.var_ >= 0.25) & (model.var_ <= 25)).all()
    assert model.noise_["sum_stddevs"][0] > 1000
